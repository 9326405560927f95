//! Keeps the views of running executions up to date and tells every host what has changed, merged by key, so that a
//! slow host gets fewer and larger updates instead of a growing queue.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use embedded::{Embedded, EmbeddedError, Lost};
use protocol::{
    ClusterView, Event, ExecutionId, ExecutionSummary, ExecutionView, Gap, Problem, ProblemCode, RunsOn,
    TimerKeeper, TimerPurpose, TimerView, Update, ViewPatch, WaitBoard, WorkflowEntry,
};
use recording::{TimerFold, ViewFold};
use runtime::{Gate, LineError, Workshop};
use tokio::sync::{Notify, mpsc, watch};

use crate::problem::from_engine;

/// The shortest time between two updates of one host: sixty a second.
const PACE: Duration = Duration::from_millis(16);

/// Timers that are told of at once.
const LISTED_TIMERS: usize = 1_000;

pub struct Live {
    state: Mutex<State>,
    /// Told when an execution has ended.
    gate: Gate,
}

#[derive(Default)]
struct State {
    folds: HashMap<ExecutionId, ViewFold>,
    timers: HashMap<ExecutionId, TimerFold>,
    outboxes: Vec<Weak<Outbox>>,
    trouble: Option<Problem>,
    /// What went wrong with looking into a cluster; the work here goes on.
    cluster_trouble: Option<Problem>,
    /// What could not be written, by the execution it belongs to.
    unkept: BTreeMap<ExecutionId, Gap>,
}

/// What one host has not heard yet.
#[derive(Default)]
struct Outbox {
    pending: Mutex<Pending>,
    arrived: Notify,
}

#[derive(Default)]
struct Pending {
    workflows: Option<Vec<WorkflowEntry>>,
    executions: BTreeMap<ExecutionId, ViewPatch>,
    control: bool,
    /// Absent where nothing has changed.
    cluster: Option<Option<Box<ClusterView>>>,
    forgotten: Vec<ExecutionId>,
    trouble: Option<Problem>,
}

/// One host's ear.
pub struct Subscription {
    outbox: Arc<Outbox>,
    paced: Option<tokio::time::Instant>,
}

impl Live {
    pub fn follow(mut feed: mpsc::Receiver<Arc<Vec<Event>>>, gate: Gate) -> Arc<Self> {
        let changes = gate.changes();
        let live = Arc::new(Self { state: Mutex::default(), gate });
        if let Some(changes) = changes {
            tokio::spawn(tell_of_control(Arc::downgrade(&live), changes));
        }
        let follower = Arc::clone(&live);
        tokio::spawn(async move {
            while let Some(group) = feed.recv().await {
                follower.take_in(&group);
            }
        });
        live
    }

    /// Lets the engine work; if it breaks, every host is told.
    pub fn work(self: &Arc<Self>, engine: Arc<Embedded>, workshop: Workshop, workers: usize) {
        let live = Arc::clone(self);
        tokio::spawn(async move {
            if let Err(error) = runtime::work(engine, workshop, workers).await {
                if let LineError::Backend(error @ EmbeddedError::Unkept { of, .. }) = &error {
                    live.lose(of, &error.to_string());
                }
                live.report(match error {
                    LineError::Backend(error) => from_engine(&error),
                    LineError::Worker(message) => {
                        Problem::new(ProblemCode::Infrastructure, message, "start again")
                    }
                });
            }
        });
    }

    /// Takes over the view of an execution that began in an earlier process.
    pub fn adopt(&self, fold: Option<ViewFold>, timers: Option<TimerFold>) {
        if let Some(mut fold) = fold {
            // Its past is in the store; hosts are told of what happens from now on.
            let _ = fold.take_patch();
            let id = fold.view().summary.execution_id.clone();
            let mut state = self.lock();
            state.timers.extend(timers.map(|timers| (id.clone(), timers)));
            state.folds.insert(id, fold);
        }
    }

    /// Everything that waits for a moment, the first due first. What was seen on a cluster says more about a timer than
    /// the events that tell of it.
    pub fn waits(&self, runs_on: RunsOn, queued: usize, seen: Vec<TimerView>) -> WaitBoard {
        let (mut timers, working) = {
            let state = self.lock();
            let timers: Vec<TimerView> = state.timers.values().flat_map(TimerFold::timers).collect();
            (timers, state.trouble.is_none())
        };
        // The events of a cluster that is kept here look like our own, and its timers are not.
        if runs_on == RunsOn::Cluster {
            timers.iter_mut().for_each(|timer| timer.keeper = TimerKeeper::Cluster);
        }
        let place =
            |timer: &TimerView| (timer.execution_id.clone(), timer.node_id.clone(), timer.key.clone());
        let known: HashSet<_> = seen.iter().map(place).collect();
        timers.retain(|timer| !known.contains(&place(timer)));
        timers.extend(seen);
        timers.sort_by(|left, right| {
            (left.due, &left.execution_id, &left.node_id, &left.key).cmp(&(
                right.due,
                &right.execution_id,
                &right.node_id,
                &right.key,
            ))
        });
        let total = timers.len();
        timers.truncate(LISTED_TIMERS);
        for timer in &mut timers {
            if let TimerPurpose::Deadline { stands, .. } = &mut timer.purpose {
                *stands = self.gate.stands(&timer.execution_id);
            }
        }
        WaitBoard { timers, total, queued, working }
    }

