//! A worker: takes messages from RabbitMQ, has what came of them written to the log, publishes what follows, and only
//! then acknowledges. A crash anywhere in between costs work, never a result: the message comes back, and the log says
//! how far it got.

mod admit;
mod control;
mod look;

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering},
    },
    time::Duration,
};

use engine::Again;
use protocol::{ExecutionId, MessageId, Millis};
use runtime::{Announcement, Backend, Clock, Conclusion, Delivery, Receipt, Standstills};
use tokio::{
    sync::{Mutex as AsyncMutex, Notify, OnceCell, mpsc, watch},
    task::JoinSet,
};

pub use control::ControlRole;

use crate::{
    ClusterError, Log, Looks, Post, Queue, Topology,
    desk::Desk,
    execution::{Execution, Wish, Written},
    insist::Patience,
    post::{self, Arrived},
    slate::Debt,
};

/// Executions kept in memory that nobody works for at the moment.
const IDLE_EXECUTIONS: usize = 1_000;

#[derive(Clone)]
pub struct WorkerOptions {
    pub amqp: String,
    pub redis: String,
    pub topology: Topology,
    /// Unique among all workers, and new at every start.
    pub name: String,
    pub clock: Clock,
    /// Messages the broker hands out ahead.
    pub prefetch: u16,
    /// How long a message that takes a while is held before somebody else may take it.
    pub lease: Millis,
    /// How often the list of looks is asked for what others have put there; never where all workers share a simulated
    /// clock.
    pub poll: Option<Millis>,
    /// An execution that has been silent for so long is looked at.
    pub silence: Millis,
    /// How long facts are kept after the end, for those who follow.
    pub afterwards: Millis,
    /// How long servers that are gone are waited for once the worker is asked to stop.
    pub parting: Duration,
}

impl WorkerOptions {
    pub fn new(amqp: &str, redis: &str, name: &str) -> Self {
        Self {
            amqp: amqp.to_owned(),
            redis: redis.to_owned(),
            topology: Topology::new(""),
            name: name.to_owned(),
            clock: Clock::system(),
            prefetch: 128,
            lease: 10_000,
            poll: Some(500),
            silence: 15_000,
            afterwards: 600_000,
            parting: Duration::from_secs(30),
        }
    }
}

pub struct Worker {
    options: WorkerOptions,
    desk: Desk,
    inbox: AsyncMutex<mpsc::Receiver<Arrived>>,
    executions: Mutex<HashMap<ExecutionId, Arc<OnceCell<Arc<Execution>>>>>,
    in_hand: Mutex<HashMap<(ExecutionId, MessageId), InHand>>,
    /// Messages of which is written what came of them, and which are not let go yet.
    parting: Mutex<HashSet<(ExecutionId, MessageId)>>,
    /// The moment of the next look, as far as we know.
    next_look: AtomicI64,
    /// Rings for the one task that keeps time; a ring while it looks elsewhere is kept for it.
    timers: Notify,
    rung: AtomicBool,
    /// How often timers were taken.
    taken: AtomicU64,
    closed: watch::Sender<bool>,
    /// What goes on beside the line; ends with the worker.
    beside: Mutex<JoinSet<()>>,
}

/// What was in hand and is not finished. Nothing of it is lost: the broker hands the messages out again, and the log says
/// how far each of them got.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Left {
    pub messages: usize,
    pub executions: BTreeSet<ExecutionId>,
}

struct InHand {
    debt: Debt,
    execution: Arc<Execution>,
    /// It takes a while, and others know.
    announced: bool,
    /// Its rest is over; until it says something, a simulated clock counts the letter that said so.
    resumed: bool,
}

impl Worker {
    pub async fn open(options: WorkerOptions) -> Result<Arc<Self>, ClusterError> {
        let patience = Patience::default();
        let log = Log::connect(&options.redis, options.topology.prefix(), options.afterwards).await?;
        let log = log.with_patience(&patience);
        options.clock.set(log.now().await?);
        if log.persists().await == Some(false) {
            tracing::warn!("this Redis keeps nothing on disk: what is under way is lost when it stops");
        }
        let desk = Desk {
            post: Post::open(&options.amqp, options.topology.clone()).await?.with_patience(&patience),
            looks: Looks::new(&log),
            log,
            clock: options.clock.clone(),
            name: options.name.clone(),
            silence: options.silence,
        };
        let (sender, inbox) = mpsc::channel(usize::from(options.prefetch.max(1)));
        let closed = watch::Sender::new(false);
        let mut beside = JoinSet::new();
        let (amqp, topology, ends) = (options.amqp.clone(), options.topology.clone(), closed.subscribe());
        let prefetch = options.prefetch;
        beside.spawn(async move {
            let queues = &[Queue::Execution, Queue::Timeout];
            if let Err(error) = post::receive(amqp, topology, queues, prefetch, sender, ends).await {
                tracing::error!(%error, "no more messages are received");
            }
        });
        let worker = Arc::new(Self {
            desk,
            inbox: AsyncMutex::new(inbox),
            executions: Mutex::default(),
            in_hand: Mutex::default(),
            parting: Mutex::default(),
            next_look: AtomicI64::new(Millis::MAX),
            timers: Notify::new(),
            rung: AtomicBool::new(false),
            taken: AtomicU64::new(0),
            closed,
            beside: Mutex::default(),
            options,
        });
        let holder = Arc::downgrade(&worker);
        let every = u64::try_from(worker.options.lease / 3).unwrap_or(1).max(1);
        beside.spawn(async move {
            let mut tick = tokio::time::interval(std::time::Duration::from_millis(every));
            loop {
                tick.tick().await;
                let Some(worker) = holder.upgrade() else { return };
                worker.hold_on().await;
            }
        });
        *lock(&worker.beside) = beside;
        Ok(worker)
    }

