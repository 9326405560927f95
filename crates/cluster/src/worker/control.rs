//! The control role: our own worker in this process, on queues that were made for it alone. Whatever it holds or changes
//! is nobody else's, since no other worker listens there and it listens nowhere else.

use std::{sync::Arc, time::Duration};

use engine::Message;
use protocol::{Change, ControlError, ExecutionId, LineageKey, Millis, NodeId};
use runtime::{Clock, LocalEngine, Start};

use super::{Worker, WorkerOptions, lock};
use crate::{ClusterError, Follower, Topology, execution::Wish, topology::PASSING_MILLIS};

/// Messages the broker hands out ahead. What is held is not acknowledged, and must not keep the others away.
const PREFETCH: u16 = 10_000;
/// Nobody else can have lost a message; what the broker loses is sent again after this.
const SILENCE: Millis = 60_000;

pub struct ControlRole {
    worker: Arc<Worker>,
}

impl ControlRole {
    /// `name` is unique among all who write.
    pub async fn open(
        amqp: &str,
        redis: &str,
        topology: Topology,
        name: &str,
        clock: Clock,
    ) -> Result<Self, ClusterError> {
        let usual = WorkerOptions::new(amqp, redis, name);
        let options = WorkerOptions { topology, clock, prefetch: PREFETCH, silence: SILENCE, ..usual };
        let worker = Worker::open(options).await?;
        let stays = Arc::downgrade(&worker);
        lock(&worker.beside).spawn(async move {
            let every = Duration::from_millis(PASSING_MILLIS.unsigned_abs() / 3);
            loop {
                let Some(worker) = stays.upgrade() else { return };
                if let Err(error) = worker.stay().await {
                    tracing::warn!(%error, "the queues of this run could not be kept");
                }
                drop(worker);
                tokio::time::sleep(every).await;
            }
        });
        Ok(Self { worker })
    }

    pub fn worker(&self) -> Arc<Worker> {
        Arc::clone(&self.worker)
    }

    /// Returns when the start is written down and its first messages are with the broker.
    pub async fn start(&self, start: Start) -> Result<(), ClusterError> {
        self.worker.desk.start(start).await
    }

    pub async fn follow(&self, id: &ExecutionId) -> Result<Follower, ClusterError> {
        Follower::open(&self.worker.options.redis, self.worker.desk.log.clone(), id).await
    }

    /// How many facts there are, how many messages are under way and do not rest, and when the next timer is due. `None`
    /// once it has ended.
    pub async fn at_rest(
        &self,
        id: &ExecutionId,
    ) -> Result<Option<(u64, usize, Option<Millis>)>, ClusterError> {
        let Some(execution) = self.worker.execution(id).await? else { return Ok(None) };
        let replica = execution.replica().await;
        let ledger = &replica.ledger;
        if ledger.is_ended() {
            return Ok(None);
        }
        // What is due is on its way, although it rests as far as the log knows.
        let due = ledger.due(self.worker.desk.clock.now()).count();
        Ok(Some((ledger.position(), ledger.busy().count() + due, ledger.next_due())))
    }

    /// Makes a timer fire before it is due. False if there is none.
    pub async fn fire_timer(
        &self,
        id: &ExecutionId,
        wanted: Option<(&NodeId, &LineageKey)>,
    ) -> Result<bool, ClusterError> {
        let wanted = wanted.map(|(node, key)| (node.clone(), key.clone()));
        let now = self.worker.desk.clock.now();
        self.worker.write_by_hand(id, Wish::FireTimer { wanted, now }).await
    }

    /// Ends an execution as halted. False if it has ended already.
    pub async fn cancel(&self, id: &ExecutionId) -> Result<bool, ClusterError> {
        self.worker.write_by_hand(id, Wish::Cancel { now: self.worker.desk.clock.now() }).await
    }

    /// Stops working and takes away everything that was made on the servers for these executions.
    pub async fn close(&self, executions: &[ExecutionId]) -> Result<(), ClusterError> {
        let Worker { desk, .. } = &*self.worker;
        self.worker.close();
        // Nobody listens to the queues any more when they go.
        lock(&self.worker.beside).abort_all();
        desk.post.remove().await?;
        for id in executions {
            desk.log.remove(id).await?;
        }
        desk.looks.remove().await
    }
}

impl LocalEngine for ControlRole {
    fn look_again(&self) {
        // The broker hands out the next message by itself.
    }

    /// The wish stands in line before whatever is said of the message next, so that the log has it first.
    fn mark(&self, message: &Message, at: Millis, change: Change) -> Result<(), ControlError> {
        let key = (message.execution_id.clone(), message.id.clone());
        let execution = lock(&self.worker.in_hand).get(&key).map(|in_hand| Arc::clone(&in_hand.execution));
        let Some(execution) = execution.filter(|execution| !execution.is_over()) else {
            let hint = "look at what is held";
            return Err(ControlError::missing("the message is not under way any more", hint));
        };
        let gone = change == Change::Dropped;
        let wish = Wish::Intervene { message: message.id.clone(), attempt: message.attempt, at, change };
        let answer = execution.wish(wish);
        let worker = Arc::clone(&self.worker);
        tokio::spawn(async move {
            let written = match execution.answered(answer).await {
                Ok(Some(written)) => worker.publish(&execution, &written).await,
                Ok(None) => Ok(()),
                Err(error) => Err(error),
            };
            if let Err(error) = written {
                tracing::error!(%error, message = %key.1, "what was done to a message could not be written down");
            }
            if gone {
                worker.let_go(&key).await;
            }
        });
        Ok(())
    }
}

impl Worker {
    async fn write_by_hand(&self, id: &ExecutionId, wish: Wish) -> Result<bool, ClusterError> {
        let execution = self.execution(id).await?.ok_or_else(|| ClusterError::Unknown(id.clone()))?;
        match execution.write(wish).await? {
            Some(written) => self.publish(&execution, &written).await.map(|()| true),
            None => Ok(false),
        }
    }

    /// Servers take away what was made for one run if nobody asks for it.
    async fn stay(&self) -> Result<(), ClusterError> {
        self.desk.post.declare().await?;
        self.desk.log.insist("keep the list of looks", || self.desk.looks.live_for(PASSING_MILLIS)).await
    }
}
