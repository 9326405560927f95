//! The control role: executions on real servers, on queues of their own, held and changed by the worker of this process.

use std::{path::Path, process::Command as Process};

use protocol::{
    BreakPlace, Breakpoint, Change, Command, Controls, Edit, Event, Fact, ForkWish, GatePlace, Mock,
    MockAnswer, Payload, ProblemCode, RunOptions,
};
use runeglass_tests::{
    clustered::Servers,
    debugged::{
        PATH, before, begin, breaks, debugger, fan_out, has, held, items, output, prolonged, talk, tell,
        two_hurried_steps, two_steps, verified,
    },
    local,
    outside::Web,
    run, runeglass,
};
use serde_json::json;
use session::{ClusterAddress, Keep, Reach, Rest, Session};

fn on_servers(command: &mut Process, servers: &Servers) {
    command.args(["--amqp", &servers.rabbit.url, "--redis", &servers.redis.url]);
}

/// The names of all queues and exchanges that are not the broker's own.
fn made(servers: &Servers) -> Vec<String> {
    let said = servers.rabbit.control(&["list_queues", "name"]);
    let exchanges = servers.rabbit.control(&["list_exchanges", "name"]);
    let ours = |name: &&str| !name.is_empty() && !name.starts_with("amq.");
    said.lines().chain(exchanges.lines()).filter(ours).map(str::to_owned).collect()
}

async fn keys(servers: &Servers) -> Vec<String> {
    let client = redis::Client::open(servers.redis.url.as_str()).expect("an address");
    let mut connection = client.get_multiplexed_async_connection().await.expect("connects");
    redis::cmd("KEYS").arg("*").query_async(&mut connection).await.expect("keys")
}

async fn open(servers: &Servers, folder: &Path) -> Session {
    let address = ClusterAddress {
        amqp: servers.rabbit.url.clone(),
        redis: servers.redis.url.clone(),
        prefix: String::new(),
        quorum: false,
    };
    let reach = Reach { credentials: Some(folder.join("none.json")), ..Reach::default() };
    Session::with_control_role(&address, Keep::At(folder.join("runs.db")), reach).await.expect("opens")
}

