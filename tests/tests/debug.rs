//! Holding, stepping, changing and forking executions, in a terminal and through the session.

use std::{fs, path::Path};

use protocol::{
    BreakPlace, Breakpoint, Change, Command, Controls, Edit, Event, ExecutionId, Fact, ForkEdit, ForkWish,
    GatePlace, HeldAt, HeldMessage, Mock, MockAnswer, Payload, Request, Response, RunOptions, WhyHeld,
};
use runeglass_tests::{
    debugged::{
        self, PATH, before, begin, breaks, debugger, fan_out, has, held, items, talk, tell, two_steps,
        verified,
    },
    local,
    outside::Web,
    run, runeglass,
};
use serde_json::{Value, json};
use session::{Clock, Keep, Options, Reach, Rest, Session};

#[tokio::test(flavor = "multi_thread")]
async fn the_scripted_story() {
    let web = Web::start().await;
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = debugger(folder.path(), &fan_out(&web.url("/echo")), &items(10));
    let script = "break double item == 7\nrun\nheld\ninspect\nset $item.n = 700\nstep\ninspect\ncontinue\n\
                  inspect all\nevents double\nback\n";
    let ran = tokio::task::spawn_blocking(move || talk(&mut command, script)).await.expect("talks");
    assert_eq!(ran.code, Some(0), "{}\n{}", ran.stdout, ran.stderr);
    has(&ran, "> 1: held before double [each=7] (breakpoint 1)");
    assert!(!ran.stdout.contains("2: held"), "the other items go on: {}", ran.stdout);
    has(&ran, "held before ask [each=7] (stepped)");
    has(&ran, "asks: GET");
    has(&ran, r#"{"n":6,"twice":12},{"n":700,"twice":1400},{"n":8,"twice":16}"#);
    has(&ran, "what it sees was changed by hand double [each=7]");
    has(&ran, "completed, ");
    assert_eq!(web.requests().len(), 10, "one question per item");

    // The breakpoint is still there, and the fork asks nobody.
    let id = ran.stdout.lines().find_map(|line| line.strip_prefix("execution ")).expect("an id").to_owned();
    let mut verify = runeglass();
    verify.args(["replay", &id, "--verify", "--store"]).arg(folder.path().join("runs.db"));
    let verified = run(&mut verify);
    assert_eq!(verified.code, Some(0), "{}\n{}", verified.stdout, verified.stderr);
    let started = ran.stdout.lines().find(|line| line.contains("started double [each=7]")).expect("a start");
    let position = started.trim_start_matches("event ").split(':').next().expect("a number").to_owned();
    let mut fork = runeglass();
    fork.args(["fork", &id, "--at", &position, "--set", "$item.n=-1", "--json", "--store"]);
    fork.arg(folder.path().join("runs.db"));
    // The breakpoint of the workflow would hold the fork; it is deleted first.
    let mut again = debugger(folder.path(), &fan_out(&web.url("/echo")), &items(10));
    let (again, forked) = tokio::task::spawn_blocking(move || {
        (talk(&mut again, "breakpoints\ndelete 1\nbreakpoints\n"), run(&mut fork))
    })
    .await
    .expect("talks");
    has(&again, "1 breakpoint(s) from last time");
    has(&again, "1: before double, item 7");
    has(&again, "there are no breakpoints");
    assert_eq!(forked.code, Some(0), "{}\n{}", forked.stdout, forked.stderr);
    let all = &forked.last_json()["final_context"]["$all"];
    assert_eq!((&all[7], &all[6]), (&json!({"n": -1, "twice": -2}), &json!({"n": 6, "twice": 12})));
    assert_eq!(web.requests().len(), 10, "the answers of http came from the recording");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_steps_back_and_forks_while_debugging() {
    let web = Web::start().await;
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = debugger(folder.path(), &fan_out(&web.url("/echo")), &items(3));
    let script = "run\nback\nback 1000\nforward\nevents start\nback 1000\nfork set input = [{\"n\": 5}]\ninspect all\n";
    let ran = tokio::task::spawn_blocking(move || talk(&mut command, script)).await.expect("talks");
    assert_eq!(ran.code, Some(0), "{}\n{}", ran.stdout, ran.stderr);
    has(&ran, "event 1: execution started (of ");
    has(&ran, "event 2: started start (of ");
    has(&ran, "1 question(s) are answered from the recording");
    has(&ran, r#"output: [{"n":5,"twice":10}]"#);
    assert_eq!(web.requests().len(), 3, "the fork asks nobody");
}

#[test]
fn what_cannot_be_done_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let workflow = json!({"nodes": [{"id": "a", "type": "trigger"}], "edges": []});
    let script = "leap\nbreak nowhere\nbreak a if $item.(\nstep\nset $item = three\nrun\nstep\nback x\n";
    let ran = talk(&mut debugger(folder.path(), &workflow, &json!({})), script);
    assert_eq!(ran.code, Some(2), "{}", ran.stdout);
    for said in [
        "there is no command \"leap\"",
        "there is no \"nowhere\" in this workflow",
        "is not an expression",
        "nothing runs yet",
        "\"three\" is not JSON",
        "nothing is held",
        "\"x\" is no number",
        "hint: try help",
    ] {
        assert!(ran.stderr.contains(said), "{said:?} is missing in\n{}", ran.stderr);
    }
    has(&ran, "completed, 4 events");
}

async fn open(folder: &Path) -> Session {
    debugged::open(folder, false, Clock::system()).await
}

async fn output(session: &Session, id: &ExecutionId, node: &str) -> Value {
    debugged::output(&verified(session, id).await, node)
}

#[tokio::test]
async fn stepping_one_item_leaves_the_others() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = open(folder.path()).await;
    let id = begin(&session, &two_steps(), items(5), breaks(before("one"))).await;
    let all = held(&session, &id).await;
    assert_eq!(all.len(), 5);
    let counted = session.held(&id).await.expect("a view").held_at;
    assert_eq!(counted, [HeldAt { node_id: "one".into(), gate: GatePlace::Before, count: 5 }]);
    let third = all.iter().find(|held| held.key.as_str() == "each=3").expect("held").clone();
    tell(&session, &id, Command::Step { message_id: third.message_id }).await;
    let now = held(&session, &id).await;
    let stepped = now.iter().find(|held| held.key.as_str() == "each=3").expect("held").clone();
    assert_eq!((now.len(), stepped.node_id.as_str(), &stepped.why), (5, "two", &WhyHeld::Stepped));
    tell(&session, &id, Command::Step { message_id: stepped.message_id }).await;
    assert_eq!(held(&session, &id).await.len(), 4, "it has arrived at the barrier; the others did not move");

    let fourth =
        held(&session, &id).await.into_iter().find(|held| held.key.as_str() == "each=4").expect("held");
    tell(&session, &id, Command::ToBarrier { message_id: fourth.message_id }).await;
    assert_eq!(held(&session, &id).await.len(), 3);
    session.set_controls(PATH, Controls::default()).await.expect("kept");
    assert_eq!(tell(&session, &id, Command::Continue).await, Rest::Ended);
    assert_eq!(output(&session, &id, "all").await, json!([{"m": 0}, {"m": 1}, {"m": 2}, {"m": 3}, {"m": 4}]));
}

#[tokio::test]
async fn a_fan_out_is_one_step_over() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = open(folder.path()).await;
    let id = begin(&session, &two_steps(), items(20), breaks(before("each"))).await;
    let split = held(&session, &id).await.remove(0);
    tell(&session, &id, Command::StepOver { message_id: split.message_id }).await;
    let barrier = held(&session, &id).await.remove(0);
    assert_eq!((barrier.node_id.as_str(), barrier.gate), ("all", GatePlace::Before));
    tell(&session, &id, Command::RunTo { node_id: "end".into() }).await;
    assert_eq!(held(&session, &id).await[0].node_id.as_str(), "end");
    assert_eq!(tell(&session, &id, Command::Continue).await, Rest::Ended);
}

