//! Looking into a cluster of our own workers: everything is seen, and nothing is changed.

use std::time::Duration;

use protocol::{
    ClusterConnection, ClusterDialect, Command, ExecutionId, ExecutionPhase, ExecutionView, Fact,
    FanOutPlace, ForkWish, Passwords, ProblemCode, Request, Response, TimerKeeper, TimerView,
};
use recording::{Access, Store};
use runeglass_tests::{
    clustered::Servers,
    outside::Web,
    rune_cluster::{
        Live, RuneCluster,
        workflows::{fan_out as their_fan_out, items, log, trigger, wait, workflow},
    },
    watched::{Looking, Workers, connection, fan_out, patient},
};
use serde_json::{Value, json};
use session::Keep;

#[tokio::test(flavor = "multi_thread")]
async fn what_runs_there_is_seen_here_and_belongs_to_nobody_here() {
    let servers = Servers::shared();
    let workers = Workers::start(&servers, "see.").await;
    let items: Vec<u32> = (0..200).collect();
    // One has ended and one rests before anybody looks.
    workers.begin("before", &fan_out(1), json!({"items": [1, 2, 3], "password": "hunter2"})).await;
    workers.end("before").await;
    workers.begin("resting", &patient(), json!({})).await;

    let folder = tempfile::tempdir().expect("a folder");
    let store = folder.path().join("seen.db");
    let looking = Looking::open(Keep::At(store.clone())).await;
    let view = looking.attach(connection(&servers, "see."), false).await;
    assert!(!view.connection.amqp.contains("guest@") || !view.connection.amqp.contains("guest:guest"));
    workers.begin("during", &fan_out(20), json!({"items": items})).await;
    looking.until("during", |view| view.nodes["work"].counts.success > 0).await;
    let place = FanOutPlace { split: "each".into(), parent: Vec::new() };
    let execution_id = ExecutionId::from("during");
    let grid = Request::Items { execution_id: execution_id.clone(), place, since: 0, at: None };
    let Ok(Response::Items(grid)) = looking.0.call(grid).await else { panic!("a grid") };
    assert_eq!(grid.total, Some(200));
    let during = looking.until_ended("during").await;
    assert_eq!(during.summary.phase, ExecutionPhase::Completed);
    assert_eq!(during.nodes["work"].counts.success, 200);
    let observed = during.summary.observed.expect("it is marked");
    assert_eq!((observed.cluster.as_str(), observed.dialect), ("shop", ClusterDialect::Runeglass));
    assert!(!observed.joined_late, "its log is whole");
    assert_eq!(during.summary.path, None, "the file is one of another machine");

    let before = looking.until_ended("before").await;
    assert_eq!(before.nodes["work"].counts.success, 3);
    let resting = looking.until("resting", |view| view.nodes["rest"].counts.waiting == 1).await;
    assert_eq!(resting.summary.phase, ExecutionPhase::Running);
    let Ok(Response::Waits(board)) = looking.0.call(Request::Waits).await else { panic!("a board") };
    assert_eq!(board.timers.iter().filter(|timer| timer.execution_id.as_str() == "resting").count(), 1);

    let cluster = looking
        .until_cluster("queues and keys", |view| {
            view.heard > 0
                && view.queues.len() == 8
                && view.redis.as_ref().is_some_and(|redis| !redis.families.is_empty())
        })
        .await;
    assert_eq!(cluster.dialect, Some(ClusterDialect::Runeglass));
    let work = cluster.queues.iter().find(|queue| queue.name == "see.workflow.execution").expect("listed");
    assert_eq!(work.consumers, 2);
    let families: Vec<&str> =
        cluster.redis.as_ref().expect("seen").families.iter().map(|family| family.pattern.as_str()).collect();
    assert!(families.contains(&"see.exec:{*}:log"), "{families:?}");

    // Nothing can be done to it, only to a fork of it.
    let cancel = looking.0.call(Request::Cancel { execution_id: "resting".into() }).await;
    assert_eq!(cancel.map_err(|problem| problem.code), Err(ProblemCode::ReadOnly));
    let pause = Request::Control { execution_id: "resting".into(), command: Box::new(Command::Pause) };
    let pause = looking.0.call(pause).await;
    assert_eq!(pause.map_err(|problem| problem.code), Err(ProblemCode::ReadOnly));
    let wish = Box::new(ForkWish::At { position: 1, edit: None, run: Vec::new() });
    let fork = Request::Fork { execution_id: "before".into(), wish, path: None };
    let Ok(Response::Started { execution_id: forked }) = looking.0.call(fork).await else { panic!("a fork") };
    let forked = looking.until_ended(forked.as_str()).await;
    assert_eq!(forked.summary.phase, ExecutionPhase::Completed);
    assert_eq!(forked.summary.observed, None, "it runs here");
    assert_eq!(forked.summary.origin.expect("it comes from there").parent.as_str(), "before");

    // Secrets are hidden, also in inputs.
    let reader = Store::open(&store, Access::Read).await.expect("readable");
    let events = reader.events(&"before".into()).await.expect("recorded");
    let Fact::ExecutionStarted(started) = &events[0].fact else { panic!("a start") };
    assert_eq!(started.input.value()["password"], "███ string(7)");
    assert!(reader.unfinished().await.expect("read").is_empty(), "nobody here goes on with it");

    // What was not to be kept goes; what is to be kept stays.
    looking.0.call(Request::Detach).await.expect("detached");
    assert!(looking.view("during").await.is_none());
    assert!(looking.view("resting").await.is_none());
    looking.attach(connection(&servers, "see."), false).await;
    looking.until_ended("during").await;
    looking.until("resting", |view| view.nodes["rest"].counts.waiting == 1).await;
    for on in [true, false] {
        looking.0.call(Request::KeepObserved { on }).await.expect("decided");
    }
    looking.0.call(Request::Detach).await.expect("detached");
    assert!(looking.view("during").await.is_some(), "what was recorded stays, although nothing more is");
    let gaps = async |looking: &Looking, id: &str| {
        looking.view(id).await.expect("kept").summary.observed.expect("it is marked").gaps
    };
    let left = gaps(&looking, "resting").await;
    assert_eq!(left.iter().map(|gap| gap.until).collect::<Vec<_>>(), [None], "nobody looks any more");
    assert_eq!(gaps(&looking, "during").await, [], "it has ended");
    let recorded = looking.0.recorded(&"resting".into()).await.expect("kept");
    looking.0.close().await.expect("closed");
    drop(looking);
    // Another session goes on with the recording, and with nothing else.
    let again = Looking::open(Keep::At(store)).await;
    assert!(again.0.recovered().is_empty());
    assert_eq!(again.view("resting").await.expect("kept").summary.phase, ExecutionPhase::Running);
    assert_eq!(gaps(&again, "resting").await, left);
    again.attach(connection(&servers, "see."), true).await;
    let followed =
        |view: &ExecutionView| view.summary.observed.as_ref().is_some_and(|seen| seen.gaps.is_empty());
    again.until("resting", |view| view.nodes["rest"].counts.waiting == 1 && followed(view)).await;
    again.0.call(Request::Detach).await.expect("detached");
    assert_eq!(again.0.recorded(&"resting".into()).await.expect("kept"), recorded, "it goes on");
    assert_eq!(gaps(&again, "resting").await.len(), 1);
    workers.close().await;
}

