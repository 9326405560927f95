//! The timers of one execution, folded from events: what rests, what is tried again, and joins that will give up.

use std::{collections::HashMap, sync::Arc};

use engine::Plan;
use protocol::{
    Change, Echo, Event, ExecutionId, Fact, Firing, Lineage, MessageId, Millis, NodeId, TimerKeeper,
    TimerPurpose, TimerView,
};

use crate::observed;

pub struct TimerFold {
    execution_id: ExecutionId,
    title: String,
    plan: Arc<Plan>,
    has_deadlines: bool,
    keeper: TimerKeeper,
    resting: HashMap<MessageId, Resting>,
    joins: HashMap<(NodeId, Lineage), Resting>,
}

struct Resting {
    node_id: NodeId,
    lineage: Lineage,
    due: Millis,
    set_at: Millis,
    purpose: TimerPurpose,
}

impl TimerFold {
    /// `None` unless the event is a start with a definition that can be used.
    pub fn begin(event: &Event) -> Option<Self> {
        let Fact::ExecutionStarted(started) = &event.fact else { return None };
        let plan = observed::plan_of(started)?;
        Some(Self {
            execution_id: event.execution_id.clone(),
            title: started.title.clone(),
            plan,
            // Joins of a Rune cluster never give up, whatever their timeout says.
            has_deadlines: observed::can_be_followed(std::slice::from_ref(event)),
            keeper: if started.observed.is_some() { TimerKeeper::Cluster } else { TimerKeeper::Here },
            resting: HashMap::new(),
            joins: HashMap::new(),
        })
    }

    /// Folds a whole recording.
    pub fn replay(events: &[Event]) -> Option<Self> {
        let mut fold = Self::begin(events.first()?)?;
        events.iter().for_each(|event| fold.apply(event));
        Some(fold)
    }

    pub fn apply(&mut self, event: &Event) {
        match &event.fact {
            Fact::NodeParked(parked) => self.rest(event.at, &parked.firing, parked.due, TimerPurpose::Rest),
            Fact::AttemptFailed(failed) => {
                let (attempt, error) = (failed.firing.attempt + 1, failed.error.clone());
                self.rest(event.at, &failed.firing, failed.due, TimerPurpose::Retry { attempt, error });
            }
            Fact::NodeStarted(started) => self.wake(&started.firing),
            Fact::NodeSucceeded(done) => {
                self.wake(&done.firing);
                self.hear(event.at, &done.echo);
            }
            Fact::NodeFailed(done) => {
                self.wake(&done.firing);
                self.hear(event.at, &done.echo);
            }
            Fact::TimedOut(late) => {
                self.joins.remove(&(late.node_id.clone(), late.lineage.clone()));
            }
            Fact::Prolonged(join) => {
                let known = self.joins.get_mut(&(join.node_id.clone(), join.lineage.clone()));
                if let Some(known) = known {
                    (known.set_at, known.due) = (event.at, join.due);
                }
            }
            Fact::Intervened(done) => {
                if done.change == Change::Dropped {
                    self.wake(&done.firing);
                }
                self.hear(event.at, &done.echo);
            }
            Fact::TimerFired(fired) => match &fired.message_id {
                Some(id) => drop(self.resting.remove(id)),
                None => drop(self.joins.remove(&(fired.node_id.clone(), fired.lineage.clone()))),
            },
            Fact::Gathered(done) => self.hear(event.at, &done.echo),
            Fact::ExecutionEnded(_) => {
                self.resting.clear();
                self.joins.clear();
            }
            Fact::ExecutionStarted(_) | Fact::Missed(_) => {}
        }
    }

    fn rest(&mut self, set_at: Millis, firing: &Firing, due: Millis, purpose: TimerPurpose) {
        let (node_id, lineage) = (firing.node_id.clone(), firing.lineage.clone());
        self.resting.insert(firing.message_id.clone(), Resting { node_id, lineage, due, set_at, purpose });
    }

    fn wake(&mut self, firing: &Firing) {
        self.resting.remove(&firing.message_id);
        // A join that fires waits no longer.
        if !self.joins.is_empty() {
            self.joins.remove(&(firing.node_id.clone(), firing.lineage.clone()));
        }
    }

    fn hear(&mut self, at: Millis, echo: &Echo) {
        for arrival in echo.arrivals.iter().filter(|_| self.has_deadlines) {
            let node = self.plan.node(&arrival.node_id);
            let Some(timeout) = node.and_then(|node| self.plan.nodes[node].timeout) else { continue };
            let key = (arrival.node_id.clone(), arrival.lineage.clone());
            if arrival.arrived >= arrival.expected {
                self.joins.remove(&key);
                continue;
            }
            let (arrived, expected) = (arrival.arrived, arrival.expected);
            let purpose = TimerPurpose::Deadline { arrived, expected, stands: false };
            let (node_id, lineage) = key.clone();
            let due = at + timeout;
            let known = self.joins.entry(key).or_insert(Resting {
                node_id,
                lineage,
                due,
                set_at: at,
                purpose: purpose.clone(),
            });
            known.purpose = purpose;
        }
        for skipped in &echo.skipped {
            self.joins.remove(&(skipped.node_id.clone(), skipped.lineage.clone()));
        }
    }

    /// In no order.
    pub fn timers(&self) -> impl Iterator<Item = TimerView> {
        self.resting.values().chain(self.joins.values()).map(|resting| TimerView {
            execution_id: self.execution_id.clone(),
            title: self.title.clone(),
            node_id: resting.node_id.clone(),
            name: self.name_of(&resting.node_id),
            key: resting.lineage.key(),
            due: resting.due,
            set_at: resting.set_at,
            purpose: resting.purpose.clone(),
            keeper: self.keeper,
        })
    }

    fn name_of(&self, id: &NodeId) -> String {
        let name = self.plan.node(id).map(|node| self.plan.nodes[node].source.name.clone());
        name.filter(|name| !name.is_empty()).unwrap_or_else(|| id.to_string())
    }
}