#[tokio::test]
async fn messages_are_changed_dropped_and_doubled() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = open(folder.path()).await;
    let mut controls = breaks(before("one"));
    controls
        .breakpoints
        .push(Breakpoint { item: Some(3), ..Breakpoint::at(BreakPlace::After { node_id: "two".into() }) });
    let id = begin(&session, &two_steps(), items(5), controls).await;
    let find = |all: &[HeldMessage], key: &str| {
        all.iter().find(|held| held.key.as_str() == key).expect("held").message_id.clone()
    };
    let all = held(&session, &id).await;
    let edit = Edit::Context { entries: [("$item".to_owned(), json!({"n": 100}))].into() };
    tell(&session, &id, Command::Edit { message_id: find(&all, "each=0"), edit }).await;
    let edit = Edit::Parameters { value: json!({"output": {"n": 101}}) };
    let view = session.control(&id, &Command::Edit { message_id: find(&all, "each=1"), edit }).await;
    let view = view.expect("edited");
    assert_eq!(view.held.iter().filter(|held| held.edited).count(), 2);
    tell(&session, &id, Command::Drop { message_id: find(&all, "each=2") }).await;
    tell(&session, &id, Command::Duplicate { message_id: find(&all, "each=4") }).await;
    tell(&session, &id, Command::Continue).await;
    let after = held(&session, &id).await;
    assert_eq!((after.len(), after[0].gate), (1, GatePlace::After));
    let edit = Edit::Output { value: json!({"m": 103}) };
    let message_id = after[0].message_id.clone();
    tell(&session, &id, Command::Edit { message_id: message_id.clone(), edit }).await;
    let refused = Edit::Parameters { value: json!({}) };
    assert!(session.control(&id, &Command::Edit { message_id, edit: refused }).await.is_err(), "too late");
    assert_eq!(tell(&session, &id, Command::Continue).await, Rest::Ended);
    let expected = json!([{"m": 100}, {"m": 101}, null, {"m": 103}, {"m": 4}]);
    assert_eq!(output(&session, &id, "all").await, expected);
    let events = session.recorded(&id).await.expect("events");
    let changes = events.iter().filter(|event| matches!(&event.fact, Fact::Intervened(_))).count();
    assert_eq!(changes, 5, "each of them is in the recording");
}

