//! kill -9 in the middle: a restart ends with the same result, and nothing is finished twice.

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
};

use protocol::{Event, ExecutionId, Fact};
use recording::{Access, Store};
use runeglass_tests::{run, runeglass, workflows};
use serde_json::Value;

const KILLS: usize = 50;
/// Status lines an uninterrupted run prints: running and success of 2,001 nodes.
const LINES: usize = 4_002;

/// Starts the command and kills it after that many lines. True if it was still at work.
fn kill_after(lines: usize, command: &mut Command) -> bool {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("starts");
    let stdout = BufReader::new(child.stdout.take().expect("stdout"));
    let seen: Vec<String> = stdout.lines().take(lines).map_while(Result::ok).collect();
    child.kill().expect("SIGKILL is sent");
    child.wait().expect("it ends");
    !seen.iter().any(|line| line.contains("final_context"))
}

async fn events_in(store: &Path) -> BTreeMap<ExecutionId, Vec<Event>> {
    let store = Store::open(store, Access::Read).await.expect("the store opens after every kill");
    let mut all = BTreeMap::new();
    for summary in store.executions(10).await.expect("executions") {
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
            Fact::ExecutionStarted(_) | Fact::NodeStarted(_) => {}
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
    fs::write(&workflow, workflows::wide(40, 50, 1).to_string()).expect("written");

    let expected = run(runeglass().arg("run").arg(&workflow).arg("--json"));
    assert_eq!(expected.code, Some(0), "{}", expected.stderr);
    let expected = expected.last_json()["final_context"].clone();
    assert_eq!(expected["$c39_49"]["n"], 39_049);

    // The lines of the run are shared out among the kills, so that they fall all over it.
    let mut dice = Dice(2_026);
    let share = 2 * LINES / KILLS;
    let begin = |command: &mut Command| kill_after(1 + dice.roll(share), command);
    let mut begin = begin;
    let mut kills = usize::from(begin(runeglass().arg("run").arg(&workflow).args(["--events", "-", "--store"]).arg(&store)));
    let mut progress = Vec::new();
    while kills < KILLS {
        let at_work = begin(runeglass().args(["resume", "--events", "-", "--store"]).arg(&store));
        assert!(at_work, "the execution ended after {kills} kills; the shares are too large");
        kills += 1;
        if kills.is_multiple_of(10) {
            let all = events_in(&store).await;
            progress.push(all.values().map(|events| check_log(events)).sum::<usize>());
        }
    }
    assert!(progress.is_sorted() && progress[0] > 0, "every restart goes on where the last one was: {progress:?}");

    let ran = run(runeglass().args(["resume", "--json", "--store"]).arg(&store));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let found: Value = ran.last_json()["final_context"].clone();
    assert_eq!(found, expected, "the result differs after {kills} kills");
    let all = events_in(&store).await;
    assert_eq!(all.len(), 1);
    for events in all.values() {
        assert_eq!(check_log(events), 2_001);
        let again = events.iter().filter(|event| matches!(&event.fact, Fact::NodeStarted(started) if started.firing.attempt > 1));
        println!("{kills} kills, {} events, {} nodes were started again", events.len(), again.count());
    }
    assert_eq!(run(runeglass().args(["resume", "--store"]).arg(&store)).code, Some(0), "nothing is left to resume");
}
