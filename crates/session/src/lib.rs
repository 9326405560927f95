//! The one API of the house: open a folder and a store, run, watch, look. It knows no window; the desktop, the web
//! host and the command line all speak to it.

mod attach;
mod cluster;
mod control;
mod follow;
mod fork;
mod hidden;
mod holds;
mod insights;
mod keep;
mod keyring;
mod leave;
mod library;
mod live;
pub mod look;
mod master;
mod more;
mod problem;
mod report;
mod role;
mod take_up;
mod triggers;
mod workplace;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use embedded::Embedded;
use engine::{Loaded, Plan};
use protocol::{
    Event, ExecutionId, ExecutionView, FanOutPlace, ItemDetail, LineageKey, NodeDetail, NodeId, Origin,
    PastView, Payload, Problem, ProblemCode, Recording, Request, Response, RunOptions, Snapshot, Update,
    When, WorkflowId,
};
use recording::Store;
use runtime::{
    Gate, LocalEngine, Metrics, Outside, Start, Workshop, World,
    credentials::{Environment, Keeper, Keychain},
};

use serde_json::json;

pub use ::cluster::Follower;
pub use cluster::{
    Cluster, ClusterAddress, ClusterWorker, Effort, from_cluster as cluster_problem, patiently,
};
pub use control::{Rest, check as check_controls, controls_key};
pub use follow::Statuses;
pub use keep::Keep;
pub use keyring::Keyring;
pub use library::{Library, read_workflow};
pub use live::Subscription;
pub use master::ClusterMaster;
pub use runtime::{
    AddressPolicy, Clock,
    credentials::{CredentialFile, FileError, KeeperError},
};
pub use triggers::{Schedules, Trigger, Turn};

use attach::{Attachment, Connections};
use insights::{Insights, Travelled};
use keep::Kept;
use live::Live;
use problem::{from_engine, from_ledger, from_store};
pub use problem::{from_io as io_problem, from_ledger as ledger_problem, from_store as store_problem};
use workplace::Workplace;

pub struct Options {
    pub keep: Keep,
    /// Watched for workflows, where given.
    pub folder: Option<PathBuf>,
    pub clock: Clock,
    /// Go on with executions that a crash interrupted.
    pub recover: bool,
    pub reach: Reach,
}

/// What workflows may reach outside, and with whose secrets.
#[derive(Clone, Debug, Default)]
pub struct Reach {
    pub addresses: AddressPolicy,
    /// Asked before the keyring; the file in the user's data folder where absent.
    pub credentials: Option<PathBuf>,
    /// Rules for what is hidden before it is written, in addition to the usual ones.
    pub redaction: Option<PathBuf>,
}

impl Reach {
    fn world(self, clock: &Clock) -> Result<Arc<dyn Outside>, Problem> {
        let file = self.credentials.map_or_else(Session::usual_credentials, Ok)?;
        let keepers: [Arc<dyn Keeper>; 3] =
            [Arc::new(Environment), Arc::new(CredentialFile::at(file)), Arc::new(Keyring)];
        let keychain = Arc::new(Keychain::new(keepers.into()));
        Ok(Arc::new(World::new(keychain, self.addresses, clock.clone())))
    }
}

impl Options {
    /// What a window or a page needs: a watched folder, and the usual store unless another is named.
    pub fn for_host(folder: PathBuf, store: Option<PathBuf>, reach: Reach) -> Result<Self, Problem> {
        let store = store.map_or_else(Session::usual_store, Ok)?;
        let keep = Keep::At(store);
        Ok(Self { keep, folder: Some(folder), clock: Clock::system(), recover: true, reach })
    }
}

/// Messages in hand at once.
const WORKERS: usize = 256;
/// Executions listed at the start; those that have not ended first.
const LISTED: u32 = 200;

pub struct Session {
    store: Arc<Store>,
    engine: Workplace,
    /// Stands in the line of this session's own workers.
    gate: Gate,
    holds: Arc<holds::Keeper>,
    live: Arc<Live>,
    insights: Arc<Insights>,
    travelled: Travelled,
    library: Option<Arc<Library>>,
    metrics: Metrics,
    clock: Clock,
    recovered: Vec<ExecutionId>,
    /// Where the executions run, unless here.
    cluster: Option<Cluster>,
    connections: Connections,
    attachment: tokio::sync::Mutex<Option<Attachment>>,
    temporary: Option<tempfile::TempDir>,
}

