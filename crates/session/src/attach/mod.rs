//! Looking into a live cluster. What is seen there lies in the store beside our own executions, marked, and is folded
//! into the same views; nothing that this machine could do to an execution reaches it.

mod address;
mod connections;
mod passing;
mod places;

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, Ordering},
};

use observer::{Observer, Sighting};
use protocol::{
    BarrierView, ClusterConnection, ClusterDialect, ClusterView, ConnectionStep, Event, ExecutionId, Fact,
    Millis, NodeId, Observed, Passwords, Problem, ProblemCode, Request, Response, TimerView,
};
use recording::Store;
use runtime::Clock;
use tokio::{
    sync::{mpsc, watch},
    task::JoinHandle,
};

pub use connections::Connections;
use passing::Passing;
use places::Places;

use crate::{Session, in_data_folder, live::Live, problem::from_store};

/// The cluster that a session looks into.
pub struct Attachment {
    observer: Observer,
    keeper: Keeper,
    tasks: [JoinHandle<()>; 2],
}

/// Takes in what is seen. Which executions these are is marked in the store and not remembered here: on a busy cluster
/// there is no end of them.
#[derive(Clone)]
struct Keeper {
    store: Arc<Store>,
    live: Arc<Live>,
    passing: Arc<Passing>,
    places: Arc<Places>,
    cluster: String,
    clock: Clock,
    /// The cluster as it was seen last.
    seen: watch::Receiver<Arc<ClusterView>>,
    /// Keep what is seen beyond the end of looking.
    recording: Arc<AtomicBool>,
    /// Nobody wants to look any more.
    leaving: Arc<AtomicBool>,
    /// Since when nothing is taken in any more, and why; hosts were told.
    failed: Arc<OnceLock<(Millis, Problem)>>,
}

impl Session {
    /// Serves what has to do with clusters.
    pub(crate) async fn call_cluster(&self, request: Request) -> Result<Response, Problem> {
        match request {
            Request::Attach { connection, passwords, record } => {
                let view = self.attach(connection, passwords, record).await?;
                Ok(Response::Cluster(Some(Box::new(view))))
            }
            Request::Detach => self.detach().await.map(|_| Response::Done),
            Request::Cluster => Ok(Response::Cluster(self.cluster().await.map(Box::new))),
            Request::KeepObserved { on } => {
                self.keep_observed(on).await.map(|view| Response::Cluster(Some(Box::new(view))))
            }
            Request::TestConnection { connection, passwords } => {
                self.test_connection(connection, passwords).await.map(Response::ConnectionSteps)
            }
            Request::Connections => self.connections.list().map(Response::Connections),
            Request::SaveConnection { connection, passwords } => {
                self.connections.save(connection, &passwords).map(|()| Response::Done)
            }
            Request::ForgetConnection { name } => self.connections.forget(&name).map(|()| Response::Done),
            other => Box::pin(self.call(other)).await,
        }
    }

    /// Looks into a cluster, and into no other any more. A server that is away may come back by itself and
    /// keeps nobody out as long as the other lets us in; where they do not, whatever was looked into before still is.
    pub async fn attach(
        &self,
        connection: ClusterConnection,
        passwords: Passwords,
        record: bool,
    ) -> Result<ClusterView, Problem> {
        let address = address::resolve(connection, &passwords, &self.saved_connections())?;
        let away = observer::test(&address).await.enter()?;
        let mut attached = self.attachment.lock().await;
        if let Some(before) = attached.take() {
            // What it could not take in was told.
            before.detach().await.map(drop)?;
        }
        let clock = self.clock.clone();
        let cluster = address.connection.name.clone();
        let passing = Passing::begin(Arc::clone(&self.store), Arc::clone(&self.insights)).await;
        let passing = Arc::new(passing.map_err(|error| from_store(&error))?);
        let (observer, seen) = Observer::attach(address, away, Arc::new(move || clock.now()));
        let keeper = Keeper {
            store: Arc::clone(&self.store),
            live: Arc::clone(&self.live),
            passing,
            places: Arc::new(Places::new(Arc::clone(&self.store), Arc::clone(&self.insights))),
            cluster,
            clock: self.clock.clone(),
            seen: observer.view(),
            recording: Arc::new(AtomicBool::new(record)),
            leaving: Arc::default(),
            failed: Arc::default(),
        };
        let attachment = Attachment::begin(observer, keeper, seen);
        let view = attachment.keeper.view();
        *attached = Some(attachment);
        Ok(view)
    }

