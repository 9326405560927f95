//! Where in the nest of fan-outs a message stands.

use std::{fmt, sync::Arc};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error as _, SeqAccess, Visitor},
};

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

/// Where a message stands, in the form the engine works with: shared, and short in the event log
/// (`[["split", 5, 100]]`).
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Lineage(Arc<[Step]>);

/// One open fan-out: which split, which item, of how many. Where a split fires once for every piece of a stream, its
/// items are counted on from piece to piece: then `first` is the index of the first item of this firing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Step {
    pub split: NodeId,
    pub index: u32,
    pub total: u32,
    pub first: u32,
}

impl Step {
    /// The place among the items of its firing.
    pub fn place(&self) -> usize {
        (self.index - self.first.min(self.index)) as usize
    }

    /// How many items its firing has.
    pub fn count(&self) -> usize {
        (self.total - self.first.min(self.total)) as usize
    }
}

impl Serialize for Step {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { split, index, total, first } = self;
        match first {
            0 => (split, index, total).serialize(serializer),
            first => (split, index, total, first).serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Step {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(StepVisitor)
    }
}

struct StepVisitor;

impl<'de> Visitor<'de> for StepVisitor {
    type Value = Step;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a split, an index and a total")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Step, A::Error> {
        let missing = |at: usize| A::Error::invalid_length(at, &StepVisitor);
        let split = seq.next_element()?.ok_or_else(|| missing(0))?;
        let index = seq.next_element()?.ok_or_else(|| missing(1))?;
        let total = seq.next_element()?.ok_or_else(|| missing(2))?;
        Ok(Step { split, index, total, first: seq.next_element()?.unwrap_or(0) })
    }
}

impl Lineage {
    /// One level deeper: item `index` of `total` of a split.
    pub fn push(&self, split: &NodeId, index: u32, total: u32) -> Self {
        self.then(Step { split: split.clone(), index, total, first: 0 })
    }

    pub fn then(&self, step: Step) -> Self {
        Self(self.0.iter().cloned().chain([step]).collect())
    }

    /// The first `length` levels.
    pub fn prefix(&self, length: usize) -> Self {
        if length >= self.0.len() { self.clone() } else { Self(self.0[..length].into()) }
    }

    /// Without the innermost level; outside every split it stays as it is.
    pub fn parent(&self) -> Self {
        self.prefix(self.0.len().saturating_sub(1))
    }

    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    pub fn key(&self) -> LineageKey {
        let mut key = String::new();
        for step in self.0.iter() {
            if !key.is_empty() {
                key.push('/');
            }
            key.push_str(step.split.as_str());
            key.push('=');
            key.push_str(&step.index.to_string());
        }
        LineageKey(key)
    }

    /// The form of the wire. A branch id is unique also when splits nest: below the first level it holds the indexes
    /// of all levels.
    pub fn frames(&self, execution: &ExecutionId) -> Vec<Frame> {
        let mut path = String::new();
        let mut frames = Vec::with_capacity(self.0.len());
        for step in self.0.iter() {
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(&step.index.to_string());
            frames.push(Frame {
                split_node_id: step.split.clone(),
                branch_id: format!("{execution}_{}_{path}", step.split),
                item_index: step.index as usize,
                total_items: step.total as usize,
            });
        }
        frames
    }
}

impl fmt::Debug for Lineage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}]", self.key())
    }
}

/// The ordered `root=index` pairs of a lineage stack, joined by `/`. Empty outside every split.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ts_rs::TS)]
#[serde(transparent)]
#[ts(type = "string", export_to = "protocol.ts")]
pub struct LineageKey(String);

impl LineageKey {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// True outside every split.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<&str> for LineageKey {
    fn from(key: &str) -> Self {
        Self(key.to_owned())
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
    fn the_key_lists_the_levels_outermost_first() {
        let lineage = Lineage::default().push(&"users".into(), 5, 100).push(&"orders".into(), 2, 5);
        assert_eq!(lineage.key().as_str(), "users=5/orders=2");
        assert_eq!(lineage.parent().key().as_str(), "users=5");
        assert!(Lineage::default().key().is_root());
        let frames = lineage.frames(&"x".into());
        assert_eq!(
            (frames[0].branch_id.as_str(), frames[1].branch_id.as_str()),
            ("x_users_5", "x_orders_5.2")
        );
        assert_eq!((frames[1].item_index, frames[1].total_items), (2, 5));
    }

    #[test]
    fn it_is_short_in_the_log() {
        let lineage = Lineage::default().push(&"users".into(), 5, 100);
        let text = serde_json::to_string(&lineage).unwrap();
        assert_eq!(text, r#"[["users",5,100]]"#);
        assert_eq!(serde_json::from_str::<Lineage>(&text).unwrap(), lineage);
        let step = Step { split: "words".into(), index: 7, total: 9, first: 5 };
        assert_eq!((step.place(), step.count()), (2, 4));
        let text = serde_json::to_string(&lineage.then(step.clone())).unwrap();
        assert_eq!(text, r#"[["users",5,100],["words",7,9,5]]"#);
        assert_eq!(serde_json::from_str::<Lineage>(&text).unwrap(), lineage.then(step));
    }
}
