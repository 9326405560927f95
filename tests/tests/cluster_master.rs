//! What a master keeps it reads once, and what is kept leaves the servers soon, but never too soon.

use std::{mem, sync::Arc, time::Duration};

use cluster::{Letter, Log, Looks, Master, Post, Queue, Step, Topology};
use protocol::{ExecutionId, Fact, Millis, Payload};
use runeglass_tests::{
    clustered::{Crew, Servers},
    story,
    watched::{Workers, hello},
};
use serde_json::json;

/// Statuses go on coming while the log of what has ended is still there.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_kept_to_its_end_is_not_read_again() {
    let servers = Servers::shared();
    let sample = story::samples().into_iter().find(|sample| sample.name == "parcel-desk").expect("a sample");
    let crew = Crew::start(&servers, "kept.").await;
    let input = sample.plan.workflow.sample_input.clone().unwrap_or_default();
    let facts = crew.run("one", Arc::clone(&sample.plan), input).await;
    crew.close().await;

    let (amqp, redis) = (&servers.rabbit.url, &servers.redis.url);
    let mut master = Master::open(amqp, redis, Topology::new("kept.")).await.expect("a master");
    let mut kept = Vec::new();
    while kept.len() < facts.len() {
        let mut group = master.next().await.expect("read").expect("something comes");
        kept.extend(mem::take(&mut group.events));
        master.kept(group).await.expect("let go");
    }
    assert_eq!(story::told(&kept), story::told(&facts));

    let post = Post::open(amqp, Topology::new("kept.")).await.expect("connects");
    let late = json!({"execution_id": "one"}).to_string().into_bytes();
    post.send(&[Letter::new(Queue::Status, late)]).await.expect("sent");
    let group = master.next().await.expect("read").expect("something comes");
    assert_eq!(group.events, [], "everything was kept before");
}

/// An execution that has ended, and whose end has still to be told.
async fn ended(log: &Log, name: &str) -> ExecutionId {
    let id = ExecutionId::from(name);
    let units = vec![("last".to_owned(), 1)];
    let step = Step { facts: vec![(0, engine::cancelled())], units, ..Step::default() };
    log.append(&id, 0, &step).await.expect("appended");
    id
}

/// The worker that ends an execution and the master that keeps it come in any order, and one of them may be gone.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_kept_elsewhere_leaves_soon_once_its_end_was_told() {
    const LONG: Millis = 600_000;
    let servers = Servers::shared();
    let log = Log::connect(&servers.redis.url, "leaves.", LONG).await.expect("connects");
    let left = async |id: &ExecutionId| -> Millis {
        let mut redis = log.redis();
        redis::cmd("PTTL").arg(log.key(id, "log")).query_async(&mut redis).await.expect("asked")
    };
    let told = async |id: &ExecutionId| {
        log.published(id, &["last".to_owned()]).await.expect("marked");
        log.retire(id).await.expect("retired");
    };

    let alone = ended(&log, "alone").await;
    assert!(left(&alone).await > LONG, "it has its whole life before it");
    told(&alone).await;
    assert!((30_001..=LONG).contains(&left(&alone).await), "nobody has kept it");
    log.release(&alone).await.expect("kept");
    assert!((1..=30_000).contains(&left(&alone).await), "kept after its end was told");

    let ahead = ended(&log, "ahead").await;
    log.release(&ahead).await.expect("kept");
    assert!(left(&ahead).await > LONG, "its end has still to be told");
    told(&ahead).await;
    assert!((1..=30_000).contains(&left(&ahead).await), "kept before its end was told");
}

/// A worker may die between its word that the end was told and its word that the rest may go.
#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_let_go_of_leaves_when_somebody_looks() {
    let servers = Servers::shared();
    let log = Log::connect(&servers.redis.url, "look.", 600_000).await.expect("connects");
    let mut redis = log.redis();
    let id = ended(&log, "one").await;
    log.release(&id).await.expect("kept");
    log.published(&id, &["last".to_owned()]).await.expect("marked");
    Looks::new(&log).ask(&id, 0).await.expect("asked");
    let workers = Workers::start(&servers, "look.").await;
    for round in 0.. {
        let left: Millis =
            redis::cmd("PTTL").arg(log.key(&id, "log")).query_async(&mut redis).await.expect("asked");
        if left <= 30_000 {
            break;
        }
        assert!(round < 1_200, "it stays for {left} ms");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    workers.close().await;
}

/// A worker that was late writes beside what is over and gone.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_written_that_never_goes() {
    let servers = Servers::shared();
    let log = Log::connect(&servers.redis.url, "late.", 600_000).await.expect("connects");
    let mut redis = log.redis();
    let id = ExecutionId::from("gone");
    log.keep(&id, &[Payload::new(json!("large"))]).await.expect("kept");
    let taken = log.take_timers(&id, &["timer".to_owned()], 0, 1_000, "somebody").await.expect("taken");
    assert_eq!(taken, [true]);
    for what in ["payloads", "timers"] {
        let left: Millis =
            redis::cmd("PTTL").arg(log.key(&id, what)).query_async(&mut redis).await.expect("asked");
        assert!(left > 0, "{what}: {left}");
    }
}

/// Keys of others, and facts that nobody here understands, are told and passed over.
#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_cannot_be_read_keeps_no_other_from_being_kept() {
    let servers = Servers::shared();
    let (amqp, redis) = (&servers.rabbit.url, &servers.redis.url);
    let log = Log::connect(redis, "bad.", 600_000).await.expect("connects");
    let mut all = redis::pipe();
    all.cmd("SET").arg(log.key(&"taken".into(), "log")).arg("no log");
    let newer = log.key(&"newer".into(), "log");
    all.cmd("XADD").arg(newer).arg("1-0").arg("at").arg(1).arg("fact").arg("said by newer workers");
    all.exec_async(&mut log.redis()).await.expect("written");
    let post = Post::open(amqp, Topology::new("bad.")).await.expect("connects");
    let mut master = Master::open(amqp, redis, Topology::new("bad.")).await.expect("a master");
    for id in ["taken", "newer"] {
        let said = json!({"execution_id": id}).to_string().into_bytes();
        post.send(&[Letter::new(Queue::Status, said)]).await.expect("sent");
    }
    let workers = Workers::start(&servers, "bad.").await;
    workers.begin("good", &hello(), json!({})).await;
    loop {
        let mut group = master.next().await.expect("it goes on").expect("something comes");
        let events = mem::take(&mut group.events);
        master.kept(group).await.expect("let go");
        if events.iter().any(|event| matches!(event.fact, Fact::ExecutionEnded(_))) {
            break;
        }
    }
    workers.close().await;
}