    /// Takes no more messages. Those in hand are finished by the line; servers that are gone are waited for only a while.
    pub fn close(&self) {
        self.desk.log.patience().stop_after(self.options.parting);
        self.closed.send_replace(true);
        self.timers.notify_one();
    }

    /// What a worker that did not get to its end leaves to others; `None` where it has not given up on its servers.
    pub fn left(&self) -> Option<Left> {
        if !self.desk.log.patience().has_given_up() {
            return None;
        }
        let in_hand: Vec<_> = lock(&self.in_hand).keys().cloned().collect();
        let messages: HashSet<_> = in_hand.into_iter().chain(lock(&self.parting).iter().cloned()).collect();
        let executions = messages.iter().map(|(execution, _)| execution.clone()).collect();
        Some(Left { messages: messages.len(), executions })
    }

    /// Goes on holding what takes a while, and hears of executions that have ended.
    async fn hold_on(&self) {
        let mut held: HashMap<ExecutionId, (Arc<Execution>, Vec<MessageId>)> = HashMap::new();
        for ((id, message), in_hand) in lock(&self.in_hand).iter().filter(|(_, in_hand)| in_hand.announced) {
            let entry = held.entry(id.clone());
            entry.or_insert_with(|| (Arc::clone(&in_hand.execution), Vec::new())).1.push(message.clone());
        }
        let until = self.desk.clock.now() + self.options.lease;
        for (id, (execution, messages)) in held {
            match self.desk.log.renew(&id, &self.desk.name, until, &messages).await {
                Ok(true) => {}
                Ok(false) => execution.stop(),
                Err(error) => tracing::warn!(%error, execution = %id, "a lease could not be renewed"),
            }
        }
    }

