//! The words of our own cluster: what its queues and keys are called, and how a fact stands in the log. Workers write
//! them and observers read them.

use crate::{Event, ExecutionId};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queue {
    Execution,
    Status,
    Completion,
    /// Joins that were not complete in time.
    Timeout,
    /// What the house could not deal with comes back after a while. One queue for each delay, so that a long one does
    /// not hold up a short one behind it.
    Later(Delay),
    /// Messages that no worker will take any more, kept with the reason.
    Parking,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delay {
    First,
    Second,
    Third,
}

impl Delay {
    /// The delay before the next try, after so many; none are left after the third.
    pub fn after(tries: u32) -> Option<Self> {
        [Self::First, Self::Second, Self::Third].get(tries as usize).copied()
    }

    pub fn seconds(self) -> i64 {
        match self {
            Self::First => 5,
            Self::Second => 25,
            Self::Third => 125,
        }
    }
}

impl Queue {
    pub const ALL: [Self; 8] = [
        Self::Parking,
        Self::Execution,
        Self::Status,
        Self::Completion,
        Self::Timeout,
        Self::Later(Delay::First),
        Self::Later(Delay::Second),
        Self::Later(Delay::Third),
    ];

    pub fn name(self, prefix: &str) -> String {
        match self {
            Self::Execution => format!("{prefix}workflow.execution"),
            Self::Status => format!("{prefix}workflow.node.status"),
            Self::Completion => format!("{prefix}workflow.completion"),
            Self::Timeout => format!("{prefix}workflow.timeout.process"),
            Self::Later(delay) => format!("{prefix}workflow.execution.retry.{}s", delay.seconds()),
            Self::Parking => format!("{prefix}workflow.execution.parking"),
        }
    }
}

/// The exchange through which everything goes.
pub fn exchange(prefix: &str) -> String {
    format!("{prefix}workflows")
}

/// A key of an execution. All of them share a hash tag, so that they lie on one node of a Redis Cluster.
pub fn execution_key(prefix: &str, execution: &ExecutionId, what: &str) -> String {
    format!("{prefix}exec:{{{execution}}}:{what}")
}

/// The execution that a key belongs to, and what of it is there.
pub fn key_of_execution<'k>(prefix: &str, key: &'k str) -> Option<(ExecutionId, &'k str)> {
    let (id, what) = key.strip_prefix(prefix)?.strip_prefix("exec:{")?.split_once("}:")?;
    is_execution_id(id).then(|| (ExecutionId::from(id), what))
}

/// Executions that have not ended, by the moment of their next look.
pub fn looks_key(prefix: &str) -> String {
    format!("{prefix}looks")
}

/// Ids become parts of keys: a brace would put them elsewhere.
pub fn is_execution_id(id: &str) -> bool {
    let usual = |letter: char| letter.is_ascii_alphanumeric() || "-_.:".contains(letter);
    (1..=128).contains(&id.len()) && id.chars().all(usual)
}

/// An entry of the log as an event, or what is wrong with it.
pub fn log_entry(execution: &ExecutionId, id: &str, fields: &[String]) -> Result<Event, String> {
    let damaged = |why: String| format!("entry {id} of {execution}: {why}");
    let number = id.split('-').next().and_then(|number| number.parse().ok());
    let seq = number.ok_or_else(|| damaged("it has no number".to_owned()))?;
    let [_, at, _, fact] = fields else { return Err(damaged("it has other fields".to_owned())) };
    let at = at.parse().map_err(|_| damaged("it has no moment".to_owned()))?;
    let fact = serde_json::from_str(fact).map_err(|error| damaged(error.to_string()))?;
    Ok(Event { execution_id: execution.clone(), seq, at, fact })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_lead_to_their_execution() {
        let id = ExecutionId::from("a-1");
        let key = execution_key("p.", &id, "log");
        assert_eq!(key, "p.exec:{a-1}:log");
        assert_eq!(key_of_execution("p.", &key), Some((id, "log")));
        for other in ["exec:{a-1}:log", "p.exec:a-1:split:s:count", "p.looks", "p.exec:{a b}:log"] {
            assert_eq!(key_of_execution("p.", other), None, "{other}");
        }
    }
}
