//! Every fan-out of an execution, item by item, folded from events.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

use engine::{Input, Plan};
use protocol::{
    Change, Consequence, Echo, EdgeId, Event, Fact, FanOutPlace, Firing, ItemDetail, ItemGrid, ItemNode,
    Lineage, MessageId, Millis, NodeError, NodeId, NodeState, Payload, PayloadView, Skipped,
};

use serde_json::value::RawValue;

use super::grid::{Cell, Grid, Item};

pub struct Items {
    plan: Arc<Plan>,
    shape: Shape,
    grids: HashMap<(usize, Lineage), Grid>,
    /// Messages that have begun and are not done with.
    begun: HashMap<MessageId, Phase>,
    /// Joins that have heard of something and have not fired.
    gathering: HashSet<(usize, Lineage)>,
    seq: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Running,
    Waiting,
    Retrying,
}

/// What is known of the graph before anything runs.
struct Shape {
    /// The row of each node and edge in the grid of the fan-out it stands in.
    node_rows: Vec<usize>,
    edge_rows: Vec<usize>,
    /// Nodes and edges by row, for each split.
    nodes: HashMap<usize, Vec<usize>>,
    edges: HashMap<usize, Vec<usize>>,
    /// Nodes that gather what comes before they fire.
    joins: HashSet<usize>,
}

impl Shape {
    fn of(plan: &Plan) -> Self {
        let mut shape = Self {
            node_rows: vec![0; plan.nodes.len()],
            edge_rows: vec![0; plan.edges.len()],
            nodes: HashMap::new(),
            edges: HashMap::new(),
            joins: HashSet::new(),
        };
        for (place, node) in plan.nodes.iter().enumerate() {
            if let Some(&split) = node.fires.last() {
                let rows = shape.nodes.entry(split).or_default();
                shape.node_rows[place] = rows.len();
                rows.push(place);
            }
            if !matches!(plan.flow.inputs[place], Input::Each | Input::Exclusive { .. }) {
                shape.joins.insert(place);
            }
        }
        for (place, edge) in plan.edges.iter().enumerate() {
            if let Some(&split) = edge.scope.last() {
                let rows = shape.edges.entry(split).or_default();
                shape.edge_rows[place] = rows.len();
                rows.push(place);
            }
        }
        shape
    }
}

impl Items {
    pub fn new(plan: Arc<Plan>) -> Self {
        let shape = Shape::of(&plan);
        Self { plan, shape, grids: HashMap::new(), begun: HashMap::new(), gathering: HashSet::new(), seq: 0 }
    }

    pub fn apply(&mut self, event: &Event) {
        self.seq = event.seq;
        match &event.fact {
            Fact::NodeStarted(started) => self.start(&started.firing),
            Fact::NodeParked(parked) => {
                self.rest(&parked.firing, Phase::Waiting, Cell::Waiting(parked.due));
            }
            Fact::AttemptFailed(failed) => {
                self.rest(&failed.firing, Phase::Retrying, Cell::Retrying(failed.due));
            }
            Fact::NodeSucceeded(done) => {
                self.finish(&done.firing, Cell::Success);
                match &done.items {
                    Some(items) => self.spread(&done.firing, items, &done.taken),
                    None => self.follow(&done.firing, &done.taken),
                }
                self.hear(&done.echo);
            }
            Fact::NodeFailed(done) => {
                self.finish(&done.firing, Cell::Failed);
                self.blame(&done.firing, &done.error, done.consequence);
                self.follow(&done.firing, &done.taken);
                self.hear(&done.echo);
            }
            Fact::Gathered(done) => self.hear(&done.echo),
            Fact::ExecutionEnded(_) => {
                let seq = self.seq;
                self.grids.values_mut().for_each(|grid| grid.end(seq));
            }
            Fact::Intervened(done) => {
                if done.change == Change::Dropped {
                    self.take_away(&done.firing);
                }
                self.hear(&done.echo);
            }
            Fact::ExecutionStarted(_)
            | Fact::TimedOut(_)
            | Fact::Prolonged(_)
            | Fact::TimerFired(_)
            | Fact::Missed(_) => {}
        }
    }

