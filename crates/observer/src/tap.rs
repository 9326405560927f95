//! Listens to a cluster through as many connections as it takes, and asks how its queues are doing. What nobody takes
//! in time is dropped and counted: the broker never waits for us, and our memory has a bound.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use futures::StreamExt;
use protocol::{Millis, Problem, cluster};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};

use crate::{
    Heard, Now, ObserverError,
    broker::{Broker, Copies, Depth, KEPT_MESSAGES},
    trouble,
};

/// Messages between tap and fold.
const INBOX: usize = 20_000;
/// Bytes of them.
const INBOX_BYTES: usize = 64 * 1024 * 1024;
/// A larger message is not taken in; nobody's are that large.
const LARGEST_BYTES: usize = 16 * 1024 * 1024;
/// How often queues are asked for.
const ASK_EVERY: Duration = Duration::from_secs(2);
/// A question for a queue that is not there shows in the log of the broker, so it is asked only so often.
const ROUNDS_UNTIL_MISSED: u32 = 60;
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Queues of both dialects that a cluster may have, besides those of ours.
const FOREIGN_QUEUES: [&str; 4] =
    ["workflow.resume", "workflow.worker.initiated", "workflow.completion.recorder", "execution.token"];

/// A copy, and the room it takes until it is let go.
pub struct Arrived {
    pub heard: Heard,
    pub room: OwnedSemaphorePermit,
}

#[derive(Default)]
pub struct Counters {
    pub heard: AtomicU64,
    /// There was no room.
    pub dropped: AtomicU64,
    /// They were larger than anybody's.
    pub large: AtomicU64,
}

/// How the broker is doing, as far as we hear.
#[derive(Clone, Debug, Default)]
pub struct Hearing {
    /// Absent while all is well.
    pub problem: Option<Problem>,
    pub connected: bool,
    /// Those that are there.
    pub queues: BTreeMap<String, Depth>,
    pub asked_at: Millis,
    /// Our own queue was full, so the broker has dropped copies.
    pub overflowed: bool,
}

pub struct Tap {
    pub url: String,
    pub prefix: String,
    pub now: Now,
    pub counters: Arc<Counters>,
    pub hearing: watch::Sender<Hearing>,
    /// What is worth a copy, without the prefix.
    pub wanted: watch::Receiver<&'static [&'static str]>,
    pub closed: watch::Receiver<bool>,
}

/// The room in which copies wait.
pub fn inbox() -> (mpsc::Sender<Arrived>, mpsc::Receiver<Arrived>) {
    mpsc::channel(INBOX)
}

/// Returns when nobody wants to listen any more.
pub async fn is_closed(closed: &mut watch::Receiver<bool>) {
    drop(closed.wait_for(|closed| *closed).await);
}

