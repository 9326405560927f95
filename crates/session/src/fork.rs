//! Executions that take their past from another one.

use std::{collections::BTreeSet, sync::Arc};

use engine::Plan;
use protocol::{
    Again, Event, ExecutionId, ExecutionStarted, Fact, Firing, ForkBranch, ForkEdit, ForkPlace, ForkPoint,
    ForkPreview, ForkWish, Origin, Payload, PayloadView, Problem, ProblemCode, RunOptions,
};
use recording::{
    Ledger, Store,
    fork::{ForkError, Past, preview},
};

use crate::{
    Session, Started, events,
    problem::{from_ledger, from_store},
};

/// Executions that are looked through for forks.
const LOOKED_THROUGH: u32 = 10_000;

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
            | Fact::Intervened(_)
            | Fact::TimerFired(_)
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
        let Parent { started, plan, past, .. } = self.parent(id, wish).await?;
        preview(&plan, started, &past).map_err(|error| from_ledger(&error))
    }

    /// Starts a fork. The parent is only read.
    pub async fn fork(&self, id: &ExecutionId, wish: &ForkWish) -> Result<Started, Problem> {
        let Parent { started, plan, origin, past } = self.parent(id, wish).await?;
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

    async fn parent(&self, id: &ExecutionId, wish: &ForkWish) -> Result<Parent, Problem> {
        let recorded = self.recorded(id).await?;
        let ledger = Ledger::begin(&recorded).map_err(|error| from_ledger(&error))?;
        let plan = Arc::clone(ledger.plan());
        let origin = origin_of(id, &recorded, wish);
        let past = Past::new(&plan, &recorded, &origin).map_err(|error| from_fork(&error))?;
        let Some(Event { fact: Fact::ExecutionStarted(started), .. }) = recorded.into_iter().next() else {
            return Err(crate::unknown(id));
        };
        let input = match &origin.edit {
            Some(ForkEdit::Input { value }) => Payload::new(value.clone()),
            Some(ForkEdit::Context { .. } | ForkEdit::Output { .. }) | None => started.input.clone(),
        };
        let started = ExecutionStarted { input, origin: Some(origin.clone()), ..started };
        Ok(Parent { started, plan, origin, past })
    }

    /// The tree an execution belongs to: where it comes from, and everything that comes from there.
    pub async fn forks(&self, id: &ExecutionId) -> Result<Vec<ForkBranch>, Problem> {
        let all = self.store.executions(LOOKED_THROUGH).await.map_err(|error| from_store(&error))?;
        let origin = |id: &ExecutionId| {
            let found = all.iter().find(|summary| summary.execution_id == *id);
            found.and_then(|summary| summary.origin.clone())
        };
        let mut root = id.clone();
        // An execution is younger than its parent, so this comes to an end.
        while let Some(origin) = origin(&root) {
            root = origin.parent;
        }
        let mut tree = BTreeSet::from([root.clone()]);
        let mut branches = vec![ForkBranch { execution_id: root, origin: None }];
        // Newest first: parents come before their forks the other way round.
        for summary in all.into_iter().rev() {
            if summary.origin.as_ref().is_some_and(|origin| tree.contains(&origin.parent)) {
                tree.insert(summary.execution_id.clone());
                branches.push(ForkBranch { execution_id: summary.execution_id, origin: summary.origin });
            }
        }
        Ok(branches)
    }
}

/// The answers that a fork takes from its parent.
pub(crate) async fn past_of(store: &Store, plan: &Plan, origin: &Origin) -> Result<Past, Problem> {
    let recorded = events(store, &origin.parent).await?;
    Past::new(plan, &recorded, origin).map_err(|error| from_fork(&error))
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
    };
    Problem::new(code, error.to_string(), hint)
}