    fn start(&mut self, firing: &Firing) {
        let Some(node) = self.plan.node(&firing.node_id) else { return };
        let before = self.begun.insert(firing.message_id.clone(), Phase::Running);
        let gathered = self.gathering.remove(&(node, firing.lineage.clone()));
        let is_join = self.shape.joins.contains(&node);
        self.change(&firing.lineage, |item| {
            match before {
                Some(phase) => *item.count(phase) = item.count(phase).saturating_sub(1),
                None if !is_join && item.queued == 0 => item.ahead += 1,
                None if !is_join => item.queued -= 1,
                None => item.gathering = item.gathering.saturating_sub(u32::from(gathered)),
            }
            item.running += 1;
        });
        self.mark(node, &firing.lineage, Cell::Running);
    }

    fn rest(&mut self, firing: &Firing, phase: Phase, cell: Cell) {
        let before = self.begun.insert(firing.message_id.clone(), phase);
        self.change(&firing.lineage, |item| {
            if let Some(before) = before {
                *item.count(before) = item.count(before).saturating_sub(1);
            }
            *item.count(phase) += 1;
        });
        self.mark_id(&firing.node_id, &firing.lineage, cell);
    }

    fn finish(&mut self, firing: &Firing, cell: Cell) {
        let before = self.begun.remove(&firing.message_id);
        self.change(&firing.lineage, |item| {
            if let Some(before) = before {
                *item.count(before) = item.count(before).saturating_sub(1);
            }
            item.finished = true;
        });
        self.mark_id(&firing.node_id, &firing.lineage, cell);
    }

    /// A message was taken away before its work, or after it.
    fn take_away(&mut self, firing: &Firing) {
        if !self.begun.contains_key(&firing.message_id)
            && self.plan.node(&firing.node_id).is_some_and(|node| !self.shape.joins.contains(&node))
        {
            self.change(&firing.lineage, |item| item.queued = item.queued.saturating_sub(1));
        }
        self.finish(firing, Cell::Skipped);
    }

    /// An error that is the result of an item is the result of the innermost one; one that ends the execution, of all.
    fn blame(&mut self, firing: &Firing, error: &NodeError, consequence: Consequence) {
        let depth = firing.lineage.steps().len();
        let levels = match consequence {
            Consequence::GoOn => return,
            Consequence::Contained => depth.saturating_sub(1)..depth,
            Consequence::Halt => 0..depth,
        };
        let seq = self.seq;
        for level in levels {
            if let Some((grid, index)) = self.grid_at(&firing.lineage, level) {
                grid.fail(seq, index, &firing.node_id, error);
            }
        }
    }

    fn spread(&mut self, firing: &Firing, items: &Payload, taken: &[EdgeId]) {
        let Some(split) = self.plan.node(&firing.node_id) else { return };
        let elements: Result<Vec<&RawValue>, _> = serde_json::from_str(items.text());
        let total = elements.map_or(0, |elements| elements.len());
        let taken: Vec<usize> = taken.iter().filter_map(|id| self.plan.edge_of(split, id)).collect();
        let rows = |rows: &HashMap<usize, Vec<usize>>| rows.get(&split).map_or(0, Vec::len);
        let mut grid = Grid::new(total, rows(&self.shape.nodes), rows(&self.shape.edges), items.clone());
        let queued = taken.iter().filter(|&&edge| !self.shape.joins.contains(&self.plan.edges[edge].to));
        let queued = queued.count() as u32;
        for index in 0..total as u32 {
            grid.change(self.seq, index, |item| item.queued = queued);
            for &edge in &taken {
                grid.travel(self.shape.edge_rows[edge], index);
                let to = self.plan.edges[edge].to;
                if self.plan.nodes[to].fires.last() == Some(&split) {
                    grid.mark(self.shape.node_rows[to], index, Cell::Queued);
                }
            }
        }
        self.grids.insert((split, firing.lineage.clone()), grid);
        self.change(&firing.lineage, |item| item.queued += queued * total as u32);
    }