#[tokio::test]
async fn conditions_hits_logs_edges_errors_and_barriers() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = open(folder.path()).await;
    let some = |change: fn(&mut Breakpoint)| {
        let mut breakpoint = Breakpoint::at(before("one"));
        change(&mut breakpoint);
        Controls { breakpoints: vec![breakpoint], mocks: Vec::new() }
    };
    let cases: [(Controls, &[&str]); 8] = [
        (some(|it| it.condition = Some("$index == 2 && $item.n > 1".to_owned())), &["each=2"]),
        (some(|it| it.item = Some(3)), &["each=3"]),
        (some(|it| it.key = serde_json::from_value(json!("each=1")).ok()), &["each=1"]),
        (some(|it| it.disabled = Some(true)), &[]),
        (some(|it| it.log = Some("n is $item.n".to_owned())), &[]),
        (breaks(BreakPlace::Edge { edge_id: "5".into() }), &[""]),
        (breaks(BreakPlace::Barrier { node_id: None }), &[""]),
        (breaks(BreakPlace::Error { node_id: None }), &[]),
    ];
    for (controls, expected) in cases {
        let shown = format!("{controls:?}");
        let id = begin(&session, &two_steps(), items(4), controls).await;
        let keys: Vec<String> = held(&session, &id).await.iter().map(|held| held.key.to_string()).collect();
        assert_eq!(keys, *expected, "{shown}");
        let log = session.held(&id).await.expect("a view").log;
        assert_eq!(log.len(), if shown.contains("n is") { 4 } else { 0 });
        if !expected.is_empty() {
            assert_eq!(tell(&session, &id, Command::Continue).await, Rest::Ended);
        }
        output(&session, &id, "all").await;
    }
    let hits = Breakpoint { hits: Some(3), ..Breakpoint::at(before("one")) };
    let controls = Controls { breakpoints: vec![hits], mocks: Vec::new() };
    let id = begin(&session, &two_steps(), items(4), controls).await;
    assert_eq!(held(&session, &id).await.len(), 2, "the third and the fourth");
    assert_eq!(session.held(&id).await.expect("a view").hits, [4]);
}