#[tokio::test(flavor = "multi_thread")]
async fn the_scripted_story_on_servers() {
    let (web, servers) = (Web::start().await, Servers::start());
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = debugger(folder.path(), &fan_out(&web.url("/echo")), &items(10));
    on_servers(&mut command, &servers);
    let script = "break double item == 7\nrun\nheld\ninspect\nset $item.n = 700\nstep\ninspect\nleave\ncontinue\n\
                  inspect all\nevents double\nback\nforward\n";
    let (ran, servers) =
        tokio::task::spawn_blocking(move || (talk(&mut command, script), servers)).await.expect("talks");
    assert_eq!(ran.code, Some(2), "leave is refused: {}\n{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("nothing of it outlives this debugger"), "{}", ran.stderr);
    has(&ran, "> 1: held before double [each=7] (breakpoint 1)");
    assert!(!ran.stdout.contains("2: held"), "the other items go on: {}", ran.stdout);
    has(&ran, "held before ask [each=7] (stepped)");
    has(&ran, "asks: GET");
    has(&ran, r#"{"n":6,"twice":12},{"n":700,"twice":1400},{"n":8,"twice":16}"#);
    has(&ran, "what it sees was changed by hand double [each=7]");
    has(&ran, "completed, ");
    assert_eq!(web.requests().len(), 10, "one question per item");
    assert_eq!((made(&servers), keys(&servers).await), (vec![], vec![]), "nothing is left on the servers");

    // What was recorded is a recording like any other.
    let store = folder.path().join("runs.db");
    let id = ran.stdout.lines().find_map(|line| line.strip_prefix("execution ")).expect("an id").to_owned();
    let verify = run(runeglass().args(["replay", &id, "--verify", "--store"]).arg(&store));
    assert_eq!(verify.code, Some(0), "{}\n{}", verify.stdout, verify.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_are_changed_dropped_doubled_and_mocked_on_servers() {
    let servers = Servers::shared();
    let folder = tempfile::tempdir().expect("a folder");
    let session = open(&servers, folder.path()).await;
    let mut controls = breaks(before("one"));
    let after = BreakPlace::After { node_id: "two".into() };
    controls.breakpoints.push(Breakpoint { item: Some(3), ..Breakpoint::at(after) });
    let mock = |key: &str, answer| Mock {
        node_id: "two".into(),
        key: serde_json::from_value(json!(key)).ok(),
        answer,
    };
    controls.mocks.push(mock("each=5", MockAnswer::Output { value: json!({"m": "pinned"}) }));
    controls.mocks.push(mock("each=6", MockAnswer::Error { message: "made up".to_owned() }));
    let id = begin(&session, &two_steps(), items(7), controls).await;
    let all = held(&session, &id).await;
    assert_eq!(all.len(), 7);
    let find = |key: &str| all.iter().find(|held| held.key.as_str() == key).expect("held").message_id.clone();
    let edit = Edit::Context { entries: [("$item".to_owned(), json!({"n": 100}))].into() };
    tell(&session, &id, Command::Edit { message_id: find("each=0"), edit }).await;
    tell(&session, &id, Command::Drop { message_id: find("each=2") }).await;
    tell(&session, &id, Command::Duplicate { message_id: find("each=4") }).await;
    tell(&session, &id, Command::Continue).await;
    let after = held(&session, &id).await;
    assert_eq!((after.len(), after[0].gate), (1, GatePlace::After), "{after:?}");
    let edit = Edit::Output { value: json!({"m": 103}) };
    tell(&session, &id, Command::Edit { message_id: after[0].message_id.clone(), edit }).await;
    assert_eq!(tell(&session, &id, Command::Continue).await, Rest::Ended);
    let events = verified(&session, &id).await;
    let all = output(&events, "all");
    assert_eq!(all[6]["error"]["message"], "made up");
    let others = json!([{"m": 100}, {"m": 1}, null, {"m": 103}, {"m": 4}, {"m": "pinned"}]);
    assert_eq!(json!(all.as_array().expect("items")[..6]), others);
    let changed = events.iter().filter(|event| matches!(event.fact, Fact::Intervened(_))).count();
    assert_eq!(changed, 6, "each of them is in the recording");

    // A part of a workflow, a pause and a fork.
    let options = RunOptions { paused: Some(true), until: Some("one".into()) };
    let (plan, input) = (local::plan(&two_steps()), Some(Payload::new(items(3))));
    session.set_controls(PATH, Controls::default()).await.expect("kept");
    let part = session.start_as(plan, "flow", None, input, options).await.expect("starts").execution_id;
    session.until_rest(&part).await.expect("rests");
    assert_eq!(held(&session, &part).await[0].node_id.as_str(), "start");
    assert_eq!(tell(&session, &part, Command::Continue).await, Rest::Ended);
    let dropped =
        |event: &&Event| matches!(&event.fact, Fact::Intervened(it) if it.change == Change::Dropped);
    assert_eq!(verified(&session, &part).await.iter().filter(dropped).count(), 4);
    let forked = session.fork(&id, &ForkWish::From { node_id: "end".into() }).await.expect("a fork");
    assert_eq!(session.until_rest(&forked.execution_id).await.expect("rests"), Rest::Ended);
    let again = verified(&session, &forked.execution_id).await;
    assert_eq!(output(&again, "all"), all, "the fork has the answers of its parent");
    session.close().await.expect("closed");
}

#[tokio::test(flavor = "multi_thread")]
async fn joins_wait_while_something_is_held_on_servers() {
    let servers = Servers::shared();
    let folder = tempfile::tempdir().expect("a folder");
    let session = open(&servers, folder.path()).await;
    let mut controls = breaks(before("two"));
    controls.breakpoints[0].item = Some(1);
    let id = begin(&session, &two_hurried_steps(), items(3), controls).await;
    assert_eq!(prolonged(&session, &id, 1).await, 60_000);
    assert_eq!(tell(&session, &id, Command::Continue).await, Rest::Ended);
    let events = verified(&session, &id).await;
    assert_eq!(output(&events, "all"), json!([{"m": 0}, {"m": 1}, {"m": 2}]));
    session.close().await.expect("closed");
}

#[tokio::test(flavor = "multi_thread")]
async fn timers_fire_by_hand_on_servers() {
    let servers = Servers::shared();
    let folder = tempfile::tempdir().expect("a folder");
    let session = open(&servers, folder.path()).await;
    let workflow = json!({
        "nodes": [
            {"id": "start", "type": "trigger"},
            {"id": "rest", "type": "wait", "parameters": {"mode": "interval", "amount": 3, "unit": "days"}},
            {"id": "end", "type": "log", "parameters": {"message": "done"}}
        ],
        "edges": [{"id": "1", "src": "start", "dst": "rest"}, {"id": "2", "src": "rest", "dst": "end"}]
    });
    let id = begin(&session, &workflow, json!({}), Controls::default()).await;
    assert!(matches!(session.until_rest(&id).await, Ok(Rest::Still { held: 0, next_due: Some(_) })));
    assert_eq!(tell(&session, &id, Command::NextTimer).await, Rest::Ended);
    let events = verified(&session, &id).await;
    let starts =
        |event: &&Event| matches!(&event.fact, Fact::NodeStarted(it) if it.firing.node_id.as_str() == "rest");
    assert_eq!(events.iter().filter(starts).count(), 1, "it rests once");
    assert!(events.iter().any(|event| matches!(event.fact, Fact::TimerFired(_))));
    // What waits is ended when nobody wants it any more.
    let id = begin(&session, &workflow, json!({}), Controls::default()).await;
    session.cancel(&id).await.expect("halted");
    assert!(!session.is_running(&id));
    session.close().await.expect("closed");
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_else_is_touched_and_a_killed_debugger_leaves_queues_that_expire() {
    let servers = Servers::start();
    let folder = tempfile::tempdir().expect("a folder");
    let crew = runeglass_tests::clustered::Crew::start(&servers, "").await;
    let plain_queues = made(&servers);
    let session = open(&servers, folder.path()).await;
    let id = begin(&session, &two_steps(), items(5), breaks(before("one"))).await;
    assert_eq!(held(&session, &id).await.len(), 5);
    let own: Vec<String> = made(&servers).into_iter().filter(|name| !plain_queues.contains(name)).collect();
    assert!(own.len() == 10 && own.iter().all(|name| name.starts_with("debug.")), "{own:?}");

    // The same workflow on the plain queues is held by nobody.
    let events = crew.run("other", local::plan(&two_steps()), items(5)).await;
    assert_eq!(output(&events, "all")[4], json!({"m": 4}));
    assert_eq!(held(&session, &id).await.len(), 5, "the crew has taken none of ours");
    let refused = session.control(&"other".into(), &Command::Pause).await.expect_err("it is not ours");
    assert_eq!(refused.code, ProblemCode::NotFound);
    let arguments = servers.rabbit.control(&["list_queues", "name", "arguments"]);
    let expires = |line: &str| line.contains("\"x-expires\"");
    assert!(arguments.lines().all(|line| line.starts_with("debug.") == expires(line)), "{arguments}");
    session.cancel(&id).await.expect("halted");
    session.close().await.expect("closed");
    assert_eq!(made(&servers), plain_queues, "ours are gone, theirs are there");
    crew.close().await;
}
