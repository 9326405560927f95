//! Looking into a cluster of our own workers: everything is seen, and nothing is changed.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{BufRead, BufReader, Write},
    net::TcpStream,
    process::Stdio,
    sync::{Arc, Mutex},
    time::Duration,
};

use protocol::{
    ClusterConnection, ClusterDialect, Command, ExecutionId, ExecutionPhase, Fact, FanOutPlace, ForkWish,
    Passwords, ProblemCode, Request, Response, TimerKeeper, TimerView,
};
use recording::{Access, Store};
use runeglass_tests::{
    clustered::Servers,
    outside::Web,
    rune_cluster::{
        Live, RuneCluster,
        workflows::{fan_out as their_fan_out, items, log, trigger, wait, workflow},
    },
    runeglass,
    watched::{Looking, Workers, broker_state, connection, keys, named_by_the_broker},
};
use serde_json::{Value, json};
use session::Keep;

/// Every item rests a little, so that a fan-out can be seen while it goes on.
fn fan_out(rest_ms: u32) -> Value {
    json!({
        "workflow_id": "fan",
        "nodes": [
            {"id": "start", "type": "trigger"},
            {"id": "each", "type": "split", "parameters": {"input_array": "$trigger.items"}},
            {"id": "work", "type": "simulate", "parameters": {"latency_ms": rest_ms, "output": "{{ $item * 2 }}"}},
            {"id": "all", "type": "aggregator"}
        ],
        "edges": [
            {"id": "1", "src": "start", "dst": "each"}, {"id": "2", "src": "each", "dst": "work"},
            {"id": "3", "src": "work", "dst": "all"}
        ]
    })
}

/// Rests for an hour.
fn patient() -> Value {
    json!({
        "workflow_id": "patient",
        "nodes": [
            {"id": "start", "type": "trigger"},
            {"id": "rest", "type": "wait", "parameters": {"amount": 1, "unit": "hours"}},
            {"id": "say", "type": "log", "parameters": {"message": "done"}}
        ],
        "edges": [{"id": "1", "src": "start", "dst": "rest"}, {"id": "2", "src": "rest", "dst": "say"}]
    })
}

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
    for on in [true, false, true] {
        looking.0.call(Request::KeepObserved { on }).await.expect("decided");
    }
    looking.0.call(Request::Detach).await.expect("detached");
    assert!(looking.view("during").await.is_some());
    looking.0.close().await.expect("closed");
    drop(looking);
    // Another session goes on with the recording, and with nothing else.
    let again = Looking::open(Keep::At(store)).await;
    assert!(again.0.recovered().is_empty());
    assert_eq!(again.view("resting").await.expect("kept").summary.phase, ExecutionPhase::Running);
    again.attach(connection(&servers, "see."), true).await;
    again.until("resting", |view| view.nodes["rest"].counts.waiting == 1).await;
    again.0.call(Request::Detach).await.expect("detached");
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
        amqp: "amqp://guest:guest@127.0.0.1:1/%2f".to_owned(),
        ..their_connection(&servers)
    };
    let attach = Request::Attach { connection: closed, passwords: Passwords::default(), record: false };
    looking.0.call(attach).await.expect_err("nobody answers");
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
    for _ in 0..200 {
        let seen = timers().await;
        assert_eq!(seen.len(), 1, "{seen:?}");
        if seen[0].keeper == TimerKeeper::Nobody {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{:?}", timers().await);
}

/// Reads what Redis is asked, by whom, until the connection ends.
fn monitor(port: u16) -> Arc<Mutex<Vec<String>>> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("connects");
    stream.write_all(b"MONITOR\r\n").expect("asked");
    let lines = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&lines);
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first).expect("answered");
    assert_eq!(first.trim(), "+OK");
    std::thread::spawn(move || {
        for line in reader.lines() {
            let Ok(line) = line else { return };
            heard.lock().expect("not poisoned").push(line);
        }
    });
    lines
}

/// The addresses of everybody who is connected.
async fn clients(servers: &Servers) -> BTreeSet<String> {
    let client = redis::Client::open(servers.redis.url.as_str()).expect("an address");
    let mut connection = client.get_multiplexed_async_connection().await.expect("connects");
    let said: String = redis::cmd("CLIENT").arg("LIST").query_async(&mut connection).await.expect("a list");
    let address = |line: &str| line.split(' ').find_map(|part| part.strip_prefix("addr=")).map(str::to_owned);
    // Who asks is not meant.
    said.lines().filter(|line| !line.contains("cmd=client")).filter_map(address).collect()
}

type Keys = BTreeMap<String, (Vec<u8>, i64)>;

/// Everything in Redis, once the workers have written all that they had to.
async fn at_rest(servers: &Servers) -> Keys {
    let mut before = keys(&servers.redis).await;
    for _ in 0..40 {
        tokio::time::sleep(Duration::from_millis(500)).await;
        let now = keys(&servers.redis).await;
        if now == before {
            return now;
        }
        before = now;
    }
    panic!("Redis does not come to rest");
}