#[tokio::test]
async fn pauses_hold_everything_or_one_node() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = open(folder.path()).await;
    let options = RunOptions { paused: Some(true), until: None };
    let input = Some(Payload::new(items(2)));
    let started =
        session.start_as(local::plan(&two_steps()), "flow", None, input, options).await.expect("starts");
    let id = started.execution_id;
    session.until_rest(&id).await.expect("rests");
    assert_eq!(held(&session, &id).await[0].why, WhyHeld::Paused);
    session.control(&id, &Command::PauseNode { node_id: "two".into() }).await.expect("paused");
    let first = held(&session, &id).await[0].message_id.clone();
    tell(&session, &id, Command::Release { message_id: first }).await;
    assert_eq!(held(&session, &id).await[0].node_id.as_str(), "each", "the pause holds what follows");
    tell(&session, &id, Command::Continue).await;
    assert!(session.control(&id, &Command::Pause).await.is_err(), "it has ended");
}

#[tokio::test]
async fn breakpoints_survive_a_restart_and_hold_what_is_taken_up() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = open(folder.path()).await;
    let id = begin(&session, &two_steps(), items(3), breaks(before("two"))).await;
    assert_eq!(held(&session, &id).await.len(), 3);
    session.close().await.expect("closed");
    drop(session);
    let session = debugged::open(folder.path(), true, Clock::system()).await;
    session.until_rest(&id).await.expect("rests");
    assert_eq!(held(&session, &id).await.len(), 3, "held again");
    assert_eq!(tell(&session, &id, Command::Continue).await, Rest::Ended);
    output(&session, &id, "all").await;
}

#[tokio::test]
async fn a_node_that_left_the_file_keeps_nobody_from_setting_another() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join(PATH);
    fs::write(&file, two_steps().to_string()).expect("written");
    let keep = Keep::At(folder.path().join("runs.db"));
    let (folder, clock) = (Some(folder.path().to_owned()), Clock::system());
    let options = Options { keep, folder, clock, recover: false, reach: Reach::default() };
    let session = Session::open(options).await.expect("opens");
    session.set_controls(PATH, breaks(before("two"))).await.expect("kept");
    fs::write(&file, two_steps().to_string().replace("two", "three")).expect("written");
    let mut controls = breaks(before("two"));
    controls.breakpoints.push(Breakpoint::at(before("three")));
    session.set_controls(PATH, controls.clone()).await.expect("kept beside it");
    controls.breakpoints.push(Breakpoint::at(before("nowhere")));
    assert!(session.set_controls(PATH, controls).await.is_err(), "a new one has to be there");
}

#[tokio::test]
async fn timers_fire_by_hand_and_both_clocks_are_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = open(folder.path()).await;
    let days = 3 * 86_400;
    let workflow = json!({
        "nodes": [
            {"id": "start", "type": "trigger"},
            {"id": "rest", "type": "wait", "parameters": {"mode": "interval", "amount": days, "unit": "seconds"}},
            {"id": "end", "type": "log", "parameters": {"message": "done"}}
        ],
        "edges": [{"id": "1", "src": "start", "dst": "rest"}, {"id": "2", "src": "rest", "dst": "end"}]
    });
    let id = begin(&session, &workflow, json!({}), Controls::default()).await;
    assert_eq!(tell(&session, &id, Command::NextTimer).await, Rest::Ended);
    let events = session.recorded(&id).await.expect("events");
    let fired = events.iter().find_map(|event| match &event.fact {
        Fact::TimerFired(fired) => Some((event.at, fired.due)),
        _ => None,
    });
    let (at, due) = fired.expect("it is in the recording");
    assert!(due - at > 2 * 86_400_000, "at {at}, due {due}");
    assert_eq!(output(&session, &id, "rest").await["resume_at"], due);
    let ended = events.last().expect("events").at;
    assert!(ended - events[0].at < 60_000, "nobody has waited");
}

