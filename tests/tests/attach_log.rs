//! Looking at our own workers: their log is the truth, also where it is read at an awkward moment or from far away.

use std::{sync::PoisonError, time::Duration};

use protocol::{
    ClusterConnection, ClusterDialect, ErrorCode, Event, ExecutionPhase, Fact, Payload,
    cluster::execution_key,
};
use redis::aio::MultiplexedConnection;
use runeglass_tests::{
    clustered::Servers,
    host::Host,
    local,
    proxy::Proxy,
    runeglass,
    traces::monitor,
    watched::{Looking, Workers, connection, hello},
};
use serde_json::{Value, json};
use session::Keep;

/// A log in Redis, written as workers do. Names of messages come of the execution's, so it has the one it ran under.
struct Written {
    redis: MultiplexedConnection,
    prefix: &'static str,
    id: &'static str,
}

impl Written {
    async fn by(servers: &Servers, prefix: &'static str, id: &'static str) -> Self {
        let client = redis::Client::open(servers.redis.url.as_str()).expect("an address");
        Self { redis: client.get_multiplexed_async_connection().await.expect("connects"), prefix, id }
    }

    fn key(&self, what: &str) -> String {
        execution_key(self.prefix, &self.id.into(), what)
    }

    async fn add(&mut self, events: &[Event], first: usize) {
        let mut all = redis::pipe();
        for (event, number) in events.iter().zip(first..) {
            let fact = serde_json::to_string(&event.fact).expect("JSON");
            let number = format!("{number}-0");
            all.cmd("XADD").arg(self.key("log")).arg(number).arg("at").arg(event.at).arg("fact").arg(fact);
        }
        all.cmd("ZADD").arg(format!("{}looks", self.prefix)).arg(9e15).arg(self.id);
        all.exec_async(&mut self.redis).await.expect("written");
    }

    async fn stand(&mut self, position: usize, status: &str) {
        let mut set = redis::cmd("HSET");
        set.arg(self.key("state")).arg("position").arg(position).arg("status").arg(status);
        set.exec_async(&mut self.redis).await.expect("written");
    }
}

