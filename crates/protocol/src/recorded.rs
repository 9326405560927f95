//! One execution as one document: opened by the user interface without any engine behind it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{ExecutionView, Millis, NodeDetail, NodeId, ViewPatch};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct Recording {
    pub format: String,
    pub version: u32,
    /// The view before the first patch.
    pub start: ExecutionView,
    pub patches: Vec<TimedPatch>,
    /// The inspector's page of every node, at the end of the recording.
    pub details: BTreeMap<NodeId, NodeDetail>,
}

impl Recording {
    pub const FORMAT: &str = "runeglass-recording";
    pub const VERSION: u32 = 1;
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct TimedPatch {
    /// When it happened.
    pub at: Millis,
    pub patch: ViewPatch,
}
