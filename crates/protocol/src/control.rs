//! Holding, stepping and changing executions. All of it is for engines in this process: the requests that carry these
//! words name an execution of the session's own store. Where that runs on the servers of a cluster, its messages go
//! through queues that only the worker of this process listens to, and nothing here is sent to anybody else.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    EdgeId, ExecutionId, LineageKey, MessageId, Millis, NodeError, NodeId, PayloadView, ProblemCode,
};

/// What people have set for one workflow. Kept in the store.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[serde(default, deny_unknown_fields)]
#[ts(export_to = "protocol.ts")]
pub struct Controls {
    pub breakpoints: Vec<Breakpoint>,
    pub mocks: Vec<Mock>,
}

impl Controls {
    pub fn is_empty(&self) -> bool {
        self.breakpoints.is_empty() && self.mocks.is_empty()
    }
}

/// Where a message is held, and when. Everything that is said has to be true of the message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[serde(deny_unknown_fields)]
#[ts(export_to = "protocol.ts")]
pub struct Breakpoint {
    pub place: BreakPlace,
    /// An expression on the message, such as `$item.total > 100`.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub condition: Option<String>,
    /// The index of the innermost item.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub item: Option<u32>,
    #[serde(default)]
    #[ts(optional = nullable)]
    pub key: Option<LineageKey>,
    /// From this hit on; from the first where absent.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub hits: Option<u32>,
    /// Says this text, with its references resolved, and holds nothing.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub log: Option<String>,
    #[serde(default)]
    #[ts(optional = nullable)]
    pub disabled: Option<bool>,
}