#[tokio::test]
async fn pins_and_mocks_answer_and_parts_are_run() {
    let web = Web::start().await;
    let folder = tempfile::tempdir().expect("a folder");
    let session = open(folder.path()).await;
    let mock = |key: Option<&str>, answer: MockAnswer| Mock {
        node_id: "ask".into(),
        key: key.map(|key| serde_json::from_value(json!(key)).expect("a key")),
        answer,
    };
    let mocks = vec![
        mock(None, MockAnswer::Output { value: json!({"pinned": true}) }),
        mock(Some("each=1"), MockAnswer::Error { message: "made up".to_owned() }),
    ];
    let controls = Controls { breakpoints: Vec::new(), mocks };
    let id = begin(&session, &fan_out(&web.url("/echo")), items(3), controls.clone()).await;
    let breakpoints = vec![Breakpoint::at(before("ask"))];
    session.set_controls(PATH, Controls { breakpoints, ..controls }).await.expect("kept");
    let stale = session.held(&id).await.expect("a view").stale;
    assert!(stale.is_empty(), "a breakpoint changes no answer: {stale:?}");
    let all = output(&session, &id, "all").await;
    assert_eq!(all[1]["error"]["message"], "made up");
    assert_eq!(all[2], json!({"n": 2, "twice": 4}));
    assert_eq!(web.requests().len(), 0);
    session
        .set_controls(
            PATH,
            Controls { mocks: vec![mock(None, MockAnswer::Latency { millis: 1 })], ..Controls::default() },
        )
        .await
        .expect("kept");
    let stale = session.held(&id).await.expect("a view").stale;
    let is_stale = |node: &str| stale.iter().any(|stale| stale.node_id.as_str() == node);
    assert!(is_stale("all") && !is_stale("double"), "{stale:?}");

    let options = RunOptions { paused: None, until: Some("double".into()) };
    let input = Some(Payload::new(items(3)));
    let plan = local::plan(&fan_out(&web.url("/echo")));
    let started = session.start_as(plan, "flow", None, input, options).await.expect("starts");
    assert_eq!(session.until_rest(&started.execution_id).await.expect("rests"), Rest::Ended);
    let events = verified(&session, &started.execution_id).await;
    let dropped =
        |event: &&Event| matches!(&event.fact, Fact::Intervened(done) if done.change == Change::Dropped);
    assert_eq!(events.iter().filter(dropped).count(), 4, "three questions, and the join behind them");
    assert_eq!(web.requests().len(), 0);
}

#[tokio::test]
async fn forks_list_what_they_would_ask_and_keep_their_tree() {
    let web = Web::start().await;
    let folder = tempfile::tempdir().expect("a folder");
    let session = open(folder.path()).await;
    let id = begin(&session, &fan_out(&web.url("/echo")), items(4), Controls::default()).await;
    let before = session.recorded(&id).await.expect("events");
    assert_eq!(web.requests().len(), 4);
    let is_end = |event: &&Event| match &event.fact {
        Fact::NodeSucceeded(done) => {
            done.firing.node_id.as_str() == "double" && done.firing.lineage.key().as_str() == "each=2"
        }
        _ => false,
    };
    let position = before.iter().find(is_end).expect("it ended").seq;
    let edit = Some(ForkEdit::Output { value: json!({"$json": {"twice": 99}}) });
    let pinned = ForkWish::At { position, edit: edit.clone(), run: Vec::new() };
    let preview = session.preview_fork(&id, &pinned).await.expect("a preview");
    assert_eq!(preview.effects_total, 0, "{preview:?}");
    let pins: Vec<&str> = preview.pins.iter().map(|pin| pin.node_id.as_str()).collect();
    assert_eq!((preview.pinned, pins), (4, vec!["ask"; 4]), "{preview:?}");
    let forked = session.fork(&id, &pinned).await.expect("a fork").execution_id;
    assert_eq!(session.until_rest(&forked).await.expect("rests"), Rest::Ended);
    assert_eq!(output(&session, &forked, "all").await[2], json!({"n": 2, "twice": 99}));
    assert_eq!(web.requests().len(), 4, "nobody was asked again");

    let run = ForkWish::At { position: 1, edit: None, run: vec!["ask".into()] };
    let preview = session.preview_fork(&id, &run).await.expect("a preview");
    assert_eq!((preview.effects_total, preview.effects[0].node_id.as_str()), (4, "ask"));
    assert!(preview.pins.is_empty(), "{preview:?}");
    assert_eq!(web.requests().len(), 4, "a preview asks nobody");
    let again = session.fork(&id, &run).await.expect("a fork").execution_id;
    session.until_rest(&again).await.expect("rests");
    assert_eq!(web.requests().len(), 8);

    let from = ForkWish::From { node_id: "say".into() };
    let grandchild = session.fork(&forked, &from).await.expect("a fork").execution_id;
    session.until_rest(&grandchild).await.expect("rests");
    output(&session, &grandchild, "say").await;
    let tree = session.forks(&grandchild).await.expect("a tree");
    let parents: Vec<Option<ExecutionId>> =
        tree.into_iter().map(|branch| branch.origin.map(|origin| origin.parent)).collect();
    assert_eq!(parents, [None, Some(id.clone()), Some(id.clone()), Some(forked)]);
    assert_eq!(session.recorded(&id).await.expect("events"), before, "the parent is as it was");
    let wrong = ForkWish::At { position: 10_000, edit: None, run: Vec::new() };
    assert!(session.fork(&id, &wrong).await.is_err());
}