    /// The execution, from memory or from the log; `None` if the log does not know it or it has ended.
    async fn execution(&self, id: &ExecutionId) -> Result<Option<Arc<Execution>>, ClusterError> {
        let cell = {
            let mut executions = lock(&self.executions);
            if executions.len() >= IDLE_EXECUTIONS {
                let in_use = |cell: &Arc<OnceCell<Arc<Execution>>>| {
                    Arc::strong_count(cell) > 1
                        || cell.get().is_some_and(|execution| Arc::strong_count(execution) > 1)
                };
                executions.retain(|_, cell| in_use(cell));
            }
            Arc::clone(executions.entry(id.clone()).or_default())
        };
        let opened = cell.get_or_try_init(|| async {
            self.desk.open(id).await?.ok_or_else(|| ClusterError::Unknown(id.clone()))
        });
        match opened.await {
            Ok(execution) => Ok(Some(Arc::clone(execution))),
            Err(ClusterError::Unknown(_)) => {
                self.forget(id);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn forget(&self, id: &ExecutionId) {
        lock(&self.executions).remove(id);
    }

    /// Publishes what a step has brought about, and sees to it that somebody looks when a timer is due.
    async fn publish(&self, execution: &Execution, written: &Written) -> Result<(), ClusterError> {
        let make_known = async || {
            if !written.ended
                && let Some(due) = written.next_due
            {
                if execution.needs_look(due, self.desk.clock.now()) {
                    self.desk
                        .log
                        .insist("ask for a look", || self.desk.looks.ask(&execution.id, due))
                        .await?;
                }
                self.look_by(due);
            }
            self.desk.publish(execution, written).await?;
            if written.ended {
                self.forget(&execution.id);
            }
            Ok(())
        };
        written.once(make_known).await
    }

    /// The time keeper is to look again if that is sooner than it knows. Until it has, a simulated clock stands still.
    fn look_by(&self, due: Millis) {
        if due < self.next_look.fetch_min(due, Ordering::SeqCst) && !self.rung.swap(true, Ordering::SeqCst) {
            self.desk.clock.work_began(1);
            self.timers.notify_one();
        }
    }

    /// Writes what came of a message, publishes what follows, and lets the message go.
    async fn finish(&self, receipt: Receipt, wish: Wish) -> Result<(), ClusterError> {
        let key = (receipt.execution_id, receipt.message_id);
        let execution = lock(&self.in_hand).get(&key).map(|in_hand| Arc::clone(&in_hand.execution));
        let Some(execution) = execution else { return Ok(()) };
        let written = execution.write(wish).await?;
        // From here on it is not in hand: a rest may be over, and its message back, before this is published.
        lock(&self.parting).insert(key.clone());
        let in_hand = lock(&self.in_hand).remove(&key);
        let nothing = written.is_none();
        match written {
            Some(written) => {
                self.publish(&execution, &written).await?;
                self.desk.clock.work_ended(1);
            }
            // Our own answer was lost on the way: then it may still be ours to publish.
            None if execution.is_uncertain() => {
                self.desk.publish_again(&execution, key.1.as_str()).await?;
            }
            // Somebody was faster, and publishes.
            None => {}
        }
        lock(&self.parting).remove(&key);
        if let Some(in_hand) = in_hand {
            in_hand.debt.settle().await;
            if nothing && in_hand.resumed {
                self.desk.clock.work_ended(1);
            }
        }
        Ok(())
    }

    async fn let_go(&self, key: &(ExecutionId, MessageId)) {
        let in_hand = lock(&self.in_hand).remove(key);
        if let Some(in_hand) = in_hand {
            in_hand.debt.settle().await;
        }
    }
}

impl Backend for Worker {
    type Error = ClusterError;

    async fn receive(&self) -> Result<Option<Delivery>, ClusterError> {
        loop {
            let mut closed = self.closed.subscribe();
            let arrived = tokio::select! {
                biased;
                _ = closed.wait_for(|closed| *closed) => return Ok(None),
                arrived = async { self.inbox.lock().await.recv().await } => arrived,
            };
            let Some(arrived) = arrived else { return Ok(None) };
            if let Some(delivery) = self.admit(arrived).await? {
                return Ok(Some(delivery));
            }
        }
    }

    async fn announce(&self, receipt: &Receipt, announcement: Announcement) -> Result<bool, ClusterError> {
        let key = (receipt.execution_id.clone(), receipt.message_id.clone());
        let execution = {
            let mut in_hand = lock(&self.in_hand);
            let Some(in_hand) = in_hand.get_mut(&key) else { return Ok(false) };
            (in_hand.announced, in_hand.resumed) = (true, false);
            Arc::clone(&in_hand.execution)
        };
        let wish = Wish::Announce {
            message: receipt.message_id.clone(),
            attempt: receipt.attempt,
            at: announcement.at,
            parameters: announcement.parameters,
            lease: self.desk.clock.now() + self.options.lease,
        };
        match execution.write(wish).await? {
            Some(written) => self.publish(&execution, &written).await.map(|()| true),
            // Somebody else has begun, or the execution has ended.
            None => {
                self.let_go(&key).await;
                Ok(false)
            }
        }
    }

    async fn park(&self, receipt: Receipt, now: Millis, due: Millis) -> Result<(), ClusterError> {
        let (message, attempt) = (receipt.message_id.clone(), receipt.attempt);
        self.finish(receipt, Wish::Park { message, attempt, at: now, due }).await
    }

    async fn retry(
        &self,
        receipt: Receipt,
        at: Millis,
        duration: Millis,
        again: Again,
    ) -> Result<(), ClusterError> {
        let (message, attempt) = (receipt.message_id.clone(), receipt.attempt);
        self.finish(receipt, Wish::Retry { message, attempt, at, duration, again }).await
    }

    fn next_due(&self) -> Option<Millis> {
        let known = self.next_look.load(Ordering::SeqCst);
        let polled = self.options.poll.map(|every| self.desk.clock.now() + every);
        Some(known).filter(|due| *due < Millis::MAX).into_iter().chain(polled).min()
    }

    async fn timers_changed(&self) -> bool {
        self.timers.notified().await;
        self.rung.store(false, Ordering::SeqCst);
        !*self.closed.borrow()
    }

    async fn fire_due(&self, now: Millis, standstills: &Standstills) -> Result<(), ClusterError> {
        self.look_at_what_is_due(now, standstills).await
    }

    async fn commit(&self, receipt: Receipt, conclusion: Conclusion) -> Result<(), ClusterError> {
        let (message, attempt) = (receipt.message_id.clone(), receipt.attempt);
        self.finish(receipt, Wish::Commit { message, attempt, conclusion: Box::new(conclusion) }).await
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
