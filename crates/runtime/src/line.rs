//! The walk of a message: receive, prepare, (gate,) announce, perform, conclude, (gate,) commit.
//!
//! The first gate stands in front of the announcement: of a message that is held, changed or taken away there nothing
//! is in the recording yet but what was done to it.

use std::{any::Any, panic::AssertUnwindSafe, sync::Arc};

use engine::{Failure, Message, Output, Plan, Prepared, Retry, Work, conclude, prepare};
use futures::FutureExt;
use protocol::{ErrorCode, Millis, NodeError};
use tokio::{sync::mpsc, task::JoinSet};
use tracing::{Instrument, Span};

use crate::{
    Announcement, Backend, Clock, Conclusion, Delivery, Metrics, Outside, Stopped,
    gate::{Answer, Gate, Passage},
};

/// The house is broken: nothing of the message in hand was committed.
#[derive(Debug, thiserror::Error)]
pub enum LineError<E: std::error::Error> {
    #[error(transparent)]
    Backend(E),
    #[error("a worker came to an unexpected end: {0}")]
    Worker(String),
}

/// What a worker has besides its messages.
#[derive(Clone)]
pub struct Workshop {
    pub clock: Clock,
    pub outside: Arc<dyn Outside>,
    pub metrics: Metrics,
    pub gate: Gate,
}

impl Workshop {
    pub fn new(clock: Clock, outside: Arc<dyn Outside>) -> Self {
        Self { clock, outside, metrics: Metrics::default(), gate: Gate::open() }
    }

    /// With a gate that can be closed; only an engine in this process has one.
    pub fn behind(self, gate: Gate) -> Self {
        Self { gate, ..self }
    }
}

/// Works until the backend is closed or fails. `workers` is the number of messages in hand at once.
pub async fn work<B: Backend>(
    backend: Arc<B>,
    workshop: Workshop,
    workers: usize,
) -> Result<(), LineError<B::Error>> {
    let _hands = workshop.clock.employ(workers);
    let mut line = JoinSet::new();
    let (trouble, mut troubles) = mpsc::channel(1);
    for _ in 0..workers {
        let (backend, workshop, trouble) = (Arc::clone(&backend), workshop.clone(), trouble.clone());
        line.spawn(async move {
            while let Some(delivery) = backend.receive().await? {
                if workshop.gate.is_attached() {
                    walk_aside(&backend, &workshop, delivery, &trouble).await;
                    continue;
                }
                let span = span_of(&delivery);
                hop(&*backend, &workshop, delivery).instrument(span).await?;
            }
            Ok(())
        });
    }
    line.spawn(keep_time(backend, workshop.clock, workshop.gate));
    loop {
        let ended = tokio::select! {
            ended = line.join_next() => ended,
            Some(error) = troubles.recv() => return Err(error),
        };
        match ended {
            Some(ended) => {
                ended.map_err(|error| LineError::Worker(error.to_string()))?.map_err(LineError::Backend)?;
            }
            None => return Ok(()),
        }
    }
}

fn span_of(delivery: &Delivery) -> Span {
    let Delivery { plan, message, .. } = delivery;
    tracing::debug_span!(
        "node",
        execution = %message.execution_id,
        node = %plan.nodes[message.node].id,
        key = %message.lineage.key().as_str(),
        attempt = message.attempt,
    )
}

/// While somebody may hold messages, each walks by itself: one that is held keeps no worker from the others.
async fn walk_aside<B: Backend>(
    backend: &Arc<B>,
    workshop: &Workshop,
    delivery: Delivery,
    trouble: &mpsc::Sender<LineError<B::Error>>,
) {
    let room = workshop.gate.room().await;
    let (backend, workshop, trouble) = (Arc::clone(backend), workshop.clone(), trouble.clone());
    let span = span_of(&delivery);
    let walk = async move {
        let walked = AssertUnwindSafe(hop(&*backend, &workshop, delivery)).catch_unwind().await;
        let error = match walked {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(LineError::Backend(error)),
            Err(panic) => Some(LineError::Worker(said(&*panic))),
        };
        if let Some(error) = error {
            // One trouble ends the line; of two that come together the second says nothing new.
            let _ = trouble.try_send(error);
        }
        // A worker takes the next message itself; here somebody has to be told of it.
        workshop.gate.walked();
        drop(room);
    };
    tokio::spawn(walk.instrument(span));
}

