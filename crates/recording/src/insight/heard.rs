//! Joins of an execution that was only looked at: they have said how much has arrived, and what was sent to them, and
//! what is under way, says what has not.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

use engine::Plan;
use protocol::{
    BarrierPlace, BarrierView, Echo, EdgeId, Event, ExecutionId, Fact, Firing, Lineage, MessageId, Millis,
    MissingPart, NodeId, NodeState, PartAt, Progress,
};

use super::barrier::{LISTED, PLACES, are_related, lost, not_begun, upstream, whereabouts};

/// Items that are gone through: a message of another cluster may claim to be one of any number.
const ITEMS: u32 = 100_000;

pub struct Heard {
    plan: Arc<Plan>,
    /// What has begun and is not over.
    open: HashMap<MessageId, Open>,
    /// Joins that wait, with what they have said.
    waiting: BTreeMap<(usize, Lineage), Progress>,
    /// Edges that were taken, and where.
    taken: HashSet<(usize, Lineage)>,
}

struct Open {
    node: usize,
    lineage: Lineage,
    attempt: u32,
    since: Millis,
    due: Option<Millis>,
}

impl Heard {
    pub fn new(plan: Arc<Plan>) -> Self {
        Self { plan, open: HashMap::new(), waiting: BTreeMap::new(), taken: HashSet::new() }
    }

    pub fn apply(&mut self, event: &Event) {
        match &event.fact {
            Fact::NodeStarted(started) => self.start(event.at, &started.firing),
            Fact::NodeParked(parked) => {
                if let Some(open) = self.open.get_mut(&parked.firing.message_id) {
                    open.due = Some(parked.due);
                }
            }
            Fact::NodeSucceeded(done) => {
                self.end(&done.firing, &done.taken);
                self.hear(&done.echo);
            }
            Fact::NodeFailed(done) => {
                self.end(&done.firing, &done.taken);
                self.hear(&done.echo);
            }
            Fact::Gathered(done) => self.hear(&done.echo),
            Fact::ExecutionStarted(_)
            | Fact::AttemptFailed(_)
            | Fact::TimedOut(_)
            | Fact::Prolonged(_)
            | Fact::Intervened(_)
            | Fact::TimerFired(_)
            | Fact::Missed(_)
            | Fact::ExecutionEnded(_) => {}
        }
    }

    fn start(&mut self, since: Millis, firing: &Firing) {
        let Some(node) = self.plan.node(&firing.node_id) else { return };
        self.waiting.remove(&(node, firing.lineage.clone()));
        let (lineage, attempt) = (firing.lineage.clone(), firing.attempt);
        self.open.insert(firing.message_id.clone(), Open { node, lineage, attempt, since, due: None });
    }

    fn end(&mut self, firing: &Firing, taken: &[EdgeId]) {
        self.open.remove(&firing.message_id);
        let Some(node) = self.plan.node(&firing.node_id) else { return };
        let edges = taken.iter().filter_map(|id| self.plan.edge_of(node, id));
        self.taken.extend(edges.map(|edge| (edge, firing.lineage.clone())));
    }

    fn hear(&mut self, echo: &Echo) {
        for arrival in &echo.arrivals {
            let Some(node) = self.plan.node(&arrival.node_id) else { continue };
            let said = Progress { arrived: arrival.arrived as usize, expected: arrival.expected as usize };
            self.waiting.insert((node, arrival.lineage.clone()), said);
        }
    }

