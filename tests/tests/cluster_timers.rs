//! Timers of a cluster in real time: many workers look, every timer fires once, and one that a worker has claimed and
//! not fired comes back.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use cluster::{Client, Log, Looks, Queue, Topology, Worker, WorkerOptions};
use futures::StreamExt;
use lapin::{
    Connection, ConnectionProperties,
    options::{BasicConsumeOptions, QueueBindOptions, QueueDeclareOptions},
    types::FieldTable,
};
use protocol::{ExecutionId, ExecutionStatus, Fact, Millis, Payload, StatusLine};
use runeglass_tests::{clustered::Servers, local};
use runtime::{Clock, Start, Workshop};
use serde_json::{Value, json};
use tokio::{sync::mpsc, task::JoinSet};

/// How long a worker that says nothing is waited for.
const LEASE: Millis = 2_000;

fn workflow(seconds: u32) -> Value {
    json!({
        "nodes": [
            {"id": "start", "type": "trigger"},
            {"id": "each", "type": "split", "parameters": {"input_array": "$trigger.items"}},
            {"id": "rest", "type": "wait", "parameters": {"amount": seconds, "unit": "seconds"}},
            {"id": "all", "type": "aggregator"},
        ],
        "edges": [
            {"id": "e1", "src": "start", "dst": "each"}, {"id": "e2", "src": "each", "dst": "rest"},
            {"id": "e3", "src": "rest", "dst": "all"},
        ],
    })
}

struct Team {
    workers: Vec<Arc<Worker>>,
    lines: JoinSet<()>,
}

impl Team {
    async fn start(servers: &Servers, prefix: &str, names: &[&str], lease: Millis) -> Self {
        let (mut workers, mut lines) = (Vec::new(), JoinSet::new());
        for name in names {
            let clock = Clock::system();
            let options = WorkerOptions {
                clock: clock.clone(),
                poll: Some(20),
                lease,
                ..servers.options(prefix, name)
            };
            let worker = Worker::open(options).await.expect("a worker");
            let line =
                runtime::work(Arc::clone(&worker), Workshop::new(clock.clone(), local::world(&clock)), 32);
            lines.spawn(async move { line.await.expect("the line works") });
            workers.push(worker);
        }
        Self { workers, lines }
    }

    async fn close(mut self) {
        for worker in &self.workers {
            worker.close();
        }
        while let Some(ended) = self.lines.join_next().await {
            ended.expect("a line ends well");
        }
    }
}

/// Hears of every message that says a rest is over.
async fn listen(servers: &Servers, prefix: &str) -> (Connection, mpsc::Receiver<Value>) {
    let connection = Connection::connect(&servers.rabbit.url, ConnectionProperties::default()).await;
    let connection = connection.expect("connects");
    let channel = connection.create_channel().await.expect("a channel");
    let own = QueueDeclareOptions { exclusive: true, auto_delete: true, ..QueueDeclareOptions::default() };
    let queue = channel.queue_declare("".into(), own, FieldTable::default()).await.expect("declared");
    let queue = queue.name().clone();
    let topology = Topology::new(prefix);
    let (exchange, key) = (topology.exchange(), topology.queue(Queue::Execution));
    let bind = QueueBindOptions::default();
    let bound = channel.queue_bind(
        queue.clone(),
        exchange.as_str().into(),
        key.as_str().into(),
        bind,
        FieldTable::default(),
    );
    bound.await.expect("bound");
    let consume = BasicConsumeOptions { no_ack: true, ..BasicConsumeOptions::default() };
    let mut heard =
        channel.basic_consume(queue, "".into(), consume, FieldTable::default()).await.expect("consumes");
    let (sender, receiver) = mpsc::channel(1_000);
    tokio::spawn(async move {
        while let Some(Ok(message)) = heard.next().await {
            let message: Value = serde_json::from_slice(&message.data).expect("JSON");
            if !message["resumed"].is_null() && sender.send(message).await.is_err() {
                return;
            }
        }
    });
    (connection, receiver)
}

