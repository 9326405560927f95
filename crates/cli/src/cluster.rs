//! The commands that speak to a cluster: `worker`, `master`, `cancel`, and where it is.

use std::{future::Future, path::PathBuf, sync::Arc, time::Duration};

use clap::Args;
use protocol::{Event, ExecutionId, Fact, Millis, Problem};
use session::{AddressPolicy, Cluster, ClusterAddress, ClusterMaster, ClusterWorker, Effort, patiently};

use crate::{
    metrics,
    outcome::{CommandError, Outcome, say},
    reach::ReachArguments,
    serve::Door,
    terminal::plain,
};

#[derive(Args, Clone)]
pub struct ClusterArguments {
    /// RabbitMQ, such as amqp://user:password@host:5672/%2f, or amqps:// for TLS.
    #[arg(long, value_name = "URL", env = "RUNEGLASS_AMQP", hide_env_values = true)]
    amqp: String,
    /// Redis or Valkey, such as redis://host:6379, or rediss:// for TLS.
    #[arg(long, value_name = "URL", env = "RUNEGLASS_REDIS", hide_env_values = true)]
    redis: String,
    #[command(flatten)]
    names: NameArguments,
}

#[derive(Args, Clone)]
pub struct NameArguments {
    /// In front of the names of queues and keys, to share the servers with others.
    #[arg(long, value_name = "PREFIX", default_value = "")]
    queue_prefix: String,
    /// Keep work in quorum queues, which survive the loss of a broker.
    #[arg(long)]
    quorum: bool,
    /// Seconds for which servers may be absent at the start.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    wait: u32,
}

impl NameArguments {
    /// Tries until the servers are there, and says on stderr why they are not.
    pub async fn patiently<T, F: Future<Output = Result<T, Problem>>>(
        &self,
        attempt: impl FnMut() -> F,
    ) -> Result<T, Problem> {
        let say = |problem: &Problem, pause: Duration| {
            eprintln!("{}; trying again in {:.1} s", plain(&problem.message), pause.as_secs_f32());
        };
        patiently(Duration::from_secs(self.wait.into()), attempt, say).await
    }

    pub fn at(&self, amqp: &str, redis: &str) -> ClusterAddress {
        let (amqp, redis) = (amqp.to_owned(), redis.to_owned());
        ClusterAddress { amqp, redis, prefix: self.queue_prefix.clone(), quorum: self.quorum }
    }
}

impl ClusterArguments {
    fn address(&self) -> ClusterAddress {
        self.names.at(&self.amqp, &self.redis)
    }

    pub async fn connect(&self) -> Result<Cluster, Problem> {
        let address = self.address();
        self.names.patiently(|| Cluster::connect(&address)).await
    }
}

#[derive(Args)]
#[command(after_help = "\
Example:
  runeglass worker --amqp amqp://guest:guest@127.0.0.1:5672/%2f --redis redis://127.0.0.1:6379

Ctrl-C finishes what is in hand; a second one does not wait.")]
pub struct WorkerArguments {
    #[command(flatten)]
    cluster: ClusterArguments,
    /// Messages in hand at once.
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..))]
    concurrency: u16,
    /// Messages the broker hands out ahead; twice as many as are in hand where absent.
    #[arg(long)]
    prefetch: Option<u16>,
    /// Threads that work. One worker of one thread for each core does more than one worker of many.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
    /// Seconds after which others take over from a worker that is silent.
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..))]
    lease: u16,
    /// Seconds for which the facts of an execution stay in Redis after its end, unless a master has kept them.
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    keep: u32,
    /// Seconds for which servers that are gone are waited for once the worker is to stop. What is in hand then comes back
    /// to other workers, and the exit code is 3.
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    stop_wait: u32,
    /// Answer /health and /metrics on this port of this machine.
    #[arg(long, value_name = "PORT")]
    metrics: Option<u16>,
    #[command(flatten)]
    reach: ReachArguments,
}

impl WorkerArguments {
    pub fn threads(&self) -> usize {
        usize::from(self.threads)
    }
}

