//! Schedules on a simulated clock: the test holds the clock and moves it from one moment between two ticks to the next.

use std::{fs, path::Path, sync::Arc};

use protocol::{Request, Response};
use runtime::Clock;
use serde_json::{Value, json};
use session::{Keep, Options, Reach, Session, Turn};
use tokio::sync::mpsc;

const SECOND: i64 = 1_000;

struct Host {
    folder: tempfile::TempDir,
    session: Arc<Session>,
    clock: Clock,
    turns: mpsc::Receiver<Turn>,
}

impl Host {
    async fn open(workflows: &[(&str, Value)]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        workflows.iter().for_each(|(path, workflow)| write(folder.path(), path, workflow));
        let clock = Clock::simulated(0);
        // Held by the test from now on.
        clock.work_began(1);
        let options = Options {
            keep: Keep::Nowhere,
            folder: Some(folder.path().to_owned()),
            clock: clock.clone(),
            recover: false,
            reach: Reach::default(),
        };
        let session = Arc::new(Session::open(options).await.expect("a session"));
        let (told, turns) = mpsc::channel(64);
        let host = Arc::clone(&session);
        tokio::spawn(async move {
            let mut schedules = host.schedules().expect("a folder is open");
            while let Some(turn) = schedules.next().await {
                if told.send(turn).await.is_err() {
                    return;
                }
            }
        });
        Self { folder, session, clock, turns }
    }

    /// Lets the time pass until a moment, and everything happen that is due before.
    async fn pass(&self, until: i64) {
        self.clock.alarm(until, true).await;
    }

    /// What has come to pass next, in a few words.
    async fn turn(&mut self) -> String {
        match self.turns.recv().await.expect("the schedules are kept") {
            Turn::Following { schedules } => format!("following {schedules}"),
            Turn::Started { trigger, .. } => format!("started {} {}", trigger.path, trigger.node),
            Turn::Skipped { trigger, skipped } => format!("skipped {} {skipped}", trigger.path),
            Turn::Failed { trigger, problem } => format!("failed {}: {}", trigger.path, problem.message),
            Turn::Ended { trigger, .. } => format!("ended {}", trigger.path),
        }
    }

    async fn expect(&mut self, turns: &[&str]) {
        for turn in turns {
            assert_eq!(self.turn().await, *turn, "at {}", self.clock.now());
        }
        assert!(self.turns.try_recv().is_err(), "nothing else at {}", self.clock.now());
    }

    async fn ask(&self, request: Request) -> Response {
        self.session.call(request).await.expect("an answer")
    }
}

fn write(folder: &Path, path: &str, workflow: &Value) {
    // In one step, as an editor saves.
    let unfinished = folder.join("unfinished");
    fs::write(&unfinished, workflow.to_string()).expect("written");
    fs::rename(&unfinished, folder.join(path)).expect("moved");
}

/// Starts every so many seconds, and takes so many.
fn every(amount: i64, rest: i64) -> Value {
    json!({
        "nodes": [
            {"id": "clock", "type": "ScheduledTrigger", "parameters": {"amount": amount, "unit": "seconds"}},
            {"id": "hand", "type": "trigger"},
            {"id": "rest", "type": "wait", "parameters": {"amount": rest, "unit": "seconds"}},
            {"id": "other", "type": "log", "parameters": {"message": "by hand"}}
        ],
        "edges": [{"id": "1", "src": "clock", "dst": "rest"}, {"id": "2", "src": "hand", "dst": "other"}]
    })
}

