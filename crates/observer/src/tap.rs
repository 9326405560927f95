//! Listens to a cluster through as many connections as it takes, and asks how its queues are doing. What nobody takes
//! in time is dropped and counted: the broker never waits for us, and our memory has a bound.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use futures::StreamExt;
use protocol::{Millis, Problem, cluster};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};

use crate::{
    Heard, Now, ObserverError,
    backlog::{Backlog, Heap},
    broker::{Broker, Copies, Depth},
    gaps::Lapse,
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
/// A question for a queue that is not there shows in the log of the broker, so it is asked only so often, and less often
/// every time.
const FIRST_ROUNDS_UNASKED: u32 = 60;
const MOST_ROUNDS_UNASKED: u32 = 1_800;
/// Whoever rests for so long in place of a beat has stood still.
const STOOD_STILL: Millis = 10_000;
const BEAT: Duration = Duration::from_secs(1);
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// What is wanted of the broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wishes {
    /// What is worth a copy, without the prefix.
    pub copies: &'static [&'static str],
    /// Queues whose depth is asked for, with the prefix.
    pub queues: Vec<String>,
}

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
    /// Bytes of all that was heard.
    bytes: AtomicU64,
    lapses: Mutex<Vec<Lapse>>,
}

impl Counters {
    /// Why something may have gone by since this was asked last. None is lost, however quickly one follows the other.
    pub fn take_lapses(&self) -> Vec<Lapse> {
        std::mem::take(&mut *self.lapses())
    }

    fn note(&self, lapse: Lapse) {
        let mut lapses = self.lapses();
        let is_same =
            |known: &Lapse| matches!((known, lapse), (Lapse::Overflowed { .. }, Lapse::Overflowed { .. }));
        if !lapses.last().is_some_and(is_same) {
            lapses.push(lapse);
        }
    }

