//! Forks that run another workflow, survive restarts and lose their parents; parts of workflows; pins that go stale.

use std::fs;

use protocol::{
    BreakPlace, Breakpoint, Change, Command, Controls, Event, ExecutionId, ExecutionPhase, Fact, ForkWish,
    Mock, MockAnswer, NodeId, Origin, Payload, ProblemCode, RunOptions, StaleNode,
};
use recording::{Access, Prune, Store};
use runeglass_tests::{
    Ran,
    debugged::{fan_out, items, open, output, talk, verified},
    local,
    outside::Web,
    run, runeglass,
};
use serde_json::{Value, json};
use session::{Clock, Rest, Session};

const PATH: &str = "flow.json";

/// The fan-out, up to where it is gathered.
fn flow(url: &str) -> Value {
    let mut flow = fan_out(url);
    for part in ["nodes", "edges"] {
        flow[part].as_array_mut().expect("a list").pop();
    }
    flow
}

async fn begin(session: &Session, workflow: &Value, input: Value, options: RunOptions) -> ExecutionId {
    let (plan, path, input) = (local::plan(workflow), Some(PATH.to_owned()), Some(Payload::new(input)));
    let started = session.start_as(plan, "flow", path, input, options).await.expect("starts");
    session.until_rest(&started.execution_id).await.expect("rests");
    started.execution_id
}

fn hold(node: &str) -> Controls {
    let breakpoints = vec![Breakpoint::at(BreakPlace::Before { node_id: node.into() })];
    Controls { breakpoints, mocks: Vec::new() }
}

async fn go_on(session: &Session, id: &ExecutionId) {
    session.control(id, &Command::Continue).await.expect("followed");
    assert_eq!(session.until_rest(id).await.expect("rests"), Rest::Ended);
}

fn has_started(events: &[Event], node: &str) -> bool {
    let is = |event: &Event| matches!(&event.fact, Fact::NodeStarted(done) if done.firing.node_id.as_str() == node);
    events.iter().any(is)
}

#[tokio::test]
async fn an_edited_workflow_asks_only_where_it_was_edited() {
    let web = Web::start().await;
    let folder = tempfile::tempdir().expect("a folder");
    let session = open(folder.path(), false, Clock::system()).await;
    let workflow = flow(&web.url("/echo"));
    let id = begin(&session, &workflow, items(4), RunOptions::default()).await;
    let before = session.recorded(&id).await.expect("events");
    assert_eq!(web.requests().len(), 4);
    let wish = ForkWish::At { position: before.len() as u64, edit: None, run: Vec::new() };
    let fork = async |workflow: &Value, asked: usize| {
        let (plan, before) = (local::plan(workflow), web.requests().len());
        let preview = session.preview_fork_into(&id, &wish, Some(plan.clone())).await.expect("a preview");
        assert_eq!(preview.effects_total, asked, "{preview:?}");
        let forked = session.fork_into(&id, &wish, Some(plan)).await.expect("a fork").execution_id;
        assert_eq!(session.until_rest(&forked).await.expect("rests"), Rest::Ended);
        assert_eq!(web.requests().len() - before, asked, "what was listed is what was asked");
        verified(&session, &forked).await
    };

    // Behind the question: it works again, and nobody is asked.
    let mut edited = workflow.clone();
    edited["nodes"][4]["parameters"]["output"] = json!({"only": "$item.n"});
    assert_eq!(output(&fork(&edited, 0).await, "all")[2], json!({"only": 2}));

    // In front of it: the recorded answers still count, and what was edited shows.
    let mut edited = workflow.clone();
    edited["nodes"][2]["parameters"]["assignments"][0]["value"] = json!("{{ $item.n * 10 }}");
    assert_eq!(output(&fork(&edited, 0).await, "all")[3], json!({"n": 3, "twice": 30}));

    // The question itself, and one that is new.
    let mut edited = workflow.clone();
    edited["nodes"][3]["parameters"]["url"] = json!(web.url("/echo?other=1"));
    fork(&edited, 4).await;
    let mut edited = workflow.clone();
    let more =
        json!({"id": "more", "type": "http", "parameters": {"method": "GET", "url": web.url("/echo")}});
    edited["nodes"].as_array_mut().expect("nodes").push(more);
    edited["edges"].as_array_mut().expect("edges").push(json!({"id": "6", "src": "all", "dst": "more"}));
    fork(&edited, 1).await;

    // How it looks means nothing.
    let mut edited = workflow.clone();
    edited["nodes"][3]["position"] = json!([10, 20]);
    edited["nodes"][3]["name"] = json!("Ask them");
    let forked = fork(&edited, 0).await;
    assert_eq!(output(&forked, "all"), output(&before, "all"));
    assert_eq!(session.recorded(&id).await.expect("events"), before, "the parent is as it was");
}