    /// Stops looking. What was not to be kept is gone afterwards. Says what could not be taken in, which hosts were told.
    pub(crate) async fn detach(&self) -> Result<Option<Problem>, Problem> {
        match self.attachment.lock().await.take() {
            Some(attachment) => attachment.detach().await,
            None => Ok(None),
        }
    }

    /// The cluster that is looked into.
    pub async fn cluster(&self) -> Option<ClusterView> {
        self.attachment.lock().await.as_ref().map(|attachment| attachment.keeper.view())
    }

    async fn keep_observed(&self, on: bool) -> Result<ClusterView, Problem> {
        let attached = self.attachment.lock().await;
        let attachment = attached.as_ref().ok_or_else(not_attached)?;
        attachment.keeper.keep(on).await?;
        let view = attachment.keeper.view();
        self.live.cluster_changed(Some(view.clone()));
        Ok(view)
    }

    async fn test_connection(
        &self,
        connection: ClusterConnection,
        passwords: Passwords,
    ) -> Result<Vec<ConnectionStep>, Problem> {
        let address = address::resolve(connection, &passwords, &self.saved_connections())?;
        Ok(observer::test(&address).await.steps())
    }

    /// Those whose passwords are known. Who keeps nothing has them all the same.
    fn saved_connections(&self) -> Vec<ClusterConnection> {
        let usual = || in_data_folder("connections.json", "").map(Connections::at);
        let saved = match &self.temporary {
            Some(_) => usual().and_then(|usual| usual.list()),
            None => self.connections.list(),
        };
        saved.unwrap_or_else(|problem| {
            tracing::warn!("no password is taken from the keyring: {}", problem.message);
            Vec::new()
        })
    }

    /// What a join on the cluster waits for, where its own state says more than what was seen.
    pub(crate) async fn observed_barrier(&self, id: &ExecutionId, node: &NodeId) -> Option<BarrierView> {
        let attached = self.attachment.lock().await;
        let attachment = attached.as_ref()?;
        // A store that cannot be read says so when it is asked for the events.
        let observed = self.store.standing(id).await.ok().flatten()?.observed;
        observed.filter(|observed| observed.cluster == attachment.keeper.cluster)?;
        let called = attachment.keeper.places.on_the_cluster(id)?;
        attachment.observer.barrier(&called, node).await
    }

    /// What waits for a moment on the cluster, as its own state says.
    pub(crate) async fn observed_timers(&self) -> Vec<TimerView> {
        let attached = self.attachment.lock().await;
        let Some(attachment) = attached.as_ref() else { return Vec::new() };
        let mut timers = attachment.observer.timers().await;
        attachment.keeper.places.rename_timers(&mut timers);
        timers
    }

    /// Refuses to touch what runs elsewhere.
    pub(crate) async fn check_ours(&self, id: &ExecutionId) -> Result<(), Problem> {
        let standing = self.store.standing(id).await.map_err(|error| from_store(&error))?;
        match standing.and_then(|standing| standing.observed) {
            Some(Observed { cluster, .. }) => Err(Problem::new(
                ProblemCode::ReadOnly,
                format!("{id} runs on {cluster}, and is only looked at from here"),
                "fork it: the fork runs here, with what was seen",
            )),
            None => Ok(()),
        }
    }
}

fn not_attached() -> Problem {
    Problem::new(ProblemCode::NotFound, "no cluster is attached", "attach to one first")
}