impl Breakpoint {
    pub fn at(place: BreakPlace) -> Self {
        Self { place, condition: None, item: None, key: None, hits: None, log: None, disabled: None }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ts_rs::TS)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[ts(export_to = "protocol.ts")]
pub enum BreakPlace {
    /// The parameters are resolved, and nothing has happened yet.
    Before { node_id: NodeId },
    /// The answer is there and is not committed yet.
    After { node_id: NodeId },
    /// A value is about to travel along this edge.
    Edge { edge_id: EdgeId },
    /// A node has failed for good; any node where none is named.
    Error {
        #[serde(default)]
        #[ts(optional = nullable)]
        node_id: Option<NodeId>,
    },
    /// A join has everything it waited for; any join where none is named.
    Barrier {
        #[serde(default)]
        #[ts(optional = nullable)]
        node_id: Option<NodeId>,
    },
}

/// What a node answers instead of doing its work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[serde(deny_unknown_fields)]
#[ts(export_to = "protocol.ts")]
pub struct Mock {
    pub node_id: NodeId,
    /// Only at this key; at every key where absent.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub key: Option<LineageKey>,
    pub answer: MockAnswer,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[ts(export_to = "protocol.ts")]
pub enum MockAnswer {
    /// A pinned output; the array of its items for a split.
    Output {
        #[ts(type = "unknown")]
        value: serde_json::Value,
    },
    Error {
        message: String,
    },
    /// The node does its work, and takes this much longer.
    Latency {
        #[ts(type = "number")]
        millis: Millis,
    },
}

/// What may be done to an execution that is under way in this process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[ts(export_to = "protocol.ts")]
pub enum Command {
    /// Hold every message in front of its next work.
    Pause,
    PauseNode {
        node_id: NodeId,
    },
    ResumeNode {
        node_id: NodeId,
    },
    /// Let everything go on, until a breakpoint.
    Continue,
    /// Let this one message go on; nothing holds what follows from it but a breakpoint or a pause.
    Release {
        message_id: MessageId,
    },
    /// This message does its work; what follows from it is held at its next node.
    Step {
        message_id: MessageId,
    },
    /// Like a step, but a whole fan-out is one step.
    StepOver {
        message_id: MessageId,
    },
    /// This item runs until it has arrived where its fan-out is gathered.
    ToBarrier {
        message_id: MessageId,
    },
    /// Everything goes on until a message reaches this node.
    RunTo {
        node_id: NodeId,
    },
    Edit {
        message_id: MessageId,
        edit: Edit,
    },
    /// The message is taken away: its node does not run at this key.
    Drop {
        message_id: MessageId,
    },
    /// The message is delivered twice, as a broker may do: the work is done twice, and counts once.
    Duplicate {
        message_id: MessageId,
    },
    /// A timer of this node and key fires now.
    FireTimer {
        node_id: NodeId,
        #[serde(default)]
        key: LineageKey,
    },
    /// The first timer of the execution fires now.
    NextTimer,
}

/// What is changed in a held message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[ts(export_to = "protocol.ts")]
pub enum Edit {
    /// Entries of the context, such as `$item` or `$json`, as a whole.
    Context {
        #[ts(type = "Record<string, unknown>")]
        entries: BTreeMap<String, serde_json::Value>,
    },
    /// All parameters, resolved.
    Parameters {
        #[ts(type = "unknown")]
        value: serde_json::Value,
    },
    /// What the node has put out; the message must be held after its work.
    Output {
        #[ts(type = "unknown")]
        value: serde_json::Value,
    },
}

/// How an execution is held, and what is held of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct ControlView {
    pub paused: bool,
    pub paused_nodes: Vec<NodeId>,
    /// In the order in which they were held; at most a few hundred of them.
    pub held: Vec<HeldMessage>,
    pub held_total: usize,
    /// All of them, counted by where they stand.
    pub held_at: Vec<HeldAt>,
    /// How often each breakpoint was hit, in the order of the workflow's breakpoints.
    pub hits: Vec<u32>,
    /// What logpoints have said, the oldest first; only the latest are kept.
    pub log: Vec<Logged>,
    /// Older lines that were not kept.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[ts(optional, as = "Option<usize>")]
    pub log_dropped: usize,
    /// Nodes behind a pin or mock that was changed after the execution began: what they show is not what a run would
    /// give now.
    pub stale: Vec<StaleNode>,
}

/// A node whose values are older than a pin or mock that leads to it, and the pin or mock that is to blame.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct StaleNode {
    pub node_id: NodeId,
    /// The node whose pin or mock is another one now; itself, where its own is.
    pub because: NodeId,
    /// There is none any more. Otherwise one was set, or changed.
    pub removed: bool,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// How many messages are held at one side of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct HeldAt {
    pub node_id: NodeId,
    pub gate: GatePlace,
    pub count: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct HeldMessage {
    pub execution_id: ExecutionId,
    pub message_id: MessageId,
    pub node_id: NodeId,
    pub key: LineageKey,
    pub attempt: u32,
    pub gate: GatePlace,
    pub why: WhyHeld,
    pub since: Millis,
    /// Somebody has changed it here.
    pub edited: bool,
    /// With every reference resolved; absent when they could not be.
    pub parameters: Option<PayloadView>,
    /// What the node sees.
    pub context: PayloadView,
    /// What is asked of the outside when it goes on, such as `GET https://example.org`.
    pub asks: Option<String>,
    pub output: Option<PayloadView>,
    pub error: Option<NodeError>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ts_rs::TS)]
#[serde(rename_all = "snake_case")]
#[ts(export_to = "protocol.ts")]
pub enum GatePlace {
    /// In front of the work.
    Before,
    /// Between the work and its commit.
    After,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ts_rs::TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export_to = "protocol.ts")]
pub enum WhyHeld {
    /// The place in the workflow's list.
    Breakpoint {
        index: usize,
    },
    /// The condition of a breakpoint could not be decided.
    BrokenCondition {
        index: usize,
        complaint: String,
    },
    Paused,
    NodePaused,
    Stepped,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct Logged {
    pub at: Millis,
    pub node_id: NodeId,
    pub key: LineageKey,
    pub text: String,
}

/// Why a command could not be followed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ControlError {
    pub code: ProblemCode,
    pub message: String,
    pub hint: String,
}

impl ControlError {
    pub fn invalid(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { code: ProblemCode::InvalidRequest, message: message.into(), hint: hint.into() }
    }

    pub fn missing(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { code: ProblemCode::NotFound, message: message.into(), hint: hint.into() }
    }
}
