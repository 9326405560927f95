//! Holding, stepping and changing executions of this session's own engine.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use engine::{Message, Output, Plan, Work};
use protocol::{
    Change, Command, ControlError, ControlView, Controls, Event, ExecutionId, Millis, NodeError, NodeId,
    Problem, ProblemCode, RunOptions, StaleNode,
};
use recording::fork::Past;
use runtime::{Answers, Mocks, Settings, check_breakpoint};

use crate::{
    Session,
    problem::{from_control, from_store},
    unknown,
    workplace::not_running,
};

/// The recorded answers of a parent, at the gate.
pub struct Recorded(pub Past);

impl Answers for Recorded {
    fn change(&self, plan: &Plan, message: &Message) -> Option<Change> {
        self.0.change(plan, message)
    }

    fn is_past(&self, plan: &Plan, message: &Message) -> bool {
        self.0.is_past(plan, message)
    }

    fn answer(&self, plan: &Plan, message: &Message, work: &Work) -> Option<Result<Output, NodeError>> {
        self.0.answer(plan, message, work)
    }
}

/// Why an execution has come to rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    Ended,
    /// Everything that could go on is held, or there is nothing but timers.
    Still {
        held: usize,
        next_due: Option<Millis>,
    },
}

impl Session {
    /// Breakpoints, pins and mocks of a workflow.
    pub async fn controls(&self, path: &str) -> Result<Controls, Problem> {
        self.store.controls(path).await.map_err(|error| from_store(&error))
    }

    /// Keeps them; executions of the workflow that are under way heed them from now on.
    pub async fn set_controls(&self, path: &str, controls: Controls) -> Result<(), Problem> {
        let kept = self.store.controls(path).await.map_err(|error| from_store(&error))?;
        if let Some(library) = &self.library
            && let Ok(loaded) = library.load(path)
            && let Some(plan) = loaded.plan
        {
            check(&plan, &fresh(&controls, &kept))?;
        }
        self.store
            .set_controls(path, &controls, self.clock.now())
            .await
            .map_err(|error| from_store(&error))?;
        for id in self.live.running_from(path) {
            self.gate.attach(&id, |settings| heed(settings, controls.clone()));
        }
        Ok(())
    }

    /// What is held of an execution.
    pub async fn held(&self, id: &ExecutionId) -> Result<ControlView, Problem> {
        let mut view = self.gate.view(id);
        view.stale = self.stale(id).await?;
        Ok(view)
    }

    /// Follows a command about an execution that is under way here.
    pub async fn control(&self, id: &ExecutionId, command: &Command) -> Result<ControlView, Problem> {
        self.check_ours(id).await?;
        if !self.is_running(id) {
            return Err(not_running(id));
        }
        match command {
            Command::FireTimer { node_id, key } => self.fire(id, Some((node_id, key))).await?,
            Command::NextTimer => self.fire(id, None).await?,
            Command::Pause
            | Command::PauseNode { .. }
            | Command::ResumeNode { .. }
            | Command::Continue
            | Command::Release { .. }
            | Command::Step { .. }
            | Command::StepOver { .. }
            | Command::ToBarrier { .. }
            | Command::RunTo { .. }
            | Command::Edit { .. }
            | Command::Drop { .. }
            | Command::Duplicate { .. } => {
                let followed = self.gate.command(id, command);
                if !self.is_running(id) {
                    // It ended while it was spoken of; nobody else will say so to the gate.
                    self.gate.finish(id);
                }
                followed.map_err(|error| from_control(&error))?;
                self.keep_holds().await?;
            }
        }
        self.held(id).await
    }

    async fn fire(
        &self,
        id: &ExecutionId,
        wanted: Option<(&NodeId, &protocol::LineageKey)>,
    ) -> Result<(), Problem> {
        match self.engine.fire_timer(id, wanted).await? {
            true => Ok(()),
            false => {
                let hint = "look at what waits for a moment; it may have fired already";
                Err(Problem::new(ProblemCode::NotFound, "there is no such timer", hint))
            }
        }
    }

    /// True while it is under way here.
    pub fn is_running(&self, id: &ExecutionId) -> bool {
        self.engine.is_running(id)
    }

    /// True if it may be held.
    pub fn is_controlled(&self, id: &ExecutionId) -> bool {
        self.gate.is_controlled(id)
    }

    /// Lets everything of an execution go on to its end, past all breakpoints.
    pub async fn let_go(&self, id: &ExecutionId) -> Result<(), Problem> {
        self.gate.attach(id, |settings| settings.breakpoints.clear());
        match self.is_running(id) {
            true => self.control(id, &Command::Continue).await.map(drop),
            false => Ok(()),
        }
    }

    /// Whoever has been told that something is held finds it held after a restart.
    async fn keep_holds(&self) -> Result<(), Problem> {
        self.holds.keep().await.map_err(|error| from_store(&error))
    }

    /// Everything that was recorded of an execution, up to this moment.
    pub async fn recorded(&self, id: &ExecutionId) -> Result<Vec<Event>, Problem> {
        self.engine.flush(id).await?;
        crate::events(&self.store, id).await
    }

