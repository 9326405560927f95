//! Workflows on the cluster backend: real servers, several workers of this process, one simulated clock that starts
//! at 0.

use std::{
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use cluster::{Client, Queue, Topology, Worker, WorkerOptions};
use engine::Plan;
use futures::{Stream, StreamExt};
use lapin::{
    Connection, ConnectionProperties,
    options::{BasicAckOptions, BasicConsumeOptions, BasicGetOptions, QueueBindOptions, QueueDeclareOptions},
    types::{AMQPValue, FieldTable},
};
use protocol::Event;
use runtime::{Clock, Workshop};
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

/// Those that tests of one file share, as long as one of them runs.
static SHARED: Mutex<Weak<Servers>> = Mutex::new(Weak::new());

impl Servers {
    pub fn start() -> Self {
        Self { rabbit: RabbitMq::start(), redis: Redis::start() }
    }

    /// The servers of this file, started by the first test that wants them and ended with the last that has them: a
    /// broker takes seconds to come up. Who shares them keeps to a prefix of its own and breaks nothing.
    pub fn shared() -> Arc<Self> {
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        shared.upgrade().unwrap_or_else(|| {
            let servers = Arc::new(Self::start());
            *shared = Arc::downgrade(&servers);
            servers
        })
    }

    /// Settings of a worker that has everything to itself under a prefix.
    pub fn options(&self, prefix: &str, name: &str) -> WorkerOptions {
        let topology = Topology::new(prefix);
        WorkerOptions { topology, ..WorkerOptions::new(&self.rabbit.url, &self.redis.url, name) }
    }

    /// Takes so many messages from a queue, each with the reason it is there for. It is asked until it has them.
    pub async fn take(&self, prefix: &str, queue: Queue, count: usize) -> Vec<(Vec<u8>, String)> {
        let connection = Connection::connect(&self.rabbit.url, ConnectionProperties::default()).await;
        let connection = connection.expect("connects");
        let channel = connection.create_channel().await.expect("a channel");
        let name = Topology::new(prefix).queue(queue);
        let mut found = Vec::new();
        for _ in 0..1_800 {
            while let Some(message) =
                channel.basic_get(name.as_str().into(), BasicGetOptions::default()).await.expect("asked")
            {
                let headers = message.properties.headers().clone().unwrap_or_default();
                let reason = match headers.inner().get("x-reason") {
                    Some(AMQPValue::LongString(text)) => text.to_string(),
                    _ => String::new(),
                };
                message.ack(BasicAckOptions::default()).await.expect("acknowledged");
                found.push((message.delivery.data, reason));
            }
            if found.len() >= count {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("{} of {count} messages came to {name}", found.len());
    }

    /// Copies of everything that is sent under a key from now on, as JSON.
    pub async fn copies(&self, exchange: &str, key: &str) -> impl Stream<Item = Value> + use<> {
        let connection = Connection::connect(&self.rabbit.url, ConnectionProperties::default()).await;
        let connection = connection.expect("connects");
        let channel = connection.create_channel().await.expect("a channel");
        let own = QueueDeclareOptions { auto_delete: true, ..QueueDeclareOptions::default() };
        let queue = channel.queue_declare("".into(), own, FieldTable::default()).await.expect("declared");
        let bind = QueueBindOptions::default();
        let bound = channel.queue_bind(
            queue.name().clone(),
            exchange.into(),
            key.into(),
            bind,
            FieldTable::default(),
        );
        bound.await.expect("bound");
        let listen = BasicConsumeOptions { no_ack: true, ..BasicConsumeOptions::default() };
        let consumer =
            channel.basic_consume(queue.name().clone(), "".into(), listen, FieldTable::default()).await;
        consumer.expect("listens").map(move |message| {
            // Without it nothing comes any more.
            let _heard_through = &connection;
            serde_json::from_slice(&message.expect("a message").data).expect("messages are JSON")
        })
    }

    pub async fn client(&self, prefix: &str, clock: Clock) -> Client {
        self.client_on(Topology::new(prefix), clock).await
    }

    pub async fn client_on(&self, topology: Topology, clock: Clock) -> Client {
        Client::connect(&self.rabbit.url, &self.redis.url, topology, "client", clock).await.expect("connects")
    }
}

/// Two workers on one simulated clock, and somebody who starts executions and follows them.
pub struct Crew {
    workers: Vec<Arc<Worker>>,
    lines: JoinSet<()>,
    client: Client,
    clock: Clock,
}

impl Crew {
    pub async fn start(servers: &Servers, prefix: &str) -> Self {
        Self::start_on(servers, Topology::new(prefix)).await
    }

    pub async fn start_on(servers: &Servers, topology: Topology) -> Self {
        let clock = Clock::simulated(0);
        let outside = local::world(&clock);
        let client = servers.client_on(topology.clone(), clock.clone()).await;
        let (mut workers, mut lines) = (Vec::new(), JoinSet::new());
        for name in ["first", "second"] {
            let usual = WorkerOptions::new(&servers.rabbit.url, &servers.redis.url, name);
            let (topology, clock) = (topology.clone(), clock.clone());
            let worker = Worker::open(WorkerOptions { topology, clock: clock.clone(), poll: None, ..usual });
            let worker = worker.await.expect("a worker");
            let workshop = Workshop::new(clock.clone(), Arc::clone(&outside));
            let line = runtime::work(Arc::clone(&worker), workshop, 32);
            lines.spawn(async move { line.await.expect("the line works") });
            workers.push(worker);
        }
        Self { workers, lines, client, clock }
    }

    /// Runs a plan to its end.
    pub async fn run(&self, id: &str, plan: Arc<Plan>, input: Value) -> Vec<Event> {
        // Until the first message is there, the clock stands still.
        self.clock.work_began(1);
        self.client.start(local::start(id, plan, input)).await.expect("it starts");
        self.clock.work_ended(1);
        let mut follower = self.client.follow(&id.into()).await.expect("it can be followed");
        let mut events = Vec::new();
        while let Some((more, _)) = follower.next().await.expect("it goes on") {
            events.extend(more);
        }
        events
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
