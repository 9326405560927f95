//! Facts about an execution, in the order they became true. The recording is a list of these, and in local mode
//! that list is the durable state: everything else is folded from it.

use serde::{Deserialize, Serialize};

use crate::{
    EdgeId, ExecutionId, ExecutionStatus, Frame, MessageId, Millis, NodeError, NodeId, Payload, WorkflowId,
};

/// `seq` counts from 1 within the execution, without a gap.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    pub execution_id: ExecutionId,
    pub seq: u64,
    pub at: Millis,
    pub fact: Fact,
}

/// Written with the variant's name outside (`{"node_started": …}`): payloads inside stay raw text that way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fact {
    ExecutionStarted(ExecutionStarted),
    NodeStarted(NodeStarted),
    NodeSucceeded(NodeSucceeded),
    NodeFailed(NodeFailed),
    ExecutionEnded(ExecutionEnded),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExecutionStarted {
    pub workflow_id: WorkflowId,
    pub title: String,
    /// The file the definition was read from, relative to the workflow folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    pub definition_hash: String,
    pub definition: Payload,
    pub input: Payload,
    pub messages: Vec<Child>,
}

/// Which message at which node and key, and the how many-th try.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Firing {
    pub message_id: MessageId,
    pub node_id: NodeId,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lineage: Vec<Frame>,
    pub attempt: u32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeStarted {
    pub firing: Firing,
    /// Parameters with every reference resolved; absent when they could not be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Payload>,
}

/// The commit of a firing: its message is done and its children are under way, in one step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeSucceeded {
    pub firing: Firing,
    pub duration: Millis,
    pub output: Payload,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<Child>,
}

/// The commit of a firing that failed for good.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeFailed {
    pub firing: Firing,
    pub duration: Millis,
    pub error: NodeError,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<Child>,
}

/// A message that a commit put under way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Child {
    pub message_id: MessageId,
    pub node_id: NodeId,
    /// The edge it travels on; absent where an execution starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edge_id: Option<EdgeId>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lineage: Vec<Frame>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExecutionEnded {
    pub status: ExecutionStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<NodeError>,
}

impl Fact {
    /// Every payload the fact carries, so that a store can keep large ones elsewhere.
    pub fn payloads_mut(&mut self) -> Vec<&mut Payload> {
        match self {
            Self::ExecutionStarted(started) => vec![&mut started.definition, &mut started.input],
            Self::NodeStarted(started) => started.parameters.iter_mut().collect(),
            Self::NodeSucceeded(done) => vec![&mut done.output],
            Self::NodeFailed(_) | Self::ExecutionEnded(_) => Vec::new(),
        }
    }
}
