//! Executions that take their past from another one.

use std::sync::Arc;

use engine::Plan;
use protocol::{
    Again, Event, ExecutionId, ExecutionStarted, Fact, Firing, ForkBranch, ForkEdit, ForkPlace, ForkPoint,
    ForkPreview, ForkWish, Millis, NodeId, Origin, Payload, PayloadView, Problem, ProblemCode, RunOptions,
};
use recording::{
    Ledger, Store,
    fork::{ForkError, Past, preview},
};

use crate::{
    Session, Started, events,
    problem::{from_ledger, from_store},
};

/// The parent's part of a fork.
struct Parent {
    started: ExecutionStarted,
    plan: Arc<Plan>,
    origin: Origin,
    past: Past,
}

impl Session {
    /// What can be changed at an event.
    pub async fn fork_point(&self, id: &ExecutionId, position: u64) -> Result<ForkPoint, Problem> {
        let recorded = crate::until(self.recorded(id).await?, Some(position));
        let last = recorded.last().map_or(0, |event| event.seq);
        let event = recorded.last().filter(|event| event.seq == position);
        let event = event.ok_or_else(|| from_fork(&ForkError::NoEvent { position, last }))?;
        let place = match &event.fact {
            Fact::ExecutionStarted(started) => ForkPlace::Input(PayloadView::of(&started.input)),
            Fact::NodeStarted(started) => self.context_at(&recorded, &started.firing)?,
            Fact::NodeSucceeded(done) => {
                ForkPlace::Output(PayloadView::of(done.items.as_ref().unwrap_or(&done.output)))
            }
            Fact::NodeFailed(done) => ForkPlace::Failure(done.error.clone()),
            Fact::NodeParked(_)
            | Fact::AttemptFailed(_)
            | Fact::TimedOut(_)
            | Fact::Prolonged(_)
            | Fact::Intervened(_)
            | Fact::TimerFired(_)
            | Fact::Gathered(_)
            | Fact::Missed(_)
            | Fact::ExecutionEnded(_) => ForkPlace::Nothing,
        };
        let (node_id, key) = event.fact.place();
        Ok(ForkPoint { position, at: event.at, node_id: node_id.cloned(), key, place })
    }

    /// What a node sees at its start, which is the last event of these.
    fn context_at(&self, recorded: &[Event], firing: &Firing) -> Result<ForkPlace, Problem> {
        let detail = recording::node_detail_at(recorded, &firing.node_id, &firing.lineage.key());
        let detail = detail.map_err(|error| from_ledger(&error))?;
        let seen = detail.firings.into_iter().find(|seen| seen.message_id == firing.message_id);
        Ok(seen.and_then(|seen| seen.input).map_or(ForkPlace::Nothing, ForkPlace::Context))
    }

    /// What a fork would ask of the world outside. Nothing is asked, and nothing is started.
    pub async fn preview_fork(&self, id: &ExecutionId, wish: &ForkWish) -> Result<ForkPreview, Problem> {
        self.preview_fork_into(id, wish, None).await
    }

    /// The same for a fork that runs another workflow.
    pub async fn preview_fork_into(
        &self,
        id: &ExecutionId,
        wish: &ForkWish,
        workflow: Option<Arc<Plan>>,
    ) -> Result<ForkPreview, Problem> {
        let Parent { started, plan, past, .. } = self.parent(id, wish, workflow).await?;
        preview(&plan, started, &past).map_err(|error| from_ledger(&error))
    }

    /// Starts a fork. The parent is only read.
    pub async fn fork(&self, id: &ExecutionId, wish: &ForkWish) -> Result<Started, Problem> {
        self.fork_into(id, wish, None).await
    }

    /// Starts a fork that runs another workflow: nodes that are not as they were do their work.
    pub async fn fork_into(
        &self,
        id: &ExecutionId,
        wish: &ForkWish,
        workflow: Option<Arc<Plan>>,
    ) -> Result<Started, Problem> {
        let Parent { started, plan, origin, past } = self.parent(id, wish, workflow).await?;
        let beginning = crate::Beginning {
            name: started.workflow_id.to_string(),
            path: started.path,
            input: Some(started.input),
            starts: Some(started.starts),
            origin: Some(origin),
            past: Some(past),
            options: RunOptions::default(),
        };
        self.begin(plan, beginning).await
    }

    /// The workflow in a file of the folder, as it is now.
    pub(crate) fn edited_workflow(&self, path: Option<&str>) -> Result<Option<Arc<Plan>>, Problem> {
        let load = |path: &str| crate::runnable(self.library()?.load(path)?, path);
        path.map(load).transpose()
    }