    /// Messages travel along the taken edges; a node that fires on each of them has them in its queue.
    fn follow(&mut self, firing: &Firing, taken: &[EdgeId]) {
        let plan = Arc::clone(&self.plan);
        let Some(node) = plan.node(&firing.node_id) else { return };
        for edge in taken.iter().filter_map(|id| plan.edge_of(node, id)) {
            let to = plan.edges[edge].to;
            let row = self.shape.edge_rows[edge];
            if let Some(depth) = firing.lineage.steps().len().checked_sub(1)
                && let Some((grid, index)) = self.grid_at(&firing.lineage, depth)
            {
                grid.travel(row, index);
            }
            if !self.shape.joins.contains(&to) {
                self.change(&firing.lineage, |item| match item.ahead {
                    0 => item.queued += 1,
                    _ => item.ahead -= 1,
                });
                self.mark(to, &firing.lineage, Cell::Queued);
            }
        }
    }

    fn hear(&mut self, echo: &Echo) {
        for arrival in &echo.arrivals {
            let Some(node) = self.plan.node(&arrival.node_id) else { continue };
            if self.gathering.insert((node, arrival.lineage.clone())) {
                self.change(&arrival.lineage, |item| item.gathering += 1);
                self.mark(node, &arrival.lineage, Cell::Gathering);
            }
        }
        for Skipped { node_id, lineage } in &echo.skipped {
            let Some(node) = self.plan.node(node_id) else { continue };
            let gathered = self.gathering.remove(&(node, lineage.clone()));
            self.change(lineage, |item| {
                item.gathering = item.gathering.saturating_sub(u32::from(gathered));
                item.skipped = true;
            });
            self.mark(node, lineage, Cell::Skipped);
        }
    }

    /// Changes the items that a lineage stands in, on all levels.
    fn change(&mut self, lineage: &Lineage, change: impl Fn(&mut Item)) {
        let seq = self.seq;
        for level in 0..lineage.steps().len() {
            if let Some((grid, index)) = self.grid_at(lineage, level) {
                grid.change(seq, index, &change);
            }
        }
    }

    fn mark_id(&mut self, node: &NodeId, lineage: &Lineage, cell: Cell) {
        if let Some(node) = self.plan.node(node) {
            self.mark(node, lineage, cell);
        }
    }

    fn mark(&mut self, node: usize, lineage: &Lineage, cell: Cell) {
        let row = self.shape.node_rows[node];
        let depth = self.plan.nodes[node].fires.len();
        // What is skipped on an outer level has no key of its own on this one.
        if depth == 0 || lineage.steps().len() != depth {
            return;
        }
        if let Some((grid, index)) = self.grid_at(lineage, depth - 1) {
            grid.mark(row, index, cell);
        }
    }

    fn grid_at(&mut self, lineage: &Lineage, level: usize) -> Option<(&mut Grid, u32)> {
        let step = lineage.steps().get(level)?;
        let split = self.plan.node(&step.split)?;
        let grid = self.grids.get_mut(&(split, lineage.prefix(level)))?;
        Some((grid, step.place() as u32))
    }

    /// How many items a fan-out has; `None` where it has not fired.
    pub fn total(&self, split: usize, lineage: &Lineage) -> Option<usize> {
        self.grids.get(&(split, lineage.clone())).map(Grid::len)
    }

    /// The items of a fan-out; without a total where it has not fired.
    pub fn grid(&self, execution_id: &protocol::ExecutionId, place: &FanOutPlace, since: u64) -> ItemGrid {
        let grid = self.find(place).map(|(_, grid)| grid);
        ItemGrid {
            execution_id: execution_id.clone(),
            place: place.clone(),
            position: self.seq,
            total: grid.map(|grid| grid.len() as u32),
            chunks: grid.map_or_else(Vec::new, |grid| grid.chunks(since)),
            groups: grid.map_or_else(Vec::new, |grid| grid.groups.list()),
        }
    }

