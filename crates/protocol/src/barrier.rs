//! What a join waits for: what has arrived, what is missing, and where each missing part is now.

use serde::{Deserialize, Serialize};

use crate::{EdgeId, ExecutionId, LineageKey, Millis, NodeId, NodeState};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct BarrierView {
    pub execution_id: ExecutionId,
    pub node_id: NodeId,
    #[ts(type = "number")]
    pub position: u64,
    /// The keys at which it waits, those with the most missing first.
    pub places: Vec<BarrierPlace>,
    /// How many keys there are, also those that are left out.
    pub total: usize,
    /// Whoever came first, where a race has been won.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional = nullable)]
    pub winner: Option<NodeId>,
    /// What the state of an attached cluster says about it, in one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional = nullable)]
    pub verdict: Option<String>,
}

/// A join at one key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct BarrierPlace {
    pub key: LineageKey,
    pub arrived: usize,
    pub expected: usize,
    /// When it gives up.
    pub due: Option<Millis>,
    /// The first of what is missing.
    pub missing: Vec<MissingPart>,
    /// Everything that is missing, by where it is.
    pub whereabouts: Vec<Whereabouts>,
}

/// What a join waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ts_rs::TS)]
#[serde(tag = "type", content = "data", rename_all = "snake_case")]
#[ts(export_to = "protocol.ts")]
pub enum MissingPart {
    Item { index: u32, at: PartAt },
    Branch { edge_id: EdgeId, parent: NodeId, at: PartAt },
}

impl MissingPart {
    pub fn at(&self) -> &PartAt {
        match self {
            Self::Item { at, .. } | Self::Branch { at, .. } => at,
        }
    }
}

/// Where a missing part is, and why it is not here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct PartAt {
    /// Absent where nothing is under way that could bring it.
    pub node_id: Option<NodeId>,
    pub state: NodeState,
    pub retrying: bool,
    pub attempt: u32,
    /// When its present attempt began.
    pub since: Option<Millis>,
    /// When its timer is due.
    pub due: Option<Millis>,
}

/// How many missing parts are at one place in one state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct Whereabouts {
    pub node_id: Option<NodeId>,
    pub state: NodeState,
    pub retrying: bool,
    pub count: usize,
    /// The first of their timers.
    pub due: Option<Millis>,
}