impl Attachment {
    fn begin(observer: Observer, keeper: Keeper, mut seen: mpsc::Receiver<Sighting>) -> Self {
        let taker = keeper.clone();
        let taking = tokio::spawn(async move {
            while let Some(sighting) = seen.recv().await {
                if let Err(problem) = taker.take_in(sighting).await {
                    return taker.fail(problem);
                }
            }
        });
        let mut teller = keeper.clone();
        let telling = tokio::spawn(async move {
            while teller.seen.changed().await.is_ok() {
                teller.seen.mark_unchanged();
                teller.live.cluster_changed(Some(teller.view()));
            }
            // Who cannot take in what is seen has told so, and nobody looks then.
            if !teller.leaving.load(Ordering::Relaxed) && teller.failed.get().is_none() {
                let message = format!("looking into {} has stopped by itself", teller.cluster);
                let hint = "attach again; this is a fault of Runeglass";
                teller.end(Problem::new(ProblemCode::Infrastructure, message, hint));
            }
        });
        Self { observer, keeper, tasks: [taking, telling] }
    }

    async fn detach(self) -> Result<Option<Problem>, Problem> {
        let Self { observer, keeper, tasks: [taking, telling] } = self;
        keeper.leaving.store(true, Ordering::Relaxed);
        observer.detach().await;
        if let Err(error) = telling.await {
            tracing::debug!(%error, "what has changed last was not told");
        }
        // What was seen until now is taken in before it is decided what stays.
        if let Err(error) = taking.await {
            tracing::debug!(%error, "what was seen last was not taken in");
        }
        keeper.live.forget_observed();
        let left = keeper.leave().await;
        keeper.live.cluster_changed(None);
        left.map(|()| keeper.failed.get().map(|(_, problem)| problem.clone()))
    }
}

impl Keeper {
    /// The cluster as it is seen. Once nothing is taken in any more, it says so instead of looking alive.
    fn view(&self) -> ClusterView {
        let seen = ClusterView::clone(&self.seen.borrow());
        let (recording, forgotten) = (self.is_recording(), self.passing.forgotten());
        let mut view = ClusterView { recording, forgotten, ..seen };
        self.places.rename_findings(&mut view);
        if let Some((at, problem)) = self.failed.get() {
            (view.ended, view.recording) = (Some(*at), false);
            view.troubles.insert(0, problem.clone());
            view.queues_as_of.get_or_insert(*at);
            view.redis_as_of.get_or_insert(*at);
        }
        view
    }

    /// Nobody looks any more: what was not to be kept goes, and what is kept says that it may have gone on.
    async fn leave(&self) -> Result<(), Problem> {
        let now = self.clock.now() + self.seen.borrow().ahead;
        self.store.remove_passing().await.map_err(|error| from_store(&error))?;
        self.store.leave_observed(Some(now)).await.map_err(|error| from_store(&error))
    }

    fn is_recording(&self) -> bool {
        self.recording.load(Ordering::Relaxed)
    }

    async fn keep(&self, on: bool) -> Result<(), Problem> {
        self.recording.store(on, Ordering::Relaxed);
        match on {
            true => self.store.keep_observed().await.map_err(|error| from_store(&error)),
            // What was recorded stays; what begins from now on is here in passing.
            false => Ok(()),
        }
    }

    /// Nothing more can be taken in: says so once.
    fn fail(&self, problem: Problem) {
        let message = format!("what is seen of {} can no longer be kept: {}", self.cluster, problem.message);
        let hint = match problem.code {
            ProblemCode::StoreFull => "make room on the disk, and attach again",
            _ => &problem.hint,
        };
        self.end(Problem::new(problem.code, message, hint));
    }

    /// Looking has come to an end that nobody has asked for. Whoever shows the cluster shows that from now on.
    fn end(&self, problem: Problem) {
        // Who takes in ends with this, and who tells has asked before: the first reason stays.
        drop(self.failed.set((self.clock.now(), problem.clone())));
        self.live.cluster_changed(Some(self.view()));
        self.live.report_of_cluster(problem);
    }

