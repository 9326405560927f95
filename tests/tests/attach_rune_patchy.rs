//! A simulated Rune cluster of which not everything is heard: what is kept in Redis still tells what is stuck, and what
//! is not stuck is not complained of.

use observer::{Dialect, rune::Rune};
use protocol::{
    Event, ExecutionView, Fact, Finding, Gap, MissingPart, NodeState, QueueView, Request, Response, Rule,
};
use recording::ViewFold;
use runeglass_tests::{
    clustered::Servers,
    rune_cluster::{
        Kept, Keys, Live, Published, RuneCluster, hear,
        workflows::{
            condition, fan_out, gather, http, items, log, merge, merge_behind_a_choice, split, trigger, wait,
            workflow,
        },
    },
    watched::{Looking, connection},
};
use serde_json::{Value, json};
use session::Keep;

const MINUTE: i64 = 60_000;

fn queue(messages: u64) -> QueueView {
    QueueView { name: "workflow.execution".to_owned(), messages, consumers: 2, growth: 0.0 }
}

/// Somebody who is connected, and whose queues are empty.
fn listener() -> Rune {
    let mut rune = Rune::new("test");
    rune.listening(Some(0));
    rune.queues(&[queue(0)], 0);
    rune
}

fn stuck(rune: &Rune, now: i64) -> Vec<Finding> {
    rune.findings(now).into_iter().filter(|found| found.rule == Rule::BarrierCannotOpen).collect()
}

fn gap(from: i64, until: i64) -> Gap {
    Gap { from, until: Some(until), dropped: 3, why: "messages came too fast".to_owned() }
}

/// Hears everything but what was said of some items, which went by unseen.
fn hear_without(rune: &mut Rune, cluster: &RuneCluster, unheard: impl Fn(&Published) -> bool) {
    let heard: Vec<Published> =
        cluster.published().iter().filter(|message| !unheard(message)).cloned().collect();
    hear(rune, &heard);
    let now = cluster.now_millis();
    rune.missed(&gap(now - 500, now), now);
}

fn is_of_item(message: &Published, index: u64) -> bool {
    let body = message.json();
    let stack = body["lineage_stack"].as_array().cloned().unwrap_or_default();
    stack.iter().any(|frame| frame["item_index"] == json!(index))
}

fn view_of(events: &[Event]) -> ExecutionView {
    ViewFold::replay(events).expect("it has begun").view().clone()
}

/// A choice inside of a fan-out: item 2 leads nowhere.
fn leaky() -> Value {
    let nodes = vec![
        trigger(),
        split("s", "$trigger.items"),
        condition("c", "$item.id < 2", "keep", ""),
        log("keep"),
        gather("a"),
    ];
    workflow(nodes, "start>s s>c c>keep keep>a")
}

/// It has run until nothing moves any more.
async fn leaks(id: &str, kept: &mut Kept) -> RuneCluster {
    let mut cluster = RuneCluster::new();
    cluster.start(id, &leaky(), Some(items(3)));
    cluster.run();
    kept.hold(&cluster.keys).await;
    cluster
}

#[tokio::test]
async fn a_join_that_is_stuck_is_found_after_a_gap() {
    let mut kept = Kept::start().await;
    let cluster = leaks("x", &mut kept).await;
    let now = cluster.now_millis();
    let mut rune = listener();
    hear_without(&mut rune, &cluster, |message| message.is_status() && is_of_item(message, 2));
    assert_eq!(stuck(&rune, now + 10 * MINUTE), [], "nobody has asked Redis since");
    kept.look(&mut rune, now + 1_000).await;
    assert_eq!(stuck(&rune, now + MINUTE), [], "it may be under way");
    let found = stuck(&rune, now + 3 * MINUTE);
    let [found] = &found[..] else { panic!("{found:?}") };
    assert!(
        found.sentence.contains("A has 2 of 3 and, as far as seen, can no longer open: item 2"),
        "{}",
        found.sentence
    );
    let evidence = found.evidence.join("\n");
    assert!(evidence.contains("exec:x:split:s:results has 2 (0, 1)"), "{evidence}");
    assert!(evidence.contains("messages were missed until"), "{evidence}");
}