#[tokio::test]
async fn a_failure_that_is_answered_otherwise_is_not_repeated() {
    let web = Web::start().await;
    let folder = tempfile::tempdir().expect("a folder");
    let session = open(folder.path(), false, Clock::system()).await;
    let mut workflow = json!({
        "nodes": [
            {"id": "start", "type": "trigger"},
            {"id": "ask", "type": "http", "parameters": {"method": "GET", "url": web.url("/flaky/9"), "raise_on_status": "5xx", "retry": 0}},
            {"id": "say", "type": "log", "parameters": {"message": "{{ $ask.error ? 'without' : 'with' }}"}}
        ],
        "edges": [{"id": "1", "src": "start", "dst": "ask"}, {"id": "2", "src": "ask", "dst": "say"}]
    });
    let id = begin(&session, &workflow, json!({}), RunOptions::default()).await;
    let events = session.recorded(&id).await.expect("events");
    assert!(!has_started(&events, "say"), "it halted");
    let asked = web.requests().len();
    assert_eq!(asked, 1);
    workflow["nodes"][1]["error"] = json!({"type": "ignore"});
    let wish = ForkWish::At { position: events.len() as u64, edit: None, run: Vec::new() };
    let forked =
        session.fork_into(&id, &wish, Some(local::plan(&workflow))).await.expect("a fork").execution_id;
    assert_eq!(session.until_rest(&forked).await.expect("rests"), Rest::Ended);
    assert_eq!(output(&verified(&session, &forked).await, "say")["message"], "without");
    assert_eq!(web.requests().len(), asked, "the recorded failure is the answer");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_line_forks_into_an_edited_workflow_and_shows_the_tree() {
    let web = Web::start().await;
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, workflow: &Value| {
        fs::write(folder.path().join(name), workflow.to_string()).expect("written");
        folder.path().join(name).display().to_string()
    };
    let mut workflow = flow(&web.url("/echo"));
    // The fourth item fails; the repaired workflow would say something else of all of them.
    workflow["nodes"][4]["parameters"]["output"] = json!("{{ $item.n == 3 ? $item.no.body : 'told' }}");
    let original = file("flow.json", &workflow);
    workflow["nodes"][4]["parameters"]["output"] = json!("repaired");
    let repaired = file("repaired.json", &workflow);
    workflow["nodes"][3]["parameters"]["url"] = json!(web.url("/echo?other=1"));
    let elsewhere = file("elsewhere.json", &workflow);
    let store = folder.path().join("runs.db").display().to_string();
    let (input, told) = (items(5).to_string(), |ran: &Ran| ran.last_json()["final_context"]["$all"].clone());
    let call = |arguments: &[&str]| run(runeglass().args(arguments).args(["--store", &store]));
    let id = |ran: &Ran| ran.last_json()["execution_id"].as_str().expect("an id").to_owned();

    let ran = call(&["run", &original, "--input", &input, "--json"]);
    assert_eq!((ran.code, web.requests().len()), (Some(0), 5), "{}", ran.stderr);
    let parent = id(&ran);
    let again = call(&["rerun", &parent, "--failed", "tell", "--workflow", &repaired, "--json"]);
    assert_eq!(told(&again), json!(["told", "told", "told", "repaired", "told"]), "{}", again.stderr);
    let all = call(&["fork", &parent, "--workflow", &repaired, "--json"]);
    assert_eq!(
        told(&all),
        json!(["repaired", "repaired", "repaired", "repaired", "repaired"]),
        "{}",
        all.stderr
    );
    assert_eq!(web.requests().len(), 5, "nobody was asked again");
    let refused = call(&["fork", &parent, "--workflow", &elsewhere]);
    assert_eq!(refused.code, Some(2), "{}", refused.stdout);
    assert!(refused.stdout.contains("really asks: ask [each=4]: GET"), "{}", refused.stdout);
    assert!(refused.stderr.contains("5 question(s) would really be asked"), "{}", refused.stderr);
    assert_eq!(call(&["fork", &parent, "--workflow", &elsewhere, "--yes"]).code, Some(0));
    assert_eq!(web.requests().len(), 10);
    assert_eq!(call(&["replay", &id(&all), "--verify"]).code, Some(0));
    let broken = file("broken.json", &json!({"nodes": []}));
    assert_eq!(call(&["fork", &parent, "--workflow", &broken]).code, Some(2));

    let tree = call(&["forks", &id(&again)]);
    assert_eq!((tree.code, tree.stdout.lines().count()), (Some(0), 4), "{}", tree.stdout);
    assert!(tree.stdout.starts_with(&format!("{parent}\n  ")), "{}", tree.stdout);
    assert!(tree.stdout.contains("the failed items of tell again (this one)"), "{}", tree.stdout);
    assert_eq!(call(&["forks", &parent, "--json"]).last_json().as_array().map(Vec::len), Some(4));
    assert_eq!(call(&["forks", "nobody"]).code, Some(3));
}

#[tokio::test]
async fn a_fork_that_was_interrupted_asks_nobody_either() {
    let web = Web::start().await;
    let folder = tempfile::tempdir().expect("a folder");
    let session = open(folder.path(), false, Clock::system()).await;
    let mut workflow = flow(&web.url("/echo"));
    let id = begin(&session, &workflow, items(3), RunOptions::default()).await;
    session.set_controls(PATH, hold("tell")).await.expect("kept");
    workflow["nodes"][4]["parameters"]["output"] = json!({"only": "$item.n"});
    let wish = ForkWish::At { position: 1, edit: None, run: Vec::new() };
    let forked =
        session.fork_into(&id, &wish, Some(local::plan(&workflow))).await.expect("a fork").execution_id;
    assert_eq!(session.until_rest(&forked).await.expect("rests"), Rest::Still { held: 3, next_due: None });
    session.close().await.expect("closed");
    drop(session);

    // Its parent stays as long as it is needed, whatever is thrown away.
    let store = loop {
        match Store::open(&folder.path().join("runs.db"), Access::Write).await {
            Ok(store) => break store,
            Err(_) => tokio::task::yield_now().await,
        }
    };
    let cleaned =
        store.prune(Prune { ended_before: Some(i64::MAX), most_bytes: Some(1) }).await.expect("pruned");
    assert_eq!(cleaned.removed, Vec::<ExecutionId>::new());
    drop(store);

    let session = open(folder.path(), true, Clock::system()).await;
    session.until_rest(&forked).await.expect("rests");
    go_on(&session, &forked).await;
    assert_eq!(output(&verified(&session, &forked).await, "all")[2], json!({"only": 2}));
    assert_eq!(web.requests().len(), 3);

    // Where the parent is gone all the same, the fork ends and says why.
    let events = session.recorded(&forked).await.expect("events");
    let elsewhere = tempfile::tempdir().expect("a folder");
    let store = Store::open(&elsewhere.path().join("runs.db"), Access::Write).await.expect("a store");
    store.append(&events[..5]).await.expect("written");
    drop(store);
    let orphaned = open(elsewhere.path(), true, Clock::system()).await;
    assert!(orphaned.recovered().is_empty());
    let ended = orphaned.recorded(&forked).await.expect("events");
    let Some(Fact::ExecutionEnded(end)) = ended.last().map(|event| &event.fact) else { panic!("it goes on") };
    assert!(end.error.as_ref().is_some_and(|error| error.message.contains("is gone")), "{end:?}");
}

#[tokio::test]
async fn a_recording_that_claims_to_be_its_own_parent_does_no_harm() {
    let folder = tempfile::tempdir().expect("a folder");
    let workflow = json!({"nodes": [{"id": "a", "type": "trigger"}], "edges": []});
    let mut events = local::run(local::plan(&workflow), json!({})).await.events;
    if let Fact::ExecutionStarted(started) = &mut events[0].fact {
        let parent = ExecutionId::from("local");
        started.origin = Some(Origin { parent, position: 1, edit: None, run: Vec::new(), again: None });
    }
    let store = Store::open(&folder.path().join("runs.db"), Access::Write).await.expect("a store");
    store.append(&events).await.expect("written");
    let tree = session::look::forks(&store, &"local".into()).await.expect("a tree");
    assert_eq!(tree.len(), 1);
}

#[tokio::test]
async fn a_run_up_to_here_ends_here_after_a_restart_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = open(folder.path(), false, Clock::system()).await;
    // Nobody listens there; nobody is asked.
    let workflow = flow("http://127.0.0.1:9/");
    session.set_controls(PATH, hold("double")).await.expect("kept");
    let until = |node: &str| RunOptions { until: Some(node.into()), ..RunOptions::default() };
    let id = begin(&session, &workflow, items(3), until("double")).await;
    session.close().await.expect("closed");
    drop(session);
    let session = open(folder.path(), true, Clock::system()).await;
    assert_eq!(session.until_rest(&id).await.expect("rests"), Rest::Still { held: 3, next_due: None });
    session.set_controls(PATH, Controls::default()).await.expect("kept");
    go_on(&session, &id).await;
    let events = verified(&session, &id).await;
    assert!(has_started(&events, "double") && !has_started(&events, "ask"));
    let dropped =
        |event: &&Event| matches!(&event.fact, Fact::Intervened(done) if done.change == Change::Dropped);
    assert_eq!(events.iter().filter(dropped).count(), 4, "three questions, and the join behind them");
    let plan = local::plan(&workflow);
    assert!(session.start_as(plan, "flow", None, None, until("nowhere")).await.is_err());
}

