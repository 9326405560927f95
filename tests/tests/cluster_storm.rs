//! The cluster under fire: workers are killed, connections cut, the broker and Redis crash, Redis stands still, and
//! every message may come twice. Nothing of that changes a result. Every fault proves that it happened.

use std::{
    collections::BTreeMap,
    env,
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use cluster::{Client, Topology};
use futures::StreamExt;
use lapin::{
    BasicProperties, Channel, Connection, ConnectionProperties,
    options::{
        BasicAckOptions, BasicConsumeOptions, BasicGetOptions, BasicPublishOptions, QueueBindOptions,
        QueueDeclareOptions,
    },
    types::{AMQPValue, FieldTable},
};
use protocol::{ExecutionId, ExecutionStatus, Payload, StatusLine};
use redis::AsyncCommands;
use runeglass_tests::{
    binary, local,
    model::Dice,
    proxy::Proxy,
    servers::{RabbitMq, Redis, signal},
};
use runtime::{Clock, Start};
use serde_json::{Value, json};

const PREFIX: &str = "storm.";
const WORKERS: usize = 3;
/// One message in so many comes twice.
const TWICE: usize = 5;

fn kills() -> u64 {
    env::var("RUNEGLASS_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(50)
}

/// Forty orders of fifty lines; every line takes two ways and comes together, every order rests for a second.
fn workflow() -> Value {
    let times = |factor: u32| {
        let value = format!("{{{{ $item * {factor} }}}}");
        json!({"assignments": [{"name": "n", "value": value}]})
    };
    json!({
        "nodes": [
            {"id": "start", "type": "trigger"},
            {"id": "orders", "type": "split", "parameters": {"input_array": "$trigger.orders"}},
            {"id": "lines", "type": "split", "parameters": {"input_array": "$item"}},
            {"id": "twice", "type": "edit", "parameters": times(2)},
            {"id": "thrice", "type": "edit", "parameters": times(3)},
            {"id": "slow", "type": "simulate", "parameters": {"latency_ms": 20, "output": "$json"}},
            {"id": "both", "type": "merge", "parameters": {"wait_mode": "wait_for_all"}},
            {"id": "order", "type": "aggregator"},
            {"id": "rest", "type": "wait", "parameters": {"amount": 1, "unit": "seconds"}},
            {"id": "sum", "type": "edit", "parameters": {"assignments": [
                {"name": "sum", "value": "{{ $order.flat().reduce((sum, line) => sum + line.n, 0) }}"}]}},
            {"id": "all", "type": "aggregator"},
        ],
        "edges": [
            {"id": "e1", "src": "start", "dst": "orders"}, {"id": "e2", "src": "orders", "dst": "lines"},
            {"id": "e3", "src": "lines", "dst": "twice"}, {"id": "e4", "src": "lines", "dst": "thrice"},
            {"id": "e5", "src": "thrice", "dst": "slow"}, {"id": "e6", "src": "twice", "dst": "both"},
            {"id": "e7", "src": "slow", "dst": "both"}, {"id": "e8", "src": "both", "dst": "order"},
            {"id": "e9", "src": "order", "dst": "rest"}, {"id": "e10", "src": "rest", "dst": "sum"},
            {"id": "e11", "src": "sum", "dst": "all"},
        ],
    })
}

fn input(round: u32) -> Value {
    let order = |order: u32| (0..50).map(|line| json!(round + order * 50 + line)).collect::<Value>();
    json!({"orders": (0..40).map(order).collect::<Value>()})
}

/// Every line counts twice on one way and three times on the other.
fn expected(round: u32) -> Vec<u64> {
    let order = |order: u32| (0..50).map(|line| 5 * u64::from(round + order * 50 + line)).sum();
    (0..40).map(order).collect()
}

struct Crowd {
    workers: Vec<Child>,
    amqp: String,
    redis: String,
    kills: u64,
}

impl Crowd {
    fn start(amqp: &Proxy, redis: &Proxy) -> Self {
        let amqp = format!("amqp://guest:guest@127.0.0.1:{}/%2f", amqp.port);
        let redis = format!("redis://127.0.0.1:{}", redis.port);
        let mut crowd = Self { workers: Vec::new(), amqp, redis, kills: 0 };
        for _ in 0..WORKERS {
            let worker = crowd.hire();
            crowd.workers.push(worker);
        }
        crowd
    }

    fn hire(&self) -> Child {
        Command::new(binary("runeglass"))
            .args(["worker", "--amqp", &self.amqp, "--redis", &self.redis, "--queue-prefix", PREFIX])
            .args(["--lease", "2", "--keep", "1"])
            .stderr(Stdio::null())
            .spawn()
            .expect("a worker starts")
    }

    /// Ends one as a power failure would, and puts another in its place.
    fn kill(&mut self, which: usize) {
        self.workers[which].kill().expect("it was running");
        self.workers[which].wait().expect("it has ended");
        self.workers[which] = self.hire();
        self.kills += 1;
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        for worker in &mut self.workers {
            drop(worker.kill());
            drop(worker.wait());
        }
    }
}

/// Listens to all messages and sends some of them once more, through as many brokers as it takes.
async fn echo(url: String, echoed: Arc<AtomicU64>) {
    let mut dice = Dice::new(7);
    loop {
        // While the broker is away there is nothing to hear.
        let _ = echo_some(&url, &mut dice, &echoed).await;
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

async fn echo_some(url: &str, dice: &mut Dice, echoed: &AtomicU64) -> Result<(), lapin::Error> {
    let topology = Topology::new(PREFIX);
    let connection = Connection::connect(url, ConnectionProperties::default()).await?;
    let channel = connection.create_channel().await?;
    let options =
        QueueDeclareOptions { exclusive: true, auto_delete: true, ..QueueDeclareOptions::default() };
    channel.queue_declare("storm.echo".into(), options, FieldTable::default()).await?;
    let execution = topology.queue(cluster::Queue::Execution);
    let exchange = topology.exchange();
    let bind = QueueBindOptions::default();
    let key = execution.as_str().into();
    channel
        .queue_bind("storm.echo".into(), exchange.as_str().into(), key, bind, FieldTable::default())
        .await?;
    let consume = BasicConsumeOptions { no_ack: true, ..BasicConsumeOptions::default() };
    let mut heard =
        channel.basic_consume("storm.echo".into(), "".into(), consume, FieldTable::default()).await?;
    while let Some(message) = heard.next().await {
        let message = message?;
        let is_echo =
            message.properties.headers().as_ref().is_some_and(|headers| headers.contains_key("x-echo"));
        if is_echo || !dice.one_in(TWICE) {
            continue;
        }
        let mut headers = FieldTable::default();
        headers.insert("x-echo".into(), AMQPValue::Boolean(true));
        let properties = BasicProperties::default().with_headers(headers).with_delivery_mode(2);
        let publish = BasicPublishOptions::default();
        let key = execution.as_str().into();
        channel.basic_publish(exchange.as_str().into(), key, publish, &message.data, properties).await?;
        echoed.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}

/// Everything in a queue, until it stays empty.
async fn drain(channel: &Channel, queue: &str) -> Vec<Value> {
    let mut found = Vec::new();
    while let Some(message) =
        channel.basic_get(queue.into(), BasicGetOptions::default()).await.expect("asked")
    {
        found.push(serde_json::from_slice(&message.data).expect("JSON"));
        message.ack(BasicAckOptions::default()).await.expect("acknowledged");
    }
    found
}

/// What was said of the end of an execution.
fn said_of<'a>(completions: &'a [Value], id: &ExecutionId) -> Vec<&'a Value> {
    completions.iter().filter(|said| said["execution_id"] == id.as_str()).collect()
}

/// Waits for the end of an execution; how it ended and what it gathered.
async fn follow(client: &Client, id: &ExecutionId) -> (ExecutionStatus, Value) {
    let mut follower = client.follow(id).await.expect("it can be followed");
    loop {
        let next = follower.next().await;
        // Redis stands still for a while in this storm.
        let Ok(next) = next else { continue };
        let (_, lines) = next.expect("an end comes before the end of the log");
        for line in lines {
            if let StatusLine::Completion(completion) = line {
                return (completion.status, completion.final_context["$all"].value().clone());
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_lost_and_nothing_comes_twice() {
    let (mut rabbit, mut redis) = (RabbitMq::start(), Redis::start_durable());
    let (amqp_proxy, redis_proxy) = (Proxy::before(rabbit.port).await, Proxy::before(redis.port).await);
    let mut crowd = Crowd::start(&amqp_proxy, &redis_proxy);
    let echoed = Arc::new(AtomicU64::new(0));
    let clock = Clock::system();
    let client = Client::connect(&rabbit.url, &redis.url, Topology::new(PREFIX), "storm", clock).await;
    let client = Arc::new(client.expect("connects"));
    let echoing = tokio::spawn(echo(rabbit.url.clone(), Arc::clone(&echoed)));
    let plan = local::plan(&workflow());
    let mut dice = Dice::new(42);
    let (mut round, mut running, mut ended) = (0, None, BTreeMap::new());
    let (mut pauses, mut crashes, mut losses) = (0, 0, 0);
    while crowd.kills < kills() || running.is_some() {
        let (id, following) = match running.take() {
            Some(running) => running,
            None => {
                round += 1;
                let id = ExecutionId::from(format!("storm-{round}"));
                let start = Start {
                    execution_id: id.clone(),
                    workflow_id: "storm".into(),
                    title: "Storm".to_owned(),
                    plan: Arc::clone(&plan),
                    input: Payload::new(input(round)),
                    path: None,
                    starts: None,
                    origin: None,
                    until: None,
                };
                client.start(start).await.expect("it starts");
                let (client, id) = (Arc::clone(&client), id);
                let followed = id.clone();
                (id, tokio::spawn(async move { follow(&client, &followed).await }))
            }
        };
        if following.is_finished() {
            ended.insert(id, (round, following.await.expect("followed to the end")));
            continue;
        }
        running = Some((id, following));
        if crowd.kills >= kills() {
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        }
        tokio::time::sleep(Duration::from_millis(300 + 10 * dice.roll(30) as u64)).await;
        crowd.kill(dice.roll(WORKERS));
        match crowd.kills % 25 {
            5 => amqp_proxy.cut(),
            10 => redis_proxy.cut(),
            15 => {
                signal("-STOP", &redis.process().to_string());
                tokio::time::sleep(Duration::from_secs(2)).await;
                signal("-CONT", &redis.process().to_string());
                pauses += 1;
            }
            20 => {
                rabbit.crash();
                crashes += 1;
            }
            24 => {
                redis.crash();
                losses += 1;
            }
            _ => {}
        }
    }
    echoing.abort();
    let connection =
        Connection::connect(&rabbit.url, ConnectionProperties::default()).await.expect("connects");
    let channel = connection.create_channel().await.expect("a channel");
    // Whoever wrote the last end may have died before it could say so; then another one says it.
    let mut completions = Vec::new();
    for _ in 0..1_800 {
        completions.extend(drain(&channel, &Topology::new(PREFIX).queue(cluster::Queue::Completion)).await);
        // The same end may be said twice, so they are not counted but looked for.
        if ended.keys().all(|id| !said_of(&completions, id).is_empty()) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let parked = drain(&channel, &Topology::new(PREFIX).queue(cluster::Queue::Parking)).await;
    let left = keys_left(&redis.url).await;
    let (amqp_cuts, redis_cuts) = (amqp_proxy.count(), redis_proxy.count());
    println!(
        "{} executions of 2,000 items, {} workers killed, {} duplicates, {amqp_cuts} connections to RabbitMQ and {redis_cuts} to Redis cut, \
         {crashes} crashes of the broker, {losses} of Redis, {pauses} pauses of Redis, {} completions, {} parked, {} keys left",
        ended.len(),
        crowd.kills,
        echoed.load(Ordering::Relaxed),
        completions.len(),
        parked.len(),
        left.len(),
    );
    for (id, (round, (status, found))) in &ended {
        assert_eq!(*status, ExecutionStatus::Completed, "{id}");
        let sums: Vec<u64> = found
            .as_array()
            .expect("orders")
            .iter()
            .map(|order| order["sum"].as_u64().expect("a sum"))
            .collect();
        assert_eq!(sums, expected(*round), "{id} has gathered something else");
        let mut said = said_of(&completions, id);
        assert!(!said.is_empty(), "{id} was not completed");
        said.dedup();
        assert_eq!(said.len(), 1, "{id} was completed in different ways");
    }
    assert!(parked.is_empty(), "parked: {parked:?}");
    assert!(left.is_empty(), "left behind: {left:?}");
    assert!(crowd.kills >= kills() && !ended.is_empty());
    assert!(echoed.load(Ordering::Relaxed) > 100, "messages came twice");
    assert!(crashes > 0 && losses > 0 && pauses > 0, "both servers crashed, and one stood still");
    assert!(amqp_cuts > 0 && redis_cuts > 0, "connections were cut");
}

/// Keys of executions besides the word that they have ended and their results, once what is kept for a moment is gone.
async fn keys_left(url: &str) -> Vec<String> {
    let client = redis::Client::open(url).expect("an address");
    let mut redis = client.get_multiplexed_async_connection().await.expect("connects");
    let mut left: Vec<String> = Vec::new();
    for _ in 0..1_800 {
        left = redis.keys(format!("{PREFIX}*")).await.expect("asked");
        left.retain(|key| !key.ends_with(":state") && !key.ends_with(":result"));
        if left.is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    left
}
