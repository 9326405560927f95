//! What people see, folded from events: live, when looking back, and for a recording.

mod parked;
mod state;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use engine::{Input, Plan};
use protocol::{
    AttemptFailed, Change, Echo, EdgeId, EdgeView, Event, ExecutionEnded, ExecutionPhase, ExecutionStarted,
    ExecutionStatus, ExecutionSummary, ExecutionView, Fact, Firing, Gap, Ignored, Intervened, Lineage,
    MessageId, Millis, NodeError, NodeId, NodeState, NodeView, Progress, Skipped, TimerFired, ViewPatch,
    WhyIgnored, Workflow,
};

pub use state::ViewState;

use crate::observed;
use parked::Parked;

/// Keeps the view of one execution up to date and remembers what has changed since the last patch.
pub struct ViewFold {
    view: ExecutionView,
    graph: Graph,
    running: HashSet<MessageId>,
    parked: Parked,
    /// Firings whose last attempt failed.
    retrying: HashSet<MessageId>,
    /// Nodes that began before what sent them was heard of: what is only looked at comes in any order.
    ahead: HashMap<NodeId, usize>,
    /// Joins that have heard of something and have not fired.
    barriers: BTreeMap<NodeId, HashMap<Lineage, Progress>>,
    changed_nodes: BTreeSet<NodeId>,
    changed_edges: BTreeSet<EdgeId>,
    changed: bool,
}

/// Who leads where, by id.
#[derive(Default)]
struct Graph {
    outgoing: HashMap<NodeId, Vec<EdgeId>>,
    targets: HashMap<EdgeId, NodeId>,
    /// Nodes that gather what comes before they fire.
    joins: HashSet<NodeId>,
}

impl ViewFold {
    /// The view in front of everything that happens; `None` unless the event is a start.
    pub fn begin(event: &Event) -> Option<Self> {
        let Fact::ExecutionStarted(started) = &event.fact else { return None };
        let definition: Workflow = serde_json::from_str(started.definition.text()).unwrap_or_default();
        let graph = Graph::of(&definition, observed::plan_of(started).as_deref());
        let view = ExecutionView {
            summary: summary(event, started),
            nodes: definition.nodes.iter().map(|node| (node.id.clone(), NodeView::default())).collect(),
            edges: definition.edges.iter().map(|edge| (edge.id.clone(), EdgeView::default())).collect(),
            definition,
            position: 0,
        };
        Some(Self {
            view,
            graph,
            running: HashSet::new(),
            parked: Parked::default(),
            retrying: HashSet::new(),
            ahead: HashMap::new(),
            barriers: BTreeMap::new(),
            changed_nodes: BTreeSet::new(),
            changed_edges: BTreeSet::new(),
            changed: false,
        })
    }

    /// Folds a whole recording.
    pub fn replay(events: &[Event]) -> Option<Self> {
        let mut fold = Self::begin(events.first()?)?;
        events.iter().for_each(|event| fold.apply(event));
        Some(fold)
    }

    pub fn view(&self) -> &ExecutionView {
        &self.view
    }

    /// What has happened since could not be written.
    pub fn lose(&mut self, gap: Gap) {
        self.view.summary.unkept = Some(gap);
        self.changed = true;
    }

    pub fn apply(&mut self, event: &Event) {
        self.view.position = event.seq;
        self.changed = true;
        match &event.fact {
            Fact::ExecutionStarted(started) => {
                started.starts.iter().for_each(|node| self.change_node(node, |node| node.counts.queued += 1));
            }
            Fact::NodeStarted(started) => self.start(event.at, &started.firing),
            Fact::NodeParked(parked) => self.park(&parked.firing, parked.due),
            Fact::AttemptFailed(failed) => self.try_again(failed),
            Fact::NodeSucceeded(done) => {
                self.finish(event.at, &done.firing, done.duration, None);
                let items = done.items.as_ref().and_then(|_| done.output.value()["count"].as_u64());
                self.follow(&done.firing, &done.taken, items.map_or(1, |items| items as usize));
                self.hear(&done.echo);
            }
            // It was counted when it was told without a place, and the messages that follow it.
            Fact::NodeFailed(done) if self.is_told_again(&done.error) => {
                self.unpark(&done.firing);
                self.running.remove(&done.firing.message_id);
            }
            Fact::NodeFailed(done) => {
                self.finish(event.at, &done.firing, done.duration, Some(&done.error));
                self.follow(&done.firing, &done.taken, 1);
                self.hear(&done.echo);
            }
            // The join that gave up fires next, and says so itself.
            Fact::TimedOut(_) | Fact::Prolonged(_) => {}
            Fact::Intervened(done) => self.intervene(done),
            Fact::TimerFired(fired) => self.fire(fired),
            Fact::Gathered(done) => self.hear(&done.echo),
            Fact::Missed(gap) => {
                if let Some(observed) = &mut self.view.summary.observed {
                    observed.miss(gap);
                }
            }
            Fact::ExecutionEnded(ended) => self.end(event.at, ended),
        }
    }

