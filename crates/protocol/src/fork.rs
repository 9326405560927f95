//! Executions that take their past from another one.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{ExecutionId, LineageKey, Millis, NodeError, NodeId, PayloadView};

/// Where an execution comes from. Written at its start, so that an interrupted fork goes on with the same answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct Origin {
    pub parent: ExecutionId,
    /// What the parent had done after this many events is taken from it as it is.
    #[ts(type = "number")]
    pub position: u64,
    /// What was changed at that event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional = nullable)]
    pub edit: Option<ForkEdit>,
    /// Nodes that really ask the outside after that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub run: Vec<NodeId>,
    /// What does its work again although the parent had done it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional = nullable)]
    pub again: Option<Again>,
}

/// What of the past is not taken as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ts_rs::TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export_to = "protocol.ts")]
pub enum Again {
    /// The items of this node that failed, with what follows from them.
    Failed { node_id: NodeId },
    /// This node and everything behind it.
    From { node_id: NodeId },
    /// One item of a fan-out, with what follows from it: from a node on, or all of its way where none is named.
    Item {
        key: LineageKey,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional = nullable)]
        node_id: Option<NodeId>,
    },
}

/// What is changed where a fork begins: at a start of a node what it sees, at its end what it has put out, at the start
/// of the execution its input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export_to = "protocol.ts")]
pub enum ForkEdit {
    Context {
        #[ts(type = "Record<string, unknown>")]
        entries: BTreeMap<String, serde_json::Value>,
    },
    Output {
        #[ts(type = "unknown")]
        value: serde_json::Value,
    },
    Input {
        #[ts(type = "unknown")]
        value: serde_json::Value,
    },
}

/// Which part of a workflow is run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[ts(export_to = "protocol.ts")]
pub enum ForkWish {
    /// From an event on, with a change there or without. What asks the outside is answered from the recording, but for
    /// the nodes in `run`.
    At {
        #[ts(type = "number")]
        position: u64,
        #[serde(default)]
        #[ts(optional = nullable)]
        edit: Option<ForkEdit>,
        #[serde(default)]
        run: Vec<NodeId>,
    },
    /// This node and everything behind it do their work; everything else is taken from the recording.
    From { node_id: NodeId },
    /// The failed items of this node run again; everything else is taken from the recording.
    Failed { node_id: NodeId },
    /// One item of a fan-out runs again, from a node on or all of its way; everything else is taken from the recording.
    Item {
        key: LineageKey,
        #[serde(default)]
        #[ts(optional = nullable)]
        node_id: Option<NodeId>,
    },
}

/// What a fork would do to the world outside.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct ForkPreview {
    /// Questions that would really be asked, as far as that can be told before the first answer is there.
    pub effects: Vec<SideEffect>,
    pub effects_total: usize,
    /// Questions that are answered from the recording.
    pub pinned: usize,
    /// The first of these.
    #[serde(default)]
    pub pins: Vec<SideEffect>,
}

/// An event that a fork may begin at, with what can be changed there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct ForkPoint {
    #[ts(type = "number")]
    pub position: u64,
    pub at: Millis,
    /// What the event is about; absent where it is about the execution.
    pub node_id: Option<NodeId>,
    pub key: LineageKey,
    pub place: ForkPlace,
}

/// What can be changed at an event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[serde(tag = "type", content = "data", rename_all = "snake_case")]
#[ts(export_to = "protocol.ts")]
pub enum ForkPlace {
    /// The execution begins: its input.
    Input(PayloadView),
    /// A node begins: what it sees.
    Context(PayloadView),
    /// A node has ended: its output; the items of a split.
    Output(PayloadView),
    /// A node has failed: its output, in place of the error.
    Failure(NodeError),
    /// A timer, a rest, an end: nothing. A fork without a change may begin there all the same.
    Nothing,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct SideEffect {
    pub node_id: NodeId,
    pub key: LineageKey,
    /// Such as `GET https://example.org`.
    pub asks: String,
}

/// An execution and where it comes from; those that come from it are those that name it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct ForkBranch {
    pub execution_id: ExecutionId,
    pub origin: Option<Origin>,
}
