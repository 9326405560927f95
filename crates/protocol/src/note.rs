//! What people leave at a position of a recording.

use serde::{Deserialize, Serialize};

use crate::{ExecutionId, Millis, NodeId};

/// A note, or a bookmark where it has no text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct Note {
    pub execution_id: ExecutionId,
    #[ts(type = "number")]
    pub position: u64,
    pub node_id: Option<NodeId>,
    /// When it was written.
    pub at: Millis,
    pub text: String,
}
