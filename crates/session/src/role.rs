//! The control role: a session whose executions run on the servers of a cluster, on queues of their own, with our own
//! worker in this process. Nobody else takes their messages, and nobody else's work can be held. Their facts are followed
//! from the log and recorded here, so that everything that looks at recordings works as it does for our own engine.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use cluster::{ClusterError, ControlRole, Follower, Topology};
use embedded::AtRest;
use protocol::{Event, ExecutionId, Fact, LineageKey, NodeId, Problem, ProblemCode};
use recording::Store;
use runtime::{Clock, Gate, LocalEngine, Start, Workshop};
use tokio::{
    sync::{mpsc, watch},
    task::JoinSet,
};

use crate::{
    ClusterAddress, Keep, Reach, Session, WORKERS,
    cluster::from_cluster,
    hidden,
    live::Live,
    problem::from_store,
    random_id,
    workplace::{Workplace, not_running},
};

/// Groups of events that a reader of the feed may fall behind before recording waits for it.
const BEHIND: usize = 64;
/// How long to rest before the log is asked again.
const PAUSE: Duration = Duration::from_millis(500);

pub(crate) struct Role {
    control: Arc<ControlRole>,
    store: Arc<Store>,
    /// How far each execution is recorded.
    recorded: watch::Sender<HashMap<ExecutionId, Recorded>>,
    readers: Mutex<Vec<mpsc::Sender<Arc<Vec<Event>>>>>,
    /// Those who follow executions.
    followers: Mutex<JoinSet<()>>,
}

#[derive(Clone, Debug)]
enum Recorded {
    UpTo(u64),
    Ended,
    /// Nothing more comes.
    Broken(Problem),
}

impl Session {
    /// Opens a session that runs executions on these servers and may hold, step and change them.
    pub async fn with_control_role(
        address: &ClusterAddress,
        keep: Keep,
        reach: Reach,
    ) -> Result<Self, Problem> {
        let clock = Clock::system();
        let kept = keep.open(hidden::rules(reach.redaction.as_deref())?).await?;
        let name = random_id()?;
        let topology = own_queues(address, &name);
        let control = ControlRole::open(&address.amqp, &address.redis, topology, &name, clock.clone()).await;
        let control = Arc::new(control.map_err(|error| from_cluster(&error))?);
        let local: Arc<dyn LocalEngine> = control.clone();
        let gate = Gate::local(&local, clock.clone());
        let workshop = Workshop::new(clock.clone(), reach.world(&clock)?).behind(gate.clone());
        let metrics = workshop.metrics.clone();
        let role = Arc::new(Role {
            control: Arc::clone(&control),
            store: Arc::clone(&kept.store),
            recorded: watch::Sender::default(),
            readers: Mutex::default(),
            followers: Mutex::default(),
        });
        let live = Live::follow(role.feed(), gate.clone());
        lock(&role.followers).spawn(work(control, workshop, Arc::downgrade(&live)));
        Ok(Self::over(kept, Workplace::OnServers(role), gate, live, metrics, clock))
    }
}

/// Named after this run of the debugger, so that nobody else listens there.
fn own_queues(address: &ClusterAddress, name: &str) -> Topology {
    Topology::passing(&format!("{}debug.{name}.", address.prefix), address.kind())
}

async fn work(control: Arc<ControlRole>, workshop: Workshop, live: Weak<Live>) {
    if let Err(error) = runtime::work(control.worker(), workshop, WORKERS).await
        && let Some(live) = live.upgrade()
    {
        let hint = "look at the servers and start it again";
        live.report(Problem::new(ProblemCode::Infrastructure, error.to_string(), hint));
    }
}

impl Role {
    pub fn feed(&self) -> mpsc::Receiver<Arc<Vec<Event>>> {
        let (sender, receiver) = mpsc::channel(BEHIND);
        lock(&self.readers).push(sender);
        receiver
    }

    pub async fn start(self: &Arc<Self>, start: Start) -> Result<(), Problem> {
        let id = start.execution_id.clone();
        self.control.start(start).await.map_err(|error| from_cluster(&error))?;
        self.note(&id, Recorded::UpTo(0));
        lock(&self.followers).spawn(follow(Arc::downgrade(self), id.clone()));
        self.until(&id, 1).await
    }

    pub fn is_running(&self, id: &ExecutionId) -> bool {
        matches!(self.recorded.borrow().get(id), Some(Recorded::UpTo(_)))
    }