/// An execution that was just started, and what it says from its first moment on.
pub struct Started {
    pub execution_id: ExecutionId,
    pub statuses: Statuses,
}

/// How an execution begins.
#[derive(Default)]
struct Beginning {
    /// The workflow's name where it has none itself.
    name: String,
    path: Option<String>,
    /// The workflow's sample where absent.
    input: Option<Payload>,
    /// At some of its nodes; at all its triggers where absent.
    starts: Option<Vec<NodeId>>,
    origin: Option<Origin>,
    past: Option<recording::fork::Past>,
    options: RunOptions,
}

impl Session {
    pub async fn open(options: Options) -> Result<Self, Problem> {
        let clock = options.clock;
        let unrecorded = matches!(options.keep, Keep::Unrecorded);
        let kept = options.keep.open(hidden::rules(options.reach.redaction.as_deref())?).await?;
        let store = &kept.store;
        let engine = match unrecorded {
            true => Embedded::unrecorded(clock.clone()),
            false => Embedded::open(Arc::clone(store), clock.clone()),
        };
        let local: Arc<dyn LocalEngine> = engine.clone();
        let gate = Gate::local(&local, clock.clone());
        let live = Live::follow(engine.feed(), gate.clone());
        let mut recovered = Vec::new();
        if options.recover {
            for id in store.unfinished().await.map_err(|error| from_store(&error))? {
                take_up::prepare(store, &gate, &live, &id, clock.now()).await?;
            }
            recovered = engine.recover(store).await.map_err(|error| from_engine(&error))?;
        }
        let workshop = Workshop::new(clock.clone(), options.reach.world(&clock)?).behind(gate.clone());
        let metrics = workshop.metrics.clone();
        live.work(Arc::clone(&engine), workshop, WORKERS);
        let library = match options.folder {
            Some(folder) => Some(Library::watch(&folder, Arc::clone(&live))?),
            None => None,
        };
        let session = Self::over(kept, Workplace::Here(engine), gate, live, metrics, clock);
        Ok(Self { library, recovered, ..session })
    }

    /// What every session has, wherever its executions run.
    fn over(
        kept: Kept,
        engine: Workplace,
        gate: Gate,
        live: Arc<Live>,
        metrics: Metrics,
        clock: Clock,
    ) -> Self {
        let Kept { store, connections, temporary } = kept;
        Self {
            insights: Arc::new(Insights::new(Arc::clone(&store))),
            holds: holds::Keeper::start(&store, &gate),
            store,
            engine,
            gate,
            live,
            travelled: Travelled::default(),
            library: None,
            metrics,
            clock,
            recovered: Vec::new(),
            cluster: None,
            connections: Connections::at(connections),
            attachment: tokio::sync::Mutex::default(),
            temporary,
        }
    }

    /// The usual place of the store: the user's data folder.
    pub fn usual_store() -> Result<PathBuf, Problem> {
        in_data_folder("runeglass.db", "name a file with --store")
    }

    /// The usual place of the file of credentials.
    pub fn usual_credentials() -> Result<PathBuf, Problem> {
        in_data_folder("credentials.json", "name a file with --credentials")
    }