    /// Waits until nothing of an execution moves any more.
    pub async fn until_rest(&self, id: &ExecutionId) -> Result<Rest, Problem> {
        let mut feed = self.engine.feed();
        let (mut changes, mut sleepers) = (self.gate.changes(), self.clock.sleepers());
        loop {
            let Some(now) = self.engine.at_rest(id).await? else { return Ok(Rest::Ended) };
            let held = self.gate.held_count(id);
            // A simulated clock stands still while something is held: who sleeps by it does not move either.
            let asleep = if held > 0 { self.clock.asleep() } else { 0 };
            let is_still = (now.ready == 0 && now.in_hand <= held + asleep) || self.gate.is_full();
            // Both were looked at one after the other; they belong together if nothing has happened in between.
            if is_still && self.engine.at_rest(id).await? == Some(now) {
                return Ok(Rest::Still { held, next_due: now.next_due });
            }
            let goes_on = tokio::select! {
                group = feed.recv() => group.is_some(),
                changed = rings(&mut changes) => changed,
                changed = rings(&mut sleepers) => changed,
            };
            if !goes_on {
                return Err(self.until_trouble().await);
            }
        }
    }

    /// What is set for an execution before it starts. Nothing is attached where nothing is set.
    pub(crate) async fn prepare_gate(
        &self,
        id: &ExecutionId,
        plan: &Plan,
        path: Option<&str>,
        past: Option<Past>,
        options: &RunOptions,
    ) -> Result<(), Problem> {
        let controls = match path {
            Some(path) => self.controls(path).await?,
            None => Controls::default(),
        };
        let only = match &options.until {
            Some(node) => Some(leading_to(plan, node)?),
            None => None,
        };
        let paused = options.paused == Some(true);
        if controls.is_empty() && past.is_none() && only.is_none() && !paused {
            return Ok(());
        }
        let past = past.map(|past| Arc::new(Recorded(past)) as Arc<dyn Answers>);
        self.gate.attach(id, |settings| {
            heed(settings, controls);
            settings.past = past;
            settings.only = only;
        });
        if paused {
            self.gate.command(id, &Command::Pause).map_err(|error| from_control(&error))?;
        }
        self.keep_holds().await
    }

    /// Nodes behind pins and mocks that are not those the execution has worked with, each with the nearest of them in the
    /// order of the plan.
    async fn stale(&self, id: &ExecutionId) -> Result<Vec<StaleNode>, Problem> {
        let Ok(view) = self.execution(id).await else { return Err(unknown(id)) };
        let Some(path) = &view.summary.path else { return Ok(Vec::new()) };
        let (started, ended) = (view.summary.started_at, view.summary.ended_at);
        let changed = self.store.mocks_differing(path, started, ended).await;
        let changed = changed.map_err(|error| from_store(&error))?;
        if changed.is_empty() {
            return Ok(Vec::new());
        }
        let definition = serde_json::to_vec(&view.definition).unwrap_or_default();
        let Some(plan) = engine::load_once(&definition).plan else { return Ok(Vec::new()) };
        let mocks = self.controls(path).await?.mocks;
        let mut blamed: BTreeMap<usize, usize> = BTreeMap::new();
        let mut causes: Vec<usize> = changed.iter().filter_map(|node| plan.node(node)).collect();
        // The last one to speak is the nearest.
        causes.sort_unstable();
        for &cause in &causes {
            blamed.extend(plan.downstream(cause).into_iter().map(|node| (node, cause)));
        }
        blamed.extend(causes.iter().map(|&cause| (cause, cause)));
        let told = |(node, cause): (usize, usize)| {
            let because = plan.nodes[cause].id.clone();
            let removed = mocks.iter().all(|mock| mock.node_id != because);
            StaleNode { node_id: plan.nodes[node].id.clone(), because, removed }
        };
        Ok(blamed.into_iter().map(told).collect())
    }
}

/// Waits for a ring; for ever where there is no bell.
async fn rings(bell: &mut Option<tokio::sync::watch::Receiver<u64>>) -> bool {
    match bell {
        Some(bell) => bell.changed().await.is_ok(),
        None => std::future::pending().await,
    }
}

pub(crate) fn heed(settings: &mut Settings, controls: Controls) {
    settings.breakpoints = controls.breakpoints;
    settings.mocks = Arc::new(Mocks::new(controls.mocks));
}

/// What was not kept before. What a file has lost since must not keep anybody from setting something else.
fn fresh(controls: &Controls, kept: &Controls) -> Controls {
    let breakpoints = controls.breakpoints.iter().filter(|it| !kept.breakpoints.contains(it));
    let mocks = controls.mocks.iter().filter(|it| !kept.mocks.contains(it));
    Controls { breakpoints: breakpoints.cloned().collect(), mocks: mocks.cloned().collect() }
}

/// Says what is wrong with breakpoints and mocks for this workflow, if anything.
pub fn check(plan: &Plan, controls: &Controls) -> Result<(), Problem> {
    let breakpoints = controls.breakpoints.iter().map(|breakpoint| check_breakpoint(plan, breakpoint));
    let mocks = controls.mocks.iter().map(|mock| Mocks::check(plan, mock));
    let first: Option<ControlError> = breakpoints.chain(mocks).find_map(Result::err);
    first.map_or(Ok(()), |error| Err(from_control(&error)))
}

/// A node and everything that leads to it.
pub(crate) fn leading_to(plan: &Plan, node: &NodeId) -> Result<Vec<NodeId>, Problem> {
    let Some(at) = plan.node(node) else {
        let message = format!("there is no node {node} in the workflow");
        return Err(Problem::new(ProblemCode::NotFound, message, "name a node by its id"));
    };
    Ok(plan.upstream(at).into_iter().map(|node| plan.nodes[node].id.clone()).collect())
}

/// The file of a workflow as its controls are kept under.
pub fn controls_key(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}
