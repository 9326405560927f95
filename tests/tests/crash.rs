//! kill -9 in the middle: a restart ends with the same result, and nothing is finished twice.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
};

use protocol::{Event, ExecutionId, Fact};
use recording::{Access, StatusFold, Store};
use runeglass_tests::{run, runeglass, workflows};
use serde_json::Value;

const KILLS: usize = 50;
/// Status lines an uninterrupted run prints: running and success of 2,001 nodes.
const LINES: usize = 4_002;

/// Starts the command and kills it after that many lines; it runs a little further while it is being killed.
fn kill_after(lines: usize, command: &mut Command) {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("starts");
    let stdout = BufReader::new(child.stdout.take().expect("stdout"));
    assert!(stdout.lines().take(lines).map_while(Result::ok).count() > 0, "it did not begin");
    child.kill().expect("SIGKILL is sent");
    child.wait().expect("it ends");
}

/// The newest executions in a store.
async fn events_in(store: &Path, newest: u32) -> BTreeMap<ExecutionId, Vec<Event>> {
    let store = Store::open(store, Access::Read).await.expect("the store opens after every kill");
    let mut all = BTreeMap::new();
    for summary in store.executions(newest).await.expect("executions") {
        let events = store.events(&summary.execution_id).await.expect("events");
        all.insert(summary.execution_id, events);
    }
    all
}

/// seq counts without a gap; no message is finished twice; nothing happens behind the end.
fn check_log(events: &[Event]) -> usize {
    let mut finished = BTreeMap::new();
    for (at, event) in events.iter().enumerate() {
        assert_eq!(event.seq, at as u64 + 1, "the log has a gap");
        match &event.fact {
            Fact::NodeSucceeded(done) => *finished.entry(done.firing.node_id.clone()).or_insert(0) += 1,
            Fact::NodeFailed(done) => panic!("{} failed: {:?}", done.firing.node_id, done.error),
            Fact::ExecutionEnded(_) => assert_eq!(at + 1, events.len(), "something happened behind the end"),
            _ => {}
        }
    }
    assert!(finished.values().all(|times| *times == 1), "a node finished twice");
    finished.len()
}

/// Numbers that look random and are the same in every run of the test.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }
}

#[tokio::test]
async fn fifty_kills_of_a_two_thousand_node_execution_change_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let workflow = folder.path().join("wide.json");
    let store = folder.path().join("store.db");
    fs::write(&workflow, workflows::wide(40, 50, 8).to_string()).expect("written");

    let expected = run(runeglass().arg("run").arg(&workflow).arg("--json"));
    assert_eq!(expected.code, Some(0), "{}", expected.stderr);
    let expected = expected.last_json()["final_context"].clone();
    assert_eq!(expected["$c39_49"]["n"], 39_049);

    // A kill counts when it found the execution unfinished; should one end between two kills, another begins.
    let mut dice = Dice(2_026);
    let (mut kills, mut begun) = (0, 0);
    let mut finished = 0;
    while kills < KILLS {
        let lines = 1 + dice.roll(2 * LINES / KILLS);
        let unfinished = begun > 0 && !all_ended(&store).await;
        begun += usize::from(!unfinished);
        match unfinished {
            true => kill_after(lines, runeglass().args(["resume", "--events", "-", "--store"]).arg(&store)),
            false => kill_after(
                lines,
                runeglass().arg("run").arg(&workflow).args(["--events", "-", "--store"]).arg(&store),
            ),
        }
        kills += usize::from(!all_ended(&store).await);
        for events in events_in(&store, 1).await.values() {
            let before = std::mem::replace(&mut finished, check_log(events));
            assert!(
                !unfinished || before <= finished,
                "{before} nodes were finished before the restart, {finished} after"
            );
        }
    }

    let ran = run(runeglass().args(["resume", "--json", "--store"]).arg(&store));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let all = events_in(&store, 100).await;
    assert_eq!(all.len(), begun);
    for events in all.values() {
        assert_eq!(check_log(events), 2_001);
        assert_eq!(final_context(events), expected, "the result differs after {kills} kills");
    }
    let again =
        |event: &&Event| matches!(&event.fact, Fact::NodeStarted(started) if started.firing.attempt > 1);
    let again = all.values().flatten().filter(again).count();
    assert!(again > 0, "no kill hit a node at work");
    println!(
        "{kills} kills over {begun} execution(s), {again} nodes were started again, none finished twice"
    );
}

#[tokio::test]
async fn twenty_kills_of_nested_splits_with_waits_change_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (file, input) = (folder.path().join("nested.json"), folder.path().join("input.json"));
    let store = folder.path().join("store.db");
    let (workflow, rows) = workflows::nested(12, 12);
    fs::write(&file, workflow.to_string()).expect("written");
    fs::write(&input, rows.to_string()).expect("written");
    let input = format!("@{}", input.display());

    let mut dice = Dice(7);
    let (mut kills, mut begun) = (0, 0);
    while kills < 20 {
        let unfinished = begun > 0 && !all_ended(&store).await;
        begun += usize::from(!unfinished);
        let mut command = runeglass();
        match unfinished {
            true => command.args(["resume", "--events", "-", "--store"]).arg(&store),
            false => command
                .arg("run")
                .arg(&file)
                .args(["--input", &input, "--events", "-", "--store"])
                .arg(&store),
        };
        kill_after(1 + dice.roll(60), &mut command);
        kills += usize::from(!all_ended(&store).await);
    }
    let ran = run(runeglass().args(["resume", "--json", "--store"]).arg(&store));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let expected: Vec<Vec<usize>> =
        (0..12).map(|row| (0..12).map(|cell| (row * 12 + cell) * 2).collect()).collect();
    for events in events_in(&store, 100).await.values() {
        let finished = events.iter().filter_map(|event| match &event.fact {
            Fact::NodeSucceeded(done) => Some(&done.firing.message_id),
            _ => None,
        });
        let (all, distinct): (Vec<_>, BTreeSet<_>) = (finished.clone().collect(), finished.collect());
        assert_eq!(
            (all.len(), distinct.len()),
            (2 + 12 + 12 * 12 * 2 + 12 + 1, all.len()),
            "nothing finished twice"
        );
        assert_eq!(final_context(events)["$all"], serde_json::json!(expected));
    }
    println!("{kills} kills over {begun} execution(s) of nested splits with waits");
}

async fn all_ended(store: &Path) -> bool {
    let store = Store::open(store, Access::Read).await.expect("the store opens after every kill");
    store.unfinished().await.expect("executions").is_empty()
}

fn final_context(events: &[Event]) -> Value {
    let mut fold = StatusFold::default();
    let completion = events.iter().flat_map(|event| fold.apply(event)).last().expect("a completion");
    serde_json::to_value(&completion).expect("JSON")["final_context"].clone()
}