/// A worker may append its last facts between our question for more and our question how it stands.
#[tokio::test(flavor = "multi_thread")]
async fn an_end_between_two_questions_is_read_and_not_made_up() {
    let servers = Servers::shared();
    let workers = Workers::start(&servers, "between.").await;
    let events = local::run(local::plan(&hello()), json!({})).await.events;
    let all = events.len();
    let mut written = Written::by(&servers, "between.", "local").await;
    written.add(&events[..all - 2], 1).await;
    written.stand(all, "completed").await;
    let looking = Looking::open(Keep::Nowhere).await;
    looking.attach(connection(&servers, "between."), false).await;
    looking.until("local", |view| view.summary.phase == ExecutionPhase::Running).await;
    for _ in 0..20 {
        // Several looks find nothing more in the log, and that it has ended.
        let view = looking.view("local").await.expect("it is seen");
        assert_eq!(view.summary.phase, ExecutionPhase::Running, "no end is made up while the log is there");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    written.add(&events[all - 2..], all - 1).await;
    let view = looking.until_ended("local").await;
    assert_eq!((view.summary.phase, view.summary.error), (ExecutionPhase::Completed, None));
    looking.0.close().await.expect("closed");
    workers.close().await;
}

/// What could not be followed any further had its end from us, not from the cluster: nothing is written behind that.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_lost_once_is_told_anew_beside_it() {
    let servers = Servers::shared();
    let workers = Workers::start(&servers, "newer.").await;
    let events = local::run(local::plan(&hello()), json!({})).await.events;
    let mut written = Written::by(&servers, "newer.", "local").await;
    written.add(&events[..3], 1).await;
    written.stand(events.len(), "running").await;
    let folder = tempfile::tempdir().expect("a folder");
    let keep = Keep::At(folder.path().join("seen.db"));
    let looking = Looking::open(keep.clone()).await;
    looking.attach(connection(&servers, "newer."), true).await;
    looking.until("local", |view| view.summary.phase == ExecutionPhase::Running).await;
    let mut odd = redis::cmd("XADD");
    odd.arg(written.key("log")).arg("4-0").arg("at").arg(1).arg("fact").arg("said by newer workers");
    odd.exec_async(&mut written.redis).await.expect("written");
    let lost = looking.until_ended("local").await;
    assert_eq!(lost.summary.error.map(|error| error.code), Some(ErrorCode::NotObserved));
    looking.0.close().await.expect("closed");
    drop(looking);

    redis::cmd("DEL").arg(written.key("log")).exec_async(&mut written.redis).await.expect("taken away");
    written.add(&events, 1).await;
    let looking = Looking::open(keep).await;
    looking.attach(connection(&servers, "newer."), true).await;
    let whole = looking.until_ended("local~2").await;
    assert_eq!((whole.summary.phase, whole.summary.error), (ExecutionPhase::Completed, None));
    let before = looking.view("local").await.expect("it is kept");
    assert_eq!(before.position, lost.position, "and stays as it was");
    looking.0.close().await.expect("closed");
    workers.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_begun_again_counts_also_in_the_last_breath() {
    let servers = Servers::shared();
    let workers = Workers::start(&servers, "again.").await;
    let mut events = local::run(local::plan(&hello()), json!({})).await.events;
    let is_begun = |event: &Event| matches!(&event.fact, Fact::NodeStarted(begun) if begun.firing.node_id.as_str() == "work");
    let begun = events.iter().position(is_begun).expect("work begins");
    events.insert(begun, events[begun].clone());
    let mut written = Written::by(&servers, "again.", "local").await;
    written.add(&events, 1).await;
    written.stand(events.len(), "completed").await;
    let looking = Looking::open(Keep::Nowhere).await;
    looking.attach(connection(&servers, "again."), false).await;
    assert_eq!(looking.until_ended("local").await.summary.phase, ExecutionPhase::Completed);
    looking.until_cluster("the second worker is told", |view| view.redelivered == 1).await;
    looking.0.close().await.expect("closed");
    workers.close().await;
}

/// A master takes away what it has kept. Whoever looks has a moment to read it, too.
#[tokio::test(flavor = "multi_thread")]
async fn beside_a_master_everything_is_seen_to_its_end() {
    let servers = Servers::start();
    let workers = Workers::start(&servers, "").await;
    let folder = tempfile::tempdir().expect("a folder");
    let store = folder.path().join("master.db");
    let store = store.to_str().expect("a name");
    let mut master = runeglass();
    master.args(["master", "--store", store, "--amqp", &servers.rabbit.url, "--redis", &servers.redis.url]);
    let master = Host::start(&mut master);
    let looking = Looking::open(Keep::Nowhere).await;
    looking.attach(connection(&servers, ""), false).await;
    let ids: Vec<String> = (0..40).map(|number| format!("short-{number}")).collect();
    for id in &ids {
        workers.begin(id, &hello(), json!({})).await;
    }
    for id in &ids {
        let view = looking.until_ended(id).await;
        assert_eq!((view.summary.phase, view.summary.error), (ExecutionPhase::Completed, None), "{id}");
    }
    assert_eq!(looking.cluster().await.passed_over, 0);
    looking.0.close().await.expect("closed");
    drop(master);
    workers.close().await;
}

/// Every question takes a while, and there are many keys to come by.
#[tokio::test(flavor = "multi_thread")]
async fn a_redis_that_is_far_away_keeps_nobody_waiting() {
    let servers = Servers::shared();
    let workers = Workers::start(&servers, "far.").await;
    let mut written = Written::by(&servers, "far.", "none").await;
    let keys: Vec<String> = (0..40_000).map(|number| format!("far.key:{number}")).collect();
    let mut all = redis::pipe();
    for key in &keys {
        all.cmd("SET").arg(key).arg(1).ignore();
    }
    all.exec_async(&mut written.redis).await.expect("written");
    let way = Proxy::slow_before(servers.redis.port, Duration::from_millis(20)).await;
    let redis = format!("redis://127.0.0.1:{}", way.port);
    let looking = Looking::open(Keep::Nowhere).await;
    let dialect = Some(ClusterDialect::Runeglass);
    looking.attach(ClusterConnection { redis, dialect, ..connection(&servers, "far.") }, false).await;
    let walked = |view: &protocol::ClusterView| -> u64 {
        view.redis.iter().flat_map(|redis| &redis.families).map(|family| family.keys).sum()
    };
    let view = looking.until_cluster("the walk has begun", |view| walked(view) > 0).await;
    assert!(walked(&view) < 20_000, "it is shown while the walk goes on: {}", walked(&view));
    looking.until_cluster("queues are told of", |view| view.queues.len() == 8).await;
    workers.begin("one", &hello(), json!({})).await;
    assert_eq!(looking.until_ended("one").await.summary.phase, ExecutionPhase::Completed);
    let view = looking.cluster().await;
    assert!(walked(&view) < 40_000, "all that happens before the walk is over: {}", walked(&view));
    looking.0.close().await.expect("closed");
    workers.close().await;
    redis::cmd("UNLINK").arg(keys).exec_async(&mut written.redis).await.expect("taken away");
}

/// What a node has made, where it is too large for the log: it lies beside it.
async fn put_beside(written: &mut Written, events: &mut [Event], node: &str, value: Value) -> Payload {
    let payload = Payload::new(value);
    let mut set = redis::cmd("HSET");
    set.arg(written.key("payloads")).arg(payload.hash()).arg(payload.text());
    set.exec_async(&mut written.redis).await.expect("written");
    let made = events.iter_mut().find_map(|event| match &mut event.fact {
        Fact::NodeSucceeded(done) if done.firing.node_id.as_str() == node => Some(&mut done.output),
        _ => None,
    });
    *made.expect("it has succeeded") = payload.reference();
    payload
}

/// A value may be larger than what comes through a slow line while somebody waits.
#[tokio::test(flavor = "multi_thread")]
async fn a_value_too_large_for_the_line_is_told_and_holds_up_no_other() {
    let servers = Servers::shared();
    let workers = Workers::start(&servers, "narrow.").await;
    let node = |id: &str| json!({"id": id, "type": "simulate", "parameters": {"output": {"n": 1}}});
    let edge = |src: &str, dst: &str| json!({"id": dst, "src": src, "dst": dst});
    let three = json!({
        "workflow_id": "three",
        "nodes": [{"id": "start", "type": "trigger"}, node("first"), node("giant"), node("last")],
        "edges": [edge("start", "first"), edge("first", "giant"), edge("giant", "last")]
    });
    let mut events = local::run(local::plan(&three), json!({})).await.events;
    let mut written = Written::by(&servers, "narrow.", "local").await;
    let text = |length: usize| json!({"text": "x".repeat(length)});
    let first = put_beside(&mut written, &mut events, "first", text(2_000)).await;
    // A tenth of a second for 64 kB: it would take half a minute.
    let giant = put_beside(&mut written, &mut events, "giant", text(20_000_000)).await;
    let last = put_beside(&mut written, &mut events, "last", text(100_000)).await;
    written.add(&events, 1).await;
    written.stand(events.len(), "completed").await;

    let asked = monitor(servers.redis.port);
    let way = Proxy::slow_before(servers.redis.port, Duration::from_millis(100)).await;
    let redis = format!("redis://127.0.0.1:{}", way.port);
    let looking = Looking::open(Keep::Nowhere).await;
    let dialect = Some(ClusterDialect::Runeglass);
    looking.attach(ClusterConnection { redis, dialect, ..connection(&servers, "narrow.") }, false).await;
    assert_eq!(looking.until_ended("local").await.summary.phase, ExecutionPhase::Completed);
    let seen = looking.0.recorded(&"local".into()).await.expect("seen");
    let made = |node: &str| {
        let mut outputs = seen.iter().filter_map(|event| match &event.fact {
            Fact::NodeSucceeded(done) if done.firing.node_id.as_str() == node => Some(&done.output),
            _ => None,
        });
        outputs.next().expect("it is seen").value()
    };
    let said = json!({"not_read": "this value of 20.0 MB did not come through in time"});
    assert_eq!(made("giant"), &said);
    assert_eq!((made("first"), made("last")), (first.value(), last.value()), "the others have come");

    // It goes on with what comes next, and does not ask for the large one again.
    let large = json!({
        "workflow_id": "large",
        "nodes": [
            {"id": "start", "type": "trigger"},
            {"id": "work", "type": "simulate", "parameters": {"output": text(5_000)}}
        ],
        "edges": [edge("start", "work")]
    });
    workers.begin("one", &large, json!({})).await;
    assert_eq!(looking.until_ended("one").await.summary.phase, ExecutionPhase::Completed);
    looking.until_cluster("it is said no longer", |view| view.troubles.is_empty()).await;
    let times = {
        let asked = asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.iter().filter(|line| line.contains("\"HMGET\"") && line.contains(giant.hash())).count()
    };
    assert_eq!(times, 1);
    looking.0.close().await.expect("closed");
    workers.close().await;
}