    async fn take_in(&self, sighting: Sighting) -> Result<(), Problem> {
        // The room that it takes is free when all of it is taken in.
        let Sighting { dialect, mut events, .. } = sighting;
        self.places.find(&mut events, dialect).await.map_err(|error| from_store(&error))?;
        self.passing.leave_out(&mut events);
        events.iter_mut().for_each(|event| self.stamp(event, dialect));
        self.store.hide_observed(&mut events);
        let new = self.places.unrecorded(&events);
        self.store.append_observed(&new).await.map_err(|error| from_store(&error))?;
        self.remember(&new).await?;
        self.live.observe(&events);
        if self.is_recording() {
            return Ok(());
        }
        let gone = self.passing.make_room(&new).await.map_err(|error| from_store(&error))?;
        self.live.forget(&gone);
        Ok(())
    }

    /// Says in the first fact where it was seen. The file it was started from is one of another machine.
    fn stamp(&self, event: &mut Event, dialect: ClusterDialect) {
        if let Fact::ExecutionStarted(started) = &mut event.fact {
            let joined_late = started.observed.as_ref().is_some_and(|observed| observed.joined_late);
            started.observed = Some(Observed::new(self.cluster.as_str(), dialect, joined_late));
            started.path = None;
        }
    }

    async fn remember(&self, events: &[Event]) -> Result<(), Problem> {
        let begun: Vec<ExecutionId> =
            events.iter().filter(|event| event.seq == 1).map(|event| event.execution_id.clone()).collect();
        if begun.is_empty() {
            return Ok(());
        }
        let keep = self.is_recording();
        self.store.mark_observed(&begun, keep).await.map_err(|error| from_store(&error))
    }
}

#[cfg(test)]
mod tests {
    use observer::{Address, Away};
    use protocol::Update;
    use recording::Access;
    use runtime::Gate;

    use super::*;
    use crate::insights::Insights;

    /// Looks at a place where nobody is.
    async fn looking(folder: &tempfile::TempDir) -> Attachment {
        let store = Store::open(&folder.path().join("seen.db"), Access::Write).await.unwrap();
        let store = Arc::new(store);
        let insights = Arc::new(Insights::new(Arc::clone(&store)));
        let (amqp, redis) = ("amqp://127.0.0.1:1/%2f".to_owned(), "redis://127.0.0.1:1".to_owned());
        let connection = ClusterConnection {
            name: "shop".to_owned(),
            colour: String::new(),
            amqp: amqp.clone(),
            redis: redis.clone(),
            prefix: String::new(),
            dialect: None,
        };
        let (observer, seen) =
            Observer::attach(Address { amqp, redis, connection }, Away::default(), Arc::new(|| 1_000));
        let (_, feed) = mpsc::channel(1);
        let keeper = Keeper {
            passing: Arc::new(Passing::begin(Arc::clone(&store), Arc::clone(&insights)).await.unwrap()),
            places: Arc::new(Places::new(Arc::clone(&store), insights)),
            store,
            live: Live::follow(feed, Gate::open()),
            cluster: "shop".to_owned(),
            clock: Clock::simulated(5_000),
            seen: observer.view(),
            recording: Arc::new(AtomicBool::new(true)),
            leaving: Arc::default(),
            failed: Arc::default(),
        };
        Attachment::begin(observer, keeper, seen)
    }

    #[tokio::test]
    async fn who_can_take_in_no_more_does_not_look_alive() {
        let folder = tempfile::tempdir().unwrap();
        let attachment = looking(&folder).await;
        let mut hosts = attachment.keeper.live.subscribe();
        assert_eq!(attachment.keeper.view().ended, None);
        attachment.keeper.fail(Problem::new(ProblemCode::StoreFull, "the disk is full", "none"));
        let told = hosts.next().await;
        let Some(Update::Cluster(Some(view))) =
            told.iter().find(|update| matches!(update, Update::Cluster(_)))
        else {
            panic!("{told:?}")
        };
        assert_eq!((view.ended, view.recording), (Some(5_000), false));
        assert!(view.troubles[0].message.contains("can no longer be kept: the disk is full"), "{view:?}");
        assert_eq!((view.queues_as_of.is_some(), view.redis_as_of.is_some()), (true, true));
        assert_eq!(attachment.keeper.view().ended, Some(5_000), "who asks later hears the same");
        let problem = attachment.detach().await.unwrap().expect("it is told at the end, too");
        assert_eq!(problem.code, ProblemCode::StoreFull);
    }
}