#[tokio::test]
async fn what_is_behind_a_changed_pin_is_stale() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = open(folder.path(), false, Clock::simulated(1_000_000)).await;
    let pin = |node: &str, value: i64| Mock {
        node_id: node.into(),
        key: None,
        answer: MockAnswer::Output { value: json!(value) },
    };
    let set = async |mocks: Vec<Mock>, mut controls: Controls| {
        controls.mocks = mocks;
        session.set_controls(PATH, controls).await.expect("kept");
    };
    let workflow = flow("http://127.0.0.1:9/");
    set(vec![pin("ask", 1), pin("tell", 7)], Controls::default()).await;
    // The clock stands still while nothing waits; a latency moves it.
    let slow = Mock { node_id: "double".into(), key: None, answer: MockAnswer::Latency { millis: 5_000 } };
    set(vec![pin("ask", 1), pin("tell", 7), slow.clone()], Controls::default()).await;
    let id = begin(&session, &workflow, items(2), RunOptions::default()).await;
    while session.is_running(&id) {
        session.until_rest(&id).await.expect("rests");
        tokio::task::yield_now().await;
    }
    let events = verified(&session, &id).await;
    assert_eq!(output(&events, "all"), json!([7, 7]));
    assert!(events.last().expect("events").at - events[0].at >= 5_000, "the latency was waited for");
    let stale = async || {
        let stale = session.held(&id).await.expect("a view").stale;
        let told = |StaleNode { node_id, because, removed }| format!("{node_id} {because} {removed}");
        stale.into_iter().map(told).collect::<Vec<_>>()
    };
    assert_eq!(stale().await, [] as [&str; 0], "it ran with what is set");
    let mocks = || vec![pin("ask", 1), pin("tell", 7), slow.clone()];
    set(mocks(), hold("all")).await;
    assert_eq!(stale().await, [] as [&str; 0], "a breakpoint changes no value");
    set(vec![pin("ask", 1), pin("tell", 8), slow.clone()], Controls::default()).await;
    assert_eq!(stale().await, ["tell tell false", "all tell false"]);
    set(vec![pin("tell", 8), slow.clone()], Controls::default()).await;
    assert_eq!(
        stale().await,
        ["ask ask true", "tell tell false", "all tell false"],
        "also where one is gone, and each for the nearest reason"
    );
    set(vec![slow.clone()], Controls::default()).await;
    assert_eq!(stale().await, ["ask ask true", "tell tell true", "all tell true"]);
    set(vec![slow.clone(), pin("tell", 7), pin("ask", 1)], Controls::default()).await;
    assert_eq!(stale().await, [] as [&str; 0], "everything is as it was, in whatever order it was set again");
    let listed = session.recorded(&id).await.expect("events");
    assert!(matches!(&listed[0].fact, Fact::ExecutionStarted(_)));
}

