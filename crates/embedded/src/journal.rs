//! Makes events durable in groups: while one group is being written the next one gathers.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use protocol::{Event, ExecutionId, Millis};
use recording::{Store, StoreError};
use tokio::sync::{Notify, mpsc, watch};

/// Events that may wait to be written. Past this the engine waits for the disk.
const ROOM: u64 = 20_000;
/// Events written at once: enough to make the cost of a transaction vanish, few enough that their memory is used again
/// and again.
const GROUP: usize = 2_000;
/// Groups a reader of the feed may fall behind before the engine waits for it.
const FEED_GROUPS: usize = 256;

pub struct Journal(Arc<Shared>);

/// Why writing has failed, and how many events are not in the store because of it.
#[derive(Clone, Debug)]
pub struct Unkept {
    pub error: Arc<StoreError>,
    pub events: u64,
    pub of: Arc<BTreeMap<ExecutionId, Lost>>,
}

/// What is not in the store of one execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// The moment of the first event of it.
    pub since: Millis,
    pub events: u64,
}

fn lost<'e>(events: impl Iterator<Item = &'e Event>) -> BTreeMap<ExecutionId, Lost> {
    let mut of = BTreeMap::new();
    for event in events {
        let first = Lost { since: event.at, events: 0 };
        of.entry(event.execution_id.clone()).or_insert(first).events += 1;
    }
    of
}

struct Shared {
    state: Mutex<State>,
    /// Too much waits, or writing has failed: whoever wants to go on has to ask. Nearly always it is not so, and then
    /// nobody needs the lock for that.
    crowded: AtomicBool,
    /// Something is to be written.
    arrived: Notify,
    /// A group was written, or writing has failed.
    written: Notify,
    /// True once writing has failed.
    broken: watch::Sender<bool>,
}

#[derive(Default)]
struct State {
    /// What was handed over together is written together.
    waiting: VecDeque<Vec<Event>>,
    /// Events handed over, of those the ones taken to be written, and of those the durable ones.
    pushed: u64,
    taken: u64,
    durable: u64,
    failure: Option<Unkept>,
    readers: Vec<mpsc::Sender<Arc<Vec<Event>>>>,
}

impl Journal {
    /// Starts the one task that writes; without a store it tells the feed, and nothing is kept. It ends with the journal.
    pub fn start(store: Option<Arc<Store>>) -> Self {
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            crowded: AtomicBool::new(false),
            arrived: Notify::new(),
            written: Notify::new(),
            broken: watch::Sender::new(false),
        });
        tokio::spawn(write_groups(Arc::downgrade(&shared), store));
        Self(shared)
    }

    pub fn subscribe(&self) -> mpsc::Receiver<Arc<Vec<Event>>> {
        let (sender, receiver) = mpsc::channel(FEED_GROUPS);
        self.0.lock().readers.push(sender);
        receiver
    }

    /// Hands over events; the caller holds the lock that orders them.
    pub fn push(&self, events: Vec<Event>) {
        if !events.is_empty() {
            let mut state = self.0.lock();
            state.pushed += events.len() as u64;
            state.waiting.push_back(events);
            if !state.has_room() {
                self.0.crowded.store(true, Ordering::Release);
            }
            drop(state);
            self.0.arrived.notify_one();
        }
    }

    /// Waits until there is room for more.
    pub async fn room(&self) -> Result<(), Unkept> {
        if !self.0.crowded.load(Ordering::Acquire) {
            return Ok(());
        }
        self.until(State::has_room).await
    }

    /// Waits until everything handed over so far is durable and every reader of the feed has it.
    pub async fn durable(&self) -> Result<(), Unkept> {
        let ticket = self.0.lock().pushed;
        self.until(|state| state.durable >= ticket).await
    }

    pub fn check(&self) -> Result<(), Unkept> {
        if !self.0.crowded.load(Ordering::Acquire) {
            return Ok(());
        }
        self.0.lock().failure.clone().map_or(Ok(()), Err)
    }

    /// Returns when writing has failed.
    pub async fn failed(&self) {
        // The sender lives in the journal, so the only answer is that it is broken.
        let _ = self.0.broken.subscribe().wait_for(|broken| *broken).await;
    }

    async fn until(&self, reached: impl Fn(&State) -> bool) -> Result<(), Unkept> {
        while !self.is_reached(&reached)? {
            let written = self.0.written.notified();
            tokio::pin!(written);
            written.as_mut().enable();
            if self.is_reached(&reached)? {
                break;
            }
            written.await;
        }
        Ok(())
    }

    fn is_reached(&self, reached: impl Fn(&State) -> bool) -> Result<bool, Unkept> {
        let state = self.0.lock();
        match &state.failure {
            Some(failure) => Err(failure.clone()),
            None => Ok(reached(&state)),
        }
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        self.0.arrived.notify_one();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_group(&self) -> Vec<Event> {
        let mut state = self.lock();
        let mut group = Vec::with_capacity(GROUP.min((state.pushed - state.taken) as usize));
        while group.len() < GROUP
            && let Some(events) = state.waiting.pop_front()
        {
            group.extend(events);
        }
        state.taken += group.len() as u64;
        self.crowded.store(state.failure.is_some() || !state.has_room(), Ordering::Release);
        group
    }
}

impl State {
    fn has_room(&self) -> bool {
        self.pushed - self.taken < ROOM
    }
}

async fn write_groups(shared: std::sync::Weak<Shared>, store: Option<Arc<Store>>) {
    while let Some(journal) = shared.upgrade() {
        let group = journal.take_group();
        if group.is_empty() {
            // Dropping the journal rings too; the next upgrade then finds nothing.
            journal.arrived.notified().await;
            continue;
        }
        let result = match &store {
            Some(store) => store.append(&group).await,
            None => Ok(()),
        };
        let readers = {
            let mut state = journal.lock();
            if let Err(error) = result {
                let events = state.pushed - state.durable;
                let of = Arc::new(lost(group.iter().chain(state.waiting.iter().flatten())));
                tracing::error!(%error, events, "events could not be written; the engine stops");
                state.failure = Some(Unkept { error: Arc::new(error), events, of });
                journal.crowded.store(true, Ordering::Release);
                state.waiting.clear();
                // Whoever follows the feed sees its end.
                state.readers.clear();
                journal.broken.send_replace(true);
                journal.written.notify_waiters();
                return;
            }
            state.readers.retain(|reader| !reader.is_closed());
            state.readers.clone()
        };
        let group = Arc::new(group);
        for reader in readers {
            // A reader that has gone away needs nothing.
            let _ = reader.send(Arc::clone(&group)).await;
        }
        journal.lock().durable += group.len() as u64;
        journal.written.notify_waiters();
    }
}