    /// Serves one wish of the user.
    pub async fn call(&self, request: Request) -> Result<Response, Problem> {
        self.check_place(&request)?;
        match request {
            Request::Snapshot => self.snapshot().await.map(Response::Snapshot),
            Request::Run { path, input, options } => {
                let input = input.map(Payload::new);
                let started = self.run_file(&path, input, options.unwrap_or_default()).await?;
                Ok(Response::Started { execution_id: started.execution_id })
            }
            Request::Cancel { execution_id } => self.cancel(&execution_id).await.map(|()| Response::Done),
            Request::Execution { execution_id } => {
                self.execution(&execution_id).await.map(|view| Response::Execution(Box::new(view)))
            }
            Request::Executions { filter, after, limit } => {
                let page = self.store.list(&filter, after.as_deref(), limit.unwrap_or(LISTED)).await;
                page.map(Response::Executions).map_err(|error| from_store(&error))
            }
            Request::Find { search } => {
                look::find(&self.store, &search, look::INDEXED_PER_REQUEST).await.map(Response::Found)
            }
            Request::NodeDetail { execution_id, node_id, key, at } => self
                .node_detail(&execution_id, &node_id, key.as_ref(), at)
                .await
                .map(|detail| Response::NodeDetail(Box::new(detail))),
            Request::Items { execution_id, place, since, at } => {
                let grid = self.insights.ask(&execution_id, at, |insight| insight.item_grid(&place, since));
                grid.await.map(|grid| Response::Items(Box::new(grid)))
            }
            Request::Barrier { execution_id, node_id, at } => {
                if at.is_none()
                    && let Some(seen) = self.observed_barrier(&execution_id, &node_id).await
                {
                    return Ok(Response::Barrier(Box::new(seen)));
                }
                let barrier = self.insights.ask(&execution_id, at, |insight| insight.barrier(&node_id));
                barrier.await.map(|barrier| Response::Barrier(Box::new(barrier)))
            }
            Request::Waits => {
                let seen = self.observed_timers().await;
                Ok(Response::Waits(Box::new(self.live.waits(
                    self.runs_on(),
                    self.engine.queue_depth(),
                    seen,
                ))))
            }
            Request::Timeline { execution_id } => {
                let timeline = self.insights.ask(&execution_id, None, recording::Insight::timeline).await?;
                if !self.is_running(&execution_id) {
                    self.travelled.prepare(&self.store, &execution_id, timeline.position);
                }
                Ok(Response::Timeline(Box::new(timeline)))
            }
            Request::ViewAt { execution_id, when } => {
                self.view_at(&execution_id, when).await.map(|past| Response::Past(Box::new(past)))
            }
            Request::Item { execution_id, place, index, at } => {
                let item = self.item(&execution_id, &place, index, at).await;
                item.map(|item| Response::Item(Box::new(item)))
            }
            Request::Record { execution_id } => record(&self.store, &execution_id)
                .await
                .map(|recording| Response::Recording(Box::new(recording))),
            Request::Controls { .. }
            | Request::SetControls { .. }
            | Request::Held { .. }
            | Request::Control { .. }
            | Request::ForkPoint { .. }
            | Request::ForkPreview { .. }
            | Request::Fork { .. }
            | Request::Forks { .. }
            | Request::Compare { .. }
            | Request::Explain { .. }
            | Request::Verify { .. }
            | Request::Import { .. }
            | Request::Notes { .. }
            | Request::AddNote { .. } => Box::pin(self.call_more(request)).await,
            Request::Attach { .. }
            | Request::Detach
            | Request::Cluster
            | Request::KeepObserved { .. }
            | Request::TestConnection { .. }
            | Request::Connections
            | Request::SaveConnection { .. }
            | Request::ForgetConnection { .. } => Box::pin(self.call_cluster(request)).await,
        }
    }

    /// What a host hears without asking, at most sixty times a second.
    pub fn subscribe(&self) -> Subscription {
        self.live.subscribe()
    }

    /// Waits until something goes wrong behind the scenes, and says what.
    pub async fn until_trouble(&self) -> Problem {
        let mut subscription = self.subscribe();
        loop {
            let trouble = subscription.next().await.into_iter().find_map(|update| match update {
                Update::Trouble(problem) => Some(problem),
                Update::Workflows(_)
                | Update::Execution(_)
                | Update::Control
                | Update::Cluster(_)
                | Update::Forgotten(_) => None,
            });
            if let Some(problem) = trouble {
                return problem;
            }
        }
    }

    /// What was counted since the session was opened, as Prometheus reads it.
    pub fn metrics(&self) -> String {
        self.metrics.text(self.engine.queue_depth())
    }

    /// Executions that were taken up when the session was opened.
    pub fn recovered(&self) -> &[ExecutionId] {
        &self.recovered
    }

    /// Executions in the store that nobody is working on.
    pub async fn unfinished(&self) -> Result<Vec<ExecutionId>, Problem> {
        self.store.unfinished().await.map_err(|error| from_store(&error))
    }

    /// Starts a plan; `name` is the workflow's name where it has none itself.
    pub async fn start(
        &self,
        plan: Arc<Plan>,
        name: &str,
        path: Option<String>,
        input: Option<Payload>,
    ) -> Result<Started, Problem> {
        self.start_as(plan, name, path, input, RunOptions::default()).await
    }

    /// Starts a plan held from the beginning, or only a part of it.
    pub async fn start_as(
        &self,
        plan: Arc<Plan>,
        name: &str,
        path: Option<String>,
        input: Option<Payload>,
        options: RunOptions,
    ) -> Result<Started, Problem> {
        let name = name.to_owned();
        let beginning = Beginning { name, path, input, options, ..Beginning::default() };
        self.begin(plan, beginning).await
    }

