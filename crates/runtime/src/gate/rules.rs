//! How far stepping goes: rules about who is held next and who passes. The newest rule that knows a message decides.
//!
//! A node fires once per key, so a rule that has done its part does no harm afterwards.

use std::collections::BTreeSet;

use engine::{Message, Plan};
use protocol::{Lineage, NodeId};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Rule {
    /// The nodes it is about.
    nodes: BTreeSet<NodeId>,
    /// What is inside of this, or what this is inside of.
    around: Lineage,
    depth: Depth,
    pub verdict: Verdict,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Verdict {
    Hold,
    Pass,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Depth {
    Any,
    AtMost(usize),
    MoreThan(usize),
}

impl Rule {
    pub fn knows(&self, plan: &Plan, message: &Message) -> bool {
        let levels = message.lineage.steps().len();
        let is_deep_enough = match self.depth {
            Depth::Any => true,
            Depth::AtMost(most) => levels <= most,
            Depth::MoreThan(least) => levels > least,
        };
        is_deep_enough
            && self.nodes.contains(&plan.nodes[message.node].id)
            && touches(&self.around, &message.lineage)
    }

    /// What follows from this message is held at its next node.
    pub fn step(plan: &Plan, message: &Message) -> Vec<Self> {
        let next = plan.nodes[message.node].leaving.iter().map(|&edge| plan.edges[edge].to);
        vec![Self {
            nodes: ids(plan, next),
            around: message.lineage.clone(),
            depth: Depth::Any,
            verdict: Verdict::Hold,
        }]
    }

    /// The same, but what is inside of fan-outs behind it passes.
    pub fn over(plan: &Plan, message: &Message) -> Vec<Self> {
        Self::around(plan, message, &message.lineage)
    }

    /// The item passes; where its fan-out is gathered, somebody is held.
    pub fn to_barrier(plan: &Plan, message: &Message) -> Vec<Self> {
        let mut rules = Self::around(plan, message, &message.lineage.parent());
        rules.iter_mut().filter(|rule| rule.verdict == Verdict::Pass).for_each(|rule| {
            rule.around = message.lineage.clone();
        });
        rules
    }

    /// Whoever comes to this node is held.
    pub fn to_node(node: &NodeId) -> Self {
        let (nodes, around) = (BTreeSet::from([node.clone()]), Lineage::default());
        Self { nodes, around, depth: Depth::Any, verdict: Verdict::Hold }
    }

    fn around(plan: &Plan, message: &Message, base: &Lineage) -> Vec<Self> {
        let behind = plan.downstream(message.node).into_iter().filter(|node| *node != message.node);
        let nodes = ids(plan, behind);
        let levels = base.steps().len();
        let rule = |depth, verdict| Self { nodes: nodes.clone(), around: base.clone(), depth, verdict };
        vec![rule(Depth::AtMost(levels), Verdict::Hold), rule(Depth::MoreThan(levels), Verdict::Pass)]
    }
}

fn ids(plan: &Plan, nodes: impl Iterator<Item = usize>) -> BTreeSet<NodeId> {
    nodes.map(|node| plan.nodes[node].id.clone()).collect()
}

/// One of the two is inside the other, or they are the same.
fn touches(one: &Lineage, other: &Lineage) -> bool {
    one.steps().iter().zip(other.steps()).all(|(one, other)| one == other)
}