#[tokio::test]
async fn one_item_runs_again_and_all_others_are_as_they_were() {
    let web = Web::start().await;
    let folder = tempfile::tempdir().expect("a folder");
    let session = open(folder.path(), false, Clock::system()).await;
    let id = begin(&session, &flow(&web.url("/echo")), items(10), RunOptions::default()).await;
    while session.is_running(&id) {
        session.until_rest(&id).await.expect("rests");
        tokio::task::yield_now().await;
    }
    let (before, asked) = (verified(&session, &id).await, web.requests().len());
    let item =
        |key: &str, node: Option<&str>| ForkWish::Item { key: key.into(), node_id: node.map(NodeId::from) };
    let all_of_it = item("each=7", None);
    assert_eq!(session.preview_fork(&id, &all_of_it).await.expect("a preview").effects_total, 1);
    let again = session.fork(&id, &all_of_it).await.expect("a fork").execution_id;
    assert_eq!(session.until_rest(&again).await.expect("rests"), Rest::Ended);
    assert_eq!(web.requests().len() - asked, 1, "only the item asks");
    assert_eq!(output(&verified(&session, &again).await, "all"), output(&before, "all"));
    let behind = session.preview_fork(&id, &item("each=7", Some("tell"))).await.expect("a preview");
    assert_eq!((behind.effects_total, behind.pinned), (0, 10), "what comes before the node is answered");
    for (key, node) in [("each=10", None), ("other=1", None), ("each=7", Some("all")), ("each=7", Some("?"))]
    {
        let refused = session.preview_fork(&id, &item(key, node)).await.expect_err("no such item");
        assert_eq!(refused.code, ProblemCode::NotFound, "{}", refused.message);
    }
}