    /// What has changed since the last call.
    pub fn take_patch(&mut self) -> Option<ViewPatch> {
        if !std::mem::take(&mut self.changed) {
            return None;
        }
        let nodes = std::mem::take(&mut self.changed_nodes);
        let edges = std::mem::take(&mut self.changed_edges);
        Some(ViewPatch {
            execution_id: self.view.summary.execution_id.clone(),
            position: self.view.position,
            summary: self.view.summary.clone(),
            nodes: nodes
                .into_iter()
                .filter_map(|id| self.view.nodes.get(&id).map(|node| (id, node.clone())))
                .collect(),
            edges: edges
                .into_iter()
                .filter_map(|id| self.view.edges.get(&id).map(|edge| (id, *edge)))
                .collect(),
        })
    }

    /// Messages travel along an edge; a node that fires on each of them has them in its queue.
    fn queue(&mut self, edge: &EdgeId, messages: usize) {
        self.change_edge(edge, |edge| {
            edge.messages += messages;
            edge.skipped &= edge.messages == 0;
        });
        if let Some(target) =
            self.graph.targets.get(edge).filter(|target| !self.graph.joins.contains(*target)).cloned()
        {
            let ahead = self.ahead.get_mut(&target).map_or(0, |ahead| {
                let begun = messages.min(*ahead);
                *ahead -= begun;
                begun
            });
            self.change_node(&target, |node| node.counts.queued += messages - ahead);
        }
    }

    fn park(&mut self, firing: &Firing, due: Millis) {
        let is_new = self.parked.rest(&firing.node_id, &firing.message_id, due);
        let next = self.parked.next_of(&firing.node_id);
        self.change_node(&firing.node_id, |node| {
            // A moment that moves is still one rest.
            if is_new {
                node.counts.running = node.counts.running.saturating_sub(1);
                node.counts.waiting += 1;
            }
            node.due = next;
        });
    }

    /// The firing rests until its next attempt.
    fn try_again(&mut self, failed: &AttemptFailed) {
        self.park(&failed.firing, failed.due);
        self.retrying.insert(failed.firing.message_id.clone());
        self.change_node(&failed.firing.node_id, |node| {
            node.retrying += 1;
            node.busy_ms += failed.duration;
            node.error = Some(failed.error.clone());
        });
    }

    /// A firing that rested goes on.
    fn unpark(&mut self, firing: &Firing) {
        if !self.parked.go_on(&firing.node_id, &firing.message_id) {
            return;
        }
        let due = self.parked.next_of(&firing.node_id);
        let retried = self.retrying.remove(&firing.message_id);
        self.change_node(&firing.node_id, |node| {
            node.retrying -= usize::from(retried).min(node.retrying);
            node.counts.waiting = node.counts.waiting.saturating_sub(1);
            node.counts.running += 1;
            node.due = due;
        });
    }

