//! What is held is held again after a restart, before its work, and nothing is done twice.

use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, Stdio},
};

use protocol::{
    Breakpoint, Command, Controls, ExecutionId, Fact, HeldMessage, Payload, Request, Response, RunOptions,
    TimerPurpose, WhyHeld,
};
use runeglass_tests::{
    debugged::{
        PATH, before, debugger, fan_out, has, held, items, open, output, prolonged, talk, tell,
        two_hurried_steps, two_steps, verified,
    },
    local,
    outside::Web,
    run, runeglass,
};
use serde_json::{Value, json};
use session::{Clock, Rest, Session};

async fn start(session: &Session, workflow: &Value, count: usize, options: RunOptions) -> ExecutionId {
    let (plan, path) = (local::plan(workflow), Some(PATH.to_owned()));
    let started = session.start_as(plan, "flow", path, Some(Payload::new(items(count))), options).await;
    let id = started.expect("starts").execution_id;
    session.until_rest(&id).await.expect("rests");
    id
}

async fn set(session: &Session, breakpoints: Vec<Breakpoint>) {
    session.set_controls(PATH, Controls { breakpoints, mocks: Vec::new() }).await.expect("kept");
}

/// Ends a session and opens the store again.
async fn restarted(session: Session, folder: &Path, id: &ExecutionId) -> Session {
    session.close().await.expect("closed");
    drop(session);
    let session = open(folder, true, Clock::system()).await;
    assert_eq!(session.recovered(), std::slice::from_ref(id));
    session.until_rest(id).await.expect("rests");
    session
}

#[tokio::test]
async fn a_pause_comes_back() {
    let web = Web::start().await;
    let folder = tempfile::tempdir().expect("a folder");
    let session = open(folder.path(), false, Clock::system()).await;
    let paused = RunOptions { paused: Some(true), until: None };
    let id = start(&session, &fan_out(&web.url("/echo")), 4, paused).await;
    tell(&session, &id, Command::Step { message_id: held(&session, &id).await[0].message_id.clone() }).await;
    tell(&session, &id, Command::Step { message_id: held(&session, &id).await[0].message_id.clone() }).await;
    let first = held(&session, &id).await;
    assert_eq!((first.len(), first[0].node_id.as_str()), (4, "double"));

    let session = restarted(session, folder.path(), &id).await;
    let view = session.held(&id).await.expect("a view");
    assert!(view.paused, "{view:?}");
    let keys = |all: &[HeldMessage]| -> Vec<String> {
        let mut keys: Vec<String> = all.iter().map(|held| held.key.to_string()).collect();
        keys.sort_unstable();
        keys
    };
    assert_eq!(keys(&view.held), keys(&first));
    assert_eq!(web.requests().len(), 0, "nothing went on");
    assert_eq!(tell(&session, &id, Command::Continue).await, Rest::Ended);
    let events = verified(&session, &id).await;
    assert_eq!(output(&events, "all")[3], json!({"n": 3, "twice": 6}));
    assert_eq!(web.requests().len(), 4, "every item asks once");
    let again =
        |event: &&protocol::Event| matches!(&event.fact, Fact::NodeStarted(it) if it.firing.attempt > 1);
    assert_eq!(events.iter().filter(again).count(), 0, "nothing was begun twice");
}

