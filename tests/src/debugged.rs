//! Executions under control: a workflow that asks a server about every item, sessions over one store, and the debugger
//! with a script.

use std::{
    fs,
    io::Write,
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use protocol::{BreakPlace, Breakpoint, Controls, Event, ExecutionId, Fact, HeldMessage, Millis, Payload};
use serde_json::{Value, json};
use session::{Clock, Keep, Options, Reach, Rest, Session};

use crate::{Ran, local, runeglass};

/// Items that are doubled, asked about at the server, told of and gathered again.
pub fn fan_out(url: &str) -> Value {
    json!({
        "nodes": [
            {"id": "start", "type": "trigger"},
            {"id": "each", "type": "split", "parameters": {"input_array": "$trigger"}},
            {"id": "double", "type": "edit",
             "parameters": {"assignments": [{"name": "twice", "value": "{{ $item.n * 2 }}"}]}},
            {"id": "ask", "type": "http", "parameters": {"method": "GET", "url": format!("{url}?n={{{{ $json.twice }}}}")}},
            {"id": "tell", "type": "simulate", "parameters": {"output": {"n": "$item.n", "twice": "$json.twice"}}},
            {"id": "all", "type": "aggregator"},
            {"id": "say", "type": "log", "parameters": {"message": "{{ $all.length }} items"}}
        ],
        "edges": [
            {"id": "1", "src": "start", "dst": "each"}, {"id": "2", "src": "each", "dst": "double"},
            {"id": "3", "src": "double", "dst": "ask"}, {"id": "4", "src": "ask", "dst": "tell"},
            {"id": "5", "src": "tell", "dst": "all"}, {"id": "6", "src": "all", "dst": "say"}
        ]
    })
}

/// A split whose items go through two nodes and ask nobody.
pub fn two_steps() -> Value {
    json!({
        "nodes": [
            {"id": "start", "type": "trigger"},
            {"id": "each", "type": "split", "parameters": {"input_array": "$trigger"}},
            {"id": "one", "type": "simulate", "parameters": {"output": {"n": "$item.n"}}},
            {"id": "two", "type": "simulate", "parameters": {"output": {"m": "$one.n"}}},
            {"id": "all", "type": "aggregator"},
            {"id": "end", "type": "log", "parameters": {"message": "{{ $all.length }}"}}
        ],
        "edges": [
            {"id": "1", "src": "start", "dst": "each"}, {"id": "2", "src": "each", "dst": "one"},
            {"id": "3", "src": "one", "dst": "two"}, {"id": "4", "src": "two", "dst": "all"},
            {"id": "5", "src": "all", "dst": "end"}
        ]
    })
}

/// The same with an aggregator that gives up at once if nobody lets it wait.
pub fn two_hurried_steps() -> Value {
    let mut workflow = two_steps();
    workflow["nodes"][4]["parameters"] = json!({"timeout": 1});
    workflow
}

/// Waits until the aggregator of a workflow would have given up and was given more time, for the how many-th time. Says
/// how much more.
pub async fn prolonged(session: &Session, id: &ExecutionId, times: usize) -> Millis {
    loop {
        let events = session.recorded(id).await.expect("events");
        let over =
            events.iter().find(|event| matches!(event.fact, Fact::TimedOut(_) | Fact::ExecutionEnded(_)));
        assert!(over.is_none(), "it did not wait: {over:?}");
        let mut more = events.iter().filter_map(|event| match &event.fact {
            Fact::Prolonged(join) if join.node_id.as_str() == "all" => Some(join.due - event.at),
            _ => None,
        });
        if let Some(millis) = more.nth(times - 1) {
            return millis;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

pub fn items(count: usize) -> Value {
    json!((0..count).map(|n| json!({"n": n})).collect::<Vec<_>>())
}

/// A session over the store of a folder.
pub async fn open(folder: &Path, recover: bool, clock: Clock) -> Session {
    // Tasks of the session before may hold the store a moment longer.
    loop {
        let keep = Keep::At(folder.join("runs.db"));
        let reach = Reach { credentials: Some(folder.join("none.json")), ..Reach::default() };
        match Session::open(Options { keep, folder: None, clock: clock.clone(), recover, reach }).await {
            Ok(session) => return session,
            Err(problem) if problem.message.contains("in use") => tokio::task::yield_now().await,
            Err(problem) => panic!("{problem:?}"),
        }
    }
}

/// The file that workflows of these tests are said to come from; breakpoints are kept under it.
pub const PATH: &str = "flow.json";

/// Starts a workflow with controls and waits until nothing moves.
pub async fn begin(session: &Session, workflow: &Value, input: Value, controls: Controls) -> ExecutionId {
    session.set_controls(PATH, controls).await.expect("kept");
    let (plan, path) = (local::plan(workflow), Some(PATH.to_owned()));
    let started = session.start(plan, "flow", path, Some(Payload::new(input))).await.expect("starts");
    session.until_rest(&started.execution_id).await.expect("rests");
    started.execution_id
}

/// One breakpoint and nothing else.
pub fn breaks(place: BreakPlace) -> Controls {
    Controls { breakpoints: vec![Breakpoint::at(place)], mocks: Vec::new() }
}

pub fn before(node: &str) -> BreakPlace {
    BreakPlace::Before { node_id: node.into() }
}

/// Has a command followed and waits until nothing moves.
pub async fn tell(session: &Session, id: &ExecutionId, command: protocol::Command) -> Rest {
    session.control(id, &command).await.expect("followed");
    session.until_rest(id).await.expect("rests")
}

pub async fn held(session: &Session, id: &ExecutionId) -> Vec<HeldMessage> {
    session.held(id).await.expect("a view").held
}

/// The recording. Whatever was done by hand, it adds up and the core still says the same.
pub async fn verified(session: &Session, id: &ExecutionId) -> Vec<Event> {
    let events = session.recorded(id).await.expect("events");
    let verified = recording::verify(&events).expect("a recording");
    assert!(verified.difference.is_none(), "{:#?}", verified.difference);
    recording::Ledger::replay(&events).expect("adds up");
    events
}

/// What a node has put out last.
pub fn output(events: &[Event], node: &str) -> Value {
    let found = events.iter().rev().find_map(|event| match &event.fact {
        Fact::NodeSucceeded(done) if done.firing.node_id.as_str() == node => {
            Some(done.output.value().clone())
        }
        _ => None,
    });
    found.unwrap_or_else(|| panic!("{node} has put out nothing"))
}

/// `runeglass debug` over a store in the folder.
pub fn debugger(folder: &Path, workflow: &Value, input: &Value) -> Command {
    let file = folder.join(PATH);
    fs::write(&file, workflow.to_string()).expect("the workflow is written");
    let mut command = runeglass();
    command.arg("debug").arg(&file).args(["--input", &input.to_string(), "--store"]);
    command.arg(folder.join("runs.db"));
    command
}

/// Says these lines to a debugger, one after the other.
pub fn talk(command: &mut Command, script: &str) -> Ran {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the debugger starts");
    child.stdin.take().expect("stdin").write_all(script.as_bytes()).expect("the script is taken");
    let output = child.wait_with_output().expect("it ends");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Ran { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

pub fn has(ran: &Ran, line: &str) {
    assert!(ran.stdout.contains(line), "{line:?} is missing in\n{}\n{}", ran.stdout, ran.stderr);
}
