//! What is found out about recordings when somebody asks: differences, whether the engine still says the same.

use serde::{Deserialize, Serialize};

use crate::{LineageKey, Millis, NodeId};

/// Two executions side by side.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct ComparisonView {
    /// They ran another workflow.
    pub definition_changed: bool,
    /// What is different in what they were started with.
    pub input: Vec<ValueChange>,
    pub total: CompareCounts,
    pub nodes: Vec<(NodeId, CompareCounts)>,
    /// In the order in which they came up; the first one is where they part.
    pub differences: Vec<DifferenceView>,
    /// Differences that are not told.
    pub more: usize,
    /// What took longer in B, the most first.
    pub slower: Vec<SlowerView>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct CompareCounts {
    pub equal: usize,
    pub changed: usize,
    pub only_a: usize,
    pub only_b: usize,
    pub slower: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct DifferenceView {
    pub node_id: NodeId,
    pub key: LineageKey,
    /// `changed`, `only_a` or `only_b`.
    pub verdict: String,
    #[ts(type = "number | null")]
    pub position_a: Option<u64>,
    #[ts(type = "number | null")]
    pub position_b: Option<u64>,
    pub changes: Vec<ValueChange>,
}

/// One place where two values differ; null where there is nothing on that side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct ValueChange {
    pub path: String,
    #[ts(type = "unknown")]
    pub a: Option<serde_json::Value>,
    #[ts(type = "unknown")]
    pub b: Option<serde_json::Value>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct SlowerView {
    pub node_id: NodeId,
    pub key: LineageKey,
    #[ts(type = "number")]
    pub duration_a: Millis,
    #[ts(type = "number")]
    pub duration_b: Millis,
}

/// Whether the core still says what was recorded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct VerifiedView {
    /// Events that agree.
    #[ts(type = "number")]
    pub events: u64,
    #[ts(type = "number")]
    pub firings: u64,
    /// Answers from outside that were taken from the recording.
    #[ts(type = "number")]
    pub recorded_answers: u64,
    pub difference: Option<VerifiedDifference>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct VerifiedDifference {
    #[ts(type = "number")]
    pub position: u64,
    pub node_id: Option<NodeId>,
    pub key: LineageKey,
    /// What of it: `parameters`, `output`, `edges` and so on.
    pub what: String,
    #[ts(type = "unknown")]
    pub recorded: serde_json::Value,
    #[ts(type = "unknown")]
    pub replayed: serde_json::Value,
}
