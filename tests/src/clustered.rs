//! Workflows on the cluster backend: real servers, several workers of this process, one simulated clock that starts
//! at 0.

use std::sync::Arc;

use cluster::{Client, Start, Topology, Worker, WorkerOptions};
use engine::Plan;
use protocol::{Event, Payload};
use runtime::{Clock, Outside, Workshop};
use serde_json::Value;
use tokio::task::JoinSet;

use crate::{
    local,
    servers::{RabbitMq, Redis},
};

/// The servers of a test.
pub struct Servers {
    pub rabbit: RabbitMq,
    pub redis: Redis,
}

impl Servers {
    pub fn start() -> Self {
        Self { rabbit: RabbitMq::start(), redis: Redis::start() }
    }

    /// Settings of a worker that has everything to itself under a prefix.
    pub fn options(&self, prefix: &str, name: &str) -> WorkerOptions {
        let topology = Topology::new(prefix);
        WorkerOptions { topology, ..WorkerOptions::new(&self.rabbit.url, &self.redis.url, name) }
    }

    pub async fn client(&self, prefix: &str, clock: Clock) -> Client {
        let topology = Topology::new(prefix);
        Client::connect(&self.rabbit.url, &self.redis.url, topology, "client", clock).await.expect("connects")
    }
}

/// Workers that end with it.
pub struct Crew {
    workers: Vec<Arc<Worker>>,
    lines: JoinSet<()>,
}

impl Crew {
    /// Several workers that share a simulated clock, each with so many messages in hand at once.
    pub async fn start(servers: &Servers, prefix: &str, clock: &Clock, outside: &Arc<dyn Outside>) -> Self {
        let (mut workers, mut lines) = (Vec::new(), JoinSet::new());
        for name in ["first", "second"] {
            let options = WorkerOptions { clock: clock.clone(), poll: None, ..servers.options(prefix, name) };
            let worker = Worker::open(options).await.expect("a worker");
            let workshop = Workshop::new(clock.clone(), Arc::clone(outside));
            let line = runtime::work(Arc::clone(&worker), workshop, 32);
            lines.spawn(async move { line.await.expect("the line works") });
            workers.push(worker);
        }
        Self { workers, lines }
    }

    pub async fn close(mut self) {
        for worker in &self.workers {
            worker.close();
        }
        while let Some(ended) = self.lines.join_next().await {
            ended.expect("a line ends well");
        }
    }
}

/// Runs a plan to its end on two workers.
pub async fn run(servers: &Servers, prefix: &str, plan: Arc<Plan>, input: Value) -> Vec<Event> {
    let clock = Clock::simulated(0);
    let outside = local::world(&clock);
    let client = servers.client(prefix, clock.clone()).await;
    // Until the first message is there, the clock stands still.
    clock.work_began(1);
    let crew = Crew::start(servers, prefix, &clock, &outside).await;
    let execution_id = protocol::ExecutionId::from("local");
    let start = Start {
        execution_id: execution_id.clone(),
        workflow_id: "local".into(),
        title: "Local".to_owned(),
        plan,
        input: Payload::new(input),
        path: None,
    };
    client.start(start).await.expect("it starts");
    clock.work_ended(1);
    let mut follower = client.follow(&execution_id).await.expect("it can be followed");
    let mut events = Vec::new();
    while let Some((more, _)) = follower.next().await.expect("it goes on") {
        events.extend(more);
    }
    crew.close().await;
    events
}
