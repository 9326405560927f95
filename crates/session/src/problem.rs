//! Errors of the rooms below, in the words the user sees.

use embedded::EmbeddedError;
use protocol::{ControlError, Problem, ProblemCode};
use recording::{LedgerError, StoreError};

pub fn from_store(error: &StoreError) -> Problem {
    let (code, hint) = match error {
        StoreError::NotOurs { .. } => {
            (ProblemCode::StoreRefused, "name another file; a new one is made where there is none")
        }
        StoreError::Newer { .. } => (ProblemCode::StoreRefused, "update Runeglass, or name another file"),
        StoreError::Older { .. } => {
            (ProblemCode::StoreRefused, "close the other one, or make the file and its folder writable")
        }
        StoreError::Refused { .. } => (
            ProblemCode::StoreRefused,
            "nothing in it was used; a file that `runeglass export -o NAME.runeglass` wrote is taken",
        ),
        StoreError::InUse { .. } => (ProblemCode::StoreInUse, "close the other one, or name another file"),
        StoreError::Missing { .. } => (ProblemCode::NotFound, "check the path"),
        StoreError::Full { .. } => (
            ProblemCode::StoreFull,
            "make room on the disk; unfinished executions go on when the store is opened again",
        ),
        StoreError::ReadOnly { .. } => (ProblemCode::ReadOnly, "open the store for writing"),
        StoreError::NotImported { .. } => (
            ProblemCode::InvalidRequest,
            "look at the file itself: replay, compare and explain take its name instead of an id",
        ),
        StoreError::Query { .. } => (ProblemCode::InvalidRequest, "for example $.order.id == 42"),
        StoreError::Damaged { .. } => (ProblemCode::Infrastructure, "restore the file from a copy"),
        StoreError::Unusable { .. } => {
            (ProblemCode::Infrastructure, "check that the folder exists and can be written")
        }
    };
    Problem::new(code, error.to_string(), hint)
}

pub fn from_engine(error: &EmbeddedError) -> Problem {
    match error {
        EmbeddedError::Store(error) => from_store(error),
        EmbeddedError::Unkept { error: cause, .. } => {
            Problem { message: error.to_string(), ..from_store(cause) }
        }
        EmbeddedError::Ledger(error) => from_ledger(error),
        EmbeddedError::NotRunning(_) => {
            Problem::new(ProblemCode::NotFound, error.to_string(), "it may have ended already")
        }
    }
}

pub fn from_control(error: &ControlError) -> Problem {
    Problem::new(error.code, error.message.clone(), error.hint.clone())
}

pub fn from_ledger(error: &LedgerError) -> Problem {
    let hint = "the store was damaged or written by something else; keep a copy and start with a new one";
    Problem::new(ProblemCode::Infrastructure, error.to_string(), hint)
}

pub fn from_io(what: &str, error: &std::io::Error) -> Problem {
    let hint = "check that the path exists and that you may use it";
    Problem::new(ProblemCode::Infrastructure, format!("cannot {what}: {error}"), hint)
}
