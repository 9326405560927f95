//! The walk of a message: receive, prepare, announce, perform, conclude, commit.

use std::{panic::AssertUnwindSafe, sync::Arc};

use engine::{Failure, Prepared, Retry, Work, conclude, prepare};
use protocol::{ErrorCode, NodeError};
use tokio::task::JoinSet;
use tracing::{Instrument, Span};

use crate::{Announcement, Backend, Clock, Conclusion, Delivery, Metrics, Outside};

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
}

impl Workshop {
    pub fn new(clock: Clock, outside: Arc<dyn Outside>) -> Self {
        Self { clock, outside, metrics: Metrics::default() }
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
    for _ in 0..workers {
        let (backend, workshop) = (Arc::clone(&backend), workshop.clone());
        line.spawn(async move {
            while let Some(delivery) = backend.receive().await? {
                let span = span_of(&delivery);
                hop(&*backend, &workshop, delivery).instrument(span).await?;
            }
            Ok(())
        });
    }
    line.spawn(keep_time(backend, workshop.clock));
    while let Some(ended) = line.join_next().await {
        ended.map_err(|error| LineError::Worker(error.to_string()))?.map_err(LineError::Backend)?;
    }
    Ok(())
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

async fn hop<B: Backend>(backend: &B, workshop: &Workshop, delivery: Delivery) -> Result<(), B::Error> {
    let Workshop { clock, outside, metrics } = workshop;
    let _in_hand = metrics.received();
    let Delivery { plan, message, receipt, mut stopped } = delivery;
    let started = clock.now();
    let prepared = guarded(|| prepare(&plan, &message, started));
    let Prepared { parameters, work } =
        prepared.unwrap_or_else(|error| Prepared { parameters: None, work: Work::Failed(error) });
    let before_call = matches!(work, Work::Call(_));
    // Who comes back from a rest was announced before it.
    let mut announcement =
        message.resumed.is_none().then_some(Announcement { at: started, parameters, before_call });
    if takes_time(&work)
        && let Some(announcement) = announcement.take()
        && !backend.announce(&receipt, announcement).await?
    {
        return Ok(());
    }
    let cancelled = || Failure::Final(NodeError::new(ErrorCode::Cancelled, "the execution has ended"));
    let mut retry = Retry::default();
    let answer = match work {
        Work::Done(output) => Ok(output),
        Work::Failed(error) => Err(Failure::Final(error)),
        Work::Sleep { millis, then } => tokio::select! {
            () = clock.sleep(millis) => then.map_err(Failure::Final),
            () = stopped.wait() => Err(cancelled()),
        },
        Work::Call(call) => {
            retry = call.retry;
            tokio::select! {
                answer = outside.perform(&call) => answer,
                () = stopped.wait() => Err(cancelled()),
            }
        }
        Work::Wait { due } => return backend.park(receipt, clock.now(), due).await,
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
    let effects = conclude(&plan, &message, answer);
    let outcome = effects.outcome.as_ref().map(|_| ()).map_err(|error| error.code);
    metrics.ended(outcome);
    tracing::debug!(duration, ?outcome, "ended");
    backend.commit(receipt, Conclusion { announcement, at, duration, effects }).await
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
async fn keep_time<B: Backend>(backend: Arc<B>, clock: Clock) -> Result<(), B::Error> {
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
            backend.fire_due(clock.now()).await?;
        }
        busy = true;
    }
}

/// A panic inside a node fails that node and nothing else.
fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, NodeError> {
    std::panic::catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let said =
            panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        let message = format!("this is a fault of Runeglass itself: {}", said.unwrap_or("unknown panic"));
        NodeError::new(ErrorCode::NodeExecutionFailed, message)
    })
}
