//! Looking at a cluster that says more than can be taken in at once: what has no room is counted and told, and what was
//! heard last is taken in before anybody leaves.

use std::{fs, time::Duration};

use lapin::{
    Connection, ConnectionProperties, ExchangeKind, options::ExchangeDeclareOptions, types::FieldTable,
};
use protocol::{ClusterConnection, ClusterDialect, ClusterView, ExecutionPhase, Fact, Request};
use runeglass_tests::{
    clustered::Servers,
    flood::{Scene, name, pour_all, pour_one},
    proxy::Proxy,
    watched::{Looking, Workers, broker_state, connection, hello, named_by_the_broker, until_heard},
};
use serde_json::json;
use session::Keep;
use tokio::sync::Mutex;

const ITEMS: usize = 20;
/// Copies that wait here until they are taken in.
const INBOX: u64 = 20_000;
/// What this process may take more: what waits has room for 64 MiB of messages, and they are larger as values.
const MOST_BYTES: u64 = 400 << 20;

/// While every answer takes so long, a thousand copies are taken in between two of them, and many more come.
const LATE: Duration = Duration::from_secs(2);
/// Each of these tests takes the whole machine.
static ALONE: Mutex<()> = Mutex::const_new(());

/// A cluster of the Rune services that nobody but this test speaks on, and somebody who looks at it. Whoever looks asks
/// Redis, too; where an answer takes a while, what is heard meanwhile waits.
struct Theirs {
    exchange: String,
    prefix: &'static str,
    port: u16,
    looking: Looking,
    way: Proxy,
    _declaring: Connection,
}

impl Theirs {
    async fn look(servers: &Servers, prefix: &'static str, keep: Keep) -> Self {
        let exchange = format!("{prefix}workflows");
        let declaring = Connection::connect(&servers.rabbit.url, ConnectionProperties::default()).await;
        let declaring = declaring.expect("connects");
        let channel = declaring.create_channel().await.expect("a channel");
        let (name, options) = (exchange.as_str().into(), ExchangeDeclareOptions::default());
        let declared = channel.exchange_declare(name, ExchangeKind::Topic, options, FieldTable::default());
        declared.await.expect("declared");
        let way = Proxy::before(servers.redis.port).await;
        let theirs = ClusterConnection {
            redis: format!("redis://127.0.0.1:{}", way.port),
            dialect: Some(ClusterDialect::Rune),
            ..connection(servers, prefix)
        };
        let looking = Looking::open(keep).await;
        looking.attach(theirs, true).await;
        until_heard(servers, &exchange).await;
        Self { exchange, prefix, port: servers.rabbit.port, looking, way, _declaring: declaring }
    }

    fn scene(&self) -> Scene {
        Scene::fan_out(&self.exchange, self.prefix, ITEMS)
    }

    /// Many executions from the first one on; how many, and their messages.
    async fn say(&self, first: u64, messages: u64) -> (u64, u64) {
        let (port, scene) = (self.port, self.scene());
        let executions = messages.div_ceil(scene.messages);
        let said = tokio::task::spawn_blocking(move || pour_all(port, scene, first..first + executions));
        (executions, said.await.expect("said"))
    }