    pub fn view(&self, id: &ExecutionId) -> Option<ExecutionView> {
        self.lock().folds.get(id).map(|fold| fold.view().clone())
    }

    /// Executions under way that were started from this file.
    pub fn running_from(&self, path: &str) -> Vec<ExecutionId> {
        let state = self.lock();
        let is_from = |fold: &&ViewFold| fold.view().summary.path.as_deref() == Some(path);
        state.folds.values().filter(is_from).map(|fold| fold.view().summary.execution_id.clone()).collect()
    }

    pub fn subscribe(&self) -> Subscription {
        let outbox = Arc::new(Outbox::default());
        let mut state = self.lock();
        let trouble = state.trouble.as_ref().or(state.cluster_trouble.as_ref());
        outbox.change(|pending| pending.trouble = trouble.cloned());
        state.outboxes.push(Arc::downgrade(&outbox));
        Subscription { outbox, paced: None }
    }

    pub fn workflows_changed(&self, workflows: &[WorkflowEntry]) {
        self.lock().tell(|pending| pending.workflows = Some(workflows.to_vec()));
    }

    /// Takes in what was seen of executions that run elsewhere.
    pub fn observe(&self, events: &[Event]) {
        self.take_in(events);
    }

    /// Stops to follow executions that run elsewhere, and to tell what went wrong with that.
    pub fn forget_observed(&self) {
        let mut state = self.lock();
        state.cluster_trouble = None;
        state.folds.retain(|_, fold| fold.view().summary.observed.is_none());
        let State { folds, timers, .. } = &mut *state;
        timers.retain(|id, _| folds.contains_key(id));
    }

    /// These are not kept any more. What was to be said of them before is said no more.
    pub fn forget(&self, executions: &[ExecutionId]) {
        if executions.is_empty() {
            return;
        }
        self.lock().tell(|pending| {
            executions.iter().for_each(|id| drop(pending.executions.remove(id)));
            pending.forgotten.extend_from_slice(executions);
        });
    }

    pub fn cluster_changed(&self, view: Option<ClusterView>) {
        let view = view.map(Box::new);
        self.lock().tell(|pending| pending.cluster = Some(view.clone()));
    }

    pub fn report(&self, problem: Problem) {
        tracing::error!(code = ?problem.code, "{}", problem.message);
        let mut state = self.lock();
        state.trouble = Some(problem.clone());
        state.tell(|pending| pending.trouble = Some(problem.clone()));
    }

    /// Looking into a cluster has come to an end by itself. Who comes later hears of it until nobody looks any more.
    pub fn report_of_cluster(&self, problem: Problem) {
        tracing::error!(code = ?problem.code, "{}", problem.message);
        let mut state = self.lock();
        state.cluster_trouble = Some(problem.clone());
        state.tell(|pending| pending.trouble = Some(problem.clone()));
    }

    /// The end of these executions could not be written: whoever shows them shows a gap there.
    fn lose(&self, of: &BTreeMap<ExecutionId, Lost>, why: &str) {
        let mut state = self.lock();
        let gap =
            |lost: &Lost| Gap { from: lost.since, until: None, dropped: lost.events, why: why.to_owned() };
        state.unkept = of.iter().map(|(id, lost)| (id.clone(), gap(lost))).collect();
        of.keys().for_each(|id| self.tell_of(&mut state, id));
    }

    fn take_in(&self, group: &[Event]) {
        let mut state = self.lock();
        let mut touched: BTreeSet<&ExecutionId> = BTreeSet::new();
        for event in group {
            if let Some(fold) = ViewFold::begin(event) {
                state.folds.insert(event.execution_id.clone(), fold);
            }
            if let Some(fold) = state.folds.get_mut(&event.execution_id) {
                fold.apply(event);
            }
            if let Some(timers) = TimerFold::begin(event) {
                state.timers.insert(event.execution_id.clone(), timers);
            }
            if let Some(timers) = state.timers.get_mut(&event.execution_id) {
                timers.apply(event);
            }
            touched.insert(&event.execution_id);
        }
        touched.into_iter().for_each(|id| self.tell_of(&mut state, id));
    }

    /// Tells hosts what has changed in an execution.
    fn tell_of(&self, state: &mut State, id: &ExecutionId) {
        let State { folds, unkept, .. } = state;
        let Some(fold) = folds.get_mut(id) else { return };
        if let Some(gap) = unkept.get(id) {
            fold.lose(gap.clone());
        }
        let Some(patch) = fold.take_patch() else { return };
        if patch.summary.ended_at.is_some() {
            state.folds.remove(id);
            state.timers.remove(id);
            self.gate.finish(id);
        }
        state.tell(|pending| match pending.executions.get_mut(id) {
            Some(earlier) => earlier.absorb(patch.clone()),
            None => {
                pending.executions.insert(id.clone(), patch.clone());
            }
        });
    }

