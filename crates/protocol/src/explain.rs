//! Why an execution, or a node of it, is as it is: sentences, and the data behind them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{EdgeId, LineageKey, Millis, NodeId};

/// Why an execution, or a node of it, is as it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct ExplanationView {
    pub sentences: Vec<String>,
    /// Joins that wait, with what each of them lacks.
    pub waiting: Vec<Waiting>,
    /// The way that took longest, in order.
    pub critical_path: Vec<Leg>,
    /// What every node has spent, the most first.
    pub spent: Vec<Spent>,
    /// The node that was asked about.
    pub node: Option<NodeStory>,
}

/// A join that has heard of something and waits for the rest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct Waiting {
    pub node_id: NodeId,
    pub key: LineageKey,
    pub arrived: u32,
    pub expected: u32,
    pub missing: Vec<Missing>,
    /// Missing things that are not told.
    pub more: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct Missing {
    /// `item 37`, or the edge.
    pub what: String,
    pub whereabouts: MissingAt,
}

/// Where something that is missing is now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[serde(tag = "state", rename_all = "snake_case")]
#[ts(export_to = "protocol.ts")]
pub enum MissingAt {
    /// Nobody has begun with it.
    Queued {
        behind: Option<NodeId>,
    },
    Running {
        node_id: NodeId,
        since: Millis,
    },
    /// It rests until a moment.
    Waiting {
        node_id: NodeId,
        until: Millis,
    },
    /// An attempt failed; the next one is due.
    Retrying {
        node_id: NodeId,
        until: Millis,
        error: String,
    },
    /// It failed, and the error did not come here.
    Failed {
        node_id: NodeId,
        error: String,
    },
    /// Nothing of it is under way any more.
    Lost,
    /// Nothing of it is known to be under way, and not everything of the execution was heard.
    Unseen,
}

/// One firing on the way that took longest. Whatever is not on this way could take longer and nobody would notice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct Leg {
    pub node_id: NodeId,
    pub key: LineageKey,
    /// The event with which it began.
    #[ts(type = "number")]
    pub position: u64,
    /// Between what set it off and its beginning.
    pub queue: Millis,
    pub run: Millis,
    /// Rests, and delays before another attempt.
    pub timer: Millis,
}

impl Leg {
    pub fn total(&self) -> Millis {
        self.queue + self.run + self.timer
    }
}

/// What a node has spent over all its firings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct Spent {
    pub node_id: Option<NodeId>,
    pub firings: usize,
    pub queue: Millis,
    pub run: Millis,
    pub timer: Millis,
    /// For a join: from the first thing it heard to the last.
    pub barrier: Millis,
}

impl Spent {
    pub fn total(&self) -> Millis {
        self.queue + self.run + self.timer + self.barrier
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct NodeStory {
    pub node_id: NodeId,
    pub firings: usize,
    pub failed: usize,
    /// The firing that is told of: the one at the key that was asked for, else the first that failed, else the last.
    pub firing: Option<FiringStory>,
    /// Where it never runs at a key, or has not run.
    pub not_run: Vec<NotRun>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct FiringStory {
    pub key: LineageKey,
    #[ts(type = "number")]
    pub position: u64,
    pub set_off_by: Option<NodeId>,
    /// Edges that it followed, and those that it did not.
    pub taken: Vec<EdgeId>,
    pub not_taken: Vec<EdgeId>,
    pub conditions: Vec<Condition>,
    pub used: Vec<Used>,
    pub error: Option<String>,
}

/// A condition as it is written, with its values and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct Condition {
    #[ts(type = "unknown")]
    pub written: Value,
    #[ts(type = "unknown")]
    pub resolved: Value,
    pub held: Option<bool>,
}

/// A value that the node has used, and where it comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct Used {
    pub parameter: String,
    pub reference: String,
    #[ts(type = "unknown")]
    pub value: Option<Value>,
    /// The node that put it out, and the event with which it did.
    pub node_id: Option<NodeId>,
    #[ts(type = "number | null")]
    pub position: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct NotRun {
    pub key: LineageKey,
    /// The firing that decided it, the event with which it did, and the edges it followed instead.
    pub decided_by: Option<NodeId>,
    #[ts(type = "number | null")]
    pub position: Option<u64>,
    pub taken: Vec<EdgeId>,
    pub sentence: String,
}
