//! kill -9, a hundred times, while an execution is being recorded. What the process had said to be so is in the store,
//! the store is sound, and everything goes on from there to the same result.

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead, BufReader, Read},
    os::unix::process::ExitStatusExt,
    path::Path,
    process::{Command, Stdio},
};

use protocol::{Event, ExecutionId, Fact};
use recording::{Access, Ledger, StatusFold, Store};
use runeglass_tests::{model::Dice, run, runeglass};
use serde_json::{Value, json};

const KILLS: usize = 100;
/// A kill that comes too late does not count; so many may.
const MOST_TRIES: usize = 150;
const ITEMS: usize = 200;
/// A whole run says running and success of two nodes per item, of trigger, split and aggregator.
const LINES: usize = 2 * (2 * ITEMS + 3);

/// A window of eight items under way keeps the recorder at work for a while, in many small commits.
fn workflow() -> Value {
    json!({
        "nodes": [
            {"id": "start", "type": "trigger"},
            {"id": "each", "type": "split", "parameters": {"input_array": "$trigger", "max_in_flight": 8}},
            {"id": "double", "type": "edit",
             "parameters": {"assignments": [{"name": "twice", "value": "{{ $item * 2 }}"}]}},
            {"id": "work", "type": "simulate", "parameters": {"latency_ms": 3, "output": "$json"}},
            {"id": "all", "type": "aggregator"}
        ],
        "edges": [
            {"id": "1", "src": "start", "dst": "each"}, {"id": "2", "src": "each", "dst": "double"},
            {"id": "3", "src": "double", "dst": "work"}, {"id": "4", "src": "work", "dst": "all"}
        ]
    })
}

/// Lets the command say some lines and kills it: everything it has said, and whether it was still there to be killed.
fn killed_after(lines: usize, command: &mut Command) -> (Vec<String>, bool) {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("starts");
    let mut stdout = BufReader::new(child.stdout.take().expect("stdout"));
    let mut said = String::new();
    for _ in 0..lines {
        stdout.read_line(&mut said).expect("UTF-8");
    }
    child.kill().expect("SIGKILL is sent");
    let was_killed = child.wait().expect("it ends").signal() == Some(9);
    // What was on its way to us had been said too; a line that was cut off had not.
    stdout.read_to_string(&mut said).expect("UTF-8");
    let whole = said.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    (whole.map(|line| line.trim_end().to_owned()).collect(), was_killed)
}

async fn reader(store: &Path) -> Store {
    Store::open(store, Access::Read).await.expect("the store opens after every kill")
}

/// What follows from the recording, in the words of `run --events -`.
fn lines(events: &[Event]) -> Vec<String> {
    let mut fold = StatusFold::default();
    let lines = events.iter().flat_map(|event| fold.apply(event));
    lines.map(|line| serde_json::to_string(&line).expect("JSON")).collect()
}

/// Attempts that had begun and not come to an end.
fn started(events: &[Event]) -> usize {
    let count = |is: fn(&Fact) -> bool| events.iter().filter(|event| is(&event.fact)).count();
    count(|fact| matches!(fact, Fact::NodeStarted(_))) - count(|fact| matches!(fact, Fact::NodeSucceeded(_)))
}

fn check(store: &Path) {
    let checked = run(runeglass().args(["store", "check", "--json", "--store"]).arg(store));
    let found = checked.last_json();
    assert_eq!((checked.code, &found["complaint_count"]), (Some(0), &json!(0)), "{found}");
}

#[tokio::test]
async fn a_hundred_kills_lose_nothing_that_was_recorded() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (file, store) = (folder.path().join("flow.json"), folder.path().join("runs.db"));
    fs::write(&file, workflow().to_string()).expect("written");
    let input = json!((0..ITEMS).collect::<Vec<_>>()).to_string();

    let mut dice = Dice::new(99);
    let mut interrupted: BTreeMap<ExecutionId, Vec<Event>> = BTreeMap::new();
    let (mut tries, mut said, mut at_work) = (0, 0, 0);
    while interrupted.len() < KILLS {
        tries += 1;
        assert!(tries <= MOST_TRIES, "{} of {tries} kills hit an execution under way", interrupted.len());
        let mut command = runeglass();
        command.arg("run").arg(&file).args(["--input", &input, "--events", "-", "--store"]).arg(&store);
        let (told, was_killed) = killed_after(1 + dice.roll(LINES * 3 / 4), &mut command);
        let reader = reader(&store).await;
        let newest = reader.executions(1).await.expect("executions").remove(0);
        let events = reader.events(&newest.execution_id).await.expect("events");
        let recorded = lines(&events);
        assert!(told.len() <= recorded.len(), "{} lines were said, {} recorded", told.len(), recorded.len());
        assert_eq!(told, recorded[..told.len()], "what was said is what was recorded");
        let ledger = Ledger::replay(&events).expect("the log adds up");
        if !was_killed || ledger.is_ended() {
            continue;
        }
        assert!(newest.ended_at.is_none(), "the list knows that it goes on");
        said += told.len();
        at_work += started(&events);
        let before = interrupted.insert(newest.execution_id, events);
        assert!(before.is_none(), "every kill hits a run of its own");
        if interrupted.len().is_multiple_of(25) {
            check(&store);
        }
    }
    let committed: usize = interrupted.values().map(Vec::len).sum();

    let resumed = run(runeglass().args(["resume", "--json", "--store"]).arg(&store));
    assert_eq!(resumed.code, Some(0), "{}", resumed.stderr);
    check(&store);
    let reader = reader(&store).await;
    assert!(reader.unfinished().await.expect("executions").is_empty());
    let expected = json!((0..ITEMS).map(|n| json!({"twice": n * 2})).collect::<Vec<_>>());
    for (id, before) in &interrupted {
        let events = reader.events(id).await.expect("events");
        assert!(events.len() > before.len() && events[..before.len()] == before[..], "{id} lost something");
        let gathered = events.iter().find_map(|event| match &event.fact {
            Fact::NodeSucceeded(done) if done.firing.node_id.as_str() == "all" => Some(done.output.value()),
            _ => None,
        });
        assert_eq!(gathered, Some(&expected), "{id}");
    }
    println!(
        "{} kills of {tries} hit an execution under way; {committed} events were committed and {said} statuses told by \
         then, {at_work} nodes were at work; none is missing, and all executions went on to the right end",
        interrupted.len()
    );
}