    async fn parent(
        &self,
        id: &ExecutionId,
        wish: &ForkWish,
        workflow: Option<Arc<Plan>>,
    ) -> Result<Parent, Problem> {
        let recorded = self.recorded(id).await?;
        let plan = match workflow {
            Some(plan) => plan,
            None => Arc::clone(Ledger::begin(&recorded).map_err(|error| from_ledger(&error))?.plan()),
        };
        let origin = origin_of(id, &recorded, wish);
        let past = Past::new(&plan, &recorded, &origin).map_err(|error| from_fork(&error))?;
        let Some(Event { fact: Fact::ExecutionStarted(started), .. }) = recorded.into_iter().next() else {
            return Err(crate::unknown(id));
        };
        let input = match &origin.edit {
            Some(ForkEdit::Input { value }) => Payload::new(value.clone()),
            Some(ForkEdit::Context { .. } | ForkEdit::Output { .. }) | None => started.input.clone(),
        };
        let starts = starts_of(&plan, &started.starts);
        let origin_written = Some(origin.clone());
        let started = ExecutionStarted {
            input,
            origin: origin_written,
            starts,
            until: None,
            observed: None,
            other: Default::default(),
            ..*started
        };
        Ok(Parent { started, plan, origin, past })
    }

    /// The tree an execution belongs to: where it comes from, and everything that comes from there.
    pub async fn forks(&self, id: &ExecutionId) -> Result<Vec<ForkBranch>, Problem> {
        crate::look::forks(&self.store, id).await
    }
}

/// The answers that a fork takes from its parent.
pub(crate) async fn past_of(store: &Store, plan: &Plan, origin: &Origin) -> Result<Past, Problem> {
    let recorded = events(store, &origin.parent).await?;
    Past::new(plan, &recorded, origin).map_err(|error| from_fork(&error))
}

/// Where the parent was started, as far as that is still there; at every start of the workflow where nothing of it is.
fn starts_of(plan: &Plan, parent: &[NodeId]) -> Vec<NodeId> {
    let all = || plan.starts.iter().map(|&node| plan.nodes[node].id.clone());
    let kept: Vec<NodeId> = all().filter(|id| parent.contains(id)).collect();
    if kept.is_empty() { all().collect() } else { kept }
}

/// Ends an interrupted fork whose parent is gone: what it would have been answered is not known any more.
pub(crate) async fn end_what_lost_its_parent(
    store: &Store,
    events: &[Event],
    now: Millis,
) -> Result<bool, Problem> {
    let Some(Fact::ExecutionStarted(started)) = events.first().map(|event| &event.fact) else {
        return Ok(false);
    };
    let Some(Origin { parent, .. }) = &started.origin else { return Ok(false) };
    if store.span(parent, 1).await.map_err(|error| from_store(&error))?.is_some() {
        return Ok(false);
    }
    let message = format!("it was interrupted and cannot go on: {parent}, which it is a fork of, is gone");
    crate::hidden::end(store, events, now, message).await
}

fn origin_of(parent: &ExecutionId, recorded: &[Event], wish: &ForkWish) -> Origin {
    let last = recorded.last().map_or(0, |event| event.seq);
    let whole = |again| Origin { parent: parent.clone(), position: last, edit: None, run: Vec::new(), again };
    match wish {
        ForkWish::At { position, edit, run } => {
            let (edit, run) = (edit.clone(), run.clone());
            Origin { parent: parent.clone(), position: *position, edit, run, again: None }
        }
        ForkWish::From { node_id } => whole(Some(Again::From { node_id: node_id.clone() })),
        ForkWish::Failed { node_id } => whole(Some(Again::Failed { node_id: node_id.clone() })),
        ForkWish::Item { key, node_id } => {
            whole(Some(Again::Item { key: key.clone(), node_id: node_id.clone() }))
        }
    }
}

fn from_fork(error: &ForkError) -> Problem {
    let (code, hint) = match error {
        ForkError::NoEvent { .. } => (ProblemCode::NotFound, "name the number of an event of the recording"),
        ForkError::NoStart { .. } => {
            (ProblemCode::InvalidRequest, "name the event with which a node starts, or change an output")
        }
        ForkError::NoEnd { .. } => {
            (ProblemCode::InvalidRequest, "name the event with which a node ends, or change what it sees")
        }
        ForkError::NoInput { .. } => (ProblemCode::InvalidRequest, "the input is changed at event 1"),
        ForkError::NoNode(_) => (ProblemCode::NotFound, "name a node by its id"),
        ForkError::NoFailure(_) => (ProblemCode::NotFound, "see which nodes have failed items"),
        ForkError::NoItem(_) => (ProblemCode::NotFound, "name an item as split=index, such as each=37"),
        ForkError::NotThere { .. } => (ProblemCode::NotFound, "name a node on the way of the item"),
    };
    Problem::new(code, error.to_string(), hint)
}
