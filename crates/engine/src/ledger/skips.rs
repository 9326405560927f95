//! Nodes that will never run at a key, for people: the engine itself needs only what joins are told.

use std::{collections::HashMap, sync::Arc};

use crate::Input;
use protocol::{Lineage, Skipped};

use super::Ledger;

/// Where several edges lead to a node that fires on each value: how many are decided, and how many of these will never
/// carry one. The node is skipped when that is all of them.
#[derive(Default)]
pub struct Ways(HashMap<(usize, Lineage), Decided>);

#[derive(Clone, Copy, Default)]
struct Decided {
    ways: usize,
    lost: usize,
}

impl Ways {
    /// True if this was the last way, and all are lost.
    fn decide(&mut self, node: usize, arriving: usize, lineage: &Lineage, lost: bool) -> bool {
        if arriving == 1 {
            return lost;
        }
        let key = (node, lineage.clone());
        let decided = self.0.entry(key.clone()).or_default();
        decided.ways += 1;
        decided.lost += usize::from(lost);
        let Decided { ways, lost } = *decided;
        if ways == arriving {
            self.0.remove(&key);
        }
        ways == arriving && lost == arriving
    }
}

impl Ledger {
    /// The node never runs at this key, and so does what hangs on it alone.
    pub(super) fn skip(&mut self, node: usize, lineage: &Lineage) {
        let plan = Arc::clone(&self.plan);
        self.note_skipped(node, lineage);
        self.skip_behind(&plan.nodes[node].leaving, lineage);
    }

    /// These edges never carry a value at this key. What hangs on them alone never runs, up to the next join: a join
    /// says itself when nothing is left to wait for.
    pub(super) fn skip_behind(&mut self, edges: &[usize], lineage: &Lineage) {
        let plan = Arc::clone(&self.plan);
        // Where a key comes more than once, the next time may go another way.
        let certain = edges.iter().copied().filter(|edge| !plan.flow.repeating.contains(edge));
        let mut dead: Vec<usize> = certain.collect();
        while let Some(edge) = dead.pop() {
            let node = plan.edges[edge].to;
            match &plan.flow.inputs[node] {
                Input::List { .. }
                | Input::Race { .. }
                | Input::Exclusive { .. }
                | Input::Join { .. }
                | Input::Collapse { .. }
                | Input::Sides { .. } => {}
                Input::Each => {
                    if self.ways.decide(node, plan.nodes[node].arriving, lineage, true) {
                        self.note_skipped(node, lineage);
                        dead.extend(&plan.nodes[node].leaving);
                    }
                }
            }
        }
    }

    /// A value reaches a node that several edges lead to.
    pub(super) fn reach(&mut self, edge: usize, lineage: &Lineage) {
        let node = self.plan.edges[edge].to;
        let arriving = self.plan.nodes[node].arriving;
        if arriving > 1 && !self.plan.flow.repeating.contains(&edge) {
            self.ways.decide(node, arriving, lineage, false);
        }
    }

    fn note_skipped(&mut self, node: usize, lineage: &Lineage) {
        let node_id = self.plan.nodes[node].id.clone();
        self.echo.skipped.push(Skipped { node_id, lineage: lineage.clone() });
    }
}