async fn hop<B: Backend>(backend: &B, workshop: &Workshop, delivery: Delivery) -> Result<(), B::Error> {
    let Workshop { clock, metrics, gate, .. } = workshop;
    let _in_hand = metrics.received();
    let Delivery { plan, mut message, receipt, mut stopped } = delivery;
    let mut started = clock.now();
    let mut prepared = ready(&plan, &message, started);
    let mut passage = Passage::Work;
    // Who comes back from a rest was announced before it, and has passed the gate.
    if message.resumed.is_none() && gate.is_attached() {
        passage = gate.before(&plan, &mut message, &mut prepared, &mut stopped).await;
        if started != clock.now() {
            // Who was held begins now.
            started = clock.now();
            prepared = ready(&plan, &message, started);
        }
    }
    if passage.is_over() {
        clock.work_ended(1);
        return Ok(());
    }
    let Prepared { parameters, work } = prepared;
    let before_call = matches!(work, Work::Call(_));
    let mut announcement =
        message.resumed.is_none().then_some(Announcement { at: started, parameters, before_call });
    if (takes_time(&work) || gate.is_attached())
        && let Some(announcement) = announcement.take()
        && !backend.announce(&receipt, announcement).await?
    {
        return Ok(());
    }
    let retry = retry_of(&work);
    let answer = match perform(workshop, &message, passage, work, &mut stopped).await {
        Performed::Answer(answer) => answer,
        Performed::Rests(due) => return backend.park(receipt, clock.now(), due).await,
    };
    let at = clock.now();
    let duration = at - started;
    let answer = match answer.map_err(|failure| failure.verdict(message.failures, retry)) {
        Ok(output) => Ok(output),
        Err(Err(error)) => Err(error),
        Err(Ok(again)) => {
            metrics.retried(again.fault);
            tracing::debug!(error = %again.error.message, delay = again.delay, "tried again later");
            return backend.retry(receipt, at, duration, again).await;
        }
    };
    let mut effects = conclude(&plan, &message, answer);
    let outcome = effects.outcome.as_ref().map(|_| ()).map_err(|error| error.code);
    metrics.ended(outcome);
    tracing::debug!(duration, ?outcome, "ended");
    if gate.is_attached() {
        if let Some(announcement) = announcement.take() {
            backend.announce(&receipt, announcement).await?;
        }
        if gate.after(&plan, &message, &mut effects, &mut stopped).await.is_over() {
            clock.work_ended(1);
            return Ok(());
        }
    }
    // The time at the gate is not the node's, but the log goes forward.
    let at = if gate.is_attached() { clock.now() } else { at };
    backend.commit(receipt, Conclusion { announcement, at, duration, effects }).await
}

fn ready(plan: &Plan, message: &Message, now: Millis) -> Prepared {
    let prepared = guarded(|| prepare(plan, message, now));
    prepared.unwrap_or_else(|error| Prepared { parameters: None, work: Work::Failed(error) })
}

enum Performed {
    Answer(Result<Output, Failure>),
    Rests(Millis),
}

/// Does the work, unless the answer was given at the gate.
async fn perform(
    workshop: &Workshop,
    message: &Message,
    passage: Passage,
    work: Work,
    stopped: &mut Stopped,
) -> Performed {
    match passage {
        Passage::Answer(Answer::Given(answer)) => {
            workshop.gate.mark_answer(message, &answer);
            return Performed::Answer(answer.map_err(Failure::Final));
        }
        Passage::Answer(Answer::Late(millis)) => {
            tokio::select! {
                () = workshop.clock.sleep(millis) => {}
                () = stopped.wait() => {}
            }
        }
        Passage::Twice => {
            let first = carry_out(workshop, work.clone(), stopped).await;
            // The second delivery finds that the first has decided.
            drop(carry_out(workshop, work, stopped).await);
            return first;
        }
        Passage::Work | Passage::Dropped | Passage::Left => {}
    }
    carry_out(workshop, work, stopped).await
}

async fn carry_out(workshop: &Workshop, work: Work, stopped: &mut Stopped) -> Performed {
    let Workshop { clock, outside, .. } = workshop;
    let cancelled = || Failure::Final(NodeError::new(ErrorCode::Cancelled, "the execution has ended"));
    Performed::Answer(match work {
        Work::Done(output) => Ok(output),
        Work::Failed(error) => Err(Failure::Final(error)),
        Work::Sleep { millis, then } => tokio::select! {
            () = clock.sleep(millis) => then.map_err(Failure::Final),
            () = stopped.wait() => Err(cancelled()),
        },
        Work::Call(call) => tokio::select! {
            answer = outside.perform(&call) => answer,
            () = stopped.wait() => Err(cancelled()),
        },
        Work::Wait { due } => return Performed::Rests(due),
    })
}

fn retry_of(work: &Work) -> Retry {
    match work {
        Work::Call(call) => call.retry,
        Work::Done(_) | Work::Failed(_) | Work::Sleep { .. } | Work::Wait { .. } => Retry::default(),
    }
}

/// People want to see it running, and the outside is asked only once that is known.
fn takes_time(work: &Work) -> bool {
    match work {
        Work::Done(_) | Work::Failed(_) => false,
        Work::Sleep { millis, .. } => *millis > 0,
        Work::Call(_) | Work::Wait { .. } => true,
    }
}

/// Wakes what is due, when it is due; late rather than never.
async fn keep_time<B: Backend>(backend: Arc<B>, clock: Clock, gate: Gate) -> Result<(), B::Error> {
    // While we look for the next timer we count as busy, so that a simulated clock does not run past it.
    let mut busy = false;
    loop {
        let rung = match backend.next_due() {
            Some(due) => tokio::select! {
                biased;
                () = clock.alarm(due, busy) => true,
                open = backend.timers_changed() => match open {
                    true => false,
                    false => return Ok(()),
                },
            },
            None => {
                clock.keeper_rests(busy);
                if !backend.timers_changed().await {
                    return Ok(());
                }
                false
            }
        };
        if rung {
            backend.fire_due(clock.now(), &gate.standstills()).await?;
        }
        busy = true;
    }
}

/// A panic inside a node fails that node and nothing else.
fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, NodeError> {
    std::panic::catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let message = format!("this is a fault of Runeglass itself: {}", said(&*panic));
        NodeError::new(ErrorCode::NodeExecutionFailed, message)
    })
}

fn said(panic: &(dyn Any + Send)) -> String {
    let said = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    said.unwrap_or("unknown panic").to_owned()
}
