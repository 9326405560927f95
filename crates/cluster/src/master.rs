//! The other end of RFC 001: hears of every execution and gathers its facts, so that they can be kept elsewhere.
//! Statuses and completions only say where to look; the facts come from the log, so that none is missed and none
//! comes twice.

use std::{
    collections::{BTreeSet, HashMap, HashSet, VecDeque},
    time::Duration,
};

use futures::future::join_all;
use protocol::{Event, ExecutionId};
use serde::Deserialize;
use tokio::{
    sync::{mpsc, watch},
    task::JoinSet,
    time::Instant,
};

use crate::{
    ClusterError, Log, Queue, Topology,
    log::{CHUNK, LAST_LOOK},
    post::{self, Arrived},
    replica::Replica,
    slate::Debt,
    wire,
};

/// Messages looked at together.
const TOGETHER: u16 = 100;

pub struct Master {
    log: Log,
    inbox: mpsc::Receiver<Arrived>,
    /// Executions that go on, as far as we have read.
    going_on: HashMap<ExecutionId, Replica>,
    done: Done,
    _closed: watch::Sender<bool>,
    _beside: JoinSet<()>,
}

/// Facts to be kept. What they came with is acknowledged once they are.
pub struct Group {
    pub events: Vec<Event>,
    ended: Vec<ExecutionId>,
    debts: Vec<Debt>,
}

/// Executions that were kept to their end. Statuses of theirs may still be on their way while the log is there, and
/// none of them is a reason to read it again.
#[derive(Default)]
struct Done {
    known: HashSet<ExecutionId>,
    order: VecDeque<(Instant, ExecutionId)>,
}

impl Done {
    /// Longer than what was kept stays in the log.
    const MEMORY: Duration = Duration::from_millis(2 * LAST_LOOK.unsigned_abs());

    fn add(&mut self, id: ExecutionId) {
        let now = Instant::now();
        while let Some((_, old)) = self.order.pop_front_if(|(since, _)| now - *since > Self::MEMORY) {
            self.known.remove(&old);
        }
        if self.known.insert(id.clone()) {
            self.order.push_back((now, id));
        }
    }
}

#[derive(Deserialize)]
struct Hint {
    execution_id: ExecutionId,
}

impl Master {
    pub async fn open(amqp: &str, redis: &str, topology: Topology) -> Result<Self, ClusterError> {
        let log = Log::connect(redis, topology.prefix(), 1).await?;
        let (sender, inbox) = mpsc::channel(usize::from(TOGETHER));
        let closed = watch::Sender::new(false);
        let mut beside = JoinSet::new();
        let (amqp, ends) = (amqp.to_owned(), closed.subscribe());
        beside.spawn(async move {
            let queues = &[Queue::Status, Queue::Completion];
            if let Err(error) = post::receive(amqp, topology, queues, TOGETHER, sender, ends).await {
                tracing::error!(%error, "no more messages are received");
            }
        });
        Ok(Self {
            log,
            inbox,
            going_on: HashMap::new(),
            done: Done::default(),
            _closed: closed,
            _beside: beside,
        })
    }

    /// The next facts; `None` when nothing is received any more.
    pub async fn next(&mut self) -> Result<Option<Group>, ClusterError> {
        let Some(first) = self.inbox.recv().await else { return Ok(None) };
        let mut group = Group { events: Vec::new(), ended: Vec::new(), debts: Vec::new() };
        let mut spoken_of = BTreeSet::new();
        let mut next = Some(first);
        while let Some(Arrived { delivery, debt, .. }) = next {
            match wire::read::<Hint>(&delivery.data) {
                Ok(hint) if wire::check_id(&hint.execution_id).is_ok() => {
                    if !self.done.known.contains(&hint.execution_id) {
                        spoken_of.insert(hint.execution_id);
                    }
                }
                Ok(_) => tracing::warn!("a message with an odd execution id is passed over"),
                Err(why) => tracing::warn!(reason = %why.message, "a message is passed over"),
            }
            group.debts.push(debt);
            next = self.inbox.try_recv().ok();
        }
        for id in spoken_of {
            match self.read(&id, &mut group).await {
                // Somebody else uses its name, or newer workers say what we do not understand. Others can be kept.
                Err(error) if error.is_about_one_execution() => {
                    tracing::error!(execution = %id, %error, "an execution cannot be kept any further");
                }
                read => read?,
            }
        }
        Ok(Some(group))
    }

    /// The facts of the group are safe.
    pub async fn kept(&mut self, group: Group) -> Result<(), ClusterError> {
        for id in group.ended {
            self.log.insist("let go what is kept elsewhere", || self.log.release(&id)).await?;
            self.done.add(id);
        }
        join_all(group.debts.into_iter().map(Debt::settle)).await;
        Ok(())
    }

    async fn read(&mut self, id: &ExecutionId, group: &mut Group) -> Result<(), ClusterError> {
        loop {
            let behind = self.going_on.get(id).map_or(0, |replica| replica.ledger.position());
            let found = self.log.insist("read the log", || self.log.read(id, behind)).await?;
            if found.is_empty() {
                return Ok(());
            }
            let complete = found.len() < CHUNK;
            let mut replica = match self.going_on.remove(id) {
                Some(replica) => replica,
                None => Replica::before(&found)?,
            };
            for event in found {
                group.events.push(replica.apply(event)?.event);
            }
            if replica.ledger.is_ended() {
                group.ended.push(id.clone());
                return Ok(());
            }
            self.going_on.insert(id.clone(), replica);
            if complete {
                return Ok(());
            }
        }
    }
}
