//! The same simulated Rune cluster on a real RabbitMQ and Redis: what is kept in Redis says more than the statuses do.

use std::time::Duration;

use futures::StreamExt;
use lapin::{
    Connection, ConnectionProperties,
    options::{BasicConsumeOptions, QueueBindOptions, QueueDeclareOptions},
    types::FieldTable,
};
use observer::{Dialect, Heard, Reader, rune::Rune};
use protocol::{ExecutionPhase, Fact, MissingPart, NodeState, Rule};
use recording::ViewFold;
use runeglass_tests::{
    rune_cluster::{
        Kept, Key, Keys, Live, RuneCluster, hear,
        workflows::{fan_out, http, items, log, merge, merge_behind_a_choice, trigger, wait, workflow},
    },
    servers::{RabbitMq, Redis},
};
use serde_json::json;

#[tokio::test]
async fn redis_names_the_items_that_are_missing() {
    let mut kept = Kept::start().await;
    let mut cluster = RuneCluster::new();
    cluster.answer("http://shop/1", 60_000, Ok(json!("late")));
    cluster.answer("http://shop/3", 60_000, Ok(json!("late")));
    cluster.start("x", &fan_out(), Some(items(5)));
    cluster.run_for(1_000);
    kept.hold(&cluster.keys).await;
    let mut rune = Rune::new("test");
    hear(&mut rune, cluster.published());
    // The message of item 4 was counted by Redis, and lost there: what the statuses say is not what is kept.
    let mut lost = cluster.keys.clone();
    let Some(Key::Hash(results)) = lost.0.get_mut("exec:x:split:s:results") else { panic!("no results") };
    results.remove("4");
    kept.hold(&lost).await;
    rune.look(&kept.reader, cluster.now_millis()).await.expect("it looks");
    let barrier = rune.barrier(&"x".into(), &"a".into()).expect("a join");
    let place = &barrier.places[0];
    assert_eq!((place.arrived, place.expected), (2, 5));
    let missing: Vec<(u32, NodeState)> = place
        .missing
        .iter()
        .map(|part| match part {
            MissingPart::Item { index, at } => (*index, at.state),
            MissingPart::Branch { .. } => panic!("no branches here"),
        })
        .collect();
    assert_eq!(missing, [(1, NodeState::Running), (3, NodeState::Running), (4, NodeState::Idle)]);
    assert!(barrier.verdict.expect("a sentence").contains("3 arrivals were counted and 2 of 5"));
    let rules: Vec<Rule> =
        rune.findings(cluster.now_millis() + 5_000).into_iter().map(|found| found.rule).collect();
    assert_eq!(rules, [Rule::BarrierCannotOpen, Rule::CountedTwice]);
    let evidence = rune.findings(cluster.now_millis() + 5_000).remove(0).evidence.join("\n");
    assert!(evidence.contains("exec:x:split:s:count is 3"), "{evidence}");
}

#[tokio::test]
async fn redis_names_the_parents_that_are_missing_and_who_won() {
    let mut kept = Kept::start().await;
    let nodes =
        vec![trigger(), log("fork"), log("one"), http("two", "http://slow"), merge("any", "wait_for_any")];
    let race = workflow(nodes, "start>fork fork>one fork>two one>any two>any");
    let mut cluster = RuneCluster::new();
    cluster.answer("http://slow", 60_000, Ok(json!(1)));
    cluster.start("x", &merge_behind_a_choice(), Some(json!({"n": 9})));
    cluster.start("y", &race, None);
    cluster.run_for(1_000);
    kept.hold(&cluster.keys).await;
    let mut rune = Rune::new("test");
    hear(&mut rune, cluster.published());
    rune.look(&kept.reader, cluster.now_millis()).await.expect("it looks");
    let barrier = rune.barrier(&"x".into(), &"m".into()).expect("a join");
    let [MissingPart::Branch { edge_id, parent, at }] = &barrier.places[0].missing[..] else {
        panic!("{barrier:?}")
    };
    assert_eq!((edge_id.as_str(), parent.as_str(), at.state), ("no-m", "no", NodeState::Idle));
    let race = rune.barrier(&"y".into(), &"any".into()).expect("a join");
    assert_eq!(race.winner.as_ref().map(|winner| winner.as_str()), Some("one"));
    let found = rune.findings(cluster.now_millis() + 5_000);
    let hangs = found.iter().find(|found| found.rule == Rule::BarrierCannotOpen).expect("it hangs");
    assert!(hangs.evidence.iter().any(|line| line.contains("barrier:arrivals has yes")), "{hangs:?}");
}