pub async fn worker(arguments: WorkerArguments) -> Result<Outcome, CommandError> {
    let address = arguments.cluster.address();
    let prefetch = arguments.prefetch.unwrap_or_else(|| arguments.concurrency.saturating_mul(2));
    let effort = Effort {
        concurrency: usize::from(arguments.concurrency),
        prefetch,
        lease: Millis::from(arguments.lease) * 1_000,
        keep: Millis::from(arguments.keep) * 1_000,
        parting: Duration::from_secs(arguments.stop_wait.into()),
    };
    let reach = arguments.reach.reach(AddressPolicy::Any);
    let worker =
        arguments.cluster.names.patiently(|| ClusterWorker::open(&address, &effort, reach.clone())).await?;
    let worker = Arc::new(worker);
    if let Some(port) = arguments.metrics {
        let measured = Arc::clone(&worker);
        metrics::serve(port, move || measured.metrics().text(0)).await?;
    }
    eprintln!("working: {} messages at once; Ctrl-C finishes what is in hand", arguments.concurrency);
    let work = worker.work();
    tokio::pin!(work);
    tokio::select! {
        ended = &mut work => return Ok(ended.map(|()| Outcome::Completed)?),
        () = asked_to_stop() => {}
    }
    eprintln!("finishing what is in hand");
    worker.close();
    tokio::select! {
        ended = work => Ok(ended.map(|()| Outcome::Completed)?),
        () = asked_to_stop() => Ok(Outcome::Completed),
    }
}

/// Returns on Ctrl-C, or when the system asks the process to end.
pub async fn asked_to_stop() {
    let interrupted = tokio::signal::ctrl_c();
    #[cfg(unix)]
    if let Ok(mut terminated) = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
        tokio::select! {
            _ = interrupted => {}
            _ = terminated.recv() => {}
        }
        return;
    }
    // Where the system cannot tell us, nobody has asked.
    if interrupted.await.is_err() {
        std::future::pending::<()>().await;
    }
}

#[derive(Args)]
#[command(after_help = "\
Example:
  runeglass master --amqp amqp://guest:guest@127.0.0.1:5672/%2f --redis redis://127.0.0.1:6379 --store runs.db

The link it prints opens the live view. `runeglass serve workflows --store runs.db` shows what it has kept once it has
ended.")]
pub struct MasterArguments {
    #[command(flatten)]
    cluster: ClusterArguments,
    /// Where recordings are kept.
    #[arg(long, value_name = "PATH")]
    store: PathBuf,
    /// The port of the live view on 127.0.0.1; a free one where absent.
    #[arg(long, default_value_t = 0)]
    port: u16,
    #[command(flatten)]
    reach: ReachArguments,
}

pub async fn master(arguments: MasterArguments) -> Result<Outcome, CommandError> {
    let address = arguments.cluster.address();
    let reach = arguments.reach.reach(AddressPolicy::Any);
    let (mut master, session) =
        arguments.cluster.names.patiently(|| ClusterMaster::open(&address, &arguments.store, &reach)).await?;
    let session = Arc::new(session);
    eprintln!("keeping recordings in {}; Ctrl-C stops", arguments.store.display());
    let door = Door::open(arguments.port, false).await?;
    tokio::select! {
        kept = keep(&mut master) => kept,
        shown = door.show(&session) => shown.map(|()| Outcome::Infrastructure),
        () = asked_to_stop() => Ok(Outcome::Completed),
    }
}

/// Keeps what happens on the cluster, as long as something is heard of it.
async fn keep(master: &mut ClusterMaster) -> Result<Outcome, CommandError> {
    while let Some(events) = master.keep_next().await? {
        for line in events.iter().filter_map(told) {
            eprintln!("{line}");
        }
    }
    Ok(Outcome::Infrastructure)
}

/// What people want to hear of a fact that was kept.
fn told(event: &Event) -> Option<String> {
    let id = &event.execution_id;
    match &event.fact {
        Fact::ExecutionStarted(started) => Some(format!("{id} started: {}", plain(&started.title))),
        Fact::ExecutionEnded(ended) => Some(format!("{id} ended: {:?}", ended.status).to_lowercase()),
        Fact::NodeStarted(_)
        | Fact::NodeParked(_)
        | Fact::AttemptFailed(_)
        | Fact::NodeSucceeded(_)
        | Fact::NodeFailed(_)
        | Fact::TimedOut(_)
        | Fact::Prolonged(_)
        | Fact::Intervened(_)
        | Fact::TimerFired(_)
        | Fact::Gathered(_)
        | Fact::Missed(_) => None,
    }
}

#[derive(Args)]
#[command(after_help = "Example:\n  runeglass cancel 4f0c2a… --amqp … --redis …")]
pub struct CancelArguments {
    /// The execution to end.
    id: String,
    #[command(flatten)]
    cluster: ClusterArguments,
}

pub async fn cancel(arguments: CancelArguments) -> Result<Outcome, CommandError> {
    let cluster = arguments.cluster.connect().await?;
    let id = ExecutionId::from(arguments.id);
    match cluster.cancel(&id).await? {
        true => say(&format!("{id} is halted"))?,
        false => say(&format!("{id} has ended already"))?,
    }
    Ok(Outcome::Completed)
}