    fn hear(&mut self, echo: &Echo) {
        for Ignored { edge_id, why, .. } in &echo.ignored {
            self.change_edge(edge_id, |edge| {
                edge.ignored += 1;
                edge.late += usize::from(*why == WhyIgnored::Late);
            });
        }
        for arrival in &echo.arrivals {
            let heard = Progress { arrived: arrival.arrived as usize, expected: arrival.expected as usize };
            let barriers = self.barriers.entry(arrival.node_id.clone()).or_default();
            let before = barriers.insert(arrival.lineage.clone(), heard).unwrap_or_default();
            self.change_node(&arrival.node_id, |node| {
                let progress = node.progress.get_or_insert_default();
                progress.arrived += heard.arrived - before.arrived.min(heard.arrived);
                progress.expected += heard.expected - before.expected.min(heard.expected);
            });
        }
        self.skip(&echo.skipped);
    }

    fn start(&mut self, at: Millis, firing: &Firing) {
        // After a crash a message starts again without having been queued again.
        let again = !self.running.insert(firing.message_id.clone());
        self.unpark(firing);
        self.open_barrier(&firing.node_id, &firing.lineage);
        let is_ahead = !again
            && self.view.summary.observed.is_some()
            && !self.graph.joins.contains(&firing.node_id)
            && self.view.nodes.get(&firing.node_id).is_some_and(|node| node.counts.queued == 0);
        if is_ahead {
            *self.ahead.entry(firing.node_id.clone()).or_default() += 1;
        }
        self.change_node(&firing.node_id, |node| {
            if !again {
                node.counts.queued = node.counts.queued.saturating_sub(1);
                node.counts.running += 1;
            }
            node.attempts = node.attempts.max(firing.attempt);
            node.started_at.get_or_insert(at);
            node.ended_at = None;
        });
    }

    fn finish(&mut self, at: Millis, firing: &Firing, duration: Millis, error: Option<&NodeError>) {
        self.unpark(firing);
        self.running.remove(&firing.message_id);
        self.change_node(&firing.node_id, |node| {
            node.counts.running = node.counts.running.saturating_sub(1);
            match error {
                Some(error) => {
                    node.counts.failed += 1;
                    node.error = Some(error.clone());
                }
                None => node.counts.success += 1,
            }
            // What went wrong on the way is of no interest once all went well.
            if node.counts.failed == 0 && node.retrying == 0 {
                node.error = None;
            }
            node.ended_at = Some(at);
            node.busy_ms += duration;
        });
    }

    /// A failure of a cluster that did not say which item it was of, and now that is known.
    fn is_told_again(&self, error: &NodeError) -> bool {
        let details = error.details.as_deref().filter(|_| self.view.summary.observed.is_some());
        details.is_some_and(|details| details["was_unplaced"] == true)
    }

    fn intervene(&mut self, done: &Intervened) {
        let firing = &done.firing;
        self.change_node(&firing.node_id, |node| *node.interventions.get_or_insert_default() += 1);
        if done.change == Change::Dropped {
            let ran = self.running.remove(&firing.message_id);
            self.open_barrier(&firing.node_id, &firing.lineage);
            self.change_node(&firing.node_id, |node| {
                let left = if ran { &mut node.counts.running } else { &mut node.counts.queued };
                *left = left.saturating_sub(1);
                node.counts.skipped += 1;
            });
            self.follow(firing, &[], 0);
        }
        self.hear(&done.echo);
    }

    /// A rest that was cut short has no moment to count down to.
    fn fire(&mut self, fired: &TimerFired) {
        let Some(message_id) = fired.message_id.clone() else { return };
        let (node_id, lineage) = (fired.node_id.clone(), fired.lineage.clone());
        self.unpark(&Firing { message_id, node_id, lineage, attempt: 1 });
    }

    /// Taken edges carry messages; the others lead nowhere any more, outside of a fan-out, where another item may still
    /// take them.
    fn follow(&mut self, firing: &Firing, taken: &[EdgeId], messages: usize) {
        taken.iter().for_each(|edge| self.queue(edge, messages));
        if firing.lineage.is_root() {
            self.close_ways(&firing.node_id);
        }
    }

    fn close_ways(&mut self, node: &NodeId) {
        for edge in self.graph.outgoing.get(node).cloned().unwrap_or_default() {
            if self.view.edges.get(&edge).is_some_and(|edge| edge.messages == 0) {
                self.change_edge(&edge, |edge| edge.skipped = true);
            }
        }
    }