#[tokio::test]
async fn after_a_gap_nothing_is_said_of_what_may_go_on() {
    let mut kept = Kept::start().await;
    let cluster = leaks("x", &mut kept).await;
    let now = cluster.now_millis();
    let later = now + 30 * MINUTE;
    let patchy = || {
        let mut rune = listener();
        hear_without(&mut rune, &cluster, |message| message.is_status() && is_of_item(message, 2));
        rune
    };
    let mut rune = patchy();
    kept.look(&mut rune, now + 1_000).await;
    assert_eq!(stuck(&rune, later).len(), 1, "it is found where none of this is so");
    rune.queues(&[queue(7)], now);
    assert_eq!(stuck(&rune, later), [], "it may wait in the queue");
    rune.queues(&[queue(0)], now);
    rune.listening(None);
    assert_eq!(stuck(&rune, later), [], "nobody hears anything");
    rune.listening(Some(later - MINUTE));
    assert_eq!(stuck(&rune, later), [], "nothing was heard for a minute only, and Redis was not asked since");
    rune.listening(Some(0));
    rune.missed(&gap(later - 10, later), later);
    assert_eq!(stuck(&rune, later + 3 * MINUTE), [], "something was missed again");
    kept.look(&mut rune, later + 1_000).await;
    assert_eq!(stuck(&rune, later + 3 * MINUTE).len(), 1);

    // The join goes on, and only Redis tells.
    let mut rune = patchy();
    kept.look(&mut rune, now + 1_000).await;
    let mut more = cluster.keys.clone();
    more.gather("x", "s", 2, "{}".to_owned());
    kept.hold(&more).await;
    kept.look(&mut rune, later).await;
    assert_eq!(stuck(&rune, later + 3 * MINUTE), [], "it has opened");
}

#[tokio::test]
async fn after_a_gap_what_rests_or_was_seen_to_run_is_waited_for() {
    let mut kept = Kept::start().await;
    let mut cluster = RuneCluster::new();
    let nodes = vec![trigger(), split("s", "$trigger.items"), condition("c", "$item.id < 2", "w", "rest")]
        .into_iter()
        .chain([log("w"), wait("rest", 86_400), gather("a")])
        .collect();
    cluster.start("x", &workflow(nodes, "start>s s>c c>w c>rest w>a rest>a"), Some(items(3)));
    cluster.run_for(5_000);
    kept.hold(&cluster.keys).await;
    let now = cluster.now_millis();
    let mut rune = listener();
    hear_without(&mut rune, &cluster, |message| message.is_status() && is_of_item(message, 2));
    kept.look(&mut rune, now + 1_000).await;
    assert_eq!(stuck(&rune, now + 60 * MINUTE), [], "its timer is there");

    let mut cluster = RuneCluster::new();
    cluster.answer("http://shop/1", 40 * MINUTE, Ok(json!("late")));
    cluster.start("x", &fan_out(), Some(items(3)));
    cluster.run_for(5_000);
    kept.hold(&cluster.keys).await;
    let now = cluster.now_millis();
    let mut rune = listener();
    hear_without(&mut rune, &cluster, |_| false);
    kept.look(&mut rune, now + 1_000).await;
    assert_eq!(rune.findings(now + 9 * MINUTE), [], "it was seen to run, and is not called slow either");
    let found = stuck(&rune, now + 11 * MINUTE);
    assert!(found[0].sentence.contains("as far as seen"), "{found:?}");
}

#[tokio::test]
async fn after_a_gap_what_redis_counts_is_still_held_against_what_it_has() {
    let mut kept = Kept::start().await;
    let mut cluster = RuneCluster::new();
    for slow in ["http://shop/2", "http://shop/3"] {
        cluster.answer(slow, 40 * MINUTE, Ok(json!("late")));
    }
    cluster.faults.redelivered.insert(("a".to_owned(), Some(0)));
    cluster.start("x", &fan_out(), Some(items(4)));
    cluster.run_for(5_000);
    kept.hold(&cluster.keys).await;
    let now = cluster.now_millis();
    let mut rune = listener();
    hear_without(&mut rune, &cluster, |message| message.is_status() && is_of_item(message, 0));
    let twice = |rune: &Rune| rune.findings(now).iter().any(|found| found.rule == Rule::CountedTwice);
    assert!(!twice(&rune), "what was not heard is not missing");
    kept.look(&mut rune, now).await;
    assert!(twice(&rune), "{:?}", cluster.keys);
}

fn hung(id: &str) -> RuneCluster {
    let mut cluster = RuneCluster::new();
    cluster.start(id, &merge_behind_a_choice(), Some(json!({"n": 9})));
    cluster.run();
    cluster
}