impl Tap {
    /// Listens until it is closed.
    pub async fn listen(mut self, inbox: mpsc::Sender<Arrived>) {
        let (mut pause, mut was_let_in) = (FIRST_PAUSE, false);
        let room = Arc::new(Semaphore::new(INBOX_BYTES));
        loop {
            let mut closed = self.closed.clone();
            let listened = tokio::select! {
                listened = self.listen_once(&inbox, &room) => listened,
                () = is_closed(&mut closed) => return,
            };
            if self.hearing.borrow().connected {
                (pause, was_let_in) = (FIRST_PAUSE, true);
            }
            let problem = match listened {
                Ok(()) => return,
                Err(error) if was_let_in => trouble::while_attached(&error),
                Err(error) => trouble::problem(&error),
            };
            tracing::warn!(?pause, "{}; trying again", problem.message);
            self.hearing.send_modify(|hearing| {
                (hearing.problem, hearing.connected) = (Some(problem), false);
            });
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = is_closed(&mut closed) => return,
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Through one connection. `Ok` when it was closed on purpose.
    async fn listen_once(
        &mut self,
        inbox: &mpsc::Sender<Arrived>,
        room: &Arc<Semaphore>,
    ) -> Result<(), ObserverError> {
        let broker = Broker::connect(&self.url).await?;
        let exchange = cluster::exchange(&self.prefix);
        let mut closed = self.closed.clone();
        let ours = cluster::Queue::ALL.map(|queue| queue.name(&self.prefix));
        let foreign = FOREIGN_QUEUES.map(|queue| format!("{}{queue}", self.prefix));
        let mut missing_for: BTreeMap<String, u32> =
            ours.into_iter().chain(foreign).map(|name| (name, 0)).collect();
        loop {
            let wanted = *self.wanted.borrow_and_update();
            let keys: Vec<String> = wanted.iter().map(|key| format!("{}{key}", self.prefix)).collect();
            let mut copies = broker.listen(&exchange, &keys).await?;
            self.hearing.send_modify(|hearing| (hearing.problem, hearing.connected) = (None, true));
            let queue = copies.queue.clone();
            let mut wishes = self.wanted.clone();
            tokio::select! {
                ended = self.take_in(&mut copies, inbox, room) => ended?,
                ended = self.ask(&broker, &queue, &mut missing_for) => ended?,
                // Other copies are wanted, in another queue.
                Ok(()) = wishes.changed() => {
                    copies.end().await?;
                    continue;
                }
                () = is_closed(&mut closed) => {}
            }
            broker.close().await;
            return Ok(());
        }
    }

    async fn take_in(
        &self,
        copies: &mut Copies,
        inbox: &mpsc::Sender<Arrived>,
        room: &Arc<Semaphore>,
    ) -> Result<(), ObserverError> {
        while let Some(delivery) = copies.consumer.next().await {
            let delivery = delivery?;
            self.counters.heard.fetch_add(1, Ordering::Relaxed);
            if delivery.data.len() > LARGEST_BYTES {
                self.counters.large.fetch_add(1, Ordering::Relaxed);
                continue;
            }
            // At least one, so that many small ones have a bound too.
            let bytes = u32::try_from(delivery.data.len().max(1)).unwrap_or(u32::MAX);
            let taken = Arc::clone(room).try_acquire_many_owned(bytes).ok().map(|room| {
                let routing_key = delivery.routing_key.as_str();
                // Dialects know names without a prefix.
                let routing_key = routing_key.strip_prefix(&self.prefix).unwrap_or(routing_key).to_owned();
                Arrived { heard: Heard { at: (self.now)(), routing_key, body: delivery.data }, room }
            });
            match taken.map(|arrived| inbox.try_send(arrived)) {
                Some(Ok(())) => {}
                Some(Err(mpsc::error::TrySendError::Closed(_))) => return Ok(()),
                Some(Err(mpsc::error::TrySendError::Full(_))) | None => {
                    self.counters.dropped.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
        Err(ObserverError::Silent("RabbitMQ"))
    }

    /// Asks how the queues are doing, again and again.
    async fn ask(
        &self,
        broker: &Broker,
        own: &str,
        missing_for: &mut BTreeMap<String, u32>,
    ) -> Result<(), ObserverError> {
        loop {
            let mut found = BTreeMap::new();
            for (name, rounds) in missing_for.iter_mut() {
                if *rounds > 0 {
                    *rounds -= 1;
                    continue;
                }
                match broker.depth(name).await {
                    Ok(Some(depth)) => drop(found.insert(name.clone(), depth)),
                    Ok(None) => *rounds = ROUNDS_UNTIL_MISSED,
                    // A queue that we may not ask for; the others may be open to us.
                    Err(ObserverError::Broker(_)) if broker.is_connected() => *rounds = ROUNDS_UNTIL_MISSED,
                    Err(error) => return Err(error),
                }
            }
            let backlog = broker.depth(own).await.ok().flatten();
            let overflowed = backlog.is_some_and(|depth| depth.messages >= u64::from(KEPT_MESSAGES));
            let asked_at = (self.now)();
            self.hearing.send_modify(|hearing| {
                (hearing.queues, hearing.asked_at, hearing.overflowed) = (found, asked_at, overflowed);
            });
            tokio::time::sleep(ASK_EVERY).await;
        }
    }
}
