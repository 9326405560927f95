//! The cluster: workers, and executions on it.

use std::{future::Future, sync::Arc, time::Duration};

use cluster::{Client, ClusterError, Follower, Kind, Left, Topology, Worker, WorkerOptions};
use engine::Plan;
use protocol::{ExecutionId, Millis, Payload, Problem, ProblemCode};
use runtime::{Clock, Metrics, Workshop};

use crate::{Reach, random_id, wish};

/// Where a cluster is.
#[derive(Clone, Debug)]
pub struct ClusterAddress {
    pub amqp: String,
    pub redis: String,
    /// In front of the names of queues and keys, so that several may share the servers.
    pub prefix: String,
    pub quorum: bool,
}

impl ClusterAddress {
    pub(crate) fn topology(&self) -> Topology {
        Topology::of_kind(&self.prefix, self.kind())
    }

    pub(crate) fn kind(&self) -> Kind {
        if self.quorum { Kind::Quorum } else { Kind::Classic }
    }
}

/// How hard a worker works.
pub struct Effort {
    /// Messages in hand at once.
    pub concurrency: usize,
    /// Messages the broker hands out ahead.
    pub prefetch: u16,
    /// How long others leave alone what takes a while, and how long an execution may be silent.
    pub lease: Millis,
    /// How long facts are kept in Redis after the end, for those who follow.
    pub keep: Millis,
    /// How long servers that are gone are waited for once the worker is to stop.
    pub parting: Duration,
}

const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(8);

/// Tries until the servers are there, for a while. `say` hears of every failure.
pub async fn patiently<T, F: Future<Output = Result<T, Problem>>>(
    patience: Duration,
    mut attempt: impl FnMut() -> F,
    say: impl Fn(&Problem, Duration),
) -> Result<T, Problem> {
    let (mut waited, mut pause) = (Duration::ZERO, FIRST_PAUSE);
    loop {
        match attempt().await {
            Err(problem) if problem.code == ProblemCode::Unreachable && waited < patience => {
                say(&problem, pause);
                tokio::time::sleep(pause).await;
                waited += pause;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
            result => return result,
        }
    }
}

/// A worker of the cluster, in this process.
pub struct ClusterWorker {
    worker: Arc<Worker>,
    workshop: Workshop,
    concurrency: usize,
}

impl ClusterWorker {
    pub async fn open(address: &ClusterAddress, effort: &Effort, reach: Reach) -> Result<Self, Problem> {
        let clock = Clock::system();
        let name = random_id()?;
        let options = WorkerOptions {
            topology: address.topology(),
            prefetch: effort.prefetch,
            lease: effort.lease,
            silence: effort.lease * 3 / 2,
            afterwards: effort.keep,
            parting: effort.parting,
            clock: clock.clone(),
            ..WorkerOptions::new(&address.amqp, &address.redis, &name)
        };
        let worker = Worker::open(options).await.map_err(|error| from_cluster(&error))?;
        let workshop = Workshop::new(clock.clone(), reach.world(&clock)?);
        Ok(Self { worker, workshop, concurrency: effort.concurrency })
    }

    /// Works until [`ClusterWorker::close`] is called and everything in hand is finished.
    pub async fn work(&self) -> Result<(), Problem> {
        let line = runtime::work(Arc::clone(&self.worker), self.workshop.clone(), self.concurrency);
        let Err(error) = line.await else { return Ok(()) };
        match self.worker.left() {
            Some(left) if left.messages == 0 => Ok(()),
            Some(left) => Err(left_behind(&left, &error.to_string())),
            None => Err(Problem::new(
                ProblemCode::Infrastructure,
                error.to_string(),
                "look at the servers and start it again",
            )),
        }
    }

    /// Takes no more messages.
    pub fn close(&self) {
        self.worker.close();
    }

    pub fn metrics(&self) -> &Metrics {
        &self.workshop.metrics
    }
}

/// Executions that are named to somebody who reads what was left.
const NAMED: usize = 5;

fn left_behind(left: &Left, why: &str) -> Problem {
    let named: Vec<&str> = left.executions.iter().take(NAMED).map(ExecutionId::as_str).collect();
    let more = match left.executions.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let messages =
        if left.messages == 1 { "1 message".to_owned() } else { format!("{} messages", left.messages) };
    let message = format!("{why}; {messages} in hand left unfinished, of {}{more}", named.join(", "));
    let hint = "nothing is lost: when the servers are back the messages come again, and the log says how far they got; \
                see to the servers and start a worker";
    Problem::new(ProblemCode::Infrastructure, message, hint)
}

/// Executions on a cluster.
pub struct Cluster(Client);

impl Cluster {
    pub async fn connect(address: &ClusterAddress) -> Result<Self, Problem> {
        let name = random_id()?;
        let client =
            Client::connect(&address.amqp, &address.redis, address.topology(), &name, Clock::system()).await;
        client.map(Self).map_err(|error| from_cluster(&error))
    }

    /// Starts a plan; `name` is the workflow's name where it has none itself.
    pub async fn start(
        &self,
        plan: Arc<Plan>,
        name: &str,
        path: Option<String>,
        input: Option<Payload>,
    ) -> Result<ExecutionId, Problem> {
        let start = wish(plan, name, path, input)?;
        let execution_id = start.execution_id.clone();
        self.0.start(start).await.map_err(|error| from_cluster(&error))?;
        Ok(execution_id)
    }

    pub async fn follow(&self, id: &ExecutionId) -> Result<Follower, Problem> {
        self.0.follow(id).await.map_err(|error| from_cluster(&error))
    }

    /// Ends an execution as halted. False if it has ended already.
    pub async fn cancel(&self, id: &ExecutionId) -> Result<bool, Problem> {
        self.0.cancel(id).await.map_err(|error| from_cluster(&error))
    }
}

pub fn from_cluster(error: &ClusterError) -> Problem {
    let (code, hint) = match error {
        ClusterError::Unknown(_) => (ProblemCode::NotFound, "check the id, and --queue-prefix"),
        ClusterError::Refused(_) => (ProblemCode::InvalidRequest, "choose another id"),
        ClusterError::Clash { .. } => (ProblemCode::Infrastructure, "for example --queue-prefix mine."),
        ClusterError::Damaged(_) | ClusterError::Unwritable(_) | ClusterError::Ledger(_) => (
            ProblemCode::Infrastructure,
            "somebody else may write to the same keys; choose another --queue-prefix",
        ),
        ClusterError::Broker(_) | ClusterError::Redis(_) if error.to_string().contains("certificate") => (
            ProblemCode::Unreachable,
            "the server has to show a certificate for this name from somebody this machine trusts; SSL_CERT_FILE names \
             a file of those to trust",
        ),
        ClusterError::Broker(_)
        | ClusterError::Redis(_)
        | ClusterError::NotConfirmed(_)
        | ClusterError::GaveUp { .. } => (
            ProblemCode::Unreachable,
            "check the address, the user and the password, and that the server runs",
        ),
    };
    Problem::new(code, error.to_string(), hint)
}