#[tokio::test]
async fn a_merge_that_was_stuck_before_we_came_is_listed() {
    let mut kept = Kept::start().await;
    let cluster = hung("old");
    kept.hold(&cluster.keys).await;
    let now = cluster.now_millis();
    let mut rune = listener();
    assert_eq!(kept.look(&mut rune, now).await, [], "who is under way is heard of soon");
    let events = kept.look(&mut rune, now + 6_000).await;
    let view = view_of(&events);
    assert_eq!(view.summary.execution_id.as_str(), "old");
    assert!(view.summary.observed.as_ref().expect("observed").joined_late);
    assert_eq!(view.summary.title, "A workflow that no message has told");
    assert_eq!(view.nodes["m"].state, NodeState::WaitingBarrier);
    let progress = view.nodes["m"].progress.expect("it says how far it is");
    assert_eq!((progress.arrived, progress.expected), (1, 2), "one that is not known is missing");
    assert!(view.nodes.contains_key("yes") && !view.nodes.contains_key("no"), "{:?}", view.nodes.keys());
    assert_eq!(kept.look(&mut rune, now + 7_000).await, [], "it is told once");
    assert_eq!(stuck(&rune, now + MINUTE), []);
    let found = stuck(&rune, now + 3 * MINUTE);
    let [found] = &found[..] else { panic!("{found:?}") };
    assert_eq!(found.execution_id.as_ref().map(|id| id.as_str()), Some("old"));
    assert!(found.evidence.join("\n").contains("exec:old:node:m:barrier:arrivals has yes"), "{found:?}");
    assert!(found.evidence.contains(&"it had begun before we came".to_owned()));

    // Another execution of the workflow tells what it is made of: it is told anew, with names.
    let other = hung("new");
    hear(&mut rune, other.published());
    let again = kept.look(&mut rune, now + 8_000).await;
    let again: Vec<Event> = again.into_iter().filter(|event| event.execution_id.as_str() == "old").collect();
    assert_eq!(again[0].seq, 1, "from its beginning");
    let view = view_of(&again);
    assert_eq!(view.summary.workflow_id.as_str(), "7");
    assert_eq!((view.nodes["m"].state, view.nodes["no"].state), (NodeState::WaitingBarrier, NodeState::Idle));
    let barrier = rune.barrier(&"old".into(), &"m".into()).expect("a join");
    let [MissingPart::Branch { parent, .. }] = &barrier.places[0].missing[..] else { panic!("{barrier:?}") };
    assert_eq!(parent.as_str(), "no");
    let found = stuck(&rune, now + 5 * MINUTE);
    let found = found.iter().find(|found| found.execution_id.as_ref().is_some_and(|id| id.as_str() == "old"));
    assert!(found.expect("it is still stuck").sentence.contains("the branch from No"), "{found:?}");
}

#[tokio::test]
async fn a_workflow_that_is_heard_of_at_once_is_known_too() {
    let mut kept = Kept::start().await;
    let old = hung("old");
    kept.hold(&old.keys).await;
    let now = old.now_millis();
    let mut rune = listener();
    kept.look(&mut rune, now).await;
    kept.look(&mut rune, now + 6_000).await;
    // Nobody has looked into its join since it was taken up.
    hear(&mut rune, hung("new").published());
    kept.look(&mut rune, now + 7_000).await;
    let again = kept.look(&mut rune, now + 8_000).await;
    assert_eq!(view_of(&again).summary.workflow_id.as_str(), "7");
}

#[tokio::test]
async fn an_aggregator_that_was_stuck_before_we_came_is_listed() {
    let mut kept = Kept::start().await;
    let cluster = leaks("old", &mut kept).await;
    let now = cluster.now_millis();
    let mut rune = listener();
    kept.look(&mut rune, now).await;
    let view = view_of(&kept.look(&mut rune, now + 6_000).await);
    let progress = view.nodes["s-gathered"].progress.expect("it says how far it is");
    assert_eq!((progress.arrived, progress.expected), (2, 3));
    kept.look(&mut rune, now + 7_000).await;
    let found = stuck(&rune, now + 3 * MINUTE);
    assert!(found[0].sentence.contains("has 2 of 3") && found[0].sentence.contains("item 2"), "{found:?}");
}

