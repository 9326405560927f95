//! Executions that were interrupted go on under the control that they had.

use std::sync::Arc;

use protocol::{
    Controls, Event, ExecutionId, ExecutionPhase, ExecutionStarted, Fact, Millis, Problem, ProblemCode,
};
use recording::{Store, TimerFold, ViewFold};
use runtime::{Answers, Gate, Holds};

use crate::{
    LISTED, Session,
    control::{Recorded, heed, leading_to},
    events,
    fork::{end_what_lost_its_parent, past_of},
    hidden,
    live::Live,
    problem::{from_engine, from_ledger, from_store},
    workplace::Workplace,
};

impl Session {
    /// Executions of a workflow file that were interrupted and that nobody works on, the newest first.
    pub async fn interrupted(&self, path: &str) -> Result<Vec<ExecutionId>, Problem> {
        let listed = self.store.executions(LISTED).await.map_err(|error| from_store(&error))?;
        let is_interrupted = |id: &ExecutionId| !self.is_running(id);
        let of_file = listed.into_iter().filter(|it| {
            let ours = it.observed.is_none() && it.path.as_deref() == Some(path);
            ours && it.phase == ExecutionPhase::Running
        });
        Ok(of_file.map(|summary| summary.execution_id).filter(is_interrupted).collect())
    }

    /// Whether what is held when the session ends is found held by the next one.
    pub fn keeps_holds(&self) -> bool {
        self.temporary.is_none() && matches!(self.engine, Workplace::Here(_))
    }

    /// Goes on with one execution that was interrupted.
    pub async fn take_up(&self, id: &ExecutionId) -> Result<(), Problem> {
        let Workplace::Here(engine) = &self.engine else {
            let message = "an interrupted execution goes on in the engine of this machine";
            return Err(Problem::new(
                ProblemCode::InvalidRequest,
                message,
                "start without --amqp and --redis",
            ));
        };
        match prepare(&self.store, &self.gate, &self.live, id, self.clock.now()).await? {
            true => engine.take_up(&self.store, id).await.map_err(|error| from_engine(&error)),
            false => {
                let message = format!("{id} cannot go on: what it needs is not in this store");
                Err(Problem::new(ProblemCode::InvalidRequest, message, "its end says what; start it anew"))
            }
        }
    }
}

/// Everything but the work. False if it cannot go on; then it was ended.
pub(crate) async fn prepare(
    store: &Store,
    gate: &Gate,
    live: &Live,
    id: &ExecutionId,
    now: Millis,
) -> Result<bool, Problem> {
    let events = events(store, id).await?;
    if hidden::end_what_lost_values(store, &events, now).await?
        || end_what_lost_its_parent(store, &events, now).await?
    {
        return Ok(false);
    }
    if let Some(Event { fact: Fact::ExecutionStarted(started), .. }) = events.first() {
        take_control(store, gate, id, started, &events).await?;
    }
    live.adopt(ViewFold::replay(&events), TimerFold::replay(&events));
    Ok(true)
}

/// The control that it had: its recorded answers, above all, so that a fork does not ask the outside what its parent has
/// asked; then how it was held.
async fn take_control(
    store: &Store,
    gate: &Gate,
    id: &ExecutionId,
    started: &ExecutionStarted,
    events: &[Event],
) -> Result<(), Problem> {
    let controls = match &started.path {
        Some(path) => store.controls(path).await.map_err(|error| from_store(&error))?,
        None => Controls::default(),
    };
    if let Some(holds) = store.holds::<Holds>(id).await.map_err(|error| from_store(&error))? {
        gate.restore(id, holds);
    }
    if controls.is_empty() && started.origin.is_none() && started.until.is_none() {
        return Ok(());
    }
    let ledger = recording::Ledger::begin(events).map_err(|error| from_ledger(&error))?;
    let past = match &started.origin {
        Some(origin) => Some(past_of(store, ledger.plan(), origin).await?),
        None => None,
    };
    let only = started.until.as_ref().map(|node| leading_to(ledger.plan(), node)).transpose()?;
    gate.attach(id, |settings| {
        heed(settings, controls);
        settings.past = past.map(|past| Arc::new(Recorded(past)) as Arc<dyn Answers>);
        settings.only = only;
    });
    Ok(())
}