async fn start(client: &Client, id: &str, items: usize, seconds: u32) {
    let start = Start {
        execution_id: id.into(),
        workflow_id: "timers".into(),
        title: "Timers".to_owned(),
        plan: local::plan(&workflow(seconds)),
        input: Payload::new(json!({"items": (0..items).collect::<Vec<_>>()})),
        path: None,
        starts: None,
        origin: None,
        until: None,
    };
    client.start(start).await.expect("it starts");
}

async fn completed(client: &Client, id: &str, items: usize) {
    let mut follower = client.follow(&id.into()).await.expect("it can be followed");
    while let Some((_, lines)) = follower.next().await.expect("it goes on") {
        for line in lines {
            let StatusLine::Completion(completion) = line else { continue };
            assert_eq!(completion.status, ExecutionStatus::Completed, "{id}");
            let gathered = completion.final_context["$all"].value().as_array().map(Vec::len);
            assert_eq!(gathered, Some(items), "{id}");
            return;
        }
    }
    panic!("{id} has no end");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_workers_fire_every_timer_once() {
    let servers = Servers::shared();
    let team = Team::start(&servers, "fight.", &["first", "second"], 60_000).await;
    let (_connection, mut fired) = listen(&servers, "fight.").await;
    let client = servers.client("fight.", Clock::system()).await;
    let executions: Vec<(String, usize)> =
        (0..60).map(|number| (format!("x{number}"), if number == 0 { 100 } else { 1 })).collect();
    for (id, items) in &executions {
        start(&client, id, *items, 1).await;
    }
    for (id, items) in &executions {
        completed(&client, id, *items).await;
    }
    team.close().await;
    let mut times = BTreeMap::<String, u32>::new();
    let mut note = |message: Value| {
        *times.entry(message["message_id"].as_str().expect("an id").to_owned()).or_default() += 1;
        times.len()
    };
    // What was said last may still be on its way to us.
    while note(fired.recv().await.expect("every timer fires")) < 159 {}
    while let Ok(message) = fired.try_recv() {
        note(message);
    }
    let more: Vec<_> = times.iter().filter(|(_, times)| **times > 1).collect();
    assert_eq!(times.len(), 159, "every timer fired");
    assert!(more.is_empty(), "fired more than once: {more:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_timer_that_was_claimed_and_not_fired_comes_back_after_the_lease() {
    let servers = Servers::shared();
    let log = Log::connect(&servers.redis.url, "claimed.", 60_000).await.expect("connects");
    let looks = Looks::new(&log);
    let client = servers.client("claimed.", Clock::system()).await;
    let before = Team::start(&servers, "claimed.", &["before"], LEASE).await;
    // Long enough for whoever has begun with it to be gone when it is due.
    start(&client, "x", 1, 8).await;
    let id = ExecutionId::from("x");
    // Until it rests: a start, three starts of nodes, two ends and the rest.
    while log.standing(&id).await.expect("asked").is_none_or(|standing| standing.position < 7) {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    before.close().await;
    // Somebody claims it when it is due, and dies before it says so to anybody.
    let claimed_at = loop {
        let now = log.now().await.expect("asked");
        if !looks.claim(now, now + LEASE).await.expect("claimed").is_empty() {
            break now;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    let parked = log.read(&id, 0).await.expect("read").into_iter().find_map(|event| match event.fact {
        Fact::NodeParked(parked) => Some(format!("{} {}", parked.firing.message_id, parked.due)),
        _ => None,
    });
    let timers = [parked.expect("it rests")];
    let take = async |now: Millis, word: &str| {
        log.take_timers(&id, &timers, now, LEASE, word).await.expect("answered") == [true]
    };
    assert!(take(claimed_at, "dead").await, "it is free");
    assert!(take(claimed_at, "dead").await, "the answer may be lost; asking again gives the same");
    assert!(!take(claimed_at + LEASE - 1, "other").await, "it is taken");
    let (_connection, mut fired) = listen(&servers, "claimed.").await;
    let after = Team::start(&servers, "claimed.", &["after", "too"], LEASE).await;
    fired.recv().await.expect("it fires");
    let fired_at = log.now().await.expect("asked");
    assert!(fired_at >= claimed_at + LEASE, "it fired {} ms after the claim", fired_at - claimed_at);
    completed(&client, "x", 1).await;
    after.close().await;
    assert!(fired.try_recv().is_err(), "it fired once");
}