#[tokio::test]
async fn what_is_over_is_not_listed_and_what_is_gone_ends() {
    let mut kept = Kept::start().await;
    let nodes =
        vec![trigger(), log("fork"), log("one"), http("two", "http://slow"), merge("any", "wait_for_any")];
    let race = workflow(nodes, "start>fork fork>one fork>two one>any two>any");
    let mut cluster = RuneCluster::new();
    cluster.start("race", &race, None);
    cluster.run();
    assert!(cluster.keys.0.contains_key("exec:race:node:any:lock"), "a lock stays for a day");
    kept.hold(&cluster.keys).await;
    let now = cluster.now_millis();
    let mut rune = listener();
    for second in 0..20 {
        assert_eq!(kept.look(&mut rune, now + second * 1_000).await, []);
    }
    let old = hung("old");
    kept.hold(&old.keys).await;
    kept.look(&mut rune, now + 30_000).await;
    let mut events = kept.look(&mut rune, now + 40_000).await;
    assert!(!events.is_empty());
    kept.hold(&Keys::default()).await;
    events.extend(kept.look(&mut rune, now + 50_000).await);
    let Fact::ExecutionEnded(ended) = &events.last().expect("events").fact else { panic!("{events:?}") };
    assert!(ended.error.as_ref().expect("why").message.contains("gone from Redis"));
    assert_eq!(stuck(&rune, now + 10 * MINUTE), []);
}

#[tokio::test]
async fn a_message_of_what_was_listed_tells_it_anew() {
    let mut kept = Kept::start().await;
    let mut cluster = RuneCluster::new();
    cluster.answer("http://shop/1", 60_000, Ok(json!("late")));
    cluster.start("x", &fan_out(), Some(items(3)));
    cluster.run_for(5_000);
    let unheard = cluster.published().len();
    kept.hold(&cluster.keys).await;
    let now = cluster.now_millis();
    let mut rune = listener();
    kept.look(&mut rune, now).await;
    assert_eq!(kept.look(&mut rune, now + 6_000).await[0].seq, 1, "it is listed");
    cluster.run();
    kept.hold(&cluster.keys).await;
    let mut events = hear(&mut rune, &cluster.published()[unheard..]);
    let start = events.iter().rposition(|event| event.seq == 1).expect("it begins anew");
    let view = view_of(&events.split_off(start));
    assert_eq!(view.nodes["end"].state, NodeState::Success);
    assert!(view.summary.observed.expect("observed").joined_late);
}

#[tokio::test]
async fn of_very_many_some_are_listed_and_the_others_counted() {
    let mut kept = Kept::start().await;
    let mut keys = Keys::default();
    for number in 0..250 {
        keys.expect(&format!("e{number}"), "s", 3);
        keys.gather(&format!("e{number}"), "s", 0, "{}".to_owned());
    }
    kept.hold(&keys).await;
    let mut rune = listener();
    let mut listed = std::collections::BTreeSet::new();
    for second in 0..200 {
        let events = kept.look(&mut rune, second * 1_000).await;
        listed.extend(events.into_iter().map(|event| event.execution_id));
    }
    assert_eq!((listed.len(), rune.passed_over()), (200, 50));
}

