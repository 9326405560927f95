//! Nodes that will never run at a key, for people: the engine itself needs only what joins are told.

use std::{collections::HashMap, sync::Arc};

use engine::Input;
use protocol::{Lineage, Skipped};

use super::Ledger;

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
        let mut dead: Vec<usize> = edges.to_vec();
        let mut ways_lost: HashMap<usize, usize> = HashMap::new();
        while let Some(edge) = dead.pop() {
            let node = plan.edges[edge].to;
            match &plan.flow.inputs[node] {
                Input::List { .. }
                | Input::Race { .. }
                | Input::Exclusive { .. }
                | Input::Collapse { .. } => {}
                Input::Each => {
                    let lost = ways_lost.entry(node).or_insert(0);
                    *lost += 1;
                    if *lost == plan.nodes[node].arriving {
                        self.note_skipped(node, lineage);
                        dead.extend(&plan.nodes[node].leaving);
                    }
                }
            }
        }
    }

    fn note_skipped(&mut self, node: usize, lineage: &Lineage) {
        let node_id = self.plan.nodes[node].id.clone();
        self.echo.skipped.push(Skipped { node_id, lineage: lineage.clone() });
    }
}
