//! The items of a fan-out, small enough to be sent for a hundred thousand of them, and one of them in full.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{EdgeId, ErrorCode, ExecutionId, LineageKey, Millis, NodeError, NodeId, NodeState, PayloadView};

/// One fan-out: the split, and the items it stands in, outermost first.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct FanOutPlace {
    pub split: NodeId,
    #[serde(default)]
    pub parent: Vec<u32>,
}

/// The items of one fan-out, or of it what has changed since a position.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct ItemGrid {
    pub execution_id: ExecutionId,
    pub place: FanOutPlace,
    /// The number of events this is folded from.
    #[ts(type = "number")]
    pub position: u64,
    /// Absent until the split has fired there.
    pub total: Option<u32>,
    /// Items that have changed; all the others are as they were.
    pub chunks: Vec<ItemChunk>,
    /// Failures that say the same but for numbers and names. The letter of a failed item names its group.
    pub groups: Vec<FailureGroup>,
}

/// States of neighbouring items, one letter each: see [`ItemGrid::letter`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct ItemChunk {
    pub start: u32,
    pub states: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct FailureGroup {
    pub node_id: NodeId,
    pub code: ErrorCode,
    /// What their messages have in common.
    pub message: String,
    pub count: u32,
}

impl ItemGrid {
    /// More kinds of failures than this are counted as one.
    pub const GROUPS: usize = 26;

    /// `q` queued, `r` running, `w` waiting, `t` tries again, `g` gathering, `s` success, `k` skipped;
    /// `A` to `Z` failed, by group.
    pub fn letter(state: ItemState) -> char {
        match state {
            ItemState::Queued => 'q',
            ItemState::Running => 'r',
            ItemState::Waiting => 'w',
            ItemState::Retrying => 't',
            ItemState::Gathering => 'g',
            ItemState::Success => 's',
            ItemState::Skipped => 'k',
            ItemState::Failed { group } => char::from(b'A' + group.min(Self::GROUPS as u8 - 1)),
        }
    }
}

/// Where an item stands, over everything that happens inside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemState {
    Queued,
    Running,
    Waiting,
    Retrying,
    Gathering,
    Success,
    Skipped,
    Failed { group: u8 },
}

/// One item: its way through the graph, and where it is now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct ItemDetail {
    pub execution_id: ExecutionId,
    pub place: FanOutPlace,
    pub index: u32,
    pub key: LineageKey,
    /// The nodes of the fan-out that have something to say about it.
    pub nodes: BTreeMap<NodeId, ItemNode>,
    /// The edges it has travelled.
    pub edges: Vec<EdgeId>,
    /// Fan-outs inside the item that have fired, with the number of their items.
    pub inner: BTreeMap<NodeId, u32>,
    /// The element of the array that it is.
    pub value: Option<PayloadView>,
    pub error: Option<NodeError>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct ItemNode {
    pub state: NodeState,
    /// Waits for another attempt.
    pub retrying: bool,
    /// When its timer is due.
    pub due: Option<Millis>,
    /// Whoever came first, where a race has been won for this item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional = nullable)]
    pub first: Option<NodeId>,
}