#[tokio::test]
async fn what_arrived_since_redis_was_asked_is_not_missing() {
    let mut kept = Kept::start().await;
    let nodes = vec![
        trigger(),
        log("fork"),
        log("one"),
        http("two", "http://two"),
        http("three", "http://three"),
        merge("m", "wait_for_all"),
    ];
    let join = workflow(nodes, "start>fork fork>one fork>two fork>three one>m two>m three>m");
    let mut cluster = RuneCluster::new();
    for (address, millis) in [("http://two", 5_000), ("http://three", 60_000)] {
        cluster.answer(address, millis, Ok(json!(1)));
    }
    for item in 0..4 {
        cluster.answer(&format!("http://shop/{item}"), 2_000 * (item + 1), Ok(json!(1)));
    }
    cluster.start("x", &fan_out(), Some(items(4)));
    cluster.start("y", &join, None);
    cluster.run_for(3_000);
    kept.hold(&cluster.keys).await;
    let mut rune = Rune::new("test");
    hear(&mut rune, cluster.published());
    rune.look(&kept.reader, cluster.now_millis()).await.expect("it looks");
    let heard = cluster.published().len();
    cluster.run_for(4_000);
    hear(&mut rune, &cluster.published()[heard..]);
    // Redis has one item and one branch, as it was asked; two more items and one more branch were heard of since.
    assert_eq!(rune.findings(cluster.now_millis()), []);
    let arrived = |execution: &str, node: &str| {
        let barrier = rune.barrier(&execution.into(), &node.into()).expect("a join");
        (barrier.places[0].arrived, barrier.places[0].missing.len(), barrier.verdict.expect("a sentence"))
    };
    let on_their_way = "the others are on their way";
    for (execution, node, expected) in [("x", "a", (3, 1)), ("y", "m", (2, 1))] {
        let (here, missing, verdict) = arrived(execution, node);
        assert_eq!((here, missing), expected, "{execution}");
        assert!(verdict.contains(on_their_way), "{verdict}");
    }
}

#[tokio::test]
async fn timers_are_on_the_board_and_lost_ones_are_found() {
    let mut kept = Kept::start().await;
    let rests = workflow(vec![trigger(), wait("rest", 60), log("end")], "start>rest rest>end");
    let mut cluster = RuneCluster::new();
    cluster.faults.lost_resumes = true;
    cluster.start("x", &rests, None);
    cluster.run_for(1_000);
    kept.hold(&cluster.keys).await;
    // Nothing of it was heard: it rests since before we came.
    let mut rune = Rune::new("test");
    let now = cluster.now_millis();
    let mut events = rune.look(&kept.reader, now).await.expect("it looks").events;
    let timers = rune.timers();
    assert_eq!(timers.len(), 1);
    assert_eq!((timers[0].name.as_str(), timers[0].node_id.as_str()), ("Rest", "rest"));
    let due = timers[0].due;
    let view = ViewFold::replay(&events).expect("it has begun").view().clone();
    assert_eq!((view.nodes["rest"].state, view.nodes["rest"].due), (NodeState::WaitingTimer, Some(due)));
    assert!(view.summary.observed.expect("observed").joined_late);
    let rules =
        |rune: &Rune, now: i64| rune.findings(now).into_iter().map(|found| found.rule).collect::<Vec<_>>();
    assert_eq!(rules(&rune, now), []);
    assert_eq!(rules(&rune, due + 60_000), [], "somebody may have claimed it since");
    rune.look(&kept.reader, due + 60_000).await.expect("it looks");
    assert_eq!(rules(&rune, due + 60_000), [Rule::OverdueTimer], "nobody has claimed it");
    // Claimed, and never sent.
    cluster.run();
    kept.hold(&cluster.keys).await;
    let later = cluster.now_millis();
    events.extend(rune.look(&kept.reader, later).await.expect("it looks").events);
    assert_eq!(rules(&rune, later), [], "it may be on its way");
    rune.look(&kept.reader, later + 5_000).await.expect("it looks");
    assert_eq!(rules(&rune, later + 5_000), [Rule::LostResume]);
    assert_eq!(rune.timers().len(), 1, "it stays on the board");
    let secrets = format!("{:?}", rune.findings(later + 5_000));
    assert!(secrets.contains("payload"));
    // Somebody has put it right.
    kept.hold(&Keys::default()).await;
    rune.look(&kept.reader, later + 9_000).await.expect("it looks");
    assert!(rune.timers().is_empty() && rules(&rune, later + 9_000).is_empty());
}