    /// A join waits no longer at this key.
    fn open_barrier(&mut self, node: &NodeId, lineage: &Lineage) {
        if let Some(barriers) = self.barriers.get_mut(node) {
            barriers.remove(lineage);
        }
    }

    fn skip(&mut self, skipped: &[Skipped]) {
        for Skipped { node_id, lineage } in skipped {
            self.open_barrier(node_id, lineage);
            self.change_node(node_id, |node| node.counts.skipped += 1);
            if lineage.is_root() {
                self.close_ways(node_id);
            }
        }
    }

    fn end(&mut self, at: Millis, ended: &ExecutionEnded) {
        self.view.summary.phase = match ended.status {
            ExecutionStatus::Completed => ExecutionPhase::Completed,
            ExecutionStatus::Failed => ExecutionPhase::Failed,
            ExecutionStatus::Halted => ExecutionPhase::Halted,
        };
        self.view.summary.ended_at = Some(at);
        self.view.summary.error = ended.error.clone();
        self.running.clear();
        self.parked = Parked::default();
        self.retrying.clear();
        self.barriers.clear();
        let unfinished = |node: &NodeView| {
            !matches!(node.state, NodeState::Success | NodeState::Failed | NodeState::Skipped)
        };
        let ids: Vec<NodeId> =
            self.view.nodes.iter().filter(|(_, node)| unfinished(node)).map(|(id, _)| id.clone()).collect();
        for id in ids {
            self.change_node(&id, |node| {
                let counts = &mut node.counts;
                counts.skipped += (counts.queued + counts.running + counts.waiting).max(1);
                (counts.queued, counts.running, counts.waiting) = (0, 0, 0);
                node.due = None;
                node.retrying = 0;
                node.ended_at = node.started_at.map(|_| at);
            });
        }
    }

    fn change_node(&mut self, id: &NodeId, change: impl FnOnce(&mut NodeView)) {
        if let Some(node) = self.view.nodes.get_mut(id) {
            change(node);
            node.state = state(node, self.barriers.get(id).is_some_and(|barriers| !barriers.is_empty()));
            self.changed_nodes.insert(id.clone());
        }
    }

    fn change_edge(&mut self, id: &EdgeId, change: impl FnOnce(&mut EdgeView)) {
        if let Some(edge) = self.view.edges.get_mut(id) {
            change(edge);
            self.changed_edges.insert(id.clone());
        }
    }
}

impl Graph {
    fn of(workflow: &Workflow, plan: Option<&Plan>) -> Self {
        let mut graph = Self::default();
        for edge in &workflow.edges {
            graph.outgoing.entry(edge.src.clone()).or_default().push(edge.id.clone());
            graph.targets.insert(edge.id.clone(), edge.dst.clone());
        }
        let Some(plan) = plan else { return graph };
        let joins = |at: &usize| !matches!(plan.flow.inputs[*at], Input::Each | Input::Exclusive { .. });
        graph.joins = (0..plan.nodes.len()).filter(joins).map(|at| plan.nodes[at].id.clone()).collect();
        graph
    }
}

/// The most urgent of its firings' states.
fn state(node: &NodeView, gathers: bool) -> NodeState {
    let counts = &node.counts;
    match () {
        () if counts.running > 0 => NodeState::Running,
        () if counts.queued > 0 => NodeState::Queued,
        () if counts.waiting > 0 => NodeState::WaitingTimer,
        () if gathers => NodeState::WaitingBarrier,
        () if counts.failed > 0 => NodeState::Failed,
        () if counts.success > 0 => NodeState::Success,
        () if counts.skipped > 0 => NodeState::Skipped,
        () => NodeState::Idle,
    }
}

pub(crate) fn summary(event: &Event, started: &ExecutionStarted) -> ExecutionSummary {
    ExecutionSummary {
        execution_id: event.execution_id.clone(),
        workflow_id: started.workflow_id.clone(),
        title: started.title.clone(),
        path: started.path.clone(),
        definition_hash: started.definition_hash.clone(),
        phase: ExecutionPhase::Running,
        started_at: event.at,
        ended_at: None,
        error: None,
        origin: started.origin.clone(),
        observed: started.observed.clone(),
        unkept: None,
    }
}
