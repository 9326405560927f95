//! Messages as they travel: the shapes of the seeds, with an id, and with large values by reference.

use std::sync::Arc;

use engine::{Context, Message, Plan};
use protocol::{
    ExecutionId, Frame, MessageId, Millis, NodeExecutionMessage, NodeId, Payload, TimedOut, WorkflowId,
};
use serde::{Deserialize, Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value};

use crate::{ClusterError, log::INLINE_BYTES};

/// No message is larger; larger ones are not read.
pub const LARGEST_BYTES: usize = 10 * 1024 * 1024;

/// What a worker reads of a message: everything else is in the log.
#[derive(Debug, Deserialize)]
pub struct Ticket {
    pub execution_id: ExecutionId,
    pub current_node: NodeId,
    #[serde(default)]
    pub lineage_stack: Vec<Frame>,
    /// Absent in a message that starts an execution and was written by somebody else.
    #[serde(default)]
    pub message_id: Option<MessageId>,
    /// The moment its timer was set to, where it was sent because that has come.
    #[serde(default)]
    pub resumed: Option<Millis>,
}

/// A join that was not complete in time.
#[derive(Debug, Serialize, Deserialize)]
pub struct Late {
    pub workflow_id: WorkflowId,
    pub execution_id: ExecutionId,
    pub due: Millis,
    pub timed_out: TimedOut,
}

#[derive(Serialize)]
struct Work<'w> {
    workflow_id: &'w WorkflowId,
    execution_id: &'w ExecutionId,
    current_node: &'w NodeId,
    workflow_definition: Payload,
    accumulated_context: Shortened<'w>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lineage_stack: Vec<Frame>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from_node: Option<&'w NodeId>,
    message_id: &'w MessageId,
    attempt: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    resumed: Option<Millis>,
    /// What somebody else wrote when starting the execution, and nobody here knows the meaning of.
    #[serde(flatten)]
    other: &'w Map<String, Value>,
}

/// Names of a message of ours that one that starts an execution has no use for.
const OWN_NAMES: [&str; 3] = ["message_id", "attempt", "resumed"];

struct Shortened<'w>(&'w Context);

impl Serialize for Shortened<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (key, payload) in self.0.iter() {
            match payload.stays_inline(INLINE_BYTES) {
                true => map.serialize_entry(key, payload)?,
                false => map.serialize_entry(key, &payload.reference())?,
            }
        }
        map.end()
    }
}

/// What all messages of an execution have in common.
pub struct Common {
    pub workflow_id: WorkflowId,
    pub definition: Payload,
    pub plan: Arc<Plan>,
    pub other: Arc<Map<String, Value>>,
}

/// A message of the engine, ready to be sent.
pub fn work(
    common: &Common,
    message: &Message,
    from: Option<&NodeId>,
    resumed: Option<Millis>,
) -> Result<Vec<u8>, ClusterError> {
    let Common { workflow_id, definition, plan, other } = common;
    let work = Work {
        workflow_id,
        execution_id: &message.execution_id,
        current_node: &plan.nodes[message.node].id,
        workflow_definition: match definition.stays_inline(INLINE_BYTES) {
            true => definition.clone(),
            false => definition.reference(),
        },
        accumulated_context: Shortened(&message.context),
        lineage_stack: message.lineage.frames(&message.execution_id),
        from_node: from,
        message_id: &message.id,
        attempt: message.attempt,
        resumed,
        other,
    };
    serde_json::to_vec(&work).map_err(ClusterError::unwritable)
}

/// What a message refers to.
pub fn referred(message: &Message) -> impl Iterator<Item = &Payload> {
    message.context.iter().map(|(_, payload)| payload).filter(|payload| !payload.stays_inline(INLINE_BYTES))
}

/// Why nobody can work on a message.
#[derive(Debug)]
pub struct Unfit {
    pub code: &'static str,
    pub message: String,
}

pub fn unfit(code: &'static str, message: impl Into<String>) -> Unfit {
    Unfit { code, message: message.into() }
}

pub fn read<'d, T: Deserialize<'d>>(body: &'d [u8]) -> Result<T, Unfit> {
    if body.len() > LARGEST_BYTES {
        let message = format!("a message of {} bytes; {LARGEST_BYTES} is the most", body.len());
        return Err(unfit("TOO_LARGE", message));
    }
    serde_json::from_slice(body).map_err(|error| unfit("INVALID_MESSAGE", format!("not a message: {error}")))
}

pub fn check_id(id: &ExecutionId) -> Result<(), Unfit> {
    if protocol::cluster::is_execution_id(id.as_str()) {
        return Ok(());
    }
    let message =
        format!("{:?} is not an execution id: letters, digits, - _ . : and at most 128", id.as_str());
    Err(unfit("INVALID_MESSAGE", message))
}

/// Where a message says it is has to be where the engine knows it to be.
pub fn check_place(plan: &Plan, message: &Message, ticket: &Ticket) -> Result<(), Unfit> {
    let node = &plan.nodes[message.node].id;
    if *node != ticket.current_node {
        let message = format!("the message {} is for {node}, not for {}", message.id, ticket.current_node);
        return Err(unfit("INVALID_MESSAGE", message));
    }
    let place = |frame: &Frame| (frame.split_node_id.clone(), frame.item_index, frame.total_items);
    let known = message.lineage.frames(&message.execution_id);
    if known.iter().map(place).eq(ticket.lineage_stack.iter().map(place)) {
        return Ok(());
    }
    let message =
        format!("the lineage of the message does not fit: {node} is at [{}]", message.lineage.key());
    Err(unfit("LINEAGE_MISMATCH", message))
}

/// A message by which somebody else starts an execution.
pub fn start(body: &[u8]) -> Result<NodeExecutionMessage, Unfit> {
    let mut message: NodeExecutionMessage = read(body)?;
    for name in OWN_NAMES {
        message.other.shift_remove(name);
    }
    if message.lineage_stack.is_empty() {
        return Ok(message);
    }
    let said = "a message without message_id starts an execution, so it cannot be inside a split";
    Err(unfit("LINEAGE_MISMATCH", said))
}