#[tokio::test]
async fn a_look_asks_a_bounded_number_of_things() {
    let mut kept = Kept::start().await;
    let mut keys = Keys::default();
    for execution in 0..3_000 {
        keys.expect(&format!("e{execution}"), "s", 3);
    }
    for timer in 0..3_000 {
        keys.freeze(&format!("t{timer}"), 5, "not a message".to_owned());
    }
    keys.0.insert("exec:x:split:s:results".to_owned(), Key::Text("another type".to_owned(), None));
    kept.hold(&keys).await;
    let asked = |text: String| {
        let line = text.lines().find_map(|line| line.strip_prefix("total_commands_processed:"));
        line.and_then(|count| count.trim().parse::<u64>().ok()).expect("a count")
    };
    let mut rune = Rune::new("test");
    let mut cluster = RuneCluster::new();
    cluster.start("x", &fan_out(), Some(items(3)));
    cluster.run_for(5);
    hear(&mut rune, cluster.published());
    kept.walk(&mut rune).await;
    for _ in 0..30 {
        let before =
            redis::cmd("INFO").arg("stats").query_async(&mut kept.write).await.map(asked).expect("counted");
        rune.look(&kept.reader, 1_000).await.expect("a key of another type is passed over");
        let after =
            redis::cmd("INFO").arg("stats").query_async(&mut kept.write).await.map(asked).expect("counted");
        assert!(after - before <= 245, "{} questions", after - before);
    }
}

#[tokio::test]
async fn what_goes_through_the_exchange_is_heard_as_it_is() {
    let (broker, redis) = (RabbitMq::start(), Redis::start());
    let mut cluster = RuneCluster::new();
    cluster.start("x", &fan_out(), Some(items(4)));
    cluster.run();
    let mut live = Live::connect(&broker.url, &redis.url).await;
    let connection =
        Connection::connect(&broker.url, ConnectionProperties::default()).await.expect("RabbitMQ answers");
    let channel = connection.create_channel().await.expect("a channel");
    let own = QueueDeclareOptions { exclusive: true, auto_delete: true, ..Default::default() };
    let queue =
        channel.queue_declare("".into(), own, FieldTable::default()).await.expect("a queue of our own");
    let name = queue.name().clone();
    let bind = QueueBindOptions::default();
    channel
        .queue_bind(name.clone(), "workflows".into(), "workflow.#".into(), bind, FieldTable::default())
        .await
        .expect("a binding");
    let options = BasicConsumeOptions { no_ack: true, ..Default::default() };
    let mut copies =
        channel.basic_consume(name, "".into(), options, FieldTable::default()).await.expect("copies");
    live.publish(cluster.published()).await;
    live.write(&cluster.keys).await;
    let mut rune = Rune::new("test");
    let mut events = Vec::new();
    for message in cluster.published() {
        let copy = tokio::time::timeout(Duration::from_secs(30), copies.next()).await.expect("in time");
        let copy = copy.expect("a copy").expect("readable");
        assert_eq!(copy.routing_key.as_str(), message.routing_key);
        let heard = Heard { at: message.at, routing_key: copy.routing_key.to_string(), body: copy.data };
        events.extend(rune.hear(&heard).events);
    }
    let mut in_memory = Rune::new("test");
    assert_eq!(events, hear(&mut in_memory, cluster.published()), "the same events, however they are heard");
    assert!(matches!(events.last().expect("events").fact, Fact::ExecutionEnded(_)));
    let view = ViewFold::replay(&events).expect("it has begun").view().clone();
    assert_eq!(view.summary.phase, ExecutionPhase::Completed);
    let reader = Reader::connect(&redis.url).await.expect("a reader");
    rune.look(&reader, cluster.now_millis()).await.expect("it looks");
    assert_eq!(rune.findings(cluster.now_millis() + 60_000), []);
}
