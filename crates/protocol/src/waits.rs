//! Everything that waits for a moment.

use serde::{Deserialize, Serialize};

use crate::{ExecutionId, LineageKey, Millis, NodeError, NodeId};

/// All timers of the executions that are under way, the first due first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct WaitBoard {
    pub timers: Vec<TimerView>,
    /// How many there are, also those that are left out.
    pub total: usize,
    /// Messages that wait to be worked on, over all executions.
    pub queued: usize,
    /// False once the engine has stopped: nothing fires any more.
    pub working: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct TimerView {
    pub execution_id: ExecutionId,
    /// The title of the execution.
    pub title: String,
    pub node_id: NodeId,
    /// The name of the node, for people.
    pub name: String,
    pub key: LineageKey,
    pub due: Millis,
    /// When it was set.
    pub set_at: Millis,
    pub purpose: TimerPurpose,
    pub keeper: TimerKeeper,
}

/// Who sees to it that a timer fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ts_rs::TS)]
#[serde(rename_all = "snake_case")]
#[ts(export_to = "protocol.ts")]
pub enum TimerKeeper {
    /// The engine of this process.
    Here,
    /// The workers of a cluster that is looked at.
    Cluster,
    /// Whoever claimed it did not send on what it should have resumed: that lies there, and nobody comes for it.
    Nobody,
}

/// What happens when a timer fires.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[serde(tag = "type", content = "data", rename_all = "snake_case")]
#[ts(export_to = "protocol.ts")]
pub enum TimerPurpose {
    /// A `wait` is over.
    Rest,
    /// The next attempt begins.
    Retry { attempt: u32, error: NodeError },
    /// A join gives up. While something of its execution is held its time stands still.
    Deadline { arrived: u32, expected: u32, stands: bool },
}
