//! Where in the nest of fan-outs a message stands.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{ExecutionId, NodeId};

/// One open fan-out (RFC 004 3.1). A message carries them outermost first in its `lineage_stack`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ts_rs::TS)]
#[ts(export_to = "protocol.ts")]
pub struct Frame {
    pub split_node_id: NodeId,
    pub branch_id: String,
    pub item_index: usize,
    pub total_items: usize,
}

impl Frame {
    pub fn new(execution: &ExecutionId, split: &NodeId, item_index: usize, total_items: usize) -> Self {
        let branch_id = format!("{execution}_{split}_{item_index}");
        Self { split_node_id: split.clone(), branch_id, item_index, total_items }
    }
}

/// The ordered `root=index` pairs of a lineage stack, joined by `/`. Empty outside every split.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ts_rs::TS)]
#[serde(transparent)]
#[ts(type = "string", export_to = "protocol.ts")]
pub struct LineageKey(String);

impl LineageKey {
    pub fn of(stack: &[Frame]) -> Self {
        let pairs: Vec<String> =
            stack.iter().map(|frame| format!("{}={}", frame.split_node_id, frame.item_index)).collect();
        Self(pairs.join("/"))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// True outside every split.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for LineageKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_lists_the_frames_outermost_first() {
        let execution = ExecutionId::from("x");
        let stack =
            [Frame::new(&execution, &"users".into(), 5, 100), Frame::new(&execution, &"orders".into(), 2, 5)];
        assert_eq!(LineageKey::of(&stack).as_str(), "users=5/orders=2");
        assert_eq!(stack[1].branch_id, "x_orders_2");
        assert!(LineageKey::of(&[]).is_root());
    }
}
