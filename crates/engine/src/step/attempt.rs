//! What happens when an attempt comes to nothing: another one, or the end of it.

use protocol::{ErrorCode, Fault, Millis, NodeError};
use serde_json::json;

/// Why an attempt came to nothing.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// Another attempt would give the same answer.
    Final(NodeError),
    /// It may pass; the node's own policy says whether it is tried again.
    Passing(NodeError),
    /// The node has no part in it; the house tries again.
    System(NodeError),
}

/// How often a node tries again by itself, and after how long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retry {
    pub times: u32,
    pub delay: Millis,
}

/// Attempts that came to nothing so far, by whose policy counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Failures {
    pub node: u32,
    pub system: u32,
}

/// Nothing is decided: the node is tried again after a while.
#[derive(Clone, Debug, PartialEq)]
pub struct Again {
    pub error: NodeError,
    pub fault: Fault,
    pub delay: Millis,
}

/// How long the house waits before it tries again (RFC 001 9.3).
const LADDER: [Millis; 3] = [5_000, 25_000, 125_000];

impl Failures {
    pub fn count(&mut self, fault: Fault) {
        match fault {
            Fault::Node => self.node += 1,
            Fault::System => self.system += 1,
        }
    }
}

impl Failure {
    /// Another attempt, or the error that decides the key.
    pub fn verdict(self, so_far: Failures, retry: Retry) -> Result<Again, NodeError> {
        match self {
            Self::Final(error) => Err(error),
            Self::Passing(error) if so_far.node < retry.times => {
                Ok(Again { error, fault: Fault::Node, delay: retry.delay })
            }
            Self::Passing(error) => Err(with_attempts(error, so_far.node + 1)),
            Self::System(error) => match LADDER.get(so_far.system as usize) {
                Some(&delay) => Ok(Again { error, fault: Fault::System, delay }),
                None => Err(given_up(&error, so_far.system + 1)),
            },
        }
    }
}

fn with_attempts(mut error: NodeError, attempts: u32) -> NodeError {
    if attempts > 1 {
        error.message = format!("{} (after {attempts} attempts)", error.message);
    }
    error
}

fn given_up(error: &NodeError, attempts: u32) -> NodeError {
    let message = format!("given up after {attempts} attempts: {}", error.message);
    NodeError::new(ErrorCode::RetriesUsedUp, message)
        .with_details(json!({"reason": error, "attempts": attempts}))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error() -> NodeError {
        NodeError::new(ErrorCode::ConnectionFailed, "nobody answers")
    }

    #[test]
    fn the_node_tries_as_often_as_it_says() {
        let retry = Retry { times: 2, delay: 700 };
        let after = |node| Failure::Passing(error()).verdict(Failures { node, system: 0 }, retry);
        assert_eq!(after(0).unwrap().delay, 700);
        assert_eq!(after(1).unwrap().fault, Fault::Node);
        assert_eq!(after(2).unwrap_err().message, "nobody answers (after 3 attempts)");
        assert_eq!(Failure::Final(error()).verdict(Failures::default(), retry), Err(error()));
    }

    #[test]
    fn the_house_climbs_its_ladder_and_gives_up() {
        let after = |system| Failure::System(error()).verdict(Failures { node: 9, system }, Retry::default());
        let delays: Vec<Millis> = (0..3).map(|failed| after(failed).unwrap().delay).collect();
        assert_eq!(delays, [5_000, 25_000, 125_000]);
        let error = after(3).unwrap_err();
        assert_eq!(error.code, ErrorCode::RetriesUsedUp);
        assert_eq!(error.details.unwrap()["reason"]["code"], "CONNECTION_FAILED");
    }
}