    /// `None` where there is no such item. `first_at` says who came first in a race at a key, where one is won.
    pub fn detail(
        &self,
        execution_id: &protocol::ExecutionId,
        place: &FanOutPlace,
        index: u32,
        first_at: impl Fn(usize, &Lineage) -> Option<NodeId>,
    ) -> Option<ItemDetail> {
        let ((split, parent), grid) = self.find(place)?;
        let item = grid.item(index)?;
        let lineage = parent.push(&self.plan.nodes[*split].id, index, grid.len() as u32);
        let rows = |rows: &HashMap<usize, Vec<usize>>| rows.get(split).cloned().unwrap_or_default();
        let mut nodes = BTreeMap::new();
        for (row, node) in rows(&self.shape.nodes).into_iter().enumerate() {
            if let Some(seen) = seen(grid.cell(row, index)) {
                let first = first_at(node, &lineage);
                nodes.insert(self.plan.nodes[node].id.clone(), ItemNode { first, ..seen });
            }
        }
        let travelled = rows(&self.shape.edges).into_iter().enumerate();
        let travelled = travelled.filter(|(row, _)| grid.has_travelled(*row, index));
        let edges = travelled.map(|(_, edge)| self.plan.edges[edge].source.id.clone()).collect();
        let inside = self.grids.iter().filter(|((_, at), _)| *at == lineage);
        let inner = inside.map(|((split, _), grid)| (self.plan.nodes[*split].id.clone(), grid.len() as u32));
        Some(ItemDetail {
            execution_id: execution_id.clone(),
            place: place.clone(),
            index,
            key: lineage.key(),
            nodes,
            edges,
            inner: inner.collect(),
            value: grid.value(index).as_ref().map(PayloadView::of),
            error: item.error.as_deref().cloned(),
        })
    }

    fn find(&self, place: &FanOutPlace) -> Option<(&(usize, Lineage), &Grid)> {
        let split = self.plan.node(&place.split)?;
        self.grids.get_key_value(&(split, self.lineage(split, &place.parent)?))
    }

    /// The lineage of a split, by the indexes of the items it stands in. The totals are what the outer grids say.
    fn lineage(&self, split: usize, parent: &[u32]) -> Option<Lineage> {
        let scope = &self.plan.nodes[split].fires;
        if scope.len() != parent.len() {
            return None;
        }
        scope.iter().zip(parent).try_fold(Lineage::default(), |lineage, (&outer, &index)| {
            let total = self.grids.get(&(outer, lineage.clone()))?.len() as u32;
            Some(lineage.push(&self.plan.nodes[outer].id, index, total))
        })
    }
}

impl Item {
    fn count(&mut self, phase: Phase) -> &mut u32 {
        match phase {
            Phase::Running => &mut self.running,
            Phase::Waiting => &mut self.waiting,
            Phase::Retrying => &mut self.retrying,
        }
    }
}

/// `None` for a node that nothing has happened at.
fn seen(cell: Cell) -> Option<ItemNode> {
    let (state, retrying, due): (NodeState, bool, Option<Millis>) = match cell {
        Cell::Untouched => return None,
        Cell::Queued => (NodeState::Queued, false, None),
        Cell::Running => (NodeState::Running, false, None),
        Cell::Waiting(due) => (NodeState::WaitingTimer, false, Some(due)),
        Cell::Retrying(due) => (NodeState::WaitingTimer, true, Some(due)),
        Cell::Gathering => (NodeState::WaitingBarrier, false, None),
        Cell::Success => (NodeState::Success, false, None),
        Cell::Failed => (NodeState::Failed, false, None),
        Cell::Skipped => (NodeState::Skipped, false, None),
    };
    Some(ItemNode { state, retrying, due, first: None })
}
