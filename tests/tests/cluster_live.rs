//! The live view of a master: the executions of a cluster in the web host, while they happen.

use std::{
    io::{BufRead, BufReader, Read},
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use runeglass_tests::{
    clustered::Servers,
    http::{events, get, post},
    run, runeglass,
};
use serde_json::{Value, json};

struct Going(Child);

impl Drop for Going {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn on_cluster(servers: &Servers, arguments: &[&str]) -> Command {
    let mut made = runeglass();
    made.args(arguments).args(["--amqp", &servers.rabbit.url, "--redis", &servers.redis.url]);
    made
}

/// A master, and the way into its live view.
struct Host {
    master: Going,
    port: u16,
    session: String,
}

impl Host {
    fn start(servers: &Servers, store: &str) -> Self {
        let mut master = on_cluster(servers, &["master", "--store", store]);
        let mut master = master.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
        let mut said = BufReader::new(master.stdout.take().expect("it speaks"));
        let mut line = String::new();
        said.read_line(&mut line).expect("it says where it is");
        let place = line.trim().split("http://127.0.0.1:").nth(1).expect("an address");
        let (port, token) = place.split_once("/?token=").expect("a port and a token");
        let port = port.parse().expect("a port");
        // Whatever it prints later must not block it.
        thread::spawn(move || drop(said.read_to_end(&mut Vec::new())));
        let answer = get(port, &format!("/?token={token}"), "");
        let cookie = answer.header("set-cookie").expect("a cookie").split(';').next().expect("a value");
        Self { master: Going(master), port, session: format!("Cookie: {cookie}\r\n") }
    }

    fn ask(&self, request: &Value) -> (u16, Value) {
        let answer = post(self.port, "/api/call", &self.session, &request.to_string());
        (answer.status, serde_json::from_str(&answer.body).expect("JSON"))
    }

    fn snapshot(&self) -> Value {
        self.ask(&json!({"type": "snapshot"})).1["data"].clone()
    }

    /// Updates of executions as they come.
    fn listen(&self) -> mpsc::Receiver<Value> {
        let (sender, receiver) = mpsc::sync_channel(1_000);
        let (port, session) = (self.port, self.session.clone());
        thread::spawn(move || {
            for batch in events(port, "/api/updates", &session) {
                let batch: Vec<Value> = serde_json::from_str(&batch).expect("JSON");
                let patches = batch.into_iter().filter(|update| update["type"] == "execution");
                if patches.into_iter().any(|mut patch| sender.send(patch["data"].take()).is_err()) {
                    return;
                }
            }
        });
        receiver
    }
}

const PATIENCE: Duration = Duration::from_secs(30);

/// Twenty items that take a while each, gathered.
fn fan_out(items: usize, millis: u32) -> Value {
    json!({
        "name": "Live",
        "sample_input": {"items": (0..items).collect::<Vec<_>>()},
        "nodes": [
            {"id": "start", "type": "trigger"},
            {"id": "each", "type": "split", "parameters": {"input_array": "$trigger.items"}},
            {"id": "slow", "type": "simulate", "parameters": {"latency_ms": millis, "output": "$item"}},
            {"id": "all", "type": "aggregator"},
        ],
        "edges": [
            {"id": "e1", "src": "start", "dst": "each"}, {"id": "e2", "src": "each", "dst": "slow"},
            {"id": "e3", "src": "slow", "dst": "all"},
        ],
    })
}

#[test]
fn a_fan_out_is_seen_live_and_can_be_cancelled() {
    let servers = Servers::start();
    let folder = tempfile::tempdir().expect("a folder");
    let store = folder.path().join("kept.db");
    let store = store.to_str().expect("a name");
    let place = |name: &str, workflow: &Value| {
        let path = folder.path().join(name);
        std::fs::write(&path, workflow.to_string()).expect("written");
        path.to_str().expect("a name").to_owned()
    };
    let host = Host::start(&servers, store);
    let snapshot = host.snapshot();
    assert_eq!((&snapshot["runs_on"], &snapshot["executions"]), (&json!("cluster"), &json!([])));
    let heard = host.listen();
    let worker = on_cluster(&servers, &["worker", "--concurrency", "4"]).stderr(Stdio::null()).spawn();
    let _worker = Going(worker.expect("it starts"));

    let quick = place("quick.json", &fan_out(40, 20));
    let started = run(&mut on_cluster(&servers, &["run", &quick, "--detach"]));
    let id = started.stdout.trim().to_owned();
    let mut counts = Vec::new();
    loop {
        let patch = heard.recv_timeout(PATIENCE).expect("something is heard");
        assert_eq!(patch["summary"]["execution_id"], id.as_str());
        counts.extend(patch["nodes"]["slow"]["counts"]["success"].as_u64());
        if !patch["summary"]["ended_at"].is_null() {
            assert_eq!(patch["summary"]["phase"], "completed");
            break;
        }
    }
    assert!(counts.iter().any(|count| (1..40).contains(count)), "seen on the way: {counts:?}");
    let (_, view) = host.ask(&json!({"type": "execution", "execution_id": id}));
    assert_eq!(view["data"]["nodes"]["slow"]["counts"]["success"], 40);
    let (_, grid) = host.ask(&json!({
        "type": "items", "execution_id": id, "place": {"split": "each"}
    }));
    assert_eq!(grid["data"]["total"], 40, "{grid}");

    // What only an engine of its own could do is refused.
    for wish in [
        json!({"type": "run", "path": "quick.json"}),
        json!({"type": "set_controls", "path": "x", "controls": {}}),
    ] {
        let (status, problem) = host.ask(&wish);
        assert_eq!((status, &problem["code"]), (403, &json!("read_only")), "{wish}: {problem}");
    }

    let endless = place("endless.json", &fan_out(4, 600_000));
    let id = run(&mut on_cluster(&servers, &["run", &endless, "--detach"])).stdout.trim().to_owned();
    let running = |patch: &Value| patch["nodes"]["slow"]["counts"]["running"].as_u64() == Some(4);
    while !running(&heard.recv_timeout(PATIENCE).expect("it runs")) {}
    assert_eq!(host.ask(&json!({"type": "cancel", "execution_id": id})).0, 200);
    let ended = |patch: &Value| patch["summary"]["phase"] == "halted";
    while !ended(&heard.recv_timeout(PATIENCE).expect("it ends")) {}
    let (status, again) = host.ask(&json!({"type": "cancel", "execution_id": id}));
    assert_eq!((status, &again["message"]), (404, &json!(format!("{id} has ended already"))));

    // A master that starts again shows what was kept.
    drop(host.master);
    let host = Host::start(&servers, store);
    let phases: Vec<Value> = host.snapshot()["executions"]
        .as_array()
        .expect("executions")
        .iter()
        .map(|execution| execution["phase"].clone())
        .collect();
    assert_eq!(phases, [json!("halted"), json!("completed")]);
}