    /// `total_of` says how many items a fan-out has at a key.
    pub fn barrier(
        &self,
        execution_id: &ExecutionId,
        node_id: &NodeId,
        position: u64,
        total_of: impl Fn(usize, &Lineage) -> Option<usize>,
    ) -> BarrierView {
        let node = self.plan.node(node_id);
        let waiting = self.waiting.iter().filter(|((at, _), _)| Some(*at) == node);
        let mut places: Vec<BarrierPlace> =
            waiting.map(|((at, lineage), said)| self.place(*at, lineage, *said, &total_of)).collect();
        places.sort_by_key(|place| std::cmp::Reverse(place.expected.saturating_sub(place.arrived)));
        let total = places.len();
        places.truncate(PLACES);
        let (execution_id, node_id) = (execution_id.clone(), node_id.clone());
        BarrierView { execution_id, node_id, position, places, total, winner: None, verdict: None }
    }

    fn place(
        &self,
        node: usize,
        lineage: &Lineage,
        said: Progress,
        total_of: impl Fn(usize, &Lineage) -> Option<usize>,
    ) -> BarrierPlace {
        let incoming = (0..self.plan.edges.len()).filter(|&edge| self.plan.edges[edge].to == node);
        let incoming: Vec<usize> = incoming.collect();
        let planned = &self.plan.nodes[node];
        let missing: Vec<MissingPart> = match planned.scope.last() {
            Some(&split) if planned.scope.len() > planned.fires.len() => {
                let total = total_of(split, lineage).unwrap_or(said.expected) as u32;
                self.items(&incoming, lineage, total.min(ITEMS))
            }
            _ => {
                let missing = incoming.iter().filter(|&&edge| !self.taken.contains(&(edge, lineage.clone())));
                missing.map(|&edge| self.branch(edge, lineage)).collect()
            }
        };
        BarrierPlace {
            key: lineage.key(),
            arrived: said.arrived,
            expected: said.expected,
            due: None,
            whereabouts: whereabouts(&missing),
            missing: missing.into_iter().take(LISTED).collect(),
        }
    }

    /// Items that were not sent to the join, each with what is under way inside of it.
    fn items(&self, incoming: &[usize], parent: &Lineage, total: u32) -> Vec<MissingPart> {
        let depth = parent.steps().len();
        let index = |lineage: &Lineage| {
            let step = lineage.steps().get(depth).filter(|_| lineage.prefix(depth) == *parent);
            step.map(|step| step.index)
        };
        let mut inside: HashMap<u32, &Open> = HashMap::new();
        for open in self.open.values() {
            let Some(index) = index(&open.lineage) else { continue };
            let known = inside.entry(index).or_insert(open);
            if (open.due.is_some(), open.node) < (known.due.is_some(), known.node) {
                *known = open;
            }
        }
        let (mut came, mut begun) = (HashSet::new(), HashSet::new());
        for (edge, lineage) in &self.taken {
            let Some(index) = index(lineage) else { continue };
            begun.insert(index);
            if incoming.contains(edge) && lineage.steps().len() == depth + 1 {
                came.insert(index);
            }
        }
        let at = |index: &u32| match inside.get(index) {
            Some(open) => self.part_at(open),
            None if begun.contains(index) => lost(),
            None => not_begun(),
        };
        let missing = (0..total).filter(|index| !came.contains(index));
        missing.map(|index| MissingPart::Item { index, at: at(&index) }).collect()
    }

    fn branch(&self, edge: usize, lineage: &Lineage) -> MissingPart {
        let parent = self.plan.edges[edge].from;
        let at = upstream(&self.plan, parent).into_iter().find_map(|node| {
            self.open.values().find(|open| open.node == node && are_related(&open.lineage, lineage))
        });
        MissingPart::Branch {
            edge_id: self.plan.edges[edge].source.id.clone(),
            parent: self.plan.nodes[parent].id.clone(),
            at: at.map_or_else(lost, |open| self.part_at(open)),
        }
    }

    fn part_at(&self, open: &Open) -> PartAt {
        PartAt {
            node_id: Some(self.plan.nodes[open.node].id.clone()),
            state: if open.due.is_some() { NodeState::WaitingTimer } else { NodeState::Running },
            retrying: false,
            attempt: open.attempt,
            since: Some(open.since),
            due: open.due,
        }
    }
}