    /// Puts in what is known of executions besides what the store says of them.
    pub fn complete(&self, listed: &mut [ExecutionSummary]) {
        let state = self.lock();
        for summary in listed {
            summary.unkept = state.unkept.get(&summary.execution_id).cloned();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Hosts hear that what is held has changed; what it is they ask for.
async fn tell_of_control(live: Weak<Live>, mut changes: watch::Receiver<u64>) {
    while changes.changed().await.is_ok() {
        let Some(live) = live.upgrade() else { return };
        live.lock().tell(|pending| pending.control = true);
    }
}

impl State {
    fn tell(&mut self, change: impl Fn(&mut Pending)) {
        self.outboxes.retain(|outbox| match outbox.upgrade() {
            Some(outbox) => {
                outbox.change(&change);
                true
            }
            None => false,
        });
    }
}

impl Outbox {
    fn change(&self, change: impl FnOnce(&mut Pending)) {
        change(&mut self.pending.lock().unwrap_or_else(PoisonError::into_inner));
        self.arrived.notify_one();
    }

    fn take(&self) -> Vec<Update> {
        let pending = std::mem::take(&mut *self.pending.lock().unwrap_or_else(PoisonError::into_inner));
        let workflows = pending.workflows.map(Update::Workflows);
        let executions = pending.executions.into_values().map(|patch| Update::Execution(Box::new(patch)));
        let control = pending.control.then_some(Update::Control);
        let cluster = pending.cluster.map(Update::Cluster);
        let trouble = pending.trouble.map(Update::Trouble);
        // In front of what begins anew.
        let forgotten = Some(pending.forgotten).filter(|gone| !gone.is_empty()).map(Update::Forgotten);
        workflows
            .into_iter()
            .chain(forgotten)
            .chain(executions)
            .chain(control)
            .chain(cluster)
            .chain(trouble)
            .collect()
    }
}

impl Subscription {
    /// Waits for news and hands over all of it.
    pub async fn next(&mut self) -> Vec<Update> {
        loop {
            self.outbox.arrived.notified().await;
            if let Some(earliest) = self.paced {
                tokio::time::sleep_until(earliest).await;
            }
            let updates = self.outbox.take();
            if !updates.is_empty() {
                self.paced = Some(tokio::time::Instant::now() + PACE);
                return updates;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Clock, Keep, Options, Reach, Session};

    #[tokio::test]
    async fn trouble_with_a_cluster_is_over_with_looking() {
        let (keep, clock, reach) = (Keep::Nowhere, Clock::system(), Reach::default());
        let options = Options { keep, folder: None, clock, recover: false, reach };
        let session = Session::open(options).await.unwrap();
        let live = &session.live;
        let trouble = |of: &str| Update::Trouble(Problem::new(ProblemCode::StoreFull, of, "make room"));
        let told_to_the_next = || live.subscribe().outbox.take();
        let hears = live.subscribe();
        live.report_of_cluster(Problem::new(ProblemCode::StoreFull, "the cluster", "make room"));
        assert_eq!(hears.outbox.take(), [trouble("the cluster")]);
        assert_eq!(told_to_the_next(), [trouble("the cluster")]);
        assert!(live.waits(RunsOn::Here, 0, Vec::new()).working, "the work here goes on");
        live.forget_observed();
        assert_eq!(told_to_the_next(), []);
        // What is wrong here is not over with that.
        live.report(Problem::new(ProblemCode::StoreFull, "here", "make room"));
        live.forget_observed();
        assert_eq!(told_to_the_next(), [trouble("here")]);
        assert!(!live.waits(RunsOn::Here, 0, Vec::new()).working);
    }

    #[tokio::test]
    async fn timers_of_a_cluster_that_is_kept_here_are_the_clusters() {
        let (keep, clock, reach) = (Keep::Nowhere, Clock::system(), Reach::default());
        let options = Options { keep, folder: None, clock, recover: false, reach };
        let session = Session::open(options).await.unwrap();
        let text = r#"{"nodes": [{"id": "t", "type": "trigger", "parameters": {}},
            {"id": "w", "type": "wait", "parameters": {"mode": "interval", "amount": 1, "unit": "days"}}],
            "edges": [{"id": "e", "src": "t", "dst": "w"}]}"#;
        let plan = crate::runnable(engine::load(text.as_bytes(), &engine::Limits::default()), "it").unwrap();
        let mut hears = session.subscribe();
        session.start(plan, "rests", None, None).await.unwrap();
        let live = &session.live;
        while live.waits(RunsOn::Here, 0, Vec::new()).total == 0 {
            hears.next().await;
        }
        let keepers = |runs_on| -> Vec<TimerKeeper> {
            live.waits(runs_on, 0, Vec::new()).timers.iter().map(|timer| timer.keeper).collect()
        };
        assert_eq!(keepers(RunsOn::Here), [TimerKeeper::Here]);
        assert_eq!(keepers(RunsOn::Cluster), [TimerKeeper::Cluster]);
    }
}
