//! A cluster with workers on the real clock that somebody looks into, and what can be told of it from outside.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use cluster::{Client, Worker, WorkerOptions};
use protocol::{
    ClusterConnection, ClusterView, ExecutionId, ExecutionPhase, ExecutionView, Passwords, Payload,
    ProblemCode, Request, Response,
};
use runtime::{Clock, Start, Workshop};
use serde_json::{Value, json};
use session::{Keep, Options, Reach, Session};
use tokio::task::JoinSet;

use crate::{clustered::Servers, local, servers::Redis};

/// Two workers that go by the time of day.
pub struct Workers {
    workers: Vec<Arc<Worker>>,
    lines: JoinSet<()>,
    client: Client,
}

impl Workers {
    pub async fn start(servers: &Servers, prefix: &str) -> Self {
        let clock = Clock::system();
        let outside = local::world(&clock);
        let client = servers.client(prefix, clock.clone()).await;
        let (mut workers, mut lines) = (Vec::new(), JoinSet::new());
        for name in ["first", "second"] {
            // They look at what is silent so rarely that nothing changes by itself while it is compared.
            let usual = servers.options(prefix, name);
            let options = WorkerOptions { clock: clock.clone(), silence: 600_000, ..usual };
            let worker = Worker::open(options).await.expect("a worker");
            let workshop = Workshop::new(clock.clone(), Arc::clone(&outside));
            let line = runtime::work(Arc::clone(&worker), workshop, 32);
            lines.spawn(async move { line.await.expect("the line works") });
            workers.push(worker);
        }
        Self { workers, lines, client }
    }

    pub async fn begin(&self, id: &str, workflow: &Value, input: Value) {
        let plan = engine::load_once(workflow.to_string().as_bytes()).plan.expect("it can run");
        let start = Start {
            execution_id: id.into(),
            workflow_id: "watched".into(),
            title: format!("Watched {id}"),
            plan,
            input: Payload::new(input),
            path: Some("somewhere.json".to_owned()),
            starts: None,
            origin: None,
            until: None,
        };
        self.client.start(start).await.expect("it starts");
    }

    /// Until the end; what came of it.
    pub async fn end(&self, id: &str) -> Value {
        let mut follower = self.client.follow(&id.into()).await.expect("it can be followed");
        let mut last = None;
        while let Some((_, lines)) = follower.next().await.expect("it goes on") {
            last = lines.into_iter().last().or(last);
        }
        serde_json::to_value(last.expect("an end")).expect("JSON")
    }

    pub async fn close(mut self) {
        self.workers.iter().for_each(|worker| worker.close());
        while let Some(ended) = self.lines.join_next().await {
            ended.expect("a line ends well");
        }
    }
}

pub fn connection(servers: &Servers, prefix: &str) -> ClusterConnection {
    ClusterConnection {
        name: "shop".to_owned(),
        colour: "red".to_owned(),
        amqp: servers.rabbit.url.clone(),
        redis: servers.redis.url.clone(),
        prefix: prefix.to_owned(),
        dialect: None,
    }
}

/// One node that works for a moment.
pub fn hello() -> Value {
    json!({
        "workflow_id": "hello",
        "nodes": [
            {"id": "start", "type": "trigger"},
            {"id": "work", "type": "simulate", "parameters": {"latency_ms": 1, "output": {"n": 1}}}
        ],
        "edges": [{"id": "1", "src": "start", "dst": "work"}]
    })
}

/// How often a session is asked, twenty times a second. A small machine takes its time, and whoever waits in vain waits
/// only once.
const LOOKS: usize = 3_600;

/// A session that looks, and what it is asked until it knows.
pub struct Looking(pub Session);