    async fn begin(&self, plan: Arc<Plan>, beginning: Beginning) -> Result<Started, Problem> {
        let Beginning { name, path, input, starts, origin, past, options } = beginning;
        let until = options.until.clone();
        let start = Start { starts, origin, until, ..wish(plan, &name, path, input)? };
        let execution_id = start.execution_id.clone();
        self.prepare_gate(&execution_id, &start.plan, start.path.as_deref(), past, &options).await?;
        let statuses = Statuses::new(execution_id.clone(), self.engine.feed());
        if let Err(problem) = self.engine.start(start).await {
            self.gate.finish(&execution_id);
            return Err(problem);
        }
        Ok(Started { execution_id, statuses })
    }

    /// What a taken-up execution says from now on.
    pub async fn statuses(&self, id: &ExecutionId) -> Result<Statuses, Problem> {
        let feed = self.engine.feed();
        let past = self.store.events(id).await.map_err(|error| from_store(&error))?;
        Ok(Statuses::after(id.clone(), &past, feed))
    }

    /// Finishes writing. Executions that are under way go on when the store is opened again. What was seen on a cluster
    /// and could not be kept is an error here, whether or not somebody heard of it.
    pub async fn close(&self) -> Result<(), Problem> {
        let detached = self.detach().await;
        let kept = self.holds.keep().await;
        let closed = self.engine.close().await;
        self.gate.close();
        detached?.map_or(Ok(()), Err)?;
        closed?;
        kept.map_err(|error| from_store(&error))
    }

    async fn snapshot(&self) -> Result<Snapshot, Problem> {
        let (mut executions, total) =
            self.store.foremost(LISTED).await.map_err(|error| from_store(&error))?;
        self.live.complete(&mut executions);
        Ok(Snapshot {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            runs_on: self.runs_on(),
            keeps_nothing: self.temporary.is_some(),
            folder: self.library.as_ref().map_or_else(String::new, |library| library.shown()),
            workflows: self.library.as_ref().map_or_else(Vec::new, |library| library.entries()),
            unlisted: total - executions.len(),
            executions,
        })
    }

    async fn run_file(
        &self,
        path: &str,
        input: Option<Payload>,
        options: RunOptions,
    ) -> Result<Started, Problem> {
        let plan = runnable(self.library()?.load(path)?, path)?;
        self.start_as(plan, &stem(Path::new(path)), Some(path.to_owned()), input, options).await
    }

    /// Where a workflow of the folder is on this machine.
    pub fn workflow_file(&self, path: &str) -> Result<PathBuf, Problem> {
        self.library()?.file(path)
    }

    fn library(&self) -> Result<&Library, Problem> {
        let hint = "start with a folder of workflows";
        let missing = || Problem::new(ProblemCode::NotFound, "no workflow folder is open", hint);
        self.library.as_deref().ok_or_else(missing)
    }

    async fn execution(&self, id: &ExecutionId) -> Result<ExecutionView, Problem> {
        self.insights.note_open(id);
        if let Some(view) = self.live.view(id) {
            return Ok(view);
        }
        let mut view = look::view_at(&self.store, id, u64::MAX).await?;
        if let Some(observed) = &mut view.summary.observed {
            // That nobody looks any more is no event: the list has it.
            let standing = self.store.standing(id).await.map_err(|error| from_store(&error))?;
            *observed = standing.and_then(|standing| standing.observed).unwrap_or_else(|| observed.clone());
        }
        Ok(view)
    }

    async fn node_detail(
        &self,
        id: &ExecutionId,
        node: &NodeId,
        key: Option<&LineageKey>,
        at: Option<u64>,
    ) -> Result<NodeDetail, Problem> {
        if let Some(key) = key {
            let near = self.store.events_near(id, key).await.map_err(|error| from_store(&error))?;
            let near = until(near, at);
            let detail = recording::node_detail_at(&near, node, key).map_err(|error| from_ledger(&error));
            if detail.as_ref().is_ok_and(|detail| detail.total > 0) {
                return detail;
            }
        }
        let events = until(events(&self.store, id).await?, at);
        let detail = match key {
            Some(key) => recording::node_detail_at(&events, node, key),
            None => recording::node_detail(&events, node),
        };
        detail.map_err(|error| from_ledger(&error))
    }