/// Asks a server outside.
fn priced(url: &str) -> Value {
    json!({
        "workflow_id": "priced",
        "nodes": [
            {"id": "start", "type": "trigger"},
            {"id": "ask", "type": "http", "parameters": {"url": url}},
            {"id": "say", "type": "log", "parameters": {"message": "$ask.body.method"}}
        ],
        "edges": [{"id": "1", "src": "start", "dst": "ask"}, {"id": "2", "src": "ask", "dst": "say"}]
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fork_of_what_was_seen_is_answered_as_it_was_there() {
    let servers = Servers::shared();
    let workers = Workers::start(&servers, "pin.").await;
    let web = Web::start().await;
    let looking = Looking::open(Keep::Nowhere).await;
    looking.attach(connection(&servers, "pin."), true).await;
    workers.begin("there", &priced(&web.url("/echo")), json!({})).await;
    let there = looking.until_ended("there").await;
    assert_eq!((there.summary.phase, web.requests().len()), (ExecutionPhase::Completed, 1));
    looking.0.call(Request::Detach).await.expect("detached");
    let wish = Box::new(ForkWish::At { position: 1, edit: None, run: Vec::new() });
    let execution_id = ExecutionId::from("there");
    let preview = Request::ForkPreview { execution_id: execution_id.clone(), wish: wish.clone(), path: None };
    let Ok(Response::ForkPreview(preview)) = looking.0.call(preview).await else { panic!("a preview") };
    assert_eq!((preview.effects_total, preview.pinned), (0, 1), "nothing would be asked: {preview:?}");
    let fork = Request::Fork { execution_id, wish, path: None };
    let Ok(Response::Started { execution_id: forked }) = looking.0.call(fork).await else { panic!("a fork") };
    let forked_view = looking.until_ended(forked.as_str()).await;
    assert_eq!(forked_view.summary.phase, ExecutionPhase::Completed);
    assert_eq!(web.requests().len(), 1, "the server was asked by the cluster, and not from here");
    let output = async |id: &ExecutionId| {
        let detail =
            Request::NodeDetail { execution_id: id.clone(), node_id: "ask".into(), key: None, at: None };
        match looking.0.call(detail).await {
            Ok(Response::NodeDetail(detail)) => format!("{:?}", detail.firings[0].output),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(output(&forked).await, output(&"there".into()).await, "it got what was seen");
    workers.close().await;
}

fn their_connection(servers: &Servers) -> ClusterConnection {
    ClusterConnection { dialect: Some(ClusterDialect::Rune), ..connection(servers, "") }
}

/// Looks at the Rune services until it hears them.
async fn listen(looking: &Looking, servers: &Servers, record: bool) {
    looking.attach(their_connection(servers), record).await;
    looking.until_cluster("it listens", |view| !view.queues.is_empty()).await;
}

/// A fan-out of the Rune services of which two items have come and one hangs; what is heard of it, in two parts.
fn their_night(id: &str) -> (RuneCluster, usize) {
    let mut cluster = RuneCluster::new();
    cluster.answer("http://shop/1", 60_000, Ok(json!("late")));
    cluster.start(id, &their_fan_out(), Some(items(3)));
    cluster.run_for(1_000);
    let night = cluster.published().len();
    cluster.run();
    (cluster, night)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_kept_stays_whole_when_somebody_looks_again() {
    let servers = Servers::shared();
    let live = Live::connect(&servers.rabbit.url, &servers.redis.url).await;
    let (cluster, night) = their_night("night");
    let folder = tempfile::tempdir().expect("a folder");
    let looking = Looking::open(Keep::At(folder.path().join("seen.db"))).await;
    listen(&looking, &servers, true).await;
    live.publish(&cluster.published()[..night]).await;
    looking.until("night", |view| view.nodes["fetch"].counts.success == 2).await;
    let note = |execution_id: &str| Request::AddNote {
        execution_id: execution_id.into(),
        position: 2,
        node_id: None,
        text: "look here".to_owned(),
    };
    looking.0.call(note("night")).await.expect("noted");
    looking.0.call(Request::Detach).await.expect("detached");
    let recorded = looking.0.recorded(&"night".into()).await.expect("kept");

    // The next day it goes on, and nobody records. It is seen under a name of its own.
    let still_whole = async |what: &str| {
        assert_eq!(looking.0.recorded(&"night".into()).await.expect("kept"), recorded, "{what}");
        let notes = looking.0.call(Request::Notes { execution_id: "night".into() }).await;
        assert!(matches!(notes, Ok(Response::Notes(notes)) if notes.len() == 1), "{what}");
    };
    listen(&looking, &servers, false).await;
    live.publish(&cluster.published()[night..]).await;
    let seen = looking.until_ended("night~2").await;
    assert!(seen.summary.observed.expect("it is marked").joined_late);
    still_whole("while it is looked at").await;
    looking.0.call(Request::Detach).await.expect("detached");
    still_whole("after that").await;
    assert!(looking.view("night~2").await.is_none(), "it was here in passing");

    // What is recorded now is kept beside it; what has a note is kept although nobody records.
    for (name, record) in [("night~2", true), ("night~3", false)] {
        listen(&looking, &servers, record).await;
        live.publish(&cluster.published()[night..]).await;
        looking.until_ended(name).await;
        looking.0.call(note(name)).await.expect("noted");
        looking.0.call(Request::Detach).await.expect("detached");
        assert!(looking.view(name).await.is_some(), "{name}");
        still_whole(name).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_does_not_let_us_in_takes_no_other_away() {
    let servers = Servers::shared();
    let live = Live::connect(&servers.rabbit.url, &servers.redis.url).await;
    let looking = Looking::open(Keep::Nowhere).await;
    listen(&looking, &servers, false).await;
    let (cluster, night) = their_night("beside");
    live.publish(&cluster.published()[..night]).await;
    looking.until("beside", |view| view.nodes["fetch"].counts.success == 2).await;
    let closed = ClusterConnection {
        name: "other".to_owned(),
        amqp: format!("amqp://guest:wrong@127.0.0.1:{}/%2f", servers.rabbit.port),
        ..their_connection(&servers)
    };
    let attach = Request::Attach { connection: closed, passwords: Passwords::default(), record: false };
    looking.0.call(attach).await.expect_err("nobody is let in");
    assert_eq!(looking.cluster().await.connection.name, "shop");
    live.publish(&cluster.published()[night..]).await;
    assert_eq!(looking.until_ended("beside").await.summary.phase, ExecutionPhase::Completed);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_timer_that_nobody_comes_for_says_so_although_its_rest_was_heard() {
    let servers = Servers::shared();
    let mut live = Live::connect(&servers.rabbit.url, &servers.redis.url).await;
    let mut cluster = RuneCluster::new();
    cluster.faults.lost_resumes = true;
    let rests = workflow(vec![trigger(), wait("rest", 60), log("end")], "start>rest rest>end");
    cluster.start("orphan", &rests, None);
    cluster.run();
    let looking = Looking::open(Keep::Nowhere).await;
    listen(&looking, &servers, false).await;
    live.publish(cluster.published()).await;
    looking.until("orphan", |view| view.nodes["rest"].counts.waiting == 1).await;
    let timers = async || -> Vec<TimerView> {
        let Ok(Response::Waits(board)) = looking.0.call(Request::Waits).await else { panic!("a board") };
        assert_eq!(board.total, board.timers.len());
        board.timers.into_iter().filter(|timer| timer.execution_id.as_str() == "orphan").collect()
    };
    let heard = timers().await;
    assert_eq!((heard.len(), heard[0].keeper), (1, TimerKeeper::Cluster));
    live.add(&cluster.keys).await;
    for _ in 0..3_600 {
        let seen = timers().await;
        assert_eq!(seen.len(), 1, "{seen:?}");
        if seen[0].keeper == TimerKeeper::Nobody {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{:?}", timers().await);
}