#[tokio::test]
async fn a_paused_node_steps_and_hits_come_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = open(folder.path(), false, Clock::system()).await;
    set(&session, vec![Breakpoint { hits: Some(3), ..Breakpoint::at(before("one")) }]).await;
    let id = start(&session, &two_steps(), 4, RunOptions::default()).await;
    assert_eq!(held(&session, &id).await.len(), 2, "the third and the fourth");
    session.control(&id, &Command::PauseNode { node_id: "two".into() }).await.expect("paused");
    let stepped = held(&session, &id).await[0].clone();
    tell(&session, &id, Command::Step { message_id: stepped.message_id }).await;
    // Without its breakpoint it is held all the same, until somebody lets it go.
    set(&session, Vec::new()).await;

    let session = restarted(session, folder.path(), &id).await;
    let now = held(&session, &id).await;
    let find = |why: &WhyHeld| now.iter().find(|held| held.why == *why);
    assert_eq!(now.len(), 2, "{now:?}");
    assert_eq!(find(&WhyHeld::Stepped).map(|held| held.key.clone()), Some(stepped.key), "{now:?}");
    let waiting = find(&WhyHeld::Breakpoint { index: 0 }).expect("held as it was");
    assert_eq!(waiting.node_id.as_str(), "one");
    tell(&session, &id, Command::Release { message_id: waiting.message_id.clone() }).await;
    assert!(held(&session, &id).await.iter().any(|held| held.why == WhyHeld::NodePaused));
    assert_eq!(tell(&session, &id, Command::Continue).await, Rest::Ended);
    let all = output(&verified(&session, &id).await, "all");
    assert_eq!(all, json!([{"m": 0}, {"m": 1}, {"m": 2}, {"m": 3}]));

    // What has ended is forgotten, and what goes on is not held.
    let id = start(&session, &two_steps(), 2, RunOptions::default()).await;
    assert!(!session.is_running(&id));
}

#[tokio::test]
async fn joins_wait_while_something_is_held_and_after_a_restart() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = open(folder.path(), false, Clock::system()).await;
    set(&session, vec![Breakpoint { item: Some(1), ..Breakpoint::at(before("two")) }]).await;
    let id = start(&session, &two_hurried_steps(), 3, RunOptions::default()).await;
    assert_eq!(prolonged(&session, &id, 1).await, 60_000, "a minute, however short its timeout is");
    let Ok(Response::Waits(board)) = session.call(Request::Waits).await else { panic!("a board") };
    let purposes: Vec<&TimerPurpose> = board.timers.iter().map(|timer| &timer.purpose).collect();
    assert_eq!(purposes, [&TimerPurpose::Deadline { arrived: 2, expected: 3, stands: true }]);
    session.close().await.expect("closed");
    drop(session);

    // An hour later its time is over once more, and what was held is held again.
    let clock = Clock::system();
    clock.set(clock.now() + 3_600_000);
    let session = open(folder.path(), true, clock).await;
    session.until_rest(&id).await.expect("rests");
    assert_eq!(prolonged(&session, &id, 2).await, 60_000);
    assert_eq!(tell(&session, &id, Command::Continue).await, Rest::Ended);
    let events = verified(&session, &id).await;
    assert_eq!(output(&events, "all"), json!([{"m": 0}, {"m": 1}, {"m": 2}]));
}

#[tokio::test]
async fn what_is_edited_stays_edited() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = open(folder.path(), false, Clock::system()).await;
    set(&session, vec![Breakpoint { item: Some(1), ..Breakpoint::at(before("two")) }]).await;
    let id = start(&session, &two_steps(), 3, RunOptions::default()).await;
    let message_id = held(&session, &id).await[0].message_id.clone();
    let edit = protocol::Edit::Context { entries: [("$one".to_owned(), json!({"n": 100}))].into() };
    tell(&session, &id, Command::Edit { message_id, edit }).await;
    let session = restarted(session, folder.path(), &id).await;
    assert_eq!(held(&session, &id).await.len(), 1);
    assert_eq!(tell(&session, &id, Command::Continue).await, Rest::Ended);
    assert_eq!(output(&verified(&session, &id).await, "all"), json!([{"m": 0}, {"m": 100}, {"m": 2}]));
}

#[tokio::test]
async fn more_can_be_held_than_may_walk() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = open(folder.path(), false, Clock::system()).await;
    set(&session, vec![Breakpoint::at(before("one"))]).await;
    let id = start(&session, &two_steps(), 10_400, RunOptions::default()).await;
    assert_eq!(session.held(&id).await.expect("a view").held_total, 10_000, "the others wait for room");
    session.cancel(&id).await.expect("halted");
    assert_eq!(session.until_rest(&id).await.expect("rests"), Rest::Ended);
}