    /// The execution as it was after some of its events.
    async fn view_at(&self, id: &ExecutionId, when: When) -> Result<PastView, Problem> {
        let stored = |error| from_store(&error);
        let position = match when {
            When::Position(position) => position,
            When::Moment(at) => {
                let found = self.store.position_at(id, at).await.map_err(stored)?;
                found.ok_or_else(|| unknown(id))?
            }
        };
        let view = self.store.view_at(id, position.max(1)).await.map_err(stored)?;
        let view = view.ok_or_else(|| unknown(id))?;
        let span = self.store.span(id, view.position).await.map_err(stored)?;
        let (at, last) = span.ok_or_else(|| unknown(id))?;
        Ok(PastView { view, at, last })
    }

    async fn item(
        &self,
        id: &ExecutionId,
        place: &FanOutPlace,
        index: u32,
        at: Option<u64>,
    ) -> Result<ItemDetail, Problem> {
        let found = self.insights.ask(id, at, |insight| insight.item(place, index)).await?;
        found.ok_or_else(|| {
            let message = format!("{} has no item {index} there", place.split);
            Problem::new(ProblemCode::NotFound, message, "the split may not have fired yet")
        })
    }
}

/// A wish to start a plan under a new id; `name` is the workflow's name where it has none itself.
fn wish(plan: Arc<Plan>, name: &str, path: Option<String>, input: Option<Payload>) -> Result<Start, Problem> {
    let workflow = &plan.workflow;
    let sample = || workflow.sample_input.clone().unwrap_or_else(|| json!({}));
    Ok(Start {
        execution_id: ExecutionId::from(random_id()?),
        workflow_id: workflow.workflow_id.clone().unwrap_or_else(|| WorkflowId::from(name)),
        title: workflow.name.clone().unwrap_or_else(|| name.to_owned()),
        input: input.unwrap_or_else(|| Payload::new(sample())),
        plan,
        path,
        starts: None,
        origin: None,
        until: None,
    })
}

/// An id that nobody else has.
fn random_id() -> Result<String, Problem> {
    let mut random = [0u8; 8];
    getrandom::fill(&mut random).map_err(|error| {
        Problem::new(ProblemCode::Infrastructure, format!("no random id: {error}"), "try again")
    })?;
    Ok(format!("{:016x}", u64::from_be_bytes(random)))
}

fn in_data_folder(file: &str, hint: &str) -> Result<PathBuf, Problem> {
    let folder = dirs::data_dir();
    let folder = folder
        .ok_or_else(|| Problem::new(ProblemCode::Infrastructure, "this user has no data folder", hint))?;
    Ok(folder.join("runeglass").join(file))
}

/// The whole execution as one document.
pub async fn record(store: &Store, id: &ExecutionId) -> Result<Recording, Problem> {
    let recording = recording::record(&events(store, id).await?).map_err(|error| from_ledger(&error))?;
    recording.ok_or_else(|| unknown(id))
}

async fn events(store: &Store, id: &ExecutionId) -> Result<Vec<Event>, Problem> {
    let events = store.events(id).await.map_err(|error| from_store(&error))?;
    if events.is_empty() { Err(unknown(id)) } else { Ok(events) }
}

/// Without what happened after a position.
fn until(mut events: Vec<Event>, at: Option<u64>) -> Vec<Event> {
    events.retain(|event| at.is_none_or(|at| event.seq <= at));
    events
}

/// The plan, or a sentence about why there is none.
pub fn runnable(loaded: Loaded, what: &str) -> Result<Arc<Plan>, Problem> {
    let errors = loaded.diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).count();
    loaded.plan.ok_or_else(|| {
        let first = loaded.diagnostics.iter().find(|diagnostic| diagnostic.is_error());
        let (message, hint) = first.map_or(("it has errors", ""), |first| (&first.message, &first.hint));
        let more = if errors > 1 { format!(" (and {} more)", errors - 1) } else { String::new() };
        Problem::new(ProblemCode::InvalidWorkflow, format!("{what} cannot run: {message}{more}"), hint)
    })
}

/// The name of a file without folder and ending.
pub fn stem(path: &Path) -> String {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    stem.filter(|stem| !stem.is_empty()).unwrap_or_else(|| "workflow".to_owned())
}

fn unknown(id: &ExecutionId) -> Problem {
    let hint = "look at the list of executions; an id may come from another store";
    Problem::new(ProblemCode::NotFound, format!("there is no execution {id} in this store"), hint)
}