fn without_looks(mut keys: Keys) -> Keys {
    keys.remove("looks").expect("workers have something to look at");
    keys
}

/// Keys that are not as they were: other content, another moment to go, gone before that moment, or new.
async fn changed(servers: &Servers, before: &Keys, after: &Keys) -> Vec<String> {
    let client = redis::Client::open(servers.redis.url.as_str()).expect("an address");
    let mut connection = client.get_multiplexed_async_connection().await.expect("connects");
    let (seconds, _): (i64, i64) = redis::cmd("TIME").query_async(&mut connection).await.expect("a moment");
    let was_due = |until: i64| until >= 0 && until <= seconds * 1_000 + 1_000;
    let lost = before.iter().filter_map(|(name, (content, until))| match after.get(name) {
        None if was_due(*until) => None,
        None => Some(format!("{name} is gone; it was to go at {until}")),
        Some((_, now)) if now != until => Some(format!("{name} goes at {now} in place of {until}")),
        Some((now, _)) if now != content => Some(format!("{name} holds something else")),
        Some(_) => None,
    });
    let new = after.keys().filter(|name| !before.contains_key(*name)).map(|name| format!("{name} is new"));
    lost.chain(new).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_observer_leaves_no_trace_even_when_it_is_killed() {
    let servers = Servers::start();
    let workers = Workers::start(&servers, "").await;
    let input = json!({"items": (0..50).collect::<Vec<u32>>()});
    workers.begin("alone", &fan_out(1), input.clone()).await;
    let alone = workers.end("alone").await;
    workers.begin("resting", &patient(), json!({})).await;
    // Statuses are there for a master that has not come yet; nobody may take them away.
    tokio::time::sleep(Duration::from_millis(500)).await;
    let known = clients(&servers).await;
    let (broker, redis) = (broker_state(&servers), keys(&servers.redis).await);
    assert!(broker.iter().any(|line| line.starts_with("workflow.node.status")), "{broker:?}");

    let asked = monitor(servers.redis.port);
    let mut observer = runeglass();
    observer.args(["attach", "--json", "--amqp", &servers.rabbit.url, "--redis", &servers.redis.url]);
    let mut observer = observer.stdout(Stdio::piped()).spawn().expect("it starts");
    let mut lines = BufReader::new(observer.stdout.take().expect("piped")).lines();
    let saw = |lines: &mut dyn Iterator<Item = std::io::Result<String>>, what: &str| {
        let found = lines.map_while(Result::ok).any(|line| line.contains(what));
        assert!(found, "{what} was not seen");
    };
    saw(&mut lines, "\"execution_id\":\"resting\"");
    let watching: BTreeSet<String> = clients(&servers).await.difference(&known).cloned().collect();
    assert!(!watching.is_empty(), "it is connected");
    assert_eq!(named_by_the_broker(&servers).len(), 1, "one queue of its own");
    assert_eq!(broker_state(&servers), broker, "while it looks");
    assert_eq!(keys(&servers.redis).await, redis, "while it looks");

    // What it looks at has the same result as before.
    workers.begin("watched", &fan_out(1), input).await;
    let watched = workers.end("watched").await;
    assert_eq!(watched["final_context"], alone["final_context"]);
    saw(&mut lines, "\"execution_id\":\"watched\"");
    let broker_before = broker_state(&servers);
    let redis_before = at_rest(&servers).await;
    observer.kill().expect("killed");
    observer.wait().expect("ended");
    for _ in 0..100 {
        if named_by_the_broker(&servers).is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(named_by_the_broker(&servers), Vec::<String>::new(), "its queue went with it");
    assert_eq!(
        broker_state(&servers),
        broker_before,
        "queues, bindings, exchanges and consumers are as they were"
    );
    let redis_after = keys(&servers.redis).await;
    // When to look again is what workers write down themselves, at any time; that the observer writes nothing at all is
    // told by what it has asked, below.
    let (redis_before, redis_after) = (without_looks(redis_before), without_looks(redis_after));
    assert_eq!(changed(&servers, &redis_before, &redis_after).await, Vec::<String>::new());

    let mine = |line: &&String| {
        let from = line.split(['[', ']']).nth(1).and_then(|who| who.split(' ').nth(1));
        from.is_some_and(|from| watching.contains(from))
    };
    let lines = asked.lock().expect("not poisoned").clone();
    let own: Vec<&String> = lines.iter().filter(mine).collect();
    let allowed: Vec<&str> = observer::Read::ALL.iter().map(|read| read.words()[0]).collect();
    let mut seen = BTreeSet::new();
    for line in &own {
        let command = line.split('"').nth(1).unwrap_or_default().to_uppercase();
        assert!(allowed.contains(&command.as_str()) || command == "MONITOR", "{line}");
        seen.insert(command);
    }
    println!("an observer asked {} times: {seen:?}", own.len());
    for command in ["TIME", "SCAN", "XRANGE", "ZRANGE", "INFO"] {
        assert!(seen.contains(command), "{seen:?}");
    }
    workers.close().await;
}