/// When an execution began by its timeline, which is worked out from its events and kept.
async fn began(looking: &Looking, id: &str) -> i64 {
    match looking.0.call(Request::Timeline { execution_id: id.into() }).await {
        Ok(Response::Timeline(timeline)) => timeline.started_at,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_lists_what_only_redis_tells_of_and_tells_it_anew() {
    let servers = Servers::start();
    let mut live = Live::connect(&servers.rabbit.url, &servers.redis.url).await;
    live.write(&hung("old").keys).await;
    let looking = Looking::open(Keep::Nowhere).await;
    looking.attach(connection(&servers, ""), false).await;
    let waits = |view: &ExecutionView| view.nodes["m"].state == NodeState::WaitingBarrier;
    let view = looking.until("old", waits).await;
    assert!(!view.nodes.contains_key("no") && view.summary.observed.as_ref().expect("observed").joined_late);
    assert_eq!(began(&looking, "old").await, view.summary.started_at);
    // Another execution of the workflow is heard of.
    let other = hung("new");
    live.publish(other.published()).await;
    live.add(&other.keys).await;
    let view = looking.until("old", |view| view.nodes.contains_key("no") && waits(view)).await;
    assert_eq!(view.summary.workflow_id.as_str(), "7");
    assert_eq!(view.nodes["c"].state, NodeState::Idle, "it is not said to be under way");
    assert_eq!(
        began(&looking, "old").await,
        view.summary.started_at,
        "what was made of it before is forgotten"
    );
    looking.0.call(Request::Detach).await.expect("detached");
    assert!(looking.view("old").await.is_none(), "it was here in passing");
}

#[tokio::test]
async fn a_split_that_nothing_gathers_is_no_join() {
    let mut kept = Kept::start().await;
    let over = workflow(vec![trigger(), split("s", "$trigger.items"), log("mail")], "start>s s>mail");
    let mut cluster = hung("old");
    for number in 0..250 {
        cluster.start(&format!("over{number}"), &over, Some(items(3)));
    }
    cluster.run();
    assert!(cluster.keys.0.contains_key("exec:over0:split:s:expected"), "it stays for a day");
    kept.hold(&cluster.keys).await;
    let mut rune = listener();
    let mut listed = std::collections::BTreeSet::new();
    for second in 0..10 {
        let events = kept.look(&mut rune, second * 1_000).await;
        listed.extend(events.into_iter().map(|event| event.execution_id.to_string()));
    }
    assert_eq!(listed, ["old".to_owned()].into());
    assert_eq!(rune.passed_over(), 0);
}

#[tokio::test]
async fn a_queue_that_has_turned_over_hides_nothing() {
    let mut kept = Kept::start().await;
    let cluster = leaks("x", &mut kept).await;
    let now = cluster.now_millis();
    for (waiting, found) in [(50, 1), (5_000, 0)] {
        let mut rune = listener();
        // How many wait is known a moment after it was heard of: they may have been sent at once.
        rune.queues(&[queue(1)], now - MINUTE);
        hear_without(&mut rune, &cluster, |message| message.is_status() && is_of_item(message, 2));
        kept.look(&mut rune, now + 1_000).await;
        rune.queues(&[queue(waiting)], now + 1_000);
        let begin = |rune: &mut Rune, name: &str, later: i64| {
            let mut busy = RuneCluster::new();
            busy.start(name, &fan_out(), Some(items(100)));
            busy.run();
            hear(rune, busy.published());
            rune.queues(&[queue(waiting)], now + later);
        };
        begin(&mut rune, "busy", MINUTE);
        assert_eq!(stuck(&rune, now + 30 * MINUTE), [], "it may be among those that wait");
        begin(&mut rune, "more", 2 * MINUTE);
        assert_eq!(stuck(&rune, now + 30 * MINUTE).len(), found, "were all that was before it taken up?");
    }
}

/// A workflow whose first node has a credential, and what it is called there.
fn with_secret(first: &str, secret: &str) -> Value {
    let mut call = http(first, "http://echo");
    call["credentials"] = json!({"id": "1", "name": "K", "type": "api_key", "values": {"value": secret}});
    workflow(
        vec![trigger(), call, log("b"), http("c", "http://echo")],
        &format!("start>{first} {first}>b b>c"),
    )
}

#[tokio::test]
async fn what_was_taken_for_one_of_its_workflow_learns_what_it_is() {
    let kept = Kept::start().await;
    for (first, secret, is_anew) in
        [("a", "first-secret", false), ("a", "second-secret", true), ("other", "first-secret", true)]
    {
        let mut cluster = RuneCluster::new();
        cluster.start("before", &with_secret("a", "first-secret"), None);
        cluster.run();
        let mut rune = listener();
        hear(&mut rune, cluster.published());
        let mut cluster = RuneCluster::new();
        cluster.answer("http://echo", 5, Ok(json!(format!("you said {secret}"))));
        cluster.start("x", &with_secret(first, secret), None);
        cluster.run();
        // Its first message was before we came, and what it said next may hold what no message has told to be secret.
        let from = cluster.published().iter().position(Published::is_status).expect("it begins");
        let told = |message: &Published| message.routing_key == "workflow.execution";
        let told = cluster.published().iter().position(told).expect("it goes on");
        let mut events = hear(&mut rune, &cluster.published()[from..told]);
        events.extend(kept.look(&mut rune, cluster.now_millis() + 6_000).await);
        assert_eq!(events[0].seq, 1, "it is taken for one of its workflow");
        let after = hear(&mut rune, &cluster.published()[told..]);
        assert_eq!(after.iter().any(|event| event.seq == 1), is_anew, "{first} {secret}");
        let all: Vec<Event> = if is_anew { after } else { events.into_iter().chain(after).collect() };
        let text = format!("{all:?}");
        assert!(text.matches("you said ███").count() >= 2 && !text.contains(secret), "{text}");
        let view = view_of(&all);
        assert!(view.nodes.contains_key(first) && view.summary.observed.expect("observed").joined_late);
        assert_eq!(
            (view.nodes[first].state, view.nodes["c"].state),
            (NodeState::Success, NodeState::Success),
            "{first} {secret}"
        );
    }
}