#[tokio::test]
async fn a_schedule_starts_its_own_trigger_again_and_again() {
    let mut host = Host::open(&[("ten.json", every(10, 1))]).await;
    host.expect(&["following 1"]).await;
    for tick in 1..=3 {
        host.pass(tick * 10 * SECOND + 5 * SECOND).await;
        host.expect(&["started ten.json clock", "ended ten.json"]).await;
    }
    let Response::Snapshot(snapshot) = host.ask(Request::Snapshot).await else { panic!("a snapshot") };
    let started: Vec<i64> = snapshot.executions.iter().map(|summary| summary.started_at).collect();
    assert_eq!(started, [30 * SECOND, 20 * SECOND, 10 * SECOND]);
    let execution_id = snapshot.executions[0].execution_id.clone();
    let request = Request::NodeDetail {
        execution_id: execution_id.clone(),
        node_id: "clock".into(),
        key: None,
        at: None,
    };
    let Response::NodeDetail(detail) = host.ask(request).await else { panic!("a detail") };
    let detail = serde_json::to_value(&*detail).expect("JSON");
    assert_eq!(
        detail["firings"][0]["output"]["data"]["json"],
        json!({"scheduled_at": "1970-01-01T00:00:30.000Z"})
    );
    let Response::Execution(view) = host.ask(Request::Execution { execution_id }).await else {
        panic!("a view")
    };
    let view = serde_json::to_value(&*view).expect("JSON");
    assert_eq!(view["nodes"]["rest"]["state"], "success");
    assert_eq!(view["nodes"]["other"]["state"], "skipped", "the other trigger has not started: {view}");
}

#[tokio::test]
async fn a_tick_is_skipped_while_the_execution_before_it_goes_on() {
    let mut host = Host::open(&[("long.json", every(10, 25))]).await;
    host.expect(&["following 1"]).await;
    host.pass(15 * SECOND).await;
    host.expect(&["started long.json clock"]).await;
    host.pass(34 * SECOND).await;
    host.expect(&["skipped long.json 1", "skipped long.json 2"]).await;
    host.pass(36 * SECOND).await;
    host.expect(&["ended long.json"]).await;
    host.pass(55 * SECOND).await;
    host.expect(&["started long.json clock", "skipped long.json 1"]).await;
}

#[tokio::test]
async fn files_that_appear_change_break_and_vanish_are_followed() {
    let mut host = Host::open(&[]).await;
    host.expect(&["following 0"]).await;
    host.pass(5 * SECOND).await;
    write(host.folder.path(), "new.json", &every(10, 1));
    host.expect(&["following 1"]).await;
    host.pass(17 * SECOND).await;
    host.expect(&["started new.json clock", "ended new.json"]).await;

    write(host.folder.path(), "new.json", &every(2, 1));
    host.expect(&["following 1"]).await;
    host.pass(20 * SECOND + 500).await;
    host.expect(&["started new.json clock", "ended new.json"]).await;

    let mut broken = every(2, 1);
    broken["nodes"][2]["parameters"]["unit"] = json!("weeks");
    write(host.folder.path(), "new.json", &broken);
    host.expect(&["following 1"]).await;
    host.pass(22 * SECOND).await;
    let turn = host.turn().await;
    assert!(turn.starts_with("failed new.json") && turn.contains("weeks"), "{turn}");

    fs::remove_file(host.folder.path().join("new.json")).expect("removed");
    host.expect(&["following 0"]).await;
    host.pass(60 * SECOND).await;
    host.expect(&[]).await;
}

#[tokio::test]
async fn a_join_does_not_wait_for_the_trigger_that_was_not_fired() {
    let mut joined = every(10, 1);
    let nodes = joined["nodes"].as_array_mut().expect("a list");
    nodes.push(json!({"id": "both", "type": "merge", "parameters": {"wait_mode": "wait_for_all"}}));
    let edges = joined["edges"].as_array_mut().expect("a list");
    edges.push(json!({"id": "3", "src": "clock", "dst": "both"}));
    edges.push(json!({"id": "4", "src": "hand", "dst": "both"}));
    let mut host = Host::open(&[("joined.json", joined)]).await;
    host.expect(&["following 1"]).await;
    host.pass(15 * SECOND).await;
    host.expect(&["started joined.json clock", "ended joined.json"]).await;
    let Response::Snapshot(snapshot) = host.ask(Request::Snapshot).await else { panic!("a snapshot") };
    let summary = serde_json::to_value(&snapshot.executions[0]).expect("JSON");
    assert_eq!(summary["phase"], "completed", "{summary}");
}
