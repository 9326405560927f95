//! Who came first where a join takes the first that comes.

use std::{collections::HashMap, sync::Arc};

use engine::{Input, Plan};
use protocol::{EdgeId, Event, Fact, Firing, Lineage, NodeId};

/// A race has one winner at each of its keys. An error that the author has dealt with comes first like any other value;
/// one that nobody has dealt with ends the execution, or comes in only where nobody else does.
pub struct Races {
    plan: Arc<Plan>,
    /// By join and key. What comes from outside of a fan-out, or from the split itself, is there for all of its items.
    came: HashMap<(usize, Lineage), Came>,
    /// Something went by unseen: whoever is heard of now may not be the first.
    is_unsure: bool,
}

/// The first at a key.
struct Came {
    seq: u64,
    /// Absent where nobody came, and the race gave up.
    from: Option<usize>,
}

impl Races {
    pub fn new(plan: Arc<Plan>) -> Self {
        Self { plan, came: HashMap::new(), is_unsure: false }
    }

    pub fn apply(&mut self, event: &Event) {
        match &event.fact {
            Fact::ExecutionStarted(started) => {
                self.is_unsure = started.observed.as_ref().is_some_and(|observed| observed.joined_late);
            }
            Fact::Missed(_) => self.is_unsure = true,
            Fact::NodeSucceeded(done) => self.take(event.seq, &done.firing, &done.taken),
            Fact::NodeFailed(done) => self.take(event.seq, &done.firing, &done.taken),
            Fact::TimedOut(late) => {
                if let Some(node) = self.plan.node(&late.node_id) {
                    self.note(node, &late.lineage, Came { seq: event.seq, from: None });
                }
            }
            Fact::NodeStarted(_)
            | Fact::NodeParked(_)
            | Fact::AttemptFailed(_)
            | Fact::Gathered(_)
            | Fact::Prolonged(_)
            | Fact::Intervened(_)
            | Fact::TimerFired(_)
            | Fact::ExecutionEnded(_) => {}
        }
    }

    fn take(&mut self, seq: u64, firing: &Firing, taken: &[EdgeId]) {
        let Some(source) = self.plan.node(&firing.node_id).filter(|_| !self.is_unsure) else { return };
        let plan = Arc::clone(&self.plan);
        for edge in taken.iter().filter_map(|id| plan.edge_of(source, id)) {
            self.note(plan.edges[edge].to, &firing.lineage, Came { seq, from: Some(source) });
        }
    }

    fn note(&mut self, node: usize, lineage: &Lineage, came: Came) {
        let is_race = matches!(self.plan.flow.inputs[node], Input::Race { .. });
        if is_race && lineage.steps().len() <= self.plan.nodes[node].fires.len() {
            self.came.entry((node, lineage.clone())).or_insert(came);
        }
    }

    /// Of a race outside every fan-out.
    pub fn winner(&self, node: &NodeId) -> Option<NodeId> {
        self.first_at(self.plan.node(node)?, &Lineage::default())
    }

    /// Nobody where there is no race at this key, or it is not won yet.
    pub fn first_at(&self, node: usize, lineage: &Lineage) -> Option<NodeId> {
        let depth = lineage.steps().len();
        if self.plan.nodes[node].fires.len() != depth {
            return None;
        }
        let came = (0..=depth).filter_map(|level| self.came.get(&(node, lineage.prefix(level))));
        let first = came.min_by_key(|came| came.seq)?.from?;
        Some(self.plan.nodes[first].id.clone())
    }
}