    /// Whether something was dropped. What is shown is a moment old, so it is looked at for a while.
    async fn drops(&self) -> bool {
        for _ in 0..400 {
            if self.looking.cluster().await.dropped > 0 {
                return true;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        false
    }
}

/// Memory of this process, in bytes.
fn resident() -> u64 {
    let said = fs::read_to_string("/proc/self/statm").expect("told");
    let pages: u64 = said.split(' ').nth(1).and_then(|pages| pages.parse().ok()).expect("a number");
    pages * 4_096
}

/// The broker as it is, but for the queues in which the cluster's own work is told of while it goes on.
fn undisturbed(servers: &Servers) -> Vec<String> {
    let tells =
        |line: &String| line.starts_with("workflow.node.status") || line.starts_with("workflow.completion");
    broker_state(servers).into_iter().filter(|line| !tells(line)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_has_no_room_is_counted_and_leaves_a_gap() {
    let _alone = ALONE.lock().await;
    let servers = Servers::start();
    let workers = Workers::start(&servers, "").await;
    let folder = tempfile::tempdir().expect("a folder");
    let theirs = Theirs::look(&servers, "over.", Keep::At(folder.path().join("seen.db"))).await;
    let looking = &theirs.looking;
    // One is under way while something goes by.
    let hangs = name(9_000_000);
    pour_one(theirs.port, Scene::fan_out_that_hangs(&theirs.exchange, theirs.prefix, 3), 9_000_000);
    looking.until(&hangs, |view| view.nodes["fetch"].counts.success == 2).await;
    let (before, broker, memory) = (looking.cluster().await, undisturbed(&servers), resident());
    assert_eq!((before.dropped, before.gaps.as_slice()), (0, [].as_slice()));

    theirs.way.slow_down(LATE / 2);
    let (mut executions, mut messages) = (0, 0);
    loop {
        let (more, said) = theirs.say(executions + 1, 2 * INBOX).await;
        (executions, messages) = (executions + more, messages + said);
        if theirs.drops().await {
            break;
        }
        assert!(messages < 20 * INBOX, "all of it had room: {:?}", looking.cluster().await);
    }
    workers.begin("during", &hello(), json!({})).await;
    assert_eq!(workers.end("during").await["status"], "completed", "work goes on");
    let mut most = resident().saturating_sub(memory);
    theirs.way.slow_down(Duration::ZERO);
    let told = |view: &ClusterView| {
        let gaps = view.gaps.iter().filter(|gap| gap.why.contains("faster than this machine"));
        gaps.map(|gap| gap.dropped).sum::<u64>()
    };
    let view = looking.until_cluster("a gap is told", |view| told(view) > 0).await;
    most = most.max(resident().saturating_sub(memory));
    println!(
        "{messages} messages of {executions} executions: {} dropped in {} gaps, memory grew by {} MiB at most",
        view.dropped,
        view.gaps.len(),
        most >> 20
    );
    assert!(most < MOST_BYTES, "memory grew by {} MiB", most >> 20);

    // Who was under way has the gap in its recording, too.
    let gaps = |view: &protocol::ExecutionView| {
        let observed = view.summary.observed.as_ref().expect("it is marked");
        observed.gaps.iter().map(|gap| gap.dropped).sum::<u64>()
    };
    looking.until(&hangs, |view| gaps(view) > 0).await;
    looking.0.call(Request::Detach).await.expect("detached");
    let recorded = looking.0.recorded(&hangs.as_str().into()).await.expect("kept");
    assert!(recorded.iter().any(|event| matches!(&event.fact, Fact::Missed(_))), "{recorded:?}");
    // The queues of the cluster are as they were, and nothing of whoever looked is left.
    assert_eq!(undisturbed(&servers), broker);
    assert_eq!(named_by_the_broker(&servers), Vec::<String>::new());
    looking.0.close().await.expect("closed");
    workers.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_heard_last_is_taken_in_before_anybody_leaves() {
    let _alone = ALONE.lock().await;
    let servers = Servers::start();
    let folder = tempfile::tempdir().expect("a folder");
    let theirs = Theirs::look(&servers, "last.", Keep::At(folder.path().join("seen.db"))).await;
    let looking = &theirs.looking;
    theirs.way.slow_down(LATE);
    // As many as there is room for, until whoever looks has heard all of them and not come to the last one yet.
    let (mut executions, mut messages) = (0, 0);
    for round in 1.. {
        assert!(round < 20, "it keeps pace, so nothing is left to be taken in");
        let (more, said) = theirs.say(executions + 1, INBOX * 3 / 4).await;
        (executions, messages) = (executions + more, messages + said);
        let view = looking.until_cluster("all is heard", |view| view.heard == messages).await;
        assert_eq!(view.dropped, 0, "there was room for all of it");
        if looking.view(&name(executions)).await.is_none() {
            println!("{messages} messages of {executions} executions were heard in {round} rounds");
            break;
        }
    }
    looking.0.call(Request::Detach).await.expect("detached");
    for id in (1..=executions).map(name) {
        let seen = looking.view(&id).await.unwrap_or_else(|| panic!("nothing was taken in of {id}"));
        let recorded = looking.0.recorded(&id.as_str().into()).await.expect("kept");
        // On a machine that stands still in between, something may have gone by; then it says so.
        let gap = recorded.iter().find(|event| matches!(event.fact, Fact::Missed(_)));
        assert!(seen.summary.phase == ExecutionPhase::Completed || gap.is_some(), "{id}: {:?}", seen.summary);
        if let Some(gap) = gap {
            println!("{id}: {:?}", gap.fact);
        }
    }
    looking.0.close().await.expect("closed");
}