#[tokio::test]
async fn a_mocked_error_takes_the_error_edge() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = open(folder.path(), false, Clock::system()).await;
    let workflow = json!({
        "nodes": [
            {"id": "start", "type": "trigger"},
            {"id": "work", "type": "simulate", "error": {"type": "branch", "error_edge": "bad"}},
            {"id": "good", "type": "log", "parameters": {"message": "good"}},
            {"id": "sorry", "type": "log", "parameters": {"message": "sorry: $work.error.message"}}
        ],
        "edges": [
            {"id": "1", "src": "start", "dst": "work"}, {"id": "2", "src": "work", "dst": "good"},
            {"id": "bad", "src": "work", "dst": "sorry"}
        ]
    });
    let answer = MockAnswer::Error { message: "made up".to_owned() };
    let mocks = vec![Mock { node_id: "work".into(), key: None, answer }];
    session.set_controls(PATH, Controls { mocks, ..Controls::default() }).await.expect("kept");
    let id = begin(&session, &workflow, json!({}), RunOptions::default()).await;
    let events = verified(&session, &id).await;
    assert_eq!(output(&events, "sorry")["message"], "sorry: made up");
    assert!(!has_started(&events, "good"));
}

#[test]
fn pins_mocks_and_parts_are_words_of_the_debugger() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("flow.json");
    fs::write(&file, flow("http://127.0.0.1:9/").to_string()).expect("written");
    let debugger = || {
        let mut command = runeglass();
        command.arg("debug").arg(&file).args(["--virtual-time", "--input", &items(3).to_string(), "--store"]);
        command.arg(folder.path().join("runs.db"));
        command
    };
    let script = "pin ask = {\"status\": 200}\npin tell each=1 = \"pinned\"\nmock double latency 60000\nmocks\nrun\n\
                  inspect all\nstale\nmock ask each=2 error nobody is there\nstale\nback 3\nfork\nforks\n";
    let ran = talk(&mut debugger(), script);
    assert_eq!(ran.code, Some(0), "{}\n{}", ran.stdout, ran.stderr);
    for said in [
        "1: ask pinned to {\"status\":200}",
        "2: tell [each=1] pinned to \"pinned\"",
        "3: double takes 60000 ms longer",
        "output: [{\"n\":0,\"twice\":0},\"pinned\",{\"n\":2,\"twice\":4}]",
        "nothing is stale",
        "all: the pin or mock of ask was set or changed since",
        "  ",
        "(this one)",
    ] {
        assert!(ran.stdout.contains(said), "{said:?} is missing in\n{}", ran.stdout);
    }
    let script = "mocks\nunmock 1\nunmock 9\nrun until double\nevents ask\npause each\npause\n";
    let ran = talk(&mut debugger(), script);
    assert_eq!(ran.code, Some(2), "{}\n{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("4 pin(s) and mock(s) from last time"), "{}", ran.stdout);
    assert!(ran.stdout.contains("its message was taken away ask [each=0]"), "{}", ran.stdout);
    assert!(ran.stderr.contains("there is no mock 9"), "{}", ran.stderr);
    let until = run(runeglass().arg("run").arg(&file).args([
        "--until",
        "double",
        "--json",
        "--input",
        "[{\"n\": 1}]",
    ]));
    assert_eq!(
        (until.code, until.last_json()["status"].as_str()),
        (Some(0), Some("completed")),
        "{}",
        until.stderr
    );
    let nowhere = run(runeglass().arg("run").arg(&file).args(["--until", "nowhere", "--json"]));
    assert_ne!(nowhere.code, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_is_delivered_twice_asks_twice_and_counts_once() {
    let web = Web::start().await;
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("flow.json");
    fs::write(&file, flow(&web.url("/echo")).to_string()).expect("written");
    let mut command = runeglass();
    command.arg("debug").arg(&file).args(["--input", &items(3).to_string()]);
    let script = "break ask item 1\nbreak double log n is $item.n\nbreak tell hits 3\nrun\nduplicate\nheld\n\
                  breakpoints\ncontinue\ninspect all\nevents ask\n";
    let ran = tokio::task::spawn_blocking(move || talk(&mut command, script)).await.expect("talks");
    assert_eq!(ran.code, Some(0), "{}\n{}", ran.stdout, ran.stderr);
    for said in [
        "n is 0",
        "n is 2",
        "held before ask [each=1] (breakpoint 1)",
        "its message was delivered twice ask [each=1]",
        // Two items have passed tell before the one that was held: its hit is the third.
        "held before tell [each=1] (breakpoint 3)",
        "3: before tell, from hit 3 on",
        "output: [{\"n\":0,\"twice\":0},{\"n\":1,\"twice\":2},{\"n\":2,\"twice\":4}]",
    ] {
        assert!(ran.stdout.contains(said), "{said:?} is missing in\n{}", ran.stdout);
    }
    assert_eq!(web.requests().len(), 4);
}

#[test]
fn a_simulated_clock_stands_still_while_something_is_held() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("flow.json");
    let mut workflow = flow("http://127.0.0.1:9/");
    workflow["nodes"][3] = json!({"id": "ask", "type": "simulate", "parameters": {"latency_ms": 60000}});
    fs::write(&file, workflow.to_string()).expect("written");
    let mut command = runeglass();
    command.arg("debug").arg(&file).args(["--virtual-time", "--input", &items(5).to_string()]);
    let ran =
        talk(&mut command, "break ask item == 3\nrun\nevents tell\nstep\nback 1\ncontinue\ninspect all\n");
    assert_eq!(ran.code, Some(0), "{}\n{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("held before ask [each=3]"), "the others sleep: {}", ran.stdout);
    assert!(ran.stdout.contains("held before tell [each=3] (stepped)"), "{}", ran.stdout);
    assert!(ran.stdout.contains("{\"n\":3,\"twice\":6},{\"n\":4,\"twice\":8}]"), "{}", ran.stdout);
}

#[tokio::test]
async fn pauses_hold_one_node_and_let_it_go_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = open(folder.path(), false, Clock::system()).await;
    session.set_controls(PATH, hold("each")).await.expect("kept");
    let pins =
        vec![Mock { node_id: "ask".into(), key: None, answer: MockAnswer::Output { value: json!(1) } }];
    let id = begin(&session, &flow("http://127.0.0.1:9/"), items(4), RunOptions::default()).await;
    session.set_controls(PATH, Controls { mocks: pins, ..Controls::default() }).await.expect("kept");
    session.control(&id, &Command::PauseNode { node_id: "tell".into() }).await.expect("paused");
    let split = session.held(&id).await.expect("a view").held.remove(0).message_id;
    session.control(&id, &Command::Release { message_id: split }).await.expect("released");
    session.until_rest(&id).await.expect("rests");
    let view = session.held(&id).await.expect("a view");
    assert_eq!(view.paused_nodes, ["tell".into()] as [NodeId; 1]);
    assert!(view.held_total == 4 && view.held.iter().all(|held| held.node_id.as_str() == "tell"), "{view:?}");
    session.control(&id, &Command::ResumeNode { node_id: "tell".into() }).await.expect("resumed");
    assert_eq!(session.until_rest(&id).await.expect("rests"), Rest::Ended);
    let listed = session.recorded(&id).await.expect("events");
    let ended = matches!(&listed.last().expect("events").fact, Fact::ExecutionEnded(_));
    assert!(ended && output(&listed, "all").as_array().map(Vec::len) == Some(4));
    assert_eq!(ExecutionPhase::Completed, {
        let store = Store::open(&folder.path().join("runs.db"), Access::Read).await.expect("a store");
        store.executions(1).await.expect("read")[0].phase
    });
}
