//! A master keeps the recordings of a cluster, and its session shows them while they grow. What is shown is run
//! elsewhere, so nothing here starts, holds or forks it; ending it is a wish that goes to the cluster.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use cluster::Master;
use embedded::Embedded;
use protocol::{Event, ExecutionId, Millis, Problem, ProblemCode, Request, RunsOn};
use recording::{Access, Store, TimerFold, ViewFold};
use runtime::{Clock, Gate, Metrics};
use tokio::sync::mpsc;

use crate::{
    Cluster, ClusterAddress, Reach, Session, cluster::from_cluster, hidden, keep::Kept, live::Live,
    problem::from_store, workplace::Workplace,
};

/// Groups of events that the views may be behind what is kept.
const BEHIND: usize = 64;

/// Keeps the recordings of a cluster.
pub struct ClusterMaster {
    master: Master,
    store: Arc<Store>,
    /// Tells the views what was kept.
    feed: mpsc::Sender<Arc<Vec<Event>>>,
}

impl ClusterMaster {
    /// The master, and the session that shows what it keeps.
    pub async fn open(
        address: &ClusterAddress,
        store: &Path,
        reach: &Reach,
    ) -> Result<(Self, Session), Problem> {
        let redaction = hidden::rules(reach.redaction.as_deref())?;
        let store = Store::open(store, Access::Write).await.map_err(|error| from_store(&error))?;
        let store = Arc::new(store.hiding(redaction));
        let master = Master::open(&address.amqp, &address.redis, address.topology()).await;
        let master = master.map_err(|error| from_cluster(&error))?;
        let (feed, kept) = mpsc::channel(BEHIND);
        let session = Session::of_cluster(address, Arc::clone(&store), kept).await?;
        Ok((Self { master, store, feed }, session))
    }

    /// Keeps what comes next; says what it was. `None` when nothing comes any more.
    pub async fn keep_next(&mut self) -> Result<Option<Arc<Vec<Event>>>, Problem> {
        let next = self.master.next().await.map_err(|error| from_cluster(&error))?;
        let Some(mut group) = next else { return Ok(None) };
        let mut events = std::mem::take(&mut group.events);
        // A master that was started again reads from the beginning and keeps what it has not.
        let mut known = std::collections::HashMap::new();
        for id in events.iter().filter(|event| event.seq == 1).map(|event| event.execution_id.clone()) {
            let kept = self.store.position_at(&id, Millis::MAX).await.map_err(|error| from_store(&error))?;
            known.extend(kept.map(|kept| (id, kept)));
        }
        events.retain(|event| known.get(&event.execution_id).is_none_or(|kept| event.seq > *kept));
        self.store.append(&events).await.map_err(|error| from_store(&error))?;
        self.master.kept(group).await.map_err(|error| from_cluster(&error))?;
        let events = Arc::new(events);
        // Where nobody looks any more, keeping goes on.
        let _ = self.feed.send(Arc::clone(&events)).await;
        Ok(Some(events))
    }
}

impl Session {
    async fn of_cluster(
        address: &ClusterAddress,
        store: Arc<Store>,
        kept: mpsc::Receiver<Arc<Vec<Event>>>,
    ) -> Result<Self, Problem> {
        let clock = Clock::system();
        let gate = Gate::open();
        let live = Live::follow(kept, gate.clone());
        for id in store.unfinished().await.map_err(|error| from_store(&error))? {
            let events = store.events(&id).await.map_err(|error| from_store(&error))?;
            live.adopt(ViewFold::replay(&events), TimerFold::replay(&events));
        }
        // Nobody works for it: it has no executions and gets none.
        let engine = Workplace::Here(Embedded::open(Arc::clone(&store), clock.clone()));
        // It keeps what the cluster does, and attaches to nothing.
        let kept = Kept { store, connections: PathBuf::new(), temporary: None };
        let session = Self::over(kept, engine, gate, live, Metrics::default(), clock);
        Ok(Self { cluster: Some(Cluster::connect(address).await?), ..session })
    }

    pub(crate) fn runs_on(&self) -> RunsOn {
        if self.cluster.is_some() { RunsOn::Cluster } else { RunsOn::Here }
    }

    /// Refuses what only an engine of this process could do.
    pub(crate) fn check_place(&self, request: &Request) -> Result<(), Problem> {
        let wants_engine = matches!(
            request,
            Request::Run { .. }
                | Request::SetControls { .. }
                | Request::Control { .. }
                | Request::ForkPreview { .. }
                | Request::Fork { .. }
                | Request::Attach { .. }
                | Request::SaveConnection { .. }
        );
        match self.runs_on() {
            RunsOn::Cluster if wants_engine => Err(Problem::new(
                ProblemCode::ReadOnly,
                "these executions run on a cluster; they can be watched and cancelled here",
                "save a recording and open it with `runeglass serve` to fork it on this machine",
            )),
            RunsOn::Cluster | RunsOn::Here => Ok(()),
        }
    }

    /// Ends an execution as halted.
    pub async fn cancel(&self, id: &ExecutionId) -> Result<(), Problem> {
        let Some(cluster) = &self.cluster else {
            self.check_ours(id).await?;
            return self.engine.cancel(id).await;
        };
        match cluster.cancel(id).await? {
            true => Ok(()),
            false => {
                Err(Problem::new(ProblemCode::NotFound, format!("{id} has ended already"), "look at its end"))
            }
        }
    }
}
