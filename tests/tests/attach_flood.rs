//! Twenty thousand messages a second, for as long as `RUNEGLASS_FLOOD_SECONDS` says: what cannot be taken in is counted,
//! memory has a bound, and the cluster does not notice.

use std::{fs, time::Duration};

use lapin::{
    Connection, ConnectionProperties, ExchangeKind,
    options::{ExchangeDeclareOptions, ExchangeDeleteOptions},
    types::FieldTable,
};
use protocol::{
    ClusterConnection, ClusterDialect, ClusterView, ExecutionId, ExecutionPhase, ForkWish, Request, Response,
};
use runeglass_tests::{
    clustered::Servers,
    flood::{Scene, Sent, name, pour, pour_one},
    watched::{Looking, Workers, broker_state, connection, hello, named_by_the_broker, until_heard},
};
use serde_json::json;
use session::Keep;

const PER_SECOND: u64 = 20_000;
const ITEMS: usize = 20;
const PREFIX: &str = "flood.";
const EXCHANGE: &str = "flood.workflows";
const OVERFLOWED: &str = "our queue was full";
/// What this process may take more while it is flooded: what waits has room for 64 MiB of messages, and they are larger
/// as values.
const MOST_BYTES: u64 = 400 << 20;

fn flood_seconds() -> u64 {
    std::env::var("RUNEGLASS_FLOOD_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(6)
}

/// Memory of this process, in bytes.
fn resident() -> u64 {
    let said = fs::read_to_string("/proc/self/statm").expect("told");
    let pages: u64 = said.split(' ').nth(1).and_then(|pages| pages.parse().ok()).expect("a number");
    pages * 4_096
}

/// The exchange of the cluster that is flooded. No queue of anybody is bound to it: the copies are ours alone.
async fn declare(servers: &Servers) -> (Connection, lapin::Channel) {
    let connection = Connection::connect(&servers.rabbit.url, ConnectionProperties::default()).await;
    let connection = connection.expect("connects");
    let channel = connection.create_channel().await.expect("a channel");
    let declared = channel.exchange_declare(
        EXCHANGE.into(),
        ExchangeKind::Topic,
        ExchangeDeclareOptions::default(),
        FieldTable::default(),
    );
    declared.await.expect("declared");
    (connection, channel)
}

/// The broker as it is, but for the queues in which the cluster's own work is told of while it goes on.
fn undisturbed(servers: &Servers) -> Vec<String> {
    let tells =
        |line: &String| line.starts_with("workflow.node.status") || line.starts_with("workflow.completion");
    broker_state(servers).into_iter().filter(|line| !tells(line)).collect()
}

/// What the broker has dropped, and what was dropped here, is told.
fn is_told(view: &ClusterView, words: &str) -> bool {
    view.gaps.iter().any(|gap| gap.why.contains(words))
}

/// Until everything that was sent has come, or is told to be missing, and nothing more comes.
async fn settled(listening: &Looking, sent: u64) -> ClusterView {
    let all = |view: &ClusterView| view.heard == sent || is_told(view, OVERFLOWED);
    let mut before = listening.until_cluster("all of it is heard", all).await;
    for _ in 0..600 {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let view = listening.cluster().await;
        if view.heard == before.heard && view.dropped == before.dropped {
            return view;
        }
        before = view;
    }
    panic!("it never ends");
}

/// What was seen of a Rune cluster runs again here, and every question is answered as it was there: nobody listens at the
/// addresses that are asked.
async fn fork_is_pinned(listening: &Looking, id: &str) {
    let wish = Box::new(ForkWish::At { position: 1, edit: None, run: Vec::new() });
    let execution_id = ExecutionId::from(id);
    let preview = Request::ForkPreview { execution_id: execution_id.clone(), wish: wish.clone(), path: None };
    let Ok(Response::ForkPreview(preview)) = listening.0.call(preview).await else { panic!("a preview") };
    assert_eq!((preview.effects_total, preview.pinned), (0, ITEMS), "{preview:?}");
    let fork = listening.0.call(Request::Fork { execution_id, wish, path: None }).await;
    let Ok(Response::Started { execution_id: forked }) = fork else { panic!("{fork:?}") };
    let forked = listening.until_ended(forked.as_str()).await;
    assert_eq!(forked.summary.phase, ExecutionPhase::Completed, "{:?}", forked.summary.error);
    assert_eq!(forked.nodes["fetch"].counts.success, ITEMS);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_is_counted_and_does_not_fill_the_memory() {
    let servers = Servers::start();
    let workers = Workers::start(&servers, "").await;
    let looking = Looking::open(Keep::Nowhere).await;
    looking.attach(connection(&servers, ""), false).await;
    workers.begin("before", &hello(), json!({})).await;
    looking.until_ended("before").await;
    let (declaring, channel) = declare(&servers).await;
    let listening = Looking::open(Keep::Nowhere).await;
    let theirs = ClusterConnection {
        name: "theirs".to_owned(),
        dialect: Some(ClusterDialect::Rune),
        ..connection(&servers, PREFIX)
    };
    listening.attach(theirs, false).await;
    let port = servers.rabbit.port;
    until_heard(&servers, EXCHANGE).await;
    let scene = Scene::fan_out(EXCHANGE, PREFIX, ITEMS);
    let first = scene.messages;
    pour_one(port, scene, 9_000_001);
    assert_eq!(listening.until_ended(&name(9_000_001)).await.summary.phase, ExecutionPhase::Completed);
    let (before, broker, memory) = (settled(&listening, first).await, undisturbed(&servers), resident());

    let lasts = Duration::from_secs(flood_seconds());
    let scene = Scene::fan_out(EXCHANGE, PREFIX, ITEMS);
    let pouring = tokio::task::spawn_blocking(move || pour(port, scene, 1, lasts, PER_SECOND));
    let (mut most, mut during) = (0, 0);
    while !pouring.is_finished() {
        most = most.max(resident().saturating_sub(memory));
        tokio::time::sleep(Duration::from_millis(200)).await;
        // Work of the cluster goes on meanwhile.
        if during < 3 {
            during += 1;
            let id = format!("during-{during}");
            workers.begin(&id, &hello(), json!({})).await;
            assert_eq!(workers.end(&id).await["status"], "completed");
        }
    }
    let Sent { executions, messages: sent, per_second } = pouring.await.expect("sent");
    let view = settled(&listening, first + sent).await;
    most = most.max(resident().saturating_sub(memory));
    let (heard, unseen) = (view.heard - before.heard, view.dropped - before.dropped);
    println!(
        "flood: {sent} messages of {executions} executions in {} s, {per_second:.0} a second; {heard} heard, {unseen} \
         of these not taken in, {} executions not followed, {} no longer kept, {} gaps; memory grew by {} MiB at most",
        lasts.as_secs(),
        view.passed_over,
        view.forgotten,
        view.gaps.len(),
        most >> 20
    );
    assert!(most < MOST_BYTES, "memory grew by {} MiB", most >> 20);
    assert!(heard <= sent, "{heard} of {sent}");
    let is_told = |words: &str| is_told(&view, words);
    assert!(heard == sent || is_told(OVERFLOWED), "what the broker dropped is told: {view:?}");
    assert!(unseen == 0 || is_told("faster than this machine"), "what was dropped here is told: {view:?}");
    assert!(heard > unseen, "most of what comes in time is taken in");

    // The queues of the cluster are as they were, and the observer sees what comes next.
    assert_eq!(undisturbed(&servers), broker);
    println!("flood: the cluster's own queues, before and after:\n  {}", broker.join("\n  "));
    pour_one(port, Scene::fan_out(EXCHANGE, PREFIX, ITEMS), 9_000_002);
    let after = listening.until_ended(&name(9_000_002)).await;
    assert_eq!(after.summary.phase, ExecutionPhase::Completed);
    assert_eq!(after.nodes["fetch"].counts.success, ITEMS);
    fork_is_pinned(&listening, &name(9_000_002)).await;
    workers.begin("after", &hello(), json!({})).await;
    assert_eq!(looking.until_ended("after").await.summary.phase, ExecutionPhase::Completed);
    looking.0.close().await.expect("closed");
    listening.0.close().await.expect("closed");
    assert_eq!(named_by_the_broker(&servers), Vec::<String>::new(), "nothing of the observers is left");
    workers.close().await;
    let deleted = channel.exchange_delete(EXCHANGE.into(), ExchangeDeleteOptions::default());
    deleted.await.expect("deleted");
    drop(declaring);
}
