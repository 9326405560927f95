//! The engine in one process. State lives in memory; every transition is appended to the event log, and the log is
//! the durable state: after a crash the same fold that kept the memory up to date builds it again.

mod by_hand;
mod executions;
mod journal;

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use engine::Again;
use protocol::{Event, ExecutionId, Millis};
use recording::{LedgerError, Store, StoreError};
use runtime::{Announcement, Backend, Clock, Conclusion, Delivery, Receipt, Standstills, Start, Stopped};
use tokio::sync::{Notify, mpsc};

use executions::{Execution, Executions};
use journal::{Journal, Unkept};

pub use by_hand::AtRest;
pub use journal::Lost;

#[derive(Debug, thiserror::Error)]
pub enum EmbeddedError {
    #[error(transparent)]
    Store(Arc<StoreError>),
    /// Writing has failed, and the engine has stopped. What was worked out since the last commit happens again when the
    /// store is opened again, so that the recording itself has no gap.
    #[error("{error}; the last {events} events could not be kept")]
    Unkept { error: Arc<StoreError>, events: u64, of: Arc<BTreeMap<ExecutionId, Lost>> },
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    #[error("there is no running execution {0}")]
    NotRunning(ExecutionId),
}

impl From<Unkept> for EmbeddedError {
    fn from(Unkept { error, events, of }: Unkept) -> Self {
        Self::Unkept { error, events, of }
    }
}

impl From<StoreError> for EmbeddedError {
    fn from(error: StoreError) -> Self {
        Self::Store(Arc::new(error))
    }
}

/// A large fan-out wakes this many workers at most; they find the rest by themselves.
const MOST_WOKEN: usize = 256;

pub struct Embedded {
    executions: Mutex<Executions>,
    ready: Notify,
    /// Rings for the one task that keeps time; a ring while it looks elsewhere is kept for it.
    timers: Notify,
    rung: AtomicBool,
    journal: Journal,
    clock: Clock,
}

impl Embedded {
    /// Opens the engine over a store. Executions that a crash interrupted go on when [`Embedded::recover`] is called.
    pub fn open(store: Arc<Store>, clock: Clock) -> Arc<Self> {
        Self::over(Journal::start(Some(store)), clock)
    }

    /// An engine that keeps nothing but what it has in memory. It makes the same events and tells the same feed; what
    /// it costs to write them down is what is missing, and nothing survives its end.
    pub fn unrecorded(clock: Clock) -> Arc<Self> {
        Self::over(Journal::start(None), clock)
    }

    fn over(journal: Journal, clock: Clock) -> Arc<Self> {
        Arc::new(Self {
            executions: Mutex::new(Executions::default()),
            ready: Notify::new(),
            timers: Notify::new(),
            rung: AtomicBool::new(false),
            journal,
            clock,
        })
    }

    /// Takes up every execution that has not ended.
    pub async fn recover(&self, store: &Store) -> Result<Vec<ExecutionId>, EmbeddedError> {
        let unfinished = store.unfinished().await?;
        for id in &unfinished {
            let execution = Execution::recover(&store.events(id).await?)?;
            self.take_in(&mut self.lock(), id, execution);
        }
        Ok(unfinished)
    }

    /// Every event once it is durable, in order. The engine waits for a reader that falls far behind.
    pub fn feed(&self) -> mpsc::Receiver<Arc<Vec<Event>>> {
        self.journal.subscribe()
    }

    /// Returns when the start is durable, so that whoever is told the id can ask for it.
    pub async fn start(&self, start: Start) -> Result<(), EmbeddedError> {
        self.journal.room().await?;
        let (execution, events) = Execution::start(&start, self.clock.now())?;
        {
            let mut executions = self.lock();
            self.journal.push(events);
            self.take_in(&mut executions, &start.execution_id, execution);
        }
        self.journal.durable().await?;
        Ok(())
    }

    /// Messages that wait to be worked on, over all executions.
    pub fn queue_depth(&self) -> usize {
        self.lock().running.values().map(Execution::ready_count).sum()
    }

    /// Ends an execution as halted.
    pub async fn cancel(&self, id: &ExecutionId) -> Result<(), EmbeddedError> {
        self.journal.room().await?;
        let now = self.clock.now();
        match self.change(&mut self.lock(), id, false, |execution| execution.cancel(now))? {
            true => Ok(()),
            false => Err(EmbeddedError::NotRunning(id.clone())),
        }
    }

    /// Waits until everything that has happened so far is durable, then lets the workers go home.
    pub async fn close(&self) -> Result<(), EmbeddedError> {
        self.lock().closed = true;
        self.ready.notify_waiters();
        self.timers.notify_one();
        self.journal.durable().await?;
        Ok(())
    }

    fn take_in(&self, executions: &mut Executions, id: &ExecutionId, execution: Execution) {
        let ready = execution.ready_count();
        executions.running.insert(id.clone(), execution);
        self.made_ready(executions, id, ready, false);
        self.ring();
    }

