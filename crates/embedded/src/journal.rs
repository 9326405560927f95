//! Makes events durable in groups: while one group is being written the next one gathers.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use protocol::Event;
use recording::{Store, StoreError};
use tokio::sync::{Notify, mpsc, watch};

/// Events that may wait to be written. Past this the engine waits for the disk.
const ROOM: usize = 20_000;
/// Groups a reader of the feed may fall behind before the engine waits for it.
const FEED_GROUPS: usize = 256;

pub struct Journal(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    /// Something is to be written.
    arrived: Notify,
    /// A group was written, or writing has failed.
    written: Notify,
    /// True once writing has failed.
    broken: watch::Sender<bool>,
}

#[derive(Default)]
struct State {
    waiting: Vec<Event>,
    /// Events handed over, and of those the durable ones.
    pushed: u64,
    durable: u64,
    failure: Option<Arc<StoreError>>,
    readers: Vec<mpsc::Sender<Arc<[Event]>>>,
}

impl Journal {
    /// Starts the one task that writes. It ends with the journal.
    pub fn start(store: Arc<Store>) -> Self {
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            arrived: Notify::new(),
            written: Notify::new(),
            broken: watch::Sender::new(false),
        });
        tokio::spawn(write_groups(Arc::downgrade(&shared), store));
        Self(shared)
    }

    pub fn subscribe(&self) -> mpsc::Receiver<Arc<[Event]>> {
        let (sender, receiver) = mpsc::channel(FEED_GROUPS);
        self.0.lock().readers.push(sender);
        receiver
    }

    /// Hands over events; the caller holds the lock that orders them.
    pub fn push(&self, events: Vec<Event>) {
        if !events.is_empty() {
            let mut state = self.0.lock();
            state.pushed += events.len() as u64;
            state.waiting.extend(events);
            drop(state);
            self.0.arrived.notify_one();
        }
    }

    /// Waits until there is room for more.
    pub async fn room(&self) -> Result<(), Arc<StoreError>> {
        self.until(|state| state.waiting.len() < ROOM).await
    }

    /// Waits until everything handed over so far is durable and every reader of the feed has it.
    pub async fn durable(&self) -> Result<(), Arc<StoreError>> {
        let ticket = self.0.lock().pushed;
        self.until(|state| state.durable >= ticket).await
    }

    pub fn check(&self) -> Result<(), Arc<StoreError>> {
        self.0.lock().failure.clone().map_or(Ok(()), Err)
    }

    /// Returns when writing has failed.
    pub async fn failed(&self) {
        // The sender lives in the journal, so the only answer is that it is broken.
        let _ = self.0.broken.subscribe().wait_for(|broken| *broken).await;
    }

    async fn until(&self, reached: impl Fn(&State) -> bool) -> Result<(), Arc<StoreError>> {
        // Nearly always there is nothing to wait for, and then nobody needs to be told when there is.
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

    fn is_reached(&self, reached: impl Fn(&State) -> bool) -> Result<bool, Arc<StoreError>> {
        let state = self.0.lock();
        match &state.failure {
            Some(failure) => Err(Arc::clone(failure)),
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
        std::mem::take(&mut self.lock().waiting)
    }
}

async fn write_groups(shared: std::sync::Weak<Shared>, store: Arc<Store>) {
    while let Some(journal) = shared.upgrade() {
        let group = journal.take_group();
        if group.is_empty() {
            // Dropping the journal rings too; the next upgrade then finds nothing.
            journal.arrived.notified().await;
            continue;
        }
        let result = store.append(&group).await;
        let readers = {
            let mut state = journal.lock();
            if let Err(error) = result {
                tracing::error!(%error, events = group.len(), "events could not be written; the engine stops");
                state.failure = Some(Arc::new(error));
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
        let group: Arc<[Event]> = group.into();
        for reader in readers {
            // A reader that has gone away needs nothing.
            let _ = reader.send(Arc::clone(&group)).await;
        }
        journal.lock().durable += group.len() as u64;
        journal.written.notify_waiters();
    }
}
