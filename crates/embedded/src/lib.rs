//! The engine in one process. State lives in memory; every transition is appended to the event log, and the log is
//! the durable state: after a crash the same fold that kept the memory up to date builds it again.

mod executions;
mod journal;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use engine::{Message, Plan};
use protocol::{Event, ExecutionId, Payload, WorkflowId};
use recording::{LedgerError, Store, StoreError};
use runtime::{Announcement, Backend, Clock, Conclusion, Delivery, Receipt, Stopped};
use tokio::sync::{Notify, mpsc};

use executions::{Execution, Executions};
use journal::Journal;

#[derive(Debug, thiserror::Error)]
pub enum EmbeddedError {
    #[error(transparent)]
    Store(#[from] Arc<StoreError>),
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    #[error("there is no running execution {0}")]
    NotRunning(ExecutionId),
}

impl From<StoreError> for EmbeddedError {
    fn from(error: StoreError) -> Self {
        Self::Store(Arc::new(error))
    }
}

/// A wish to start an execution.
pub struct Start {
    pub execution_id: ExecutionId,
    pub workflow_id: WorkflowId,
    pub title: String,
    pub plan: Arc<Plan>,
    pub input: Payload,
    /// The file the workflow was read from, for people.
    pub path: Option<String>,
}

pub struct Embedded {
    executions: Mutex<Executions>,
    ready: Notify,
    journal: Journal,
    clock: Clock,
}

impl Embedded {
    /// Opens the engine over a store. Executions that a crash interrupted go on when [`Embedded::recover`] is called.
    pub fn open(store: Arc<Store>, clock: Clock) -> Arc<Self> {
        Arc::new(Self {
            executions: Mutex::new(Executions::default()),
            ready: Notify::new(),
            journal: Journal::start(store),
            clock,
        })
    }

    /// Takes up every execution that has not ended.
    pub async fn recover(&self, store: &Store) -> Result<Vec<ExecutionId>, EmbeddedError> {
        let unfinished = store.unfinished().await?;
        for id in &unfinished {
            let events = store.events(id).await?;
            let execution = Execution::recover(&events)?;
            let messages = execution.interrupted();
            self.enqueue(&mut self.lock(), id, execution, messages);
        }
        Ok(unfinished)
    }

    /// Every event once it is durable, in order. The engine waits for a reader that falls far behind.
    pub fn feed(&self) -> mpsc::Receiver<Arc<[Event]>> {
        self.journal.subscribe()
    }

    /// Returns when the start is durable, so that whoever is told the id can ask for it.
    pub async fn start(&self, start: Start) -> Result<(), EmbeddedError> {
        self.journal.room().await?;
        let (execution, messages, events) = Execution::start(&start, self.clock.now())?;
        {
            let mut executions = self.lock();
            self.journal.push(events);
            self.enqueue(&mut executions, &start.execution_id, execution, messages);
        }
        self.journal.durable().await?;
        Ok(())
    }

    /// Ends an execution as halted.
    pub async fn cancel(&self, id: &ExecutionId) -> Result<(), EmbeddedError> {
        self.journal.room().await?;
        let mut executions = self.lock();
        let execution =
            executions.running.get_mut(id).ok_or_else(|| EmbeddedError::NotRunning(id.clone()))?;
        let events = execution.cancel(self.clock.now())?;
        self.journal.push(events);
        self.forget(&mut executions, id);
        Ok(())
    }

    /// Waits until everything that has happened so far is durable, then lets the workers go home.
    pub async fn close(&self) -> Result<(), EmbeddedError> {
        self.lock().closed = true;
        self.ready.notify_waiters();
        self.journal.durable().await?;
        Ok(())
    }

    fn enqueue(
        &self,
        executions: &mut Executions,
        id: &ExecutionId,
        execution: Execution,
        messages: Vec<Message>,
    ) {
        executions.running.insert(id.clone(), execution);
        self.add_ready(executions, messages);
    }

    fn add_ready(&self, executions: &mut Executions, messages: Vec<Message>) {
        self.clock.work_began(messages.len());
        for message in messages {
            executions.ready.push_back(message);
            self.ready.notify_one();
        }
    }

    /// An execution has ended: what is left of its messages is dropped.
    fn forget(&self, executions: &mut Executions, id: &ExecutionId) {
        executions.running.remove(id);
        let before = executions.ready.len();
        executions.ready.retain(|message| message.execution_id != *id);
        self.clock.work_ended(before - executions.ready.len());
    }

    fn next(&self) -> Option<Option<Delivery>> {
        let mut executions = self.lock();
        if executions.closed {
            return Some(None);
        }
        let message = executions.ready.pop_front()?;
        let execution = executions.running.get(&message.execution_id)?;
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

    async fn announce(&self, receipt: &Receipt, announcement: Announcement) -> Result<(), EmbeddedError> {
        self.journal.room().await?;
        let mut executions = self.lock();
        // An execution that has ended meanwhile needs no news.
        if let Some(execution) = executions.running.get_mut(&receipt.execution_id) {
            self.journal.push(execution.announce(receipt, announcement)?);
        }
        Ok(())
    }

    async fn commit(&self, receipt: Receipt, conclusion: Conclusion) -> Result<(), EmbeddedError> {
        self.journal.room().await?;
        let mut executions = self.lock();
        if let Some(execution) = executions.running.get_mut(&receipt.execution_id) {
            let (events, messages) = execution.commit(&receipt, conclusion)?;
            let ended = execution.has_ended();
            self.journal.push(events);
            self.add_ready(&mut executions, messages);
            if ended {
                self.forget(&mut executions, &receipt.execution_id);
            }
        }
        self.clock.work_ended(1);
        Ok(())
    }
}
