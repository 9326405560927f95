//! The live view of a master: the executions of a cluster in the web host, while they happen.

use std::{
    process::{Child, Command, Stdio},
    sync::mpsc,
    time::Duration,
};

use runeglass_tests::{clustered::Servers, host::Host, run, runeglass};
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

/// A master with its live view.
fn master(servers: &Servers, store: &str) -> Host {
    Host::start(&mut on_cluster(servers, &["master", "--store", store]))
}

/// The next update of an execution.
fn next_patch(heard: &mpsc::Receiver<Value>) -> Value {
    loop {
        let mut update = heard.recv_timeout(PATIENCE).expect("something is heard");
        if update["type"] == "execution" {
            return update["data"].take();
        }
    }
}

const PATIENCE: Duration = Duration::from_secs(180);

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
    let host = master(&servers, store);
    let snapshot = host.snapshot();
    assert_eq!((&snapshot["runs_on"], &snapshot["executions"]), (&json!("cluster"), &json!([])));
    let heard = host.listen();
    let worker = on_cluster(&servers, &["worker", "--concurrency", "4"]).stderr(Stdio::null()).spawn();
    let _worker = Going(worker.expect("it starts"));

    let quick = place("quick.json", &fan_out(40, 200));
    let started = run(&mut on_cluster(&servers, &["run", &quick, "--detach"]));
    let id = started.stdout.trim().to_owned();
    let mut counts = Vec::new();
    loop {
        let patch = next_patch(&heard);
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
    while !running(&next_patch(&heard)) {}
    assert_eq!(host.ask(&json!({"type": "cancel", "execution_id": id})).0, 200);
    let ended = |patch: &Value| patch["summary"]["phase"] == "halted";
    while !ended(&next_patch(&heard)) {}
    let (status, again) = host.ask(&json!({"type": "cancel", "execution_id": id}));
    assert_eq!((status, &again["message"]), (404, &json!(format!("{id} has ended already"))));

    // A master that starts again shows what was kept.
    drop(host);
    let host = master(&servers, store);
    let phases: Vec<Value> = host.snapshot()["executions"]
        .as_array()
        .expect("executions")
        .iter()
        .map(|execution| execution["phase"].clone())
        .collect();
    assert_eq!(phases, [json!("halted"), json!("completed")]);
}