    pub async fn at_rest(&self, id: &ExecutionId) -> Result<Option<AtRest>, Problem> {
        if !self.is_running(id) {
            return Ok(None);
        }
        let found = self.control.at_rest(id).await.map_err(|error| from_cluster(&error))?;
        let Some((position, in_hand, next_due)) = found else {
            // The end is written; it is over once it is recorded.
            self.until(id, u64::MAX).await?;
            return Ok(None);
        };
        // What the broker has is on its way to us.
        Ok(Some(AtRest { position, ready: 0, in_hand, next_due }))
    }

    pub async fn flush(&self, id: &ExecutionId) -> Result<(), Problem> {
        match self.at_rest(id).await? {
            Some(now) => self.until(id, now.position).await,
            None => Ok(()),
        }
    }

    pub async fn fire_timer(
        &self,
        id: &ExecutionId,
        wanted: Option<(&NodeId, &LineageKey)>,
    ) -> Result<bool, Problem> {
        self.control.fire_timer(id, wanted).await.map_err(|error| from_role(&error, id))
    }

    pub async fn cancel(&self, id: &ExecutionId) -> Result<(), Problem> {
        match self.control.cancel(id).await.map_err(|error| from_role(&error, id))? {
            true => self.until(id, u64::MAX).await,
            false => Err(not_running(id)),
        }
    }

    /// Takes away what was made on the servers for this session.
    pub async fn close(&self) -> Result<(), Problem> {
        lock(&self.followers).abort_all();
        let executions: Vec<ExecutionId> = self.recorded.borrow().keys().cloned().collect();
        self.control.close(&executions).await.map_err(|error| from_cluster(&error))
    }

    /// Waits until an execution is recorded up to a position, or has ended.
    async fn until(&self, id: &ExecutionId, position: u64) -> Result<(), Problem> {
        let reached = |all: &HashMap<ExecutionId, Recorded>| match all.get(id) {
            Some(Recorded::UpTo(known)) => *known >= position,
            Some(Recorded::Ended | Recorded::Broken(_)) | None => true,
        };
        let mut recorded = self.recorded.subscribe();
        // The sender is ours, so there is always an answer.
        let found = recorded.wait_for(reached).await.ok().and_then(|all| all.get(id).cloned());
        match found {
            Some(Recorded::Broken(problem)) => Err(problem),
            Some(Recorded::UpTo(_) | Recorded::Ended) | None => Ok(()),
        }
    }

    fn note(&self, id: &ExecutionId, recorded: Recorded) {
        self.recorded.send_modify(|all| {
            all.insert(id.clone(), recorded);
        });
    }

    /// Records what is new and tells whoever follows.
    async fn take_in(&self, id: &ExecutionId, mut events: Vec<Event>) -> Result<(), Problem> {
        let known = match self.recorded.borrow().get(id) {
            Some(Recorded::UpTo(known)) => *known,
            Some(Recorded::Ended | Recorded::Broken(_)) | None => return Ok(()),
        };
        events.retain(|event| event.seq > known);
        let Some(last) = events.last().map(|event| event.seq) else { return Ok(()) };
        let ended = events.iter().any(|event| matches!(event.fact, Fact::ExecutionEnded(_)));
        self.store.append(&events).await.map_err(|error| from_store(&error))?;
        let readers = {
            let mut readers = lock(&self.readers);
            readers.retain(|reader| !reader.is_closed());
            readers.clone()
        };
        let events = Arc::new(events);
        for reader in readers {
            // A reader that has gone away needs nothing.
            let _ = reader.send(Arc::clone(&events)).await;
        }
        self.note(id, if ended { Recorded::Ended } else { Recorded::UpTo(last) });
        Ok(())
    }
}

/// Records an execution until its end, through as many connections as it takes.
async fn follow(role: Weak<Role>, id: ExecutionId) {
    let mut follower: Option<Follower> = None;
    loop {
        let Some(role) = role.upgrade() else { return };
        let next = match &mut follower {
            Some(follower) => follower.next().await,
            None => match role.control.follow(&id).await {
                Ok(opened) => {
                    follower = Some(opened);
                    continue;
                }
                Err(error) => Err(error),
            },
        };
        let taken = match next {
            Ok(Some((events, _))) => role.take_in(&id, events).await,
            Ok(None) => return,
            Err(error) if error.passes() => {
                tracing::warn!(%error, "the log could not be read; trying again");
                follower = None;
                drop(role);
                tokio::time::sleep(PAUSE).await;
                continue;
            }
            Err(error) => Err(from_cluster(&error)),
        };
        if let Err(problem) = taken {
            role.note(&id, Recorded::Broken(problem));
            return;
        }
    }
}

fn from_role(error: &ClusterError, id: &ExecutionId) -> Problem {
    match error {
        ClusterError::Unknown(_) => not_running(id),
        other => from_cluster(other),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
