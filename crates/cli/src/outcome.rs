//! How a command ends. The numbers are a contract.

use std::{
    io::{ErrorKind, Write},
    process::ExitCode,
};

use protocol::{ExecutionStatus, Problem, ProblemCode};

use crate::terminal::plain;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Completed,
    FailedOrHalted,
    Invalid,
    Infrastructure,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        ExitCode::from(match outcome {
            Outcome::Completed => 0,
            Outcome::FailedOrHalted => 1,
            Outcome::Invalid => 2,
            Outcome::Infrastructure => 3,
        })
    }
}

impl From<ExecutionStatus> for Outcome {
    fn from(status: ExecutionStatus) -> Self {
        match status {
            ExecutionStatus::Completed => Self::Completed,
            ExecutionStatus::Failed | ExecutionStatus::Halted => Self::FailedOrHalted,
        }
    }
}

/// Why a command could not do what it was asked to.
#[derive(Debug)]
pub enum CommandError {
    /// Said already, such as a list of diagnostics.
    Said(Outcome),
    Problem(Problem),
    /// The command itself was wrong.
    Usage(Problem),
}

impl CommandError {
    pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Usage(Problem::new(ProblemCode::InvalidRequest, message, hint))
    }

    pub fn io(what: &str, error: &std::io::Error) -> Self {
        let hint = "check that the path exists and that you may use it";
        Self::Problem(Problem::new(ProblemCode::Infrastructure, format!("cannot {what}: {error}"), hint))
    }

    /// Something went wrong with a server.
    pub fn elsewhere(what: impl std::fmt::Display) -> Self {
        Self::Problem(Problem::new(ProblemCode::Unreachable, what.to_string(), "look at RabbitMQ and Redis"))
    }

    /// Tells the user and gives the way the command ends.
    pub fn report(&self) -> Outcome {
        let (problem, outcome) = match self {
            Self::Said(outcome) => return *outcome,
            Self::Problem(problem) if problem.code == ProblemCode::InvalidWorkflow => {
                (problem, Outcome::Invalid)
            }
            Self::Problem(problem) => (problem, Outcome::Infrastructure),
            Self::Usage(problem) => (problem, Outcome::Invalid),
        };
        eprintln!("error: {}", plain(&problem.message));
        if !problem.hint.is_empty() {
            eprintln!("  hint: {}", plain(&problem.hint));
        }
        outcome
    }
}

/// Prints a line on stdout. Whoever reads it may have seen enough (`… | head`); that ends the command without words.
pub fn say(line: &str) -> Result<(), CommandError> {
    let mut stdout = std::io::stdout();
    writeln!(stdout, "{line}").and_then(|()| stdout.flush()).map_err(|error| unwritable(&error))
}

/// Prints a value as one line of JSON.
pub fn say_json(value: &impl serde::Serialize) -> Result<(), CommandError> {
    say(&serde_json::to_string(value).map_err(|error| CommandError::usage(error.to_string(), ""))?)
}

pub fn unwritable(error: &std::io::Error) -> CommandError {
    match error.kind() {
        ErrorKind::BrokenPipe => CommandError::Said(Outcome::Infrastructure),
        _ => CommandError::io("write the output", error),
    }
}

impl From<Problem> for CommandError {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}