/// A debugger that is spoken to line by line, so that it can be killed at any of them.
struct Talking {
    child: Child,
    said: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Talking {
    fn to(mut command: std::process::Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("starts");
        let said = BufReader::new(child.stdout.take().expect("stdout")).lines();
        Self { child, said }
    }

    fn tell(&mut self, line: &str) {
        writeln!(self.child.stdin.as_mut().expect("stdin"), "{line}").expect("it listens");
    }

    /// Reads until a line holds this.
    fn until(&mut self, wanted: &str) -> String {
        let found = self.said.by_ref().map(|line| line.expect("text")).find(|line| line.contains(wanted));
        found.unwrap_or_else(|| panic!("{wanted:?} was not said"))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_debugger_finds_everything_as_it_was_held() {
    let web = Web::start().await;
    let folder = tempfile::tempdir().expect("a folder");
    let workflow = fan_out(&web.url("/echo"));
    let mut talking = Talking::to(debugger(folder.path(), &workflow, &items(10)));
    talking.tell("break double item == 7");
    talking.tell("run");
    let id = talking.until("execution ").trim_start_matches("execution ").to_owned();
    talking.until("held before double [each=7]");
    talking.tell("set $item.n = 700");
    talking.until("double [each=7]");
    talking.tell("step");
    talking.until("held before ask [each=7] (stepped)");
    // What can be read has reached the disk.
    talking.tell("events double");
    talking.until("succeeded double [each=7]");
    talking.child.kill().expect("killed");
    talking.child.wait().expect("gone");
    assert_eq!(web.requests().len(), 9, "the held one has not asked");

    // Nobody lets it go by mistake.
    let store = folder.path().join("runs.db");
    let resumed = run(runeglass().args(["resume", "--store"]).arg(&store));
    assert_eq!(resumed.code, Some(1), "{}", resumed.stderr);
    assert!(resumed.stderr.contains("1 message(s) are held"), "{}", resumed.stderr);
    assert!(
        resumed.stderr.contains("1 before ask") && resumed.stderr.contains("--resume"),
        "{}",
        resumed.stderr
    );
    let asked = web.requests().len();
    let mut again = debugger(folder.path(), &workflow, &items(10));
    let ran = talk(again.arg("--resume"), "held\npause\nleave\n");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    has(&ran, &format!("execution {id}"));
    has(&ran, "> 1: held before ask [each=7] (stepped)");

    // What was left is paused, and held where it was.
    let mut last = debugger(folder.path(), &workflow, &items(10));
    let ran = talk(last.arg("--resume"), "held\ncontinue\ninspect all\n");
    has(&ran, "held before ask [each=7] (stepped)");
    has(&ran, r#"{"n":6,"twice":12},{"n":700,"twice":1400},{"n":8,"twice":16}"#);
    has(&ran, "completed, ");
    assert_eq!((asked, web.requests().len()), (9, 10), "one question per item");
    let mut verify = runeglass();
    assert_eq!(run(verify.args(["replay", &id, "--verify", "--store"]).arg(&store)).code, Some(0));
    let mut none = debugger(folder.path(), &workflow, &items(10));
    let ran = talk(none.arg("--resume"), "");
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("no execution of flow.json was interrupted"), "{}", ran.stderr);
}

#[test]
fn what_breakpoints_hold_is_said_and_can_be_let_go() {
    let folder = tempfile::tempdir().expect("a folder");
    let input = items(3).to_string();
    let ran = talk(&mut debugger(folder.path(), &two_steps(), &items(3)), "break two item == 1\n");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let (file, store) = (folder.path().join(PATH), folder.path().join("runs.db"));
    let mut held = runeglass();
    held.arg("run").arg(&file).args(["--input", &input, "--store"]).arg(&store);
    let ran = run(&mut held);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.contains("does not go on: 1 message(s) are held"), "{}", ran.stderr);
    let resumed = run(runeglass().args(["resume", "--release", "--json", "--store"]).arg(&store));
    assert_eq!(resumed.code, Some(0), "{}", resumed.stderr);
    assert_eq!(resumed.last_json()["final_context"]["$all"], json!([{"m": 0}, {"m": 1}, {"m": 2}]));
}