impl Looking {
    pub async fn open(keep: Keep) -> Self {
        // What another session of this test has begun ends in its own time, and the store is free then.
        for _ in 0..600 {
            let (keep, clock, reach) = (keep.clone(), Clock::system(), Reach::default());
            let options = Options { keep, folder: None, clock, recover: true, reach };
            match Session::open(options).await {
                Ok(session) => return Self(session),
                Err(problem) if problem.code == ProblemCode::StoreInUse => {}
                Err(problem) => panic!("{problem:?}"),
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("the store is still in use");
    }

    pub async fn attach(&self, connection: ClusterConnection, record: bool) -> ClusterView {
        let request = Request::Attach { connection, passwords: Passwords::default(), record };
        match self.0.call(request).await.expect("attached") {
            Response::Cluster(Some(view)) => *view,
            other => panic!("{other:?}"),
        }
    }

    pub async fn cluster(&self) -> ClusterView {
        self.0.cluster().await.expect("attached")
    }

    pub async fn view(&self, id: &str) -> Option<ExecutionView> {
        match self.0.call(Request::Execution { execution_id: ExecutionId::from(id) }).await {
            Ok(Response::Execution(view)) => Some(*view),
            Ok(_) | Err(_) => None,
        }
    }

    pub async fn until_ended(&self, id: &str) -> ExecutionView {
        self.until(id, |view| view.summary.phase != ExecutionPhase::Running).await
    }

    pub async fn until(&self, id: &str, reached: impl Fn(&ExecutionView) -> bool) -> ExecutionView {
        for _ in 0..LOOKS {
            if let Some(view) = self.view(id).await.filter(|view| reached(view)) {
                return view;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("{id} was not seen like that: {:?}, {:?}", self.view(id).await, self.0.cluster().await);
    }

    pub async fn until_cluster(&self, what: &str, reached: impl Fn(&ClusterView) -> bool) -> ClusterView {
        for _ in 0..LOOKS {
            let view = self.cluster().await;
            if reached(&view) {
                return view;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("{what}: {:?}", self.cluster().await);
    }
}

/// Everything that an administrator sees of a broker, but for queues that the broker has named.
pub fn broker_state(servers: &Servers) -> Vec<String> {
    let questions: [&[&str]; 4] = [
        &[
            "list_queues",
            "name",
            "durable",
            "auto_delete",
            "exclusive",
            "arguments",
            "messages_ready",
            "messages_unacknowledged",
            "consumers",
        ],
        &["list_bindings"],
        &["list_exchanges", "name", "type", "durable", "auto_delete", "arguments"],
        &["list_consumers"],
    ];
    let ours = |line: &&str| !line.contains("amq.gen-");
    questions
        .iter()
        .flat_map(|question| {
            let said = servers.rabbit.control(question);
            let mut lines: Vec<String> = said.lines().filter(ours).map(str::to_owned).collect();
            lines.sort();
            lines
        })
        .collect()
}

/// Queues that the broker has named.
pub fn named_by_the_broker(servers: &Servers) -> Vec<String> {
    let said = servers.rabbit.control(&["list_queues", "name"]);
    said.lines().filter(|line| line.starts_with("amq.gen-")).map(str::to_owned).collect()
}

/// Queues that the broker has named and that hear copies from an exchange.
pub fn listeners(servers: &Servers, exchange: &str) -> Vec<String> {
    let said = servers.rabbit.control(&["list_bindings", "source_name", "destination_name"]);
    let from = format!("{exchange}\t");
    let mine = said.lines().filter(|line| line.starts_with(&from) && line.contains("amq.gen-"));
    mine.map(str::to_owned).collect()
}

/// Until somebody hears what is said on an exchange: what is said before is heard by nobody.
pub async fn until_heard(servers: &Servers, exchange: &str) {
    for _ in 0..LOOKS {
        if !listeners(servers, exchange).is_empty() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("nobody listens to {exchange}");
}

/// Every key with its content, and the moment it goes away.
pub async fn keys(redis: &Redis) -> BTreeMap<String, (Vec<u8>, i64)> {
    let client = redis::Client::open(redis.url.as_str()).expect("an address");
    let mut connection = client.get_multiplexed_async_connection().await.expect("connects");
    let names: Vec<String> = redis::cmd("KEYS").arg("*").query_async(&mut connection).await.expect("keys");
    let mut found = BTreeMap::new();
    for name in names {
        let content = redis::cmd("DUMP").arg(&name).query_async(&mut connection).await.expect("content");
        let until =
            redis::cmd("PEXPIRETIME").arg(&name).query_async(&mut connection).await.expect("a moment");
        found.insert(name, (content, until));
    }
    found
}

/// Every item rests a little, so that a fan-out can be seen while it goes on.
pub fn fan_out(rest_ms: u32) -> Value {
    json!({
        "workflow_id": "fan",
        "nodes": [
            {"id": "start", "type": "trigger"},
            {"id": "each", "type": "split", "parameters": {"input_array": "$trigger.items"}},
            {"id": "work", "type": "simulate", "parameters": {"latency_ms": rest_ms, "output": "{{ $item * 2 }}"}},
            {"id": "all", "type": "aggregator"}
        ],
        "edges": [
            {"id": "1", "src": "start", "dst": "each"}, {"id": "2", "src": "each", "dst": "work"},
            {"id": "3", "src": "work", "dst": "all"}
        ]
    })
}

/// Rests for an hour.
pub fn patient() -> Value {
    json!({
        "workflow_id": "patient",
        "nodes": [
            {"id": "start", "type": "trigger"},
            {"id": "rest", "type": "wait", "parameters": {"amount": 1, "unit": "hours"}},
            {"id": "say", "type": "log", "parameters": {"message": "done"}}
        ],
        "edges": [{"id": "1", "src": "start", "dst": "rest"}, {"id": "2", "src": "rest", "dst": "say"}]
    })
}