    /// Changes an execution and hands over the events of the change, in one step. False if it is not running. Whoever
    /// takes the next message in hand itself, right after this, need not be woken for it.
    fn change(
        &self,
        executions: &mut Executions,
        id: &ExecutionId,
        goes_on: bool,
        change: impl FnOnce(&mut Execution) -> Result<Vec<Event>, LedgerError>,
    ) -> Result<bool, EmbeddedError> {
        // An execution that has ended needs nothing any more.
        let Some(execution) = executions.running.get_mut(id) else { return Ok(false) };
        let (due, before) = (execution.next_due(), execution.ready_count());
        let events = change(execution)?;
        let (next_due, after, ended) = (execution.next_due(), execution.ready_count(), execution.has_ended());
        self.journal.push(events);
        match ended {
            true => {
                executions.running.remove(id);
                self.clock.work_ended(before);
            }
            false => {
                // A window that fills takes back what it had offered.
                self.clock.work_ended(before - after.min(before));
                self.made_ready(executions, id, after - before.min(after), goes_on);
            }
        }
        if next_due != due {
            self.ring();
        }
        Ok(true)
    }

    /// The time keeper is to look again. Until it has, a simulated clock stands still.
    fn ring(&self) {
        if !self.rung.swap(true, Ordering::SeqCst) {
            self.clock.keeper_begins();
            self.timers.notify_one();
        }
    }

    fn made_ready(&self, executions: &mut Executions, id: &ExecutionId, messages: usize, goes_on: bool) {
        self.clock.work_began(messages);
        executions.take_turns(id);
        for _ in 0..messages.saturating_sub(usize::from(goes_on)).min(MOST_WOKEN) {
            self.ready.notify_one();
        }
    }

    fn next(&self) -> Option<Option<Delivery>> {
        let mut executions = self.lock();
        if executions.closed {
            return Some(None);
        }
        let (execution, message) = executions.next()?;
        let receipt = Receipt {
            execution_id: message.execution_id.clone(),
            message_id: message.id.clone(),
            attempt: message.attempt,
        };
        let plan = Arc::clone(execution.plan());
        Some(Some(Delivery { plan, receipt, stopped: Stopped(execution.stopped()), message }))
    }

    fn lock(&self) -> MutexGuard<'_, Executions> {
        self.executions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Backend for Embedded {
    type Error = EmbeddedError;

    async fn receive(&self) -> Result<Option<Delivery>, EmbeddedError> {
        loop {
            let ready = self.ready.notified();
            self.journal.check()?;
            if let Some(answer) = self.next() {
                return Ok(answer);
            }
            tokio::select! {
                () = ready => {}
                () = self.journal.failed() => {}
            }
        }
    }

    async fn announce(&self, receipt: &Receipt, announcement: Announcement) -> Result<bool, EmbeddedError> {
        self.journal.room().await?;
        let before_call = announcement.before_call;
        let announce = |execution: &mut Execution| execution.announce(receipt, announcement);
        self.change(&mut self.lock(), &receipt.execution_id, false, announce)?;
        if before_call {
            self.journal.durable().await?;
        }
        Ok(true)
    }

    async fn park(&self, receipt: Receipt, now: Millis, due: Millis) -> Result<(), EmbeddedError> {
        self.journal.room().await?;
        let park = |execution: &mut Execution| execution.park(&receipt, now, due);
        self.change(&mut self.lock(), &receipt.execution_id, true, park)?;
        self.clock.work_ended(1);
        Ok(())
    }

    async fn retry(
        &self,
        receipt: Receipt,
        at: Millis,
        duration: Millis,
        again: Again,
    ) -> Result<(), EmbeddedError> {
        self.journal.room().await?;
        let retry = |execution: &mut Execution| execution.retry(&receipt, at, duration, again);
        self.change(&mut self.lock(), &receipt.execution_id, true, retry)?;
        self.clock.work_ended(1);
        Ok(())
    }

    fn next_due(&self) -> Option<Millis> {
        self.lock().next_due()
    }

    async fn timers_changed(&self) -> bool {
        let changed = self.timers.notified();
        if self.lock().closed {
            return false;
        }
        tokio::select! {
            () = changed => {
                self.rung.store(false, Ordering::SeqCst);
                !self.lock().closed
            }
            () = self.journal.failed() => false,
        }
    }

    async fn fire_due(&self, now: Millis, standstills: &Standstills) -> Result<(), EmbeddedError> {
        self.journal.room().await?;
        let mut executions = self.lock();
        let ids: Vec<ExecutionId> = executions.running.keys().cloned().collect();
        for id in ids {
            self.change(&mut executions, &id, false, |execution| execution.wake(now, standstills))?;
        }
        Ok(())
    }

    async fn commit(&self, receipt: Receipt, conclusion: Conclusion) -> Result<(), EmbeddedError> {
        self.journal.room().await?;
        let commit = |execution: &mut Execution| execution.commit(&receipt, conclusion);
        self.change(&mut self.lock(), &receipt.execution_id, true, commit)?;
        self.clock.work_ended(1);
        Ok(())
    }
}