    fn lapses(&self) -> MutexGuard<'_, Vec<Lapse>> {
        self.lapses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Questions for a queue that was not there.
#[derive(Clone, Copy, Debug)]
struct Unasked {
    /// Rounds to come in which it is not asked for, and how many there were.
    left: u32,
    rounds: u32,
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
}

pub struct Tap {
    pub url: String,
    pub prefix: String,
    pub now: Now,
    pub counters: Arc<Counters>,
    pub hearing: watch::Sender<Hearing>,
    pub wanted: watch::Receiver<Wishes>,
    pub closed: watch::Receiver<bool>,
}

/// What is remembered from one connection to the next.
#[derive(Default)]
struct Memory {
    missing: BTreeMap<String, Unasked>,
    /// Until then the broker was there.
    sure_until: Millis,
}

/// The room in which copies wait.
pub fn inbox() -> (mpsc::Sender<Arrived>, mpsc::Receiver<Arrived>) {
    mpsc::channel(INBOX)
}

/// Returns when nobody wants to listen any more.
pub async fn is_closed(closed: &mut watch::Receiver<bool>) {
    drop(closed.wait_for(|closed| *closed).await);
}

/// Returns when other copies are wanted than these.
async fn wants_others(wishes: &mut watch::Receiver<Wishes>, copies: &[&str]) {
    let changed = wishes.wait_for(|wishes| wishes.copies != copies).await.is_ok();
    if !changed {
        // Nobody is left who could want something else.
        std::future::pending::<()>().await;
    }
}

impl Tap {
    /// Listens until it is closed.
    pub async fn listen(mut self, inbox: mpsc::Sender<Arrived>) {
        let (mut pause, mut was_let_in) = (FIRST_PAUSE, false);
        let mut memory = Memory::default();
        let room = Arc::new(Semaphore::new(INBOX_BYTES));
        loop {
            let listened = self.listen_once(&inbox, &room, &mut memory).await;
            let Err(error) = listened else { return };
            if self.hearing.borrow().connected {
                (pause, was_let_in) = (FIRST_PAUSE, true);
                self.counters.note(Lapse::Lost { since: memory.sure_until });
            }
            let problem = match was_let_in {
                true => trouble::while_attached(&error),
                false => trouble::not_yet(&error),
            };
            tracing::warn!(?pause, "{}; trying again", problem.message);
            self.hearing.send_modify(|hearing| {
                (hearing.problem, hearing.connected) = (Some(problem), false);
            });
            let mut closed = self.closed.clone();
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
        memory: &mut Memory,
    ) -> Result<(), ObserverError> {
        let mut closed = self.closed.clone();
        let broker = tokio::select! {
            connected = Broker::connect(&self.url) => connected?,
            () = is_closed(&mut closed) => return Ok(()),
        };
        let exchange = cluster::exchange(&self.prefix);
        loop {
            let copies = self.wanted.borrow_and_update().copies;
            let keys: Vec<String> = copies.iter().map(|key| format!("{}{key}", self.prefix)).collect();
            let mut wishes = self.wanted.clone();
            let mut heard = tokio::select! {
                listened = broker.listen(&exchange, &keys) => listened?,
                () = is_closed(&mut closed) => break,
            };
            let queue = heard.queue.clone();
            self.let_in(memory);
            tokio::select! {
                ended = self.take_in(&mut heard, inbox, room) => ended?,
                ended = self.ask(&broker, &queue, memory) => ended?,
                () = self.keep_awake() => {}
                // Other copies are wanted, in another queue.
                () = wants_others(&mut wishes, copies) => {
                    heard.end().await?;
                    continue;
                }
                () = is_closed(&mut closed) => {}
            }
            break;
        }
        broker.close().await;
        Ok(())
    }

    fn let_in(&self, memory: &mut Memory) {
        let now = (self.now)();
        memory.sure_until = now;
        self.counters.note(Lapse::Back { at: now });
        self.hearing.send_modify(|hearing| (hearing.problem, hearing.connected) = (None, true));
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
            self.counters.bytes.fetch_add(delivery.data.len() as u64, Ordering::Relaxed);
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
    async fn ask(&self, broker: &Broker, own: &str, memory: &mut Memory) -> Result<(), ObserverError> {
        let mut backlog = Backlog::default();
        loop {
            let mut found = BTreeMap::new();
            let names = self.wanted.borrow().queues.clone();
            for name in names {
                if memory.is_passed_over(&name) {
                    continue;
                }
                match broker.depth(&name).await {
                    Ok(Some(depth)) => {
                        memory.missing.remove(&name);
                        found.insert(name, depth);
                    }
                    Ok(None) => memory.miss(name),
                    // A queue that we may not ask for; the others may be open to us.
                    Err(ObserverError::Broker(_)) if broker.is_connected() => memory.miss(name),
                    Err(error) => return Err(error),
                }
            }
            let heard = self.counters.so_far();
            let waiting = broker.depth(own).await.ok().flatten();
            let asked_at = (self.now)();
            memory.sure_until = asked_at;
            let dropped = waiting.and_then(|depth| backlog.note(asked_at, depth.messages, heard));
            if let Some(since) = dropped {
                self.counters.note(Lapse::Overflowed { since, at: asked_at });
            }
            self.hearing.send_modify(|hearing| (hearing.queues, hearing.asked_at) = (found, asked_at));
            tokio::time::sleep(ASK_EVERY).await;
        }
    }

    /// Notices when nothing has gone on here for a while.
    async fn keep_awake(&self) {
        loop {
            let from = (self.now)();
            tokio::time::sleep(BEAT).await;
            let until = (self.now)();
            if until - from > STOOD_STILL {
                self.counters.note(Lapse::StoodStill { from, until });
            }
        }
    }
}

impl Memory {
    fn is_passed_over(&mut self, name: &str) -> bool {
        let unasked = self.missing.get_mut(name).filter(|unasked| unasked.left > 0);
        unasked.is_some_and(|unasked| {
            unasked.left -= 1;
            true
        })
    }

    fn miss(&mut self, name: String) {
        let rounds = self.missing.get(&name).map_or(FIRST_ROUNDS_UNASKED, |known| known.rounds * 2);
        let rounds = rounds.min(MOST_ROUNDS_UNASKED);
        self.missing.insert(name, Unasked { left: rounds, rounds });
    }
}

impl Counters {
    fn so_far(&self) -> Heap {
        Heap { messages: self.heard.load(Ordering::Relaxed), bytes: self.bytes.load(Ordering::Relaxed) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_asked_for_less_and_less() {
        let mut memory = Memory::default();
        let mut asked = 0;
        for _ in 0..4_000 {
            if !memory.is_passed_over("workflow.resume") {
                asked += 1;
                memory.miss("workflow.resume".to_owned());
            }
        }
        assert!((5..=8).contains(&asked), "{asked} times in two hours");
    }

    #[test]
    fn no_lapse_is_lost_between_two_looks() {
        let counters = Counters::default();
        let lapses = [
            Lapse::Back { at: 1 },
            Lapse::Lost { since: 2 },
            Lapse::Back { at: 3 },
            Lapse::Lost { since: 4 },
        ];
        lapses.into_iter().for_each(|lapse| counters.note(lapse));
        counters.note(Lapse::Overflowed { since: 5, at: 5 });
        counters.note(Lapse::Overflowed { since: 6, at: 6 });
        assert_eq!(counters.take_lapses().len(), 5, "full twice in a row is full once");
        assert!(counters.take_lapses().is_empty());
    }
}