#[tokio::test]
async fn only_failed_items_run_again() {
    let web = Web::start().await;
    let folder = tempfile::tempdir().expect("a folder");
    let session = open(folder.path()).await;
    let url = web.url("/flaky/1");
    let mut workflow = fan_out(&url);
    // The server refuses each address once; most items try again, three of them do not.
    workflow["nodes"][3]["parameters"] = json!({
        "method": "GET", "url": format!("{url}?n={{{{ $json.twice }}}}"), "raise_on_status": "5xx",
        "retry": "{{ $item.n % 40 == 0 ? 0 : 1 }}", "retry_delay": 0
    });
    let id = begin(&session, &workflow, items(100), Controls::default()).await;
    while session.is_running(&id) {
        session.until_rest(&id).await.expect("rests");
        tokio::task::yield_now().await;
    }
    let all = output(&session, &id, "all").await;
    let failed =
        |all: &Value| all.as_array().expect("items").iter().filter(|it| it.get("error").is_some()).count();
    assert_eq!((all.as_array().map(Vec::len), failed(&all)), (Some(100), 3));
    let asked = web.requests().len();
    let wish = ForkWish::Failed { node_id: "ask".into() };
    assert_eq!(session.preview_fork(&id, &wish).await.expect("a preview").effects_total, 3);
    let again = session.fork(&id, &wish).await.expect("a fork").execution_id;
    assert_eq!(session.until_rest(&again).await.expect("rests"), Rest::Ended);
    let all = output(&session, &again, "all").await;
    assert_eq!((all.as_array().map(Vec::len), failed(&all)), (Some(100), 0));
    assert_eq!(all[40], json!({"n": 40, "twice": 80}), "in the order of the items");
    assert_eq!(web.requests().len() - asked, 3, "exactly three run again");
    let none = ForkWish::Failed { node_id: "tell".into() };
    assert!(session.preview_fork(&id, &none).await.is_err());
}

#[tokio::test]
async fn reports_are_requests_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = open(folder.path()).await;
    let a = begin(&session, &two_steps(), items(3), Controls::default()).await;
    let b = begin(&session, &two_steps(), items(4), Controls::default()).await;
    let Ok(Response::Comparison(comparison)) = session.call(Request::Compare { a: a.clone(), b }).await
    else {
        panic!("no comparison");
    };
    assert!(comparison.total.only_b > 0 && !comparison.differences.is_empty());
    let Ok(Response::Verified(verified)) = session.call(Request::Verify { execution_id: a.clone() }).await
    else {
        panic!("not verified");
    };
    assert!(verified.difference.is_none() && verified.events > 10);
    let explain = Request::Explain { execution_id: a.clone(), node_id: None, key: None, at: None };
    let Ok(Response::Explanation(explanation)) = session.call(explain).await else {
        panic!("no explanation")
    };
    assert!(explanation.sentences[0].starts_with("it completed"));
    let note =
        Request::AddNote { execution_id: a.clone(), position: 3, node_id: None, text: "here".to_owned() };
    assert_eq!(session.call(note).await, Ok(Response::Done));
    let Ok(Response::Notes(notes)) = session.call(Request::Notes { execution_id: a.clone() }).await else {
        panic!("no notes");
    };
    assert_eq!((notes.len(), notes[0].text.as_str()), (1, "here"));
    let store =
        recording::Store::open(&folder.path().join("runs.db"), recording::Access::Read).await.expect("opens");
    let case = store.case(&a).await.expect("read").expect("there");
    let file = folder.path().join("case.runeglass");
    recording::write_case(&file, &case).await.expect("written");
    let elsewhere = tempfile::tempdir().expect("a folder");
    let other = open(elsewhere.path()).await;
    let import = Request::Import { file: file.display().to_string() };
    assert_eq!(other.call(import).await, Ok(Response::Started { execution_id: a }));
}
