//! The joins of a simulated Rune cluster as they are in life: clocks that differ, messages that wait for a worker, counts
//! that are asked for a moment later, and keys that several items share.

use observer::{Dialect, rune::Rune};
use protocol::{BarrierView, ExecutionPhase, Finding, NodeState, QueueView, Rule};
use runeglass_tests::rune_cluster::{
    Kept, Keys, Published, RuneCluster, hear,
    watching::{Watching, state, watch},
    workflows::{
        condition, fan_out, gather, http, items, log, merge, on_error, split, trigger, wait, workflow,
    },
};
use serde_json::{Value, json};

const MINUTE: i64 = 60_000;

/// Somebody who is connected, and whose queues are empty.
fn listen(rune: &mut Rune) {
    rune.listening(Some(0));
    let name = "workflow.execution".to_owned();
    rune.queues(&[QueueView { name, messages: 0, consumers: 2, growth: 0.0 }], 0);
}

fn found(findings: &[Finding], rule: Rule) -> Vec<&Finding> {
    findings.iter().filter(|found| found.rule == rule).collect()
}

fn look_through(rune: &Rune, node: &str) -> BarrierView {
    rune.barrier(&"x".into(), &node.into()).expect("a join")
}

/// Two branches that meet.
fn both(mode: &str) -> Value {
    let nodes = vec![
        trigger(),
        log("fork"),
        http("fast", "http://fast"),
        http("slow", "http://slow"),
        merge("m", mode),
        log("end"),
    ];
    workflow(nodes, "start>fork fork>fast fork>slow fast>m slow>m m>end")
}

#[test]
fn clocks_that_differ_hold_nothing_up() {
    let chain = workflow(vec![trigger(), log("a"), log("b"), log("c")], "start>a a>b b>c");
    for (workflow, node) in
        [(chain, "a"), (fan_out(), "s"), (fan_out(), "fetch"), (both("wait_for_all"), "fast")]
    {
        for clock in [-40, 40] {
            let (_, mut watching) = watch(&workflow, items(3), |cluster| {
                cluster.faults.clocks.insert(node.to_owned(), clock);
            });
            listen(&mut watching.rune);
            assert_eq!(watching.view().summary.phase, ExecutionPhase::Completed, "{node} {clock}");
            assert_eq!(watching.rules(10 * MINUTE), [], "{node} {clock}");
        }
    }
}

#[test]
fn in_a_circle_clocks_that_differ_hide_nothing() {
    let nodes = vec![trigger(), log("turn"), condition("c", "$trigger.n > 5", "turn", "end"), log("end")];
    let mut cluster = RuneCluster::new();
    cluster.faults.clocks.insert("turn".to_owned(), 40);
    cluster.start("x", &workflow(nodes, "start>turn turn>c c>turn c>end"), Some(json!({"n": 9})));
    cluster.run_for(200);
    // From now on its messages wait for a worker.
    cluster.faults.held_up.insert(("c".to_owned(), "turn".to_owned()), 10 * MINUTE);
    cluster.run_for(1_000);
    let mut watching = Watching::new();
    listen(&mut watching.catch_up(&cluster).rune);
    watching.rune.queues(
        &[QueueView { name: "workflow.execution".to_owned(), messages: 9, consumers: 2, growth: 0.0 }],
        0,
    );
    assert_eq!(state(&watching.view(), "turn"), NodeState::Queued);
    assert_eq!(watching.rules(5 * MINUTE), [], "it is under way");
}

#[test]
fn what_is_delivered_to_another_worker_ends_by_its_clock() {
    let chain = workflow(vec![trigger(), http("a", "http://a"), log("b")], "start>a a>b");
    let (cluster, _) = watch(&chain, json!({}), |_| {});
    // The first worker died with it; the clock of the second goes behind.
    let mut messages = cluster.published().to_vec();
    let is_begun = |message: &Published| message.is_status() && message.json()["node_id"] == "a";
    let begun = messages.iter().position(is_begun).expect("it begins");
    let mut before = messages[begun].json();
    before["executed_at"] = json!("2026-06-25T11:00:00.1Z");
    messages.insert(begun, Published { body: before.to_string(), ..messages[begun].clone() });
    let mut watching = Watching::new();
    watching.hear(&messages);
    assert_eq!(watching.view().summary.phase, ExecutionPhase::Completed);
}

#[test]
fn what_is_said_behind_the_opening_begins_no_round() {
    let (_, watching) = watch(&fan_out(), items(3), |cluster| {
        cluster.faults.slow_to_say.insert(("a".to_owned(), Some(0)), 40);
    });
    let view = watching.view();
    assert_eq!(view.summary.phase, ExecutionPhase::Completed);
    assert_eq!((state(&view, "a"), view.nodes["a"].counts.success), (NodeState::Success, 1));
    let findings = watching.findings(10_000);
    assert_eq!(found(&findings, Rule::BarrierCannotOpen).len(), 0, "{findings:?}");
    assert_eq!(found(&findings, Rule::CountedTwice).len(), 0, "{findings:?}");

    let (_, watching) = watch(&both("wait_for_all"), json!({}), |cluster| {
        cluster.answer("http://slow", 20, Ok(json!(1)));
        cluster.faults.slow_to_say.insert(("m".to_owned(), None), 60);
    });
    assert_eq!(watching.view().summary.phase, ExecutionPhase::Completed);
    assert_eq!(found(&watching.findings(10_000), Rule::BarrierCannotOpen).len(), 0);
}

#[test]
fn a_merge_in_a_circle_waits_anew_each_time() {
    let nodes = vec![
        trigger(),
        log("fork"),
        log("left"),
        http("right", "http://right"),
        merge("m", "wait_for_all"),
        condition("c", "$trigger.n > 5", "fork", "end"),
        log("end"),
    ];
    let circle = workflow(nodes, "start>fork fork>left fork>right left>m right>m m>c c>fork c>end");
    let mut cluster = RuneCluster::new();
    cluster.start("x", &circle, Some(json!({"n": 9})));
    cluster.run_for(100);
    cluster.answer("http://right", 10 * MINUTE, Ok(json!(1)));
    cluster.run_for(10_000);
    let mut watching = Watching::new();
    watching.catch_up(&cluster);
    assert!(watching.view().nodes["m"].counts.success > 2);
    assert_eq!(watching.rules(10_000), [], "its left branch is here, and the right one runs");
    let place = &look_through(&watching.rune, "m").places[0];
    assert_eq!((place.arrived, place.missing.len()), (1, 1));
    assert_eq!(place.missing[0].at().state, NodeState::Running);
}

#[tokio::test]
async fn a_message_that_waits_in_front_of_a_merge_is_not_lost() {
    let mut kept = Kept::start().await;
    for is_delivered_again in [false, true] {
        let mut cluster = RuneCluster::new();
        cluster.faults.held_up.insert(("slow".to_owned(), "m".to_owned()), 10 * MINUTE);
        if is_delivered_again {
            cluster.faults.redelivered.insert(("m".to_owned(), None));
        }
        cluster.start("x", &both("wait_for_all"), None);
        cluster.run_for(10_000);
        let now = cluster.now_millis();
        let mut rune = Rune::new("test");
        rune.listening(Some(0));
        hear(&mut rune, cluster.published());
        assert_eq!(rune.findings(now), []);
        kept.hold(&cluster.keys).await;
        kept.look(&mut rune, now).await;
        assert_eq!(rune.findings(now + MINUTE), []);
        let barrier = look_through(&rune, "m");
        let [missing] = &barrier.places[0].missing[..] else { panic!("{barrier:?}") };
        let at = missing.at();
        assert_eq!((at.node_id.as_ref().map(|id| id.as_str()), at.state), (Some("m"), NodeState::Queued));
        assert!(!barrier.verdict.as_ref().expect("a sentence").contains("no longer"), "{barrier:?}");
        let heard = cluster.published().len();
        cluster.run();
        hear(&mut rune, &cluster.published()[heard..]);
        assert_eq!(rune.findings(cluster.now_millis()), []);
    }
}

#[test]
fn two_edges_from_one_node_are_one_arrival() {
    let mut twice = both("wait_for_all");
    let edges = twice["edges"].as_array_mut().expect("edges");
    edges.push(json!({"id": "fast-m-again", "src": "fast", "dst": "m"}));
    let (_, watching) = watch(&twice, json!({}), |_| {});
    let findings = watching.findings(10_000);
    let hangs = found(&findings, Rule::BarrierCannotOpen);
    assert!(hangs[0].sentence.contains("has 2 of 3") && hangs[0].sentence.contains("from Fast"), "{hangs:?}");
}

#[test]
fn a_count_that_is_asked_for_later_is_no_arrival_that_came_twice() {
    let mut cluster = RuneCluster::new();
    cluster.answer("http://shop/3", MINUTE, Ok(json!("late")));
    cluster.faults.slow_to_say.insert(("a".to_owned(), Some(0)), 40);
    cluster.faults.slow_to_say.insert(("a".to_owned(), Some(1)), 10);
    cluster.start("x", &fan_out(), Some(items(4)));
    let mut watching = Watching::new();
    for milli in 0..100 {
        cluster.run_for(1);
        watching.catch_up(&cluster);
        let findings = watching.findings(0);
        assert_eq!(findings, [], "{milli} ms");
        if state(&watching.view(), "a") == NodeState::WaitingBarrier {
            let verdict = look_through(&watching.rune, "a").verdict.expect("a sentence");
            assert!(!verdict.contains("twice"), "{verdict}");
        }
    }
}

#[tokio::test]
async fn what_redis_counts_is_compared_with_how_many_it_has() {
    let mut kept = Kept::start().await;
    let twice = |rune: &Rune, now: i64| found(&rune.findings(now), Rule::CountedTwice).len();
    let mut keys = Keys::default();
    keys.expect("many", "s", 6_000);
    (0..5_001).for_each(|index| drop(keys.gather("many", "s", index, "{}".to_owned())));
    let mut rune = Rune::new("test");
    for second in 0..10 {
        kept.hold(&keys).await;
        kept.look(&mut rune, second * 1_000).await;
    }
    assert_eq!(twice(&rune, 10_000), 0);
    keys.gather("many", "s", 7, "{}".to_owned());
    kept.hold(&keys).await;
    kept.look(&mut rune, 11_000).await;
    let findings = rune.findings(11_000);
    let found = found(&findings, Rule::CountedTwice);
    assert!(found[0].sentence.contains("5002 arrivals of 5001 different items"), "{findings:?}");
    // It has opened between two questions, and a count is all that is left.
    let mut opened = Keys::default();
    opened.gather("many", "s", 0, "{}".to_owned());
    opened.0.remove("exec:many:split:s:results");
    kept.hold(&opened).await;
    kept.look(&mut rune, 12_000).await;
    assert_eq!(twice(&rune, 12_000), 0);
}

/// A merge inside of a fan-out, whose keys say nothing of the item.
fn merge_in_a_fan_out() -> Value {
    let nodes = vec![
        trigger(),
        split("s", "$trigger.items"),
        http("a", "http://a/$item.id"),
        http("b", "http://b/$item.id"),
        merge("m", "wait_for_all"),
        log("end"),
    ];
    workflow(nodes, "start>s s>a s>b a>m b>m m>end")
}

#[test]
fn items_that_share_a_merge_are_mixed_and_some_never_go_on() {
    let (_, watching) = watch(&merge_in_a_fan_out(), items(3), |cluster| {
        (0..3).for_each(|id| cluster.answer(&format!("http://b/{id}"), 500 + 100 * id, Ok(json!(1))));
    });
    assert_eq!(watching.view().summary.phase, ExecutionPhase::Running);
    let findings = watching.findings(10_000);
    let hangs = found(&findings, Rule::BarrierCannotOpen);
    assert_eq!(hangs.len(), 2, "{findings:?}");
    assert!(hangs[0].sentence.contains("M at s=1 has 1 of 2 and can no longer open"), "{hangs:?}");
    assert!(hangs[0].sentence.contains("taken for another item"), "{hangs:?}");
    let shared = found(&findings, Rule::SharedCounter);
    assert!(shared[0].evidence.iter().any(|line| line.contains("exec:x:node:m:barrier:arrivals")));
    let verdict = look_through(&watching.rune, "m").verdict.expect("a sentence");
    assert!(verdict.contains("can no longer open"), "{verdict}");
}

#[test]
fn items_that_take_each_others_branches_share_a_merge() {
    // A of item 0 meets B of item 1, and the other way round: each goes on, with what is not its own.
    let (_, watching) = watch(&merge_in_a_fan_out(), items(2), |cluster| {
        for (url, takes) in [("a/0", 10), ("b/1", 100), ("a/1", 200), ("b/0", 300)] {
            cluster.answer(&format!("http://{url}"), takes, Ok(json!(1)));
        }
    });
    assert_eq!(watching.view().summary.phase, ExecutionPhase::Completed);
    let findings = watching.findings(10_000);
    assert_eq!(found(&findings, Rule::SharedCounter).len(), 1, "{findings:?}");
    assert_eq!(found(&findings, Rule::BarrierCannotOpen).len(), 0, "{findings:?}");
}

#[test]
fn items_that_reach_a_merge_one_after_the_other_share_nothing() {
    let mut cluster = RuneCluster::new();
    for (url, takes) in [("a/1", 3_000), ("b/1", 4_000), ("a/2", 9_000), ("b/2", 8_000)] {
        cluster.answer(&format!("http://{url}"), takes, Ok(json!(1)));
    }
    cluster.start("x", &merge_in_a_fan_out(), Some(items(3)));
    let mut watching = Watching::new();
    for _ in 0..100 {
        cluster.run_for(100);
        let findings = watching.catch_up(&cluster).findings(0);
        let wrong = |found: &Finding| matches!(found.rule, Rule::SharedCounter | Rule::BarrierCannotOpen);
        assert!(!findings.iter().any(wrong), "{findings:?}");
    }
    assert_eq!(watching.view().summary.phase, ExecutionPhase::Completed);
}

/// Fan-outs inside of a fan-out, each begun when its row is there.
fn nested() -> Value {
    let nodes = vec![
        trigger(),
        split("o", "$trigger.rows"),
        http("row", "http://row/$item.id"),
        split("i", "$item.of"),
        log("work"),
        gather("inner"),
        log("end"),
    ];
    workflow(nodes, "start>o o>row row>i i>work work>inner inner>end")
}

#[test]
fn nested_splits_that_run_one_after_the_other_share_nothing() {
    let rows = json!({"rows": [{"id": 0, "of": [1, 2]}, {"id": 1, "of": [3, 4, 5]}]});
    let shared = |takes: i64| {
        let (_, watching) = watch(&nested(), rows.clone(), |cluster| {
            cluster.faults.clocks.insert("inner".to_owned(), 500);
            cluster.answer("http://row/1", takes, Ok(json!(1)));
        });
        found(&watching.findings(10_000), Rule::SharedCounter).len()
    };
    assert_eq!((shared(100), shared(5)), (0, 1));
}

#[test]
fn an_empty_split_inside_of_another_uses_no_counter() {
    let rows = json!({"rows": [{"id": 0, "of": [1, 2]}, {"id": 1, "of": []}]});
    let (_, watching) = watch(&nested(), rows, |_| {});
    assert_eq!(watching.view().summary.phase, ExecutionPhase::Completed);
    assert_eq!(found(&watching.findings(10_000), Rule::SharedCounter).len(), 0);
}

/// A leaf whose failure is ignored.
fn ignored_leaf() -> Value {
    let nodes = vec![trigger(), log("a"), on_error(http("mail", "http://mail"), "ignore", "")];
    workflow(nodes, "start>a a>mail")
}

#[test]
fn a_run_that_simply_stops_is_told() {
    let refuse = |cluster: &mut RuneCluster| cluster.answer("http://mail", 5, Err("refused"));
    let (_, mut watching) = watch(&ignored_leaf(), json!({}), refuse);
    assert_eq!(watching.rules(3 * MINUTE), [], "nobody is connected");
    listen(&mut watching.rune);
    assert_eq!(watching.rules(MINUTE), [], "something may come yet");
    let findings = watching.findings(3 * MINUTE);
    let [stopped] = &findings[..] else { panic!("{findings:?}") };
    assert_eq!(stopped.rule, Rule::NoEnd);
    assert!(stopped.sentence.contains("Mail") && stopped.sentence.contains("3 min"), "{}", stopped.sentence);
    assert_eq!(stopped.node_id.as_ref().map(|id| id.as_str()), Some("mail"));

    // What was not heard may have been the end.
    let now = stopped.since;
    let gap = protocol::Gap { from: now, until: Some(now), dropped: 1, why: "too fast".to_owned() };
    watching.rune.missed(&gap, now);
    assert_eq!(watching.rules(30 * MINUTE), []);

    let (_, mut watching) = watch(&ignored_leaf(), json!({}), |_| {});
    listen(&mut watching.rune);
    assert_eq!(watching.rules(30 * MINUTE), [], "it went well and has ended");

    let rests = workflow(vec![trigger(), wait("rest", 86_400), log("end")], "start>rest rest>end");
    let mut cluster = RuneCluster::new();
    cluster.start("x", &rests, None);
    cluster.run_for(1_000);
    let mut watching = Watching::new();
    listen(&mut watching.catch_up(&cluster).rune);
    assert_eq!(watching.rules(30 * MINUTE), [], "it rests");
}

#[test]
fn a_race_that_is_run_again_ends_nowhere() {
    let nodes = vec![
        trigger(),
        log("a"),
        merge("m", "wait_for_any"),
        condition("c", "$trigger.n > 5", "a", "end"),
        log("end"),
    ];
    let circle = workflow(nodes, "start>a a>m m>c c>a c>end");
    let (_, mut watching) = watch(&circle, json!({"n": 9}), |_| {});
    listen(&mut watching.rune);
    let findings = watching.findings(3 * MINUTE);
    let [stopped] = &findings[..] else { panic!("{findings:?}") };
    assert_eq!(stopped.rule, Rule::NoEnd);
    assert!(stopped.sentence.contains("M"), "{}", stopped.sentence);
}

#[tokio::test]
async fn a_race_whose_winner_has_died_never_opens() {
    let mut kept = Kept::start().await;
    let mut cluster = RuneCluster::new();
    cluster.faults.lost_winners.insert("m".to_owned());
    cluster.start("x", &both("wait_for_any"), None);
    cluster.run();
    let now = cluster.now_millis();
    let mut rune = Rune::new("test");
    listen(&mut rune);
    hear(&mut rune, cluster.published());
    kept.hold(&cluster.keys).await;
    kept.look(&mut rune, now).await;
    assert_eq!(rune.findings(now + MINUTE), []);
    let findings = rune.findings(now + 3 * MINUTE);
    let [stuck] = &findings[..] else { panic!("{findings:?}") };
    assert_eq!(stuck.rule, Rule::BarrierCannotOpen);
    assert!(stuck.evidence.contains(&"exec:x:node:m:lock is fast".to_owned()), "{stuck:?}");
    let barrier = look_through(&rune, "m");
    assert_eq!(barrier.winner.as_ref().map(|id| id.as_str()), Some("fast"));
    assert!(barrier.verdict.expect("a sentence").contains("Fast"));

    // One who was too late is heard of before the winner.
    let (_, mut watching) = watch(&both("wait_for_any"), json!({}), |cluster| {
        cluster.answer("http://slow", 20, Ok(json!(1)));
        cluster.faults.slow_to_say.insert(("m".to_owned(), None), 60);
    });
    listen(&mut watching.rune);
    assert_eq!(found(&watching.findings(3 * MINUTE), Rule::BarrierCannotOpen).len(), 0);
}

#[test]
fn the_winner_of_a_race_is_named() {
    let (_, watching) = watch(&both("wait_for_any"), json!({}), |cluster| {
        cluster.answer("http://slow", 500, Ok(json!(1)));
    });
    let barrier = look_through(&watching.rune, "m");
    assert_eq!(barrier.verdict.as_deref(), Some("It has opened: Fast was first."));
    let progress = watching.view().nodes["m"].progress.expect("it has opened");
    assert_eq!((progress.arrived, progress.expected), (1, 1));
}

#[tokio::test]
async fn a_winner_that_came_behind_a_wait_has_no_name() {
    let mut kept = Kept::start().await;
    let nodes = vec![
        trigger(),
        log("fork"),
        wait("rest", 1),
        http("slow", "http://slow"),
        merge("m", "wait_for_any"),
        log("end"),
    ];
    let race = workflow(nodes, "start>fork fork>rest fork>slow rest>m slow>m m>end");
    let (cluster, mut watching) =
        watch(&race, json!({}), |cluster| cluster.answer("http://slow", 9_000, Ok(json!(1))));
    kept.hold(&cluster.keys).await;
    kept.look(&mut watching.rune, cluster.now_millis()).await;
    let barrier = look_through(&watching.rune, "m");
    assert_eq!(barrier.winner, None);
    assert!(barrier.verdict.as_ref().expect("a sentence").contains("not said who was first"), "{barrier:?}");
    let view = watching.view();
    let progress = view.nodes["m"].progress.expect("it has opened");
    assert_eq!((progress.arrived, progress.expected), (1, 1));
    assert_eq!(view.summary.phase, ExecutionPhase::Completed);
}

#[test]
fn of_an_execution_that_is_too_large_nothing_is_said_to_be_lost() {
    let mut cluster = RuneCluster::new();
    cluster.answer("http://shop/1", 10 * MINUTE, Ok(json!("late")));
    cluster.start("x", &fan_out(), Some(items(2)));
    cluster.run_for(1_000);
    // The same with more items than anybody can keep.
    const MANY: usize = 200_001;
    let grow = |message: &Published| {
        let mut body = message.json();
        if body["output"].get("_split_items").is_some() {
            body["output"]["_split_items"] = json!(vec![0; MANY]);
        }
        for frame in body["lineage_stack"].as_array_mut().into_iter().flatten() {
            frame["total_items"] = json!(MANY);
        }
        Published { body: body.to_string(), ..message.clone() }
    };
    let messages: Vec<Published> = cluster.published().iter().map(grow).collect();
    let mut watching = Watching::new();
    listen(&mut watching.rune);
    watching.hear(&messages);
    assert_eq!(watching.rune.findings(cluster.now_millis() + 10_000), []);
    let verdict = look_through(&watching.rune, "a").verdict.expect("a sentence");
    assert!(!verdict.contains("no longer open"), "{verdict}");
}

#[test]
fn a_join_whose_result_is_too_large_is_told() {
    for (workflow, count, node, opens_with) in [
        (fan_out(), 3, "a", "aggregated"),
        (fan_out(), 1, "a", "aggregated"),
        (both("wait_for_all"), 0, "m", "merged_context"),
    ] {
        let (cluster, _) = watch(&workflow, items(count), |_| {});
        // The broker takes neither the status nor the message behind it.
        let opens = |message: &Published| message.json()["output"].get(opens_with).is_some();
        let opens = cluster.published().iter().position(opens).expect("it opens");
        let mut watching = Watching::new();
        listen(&mut watching.rune);
        watching.hear(&cluster.published()[..opens]);
        let now = cluster.now_millis();
        assert_eq!(watching.rune.findings(now + MINUTE), []);
        let findings = watching.rune.findings(now + 3 * MINUTE);
        let [stuck] = &findings[..] else { panic!("{findings:?}") };
        assert_eq!(stuck.rule, Rule::BarrierCannotOpen);
        assert!(stuck.sentence.contains("its result may be too large"), "{}", stuck.sentence);
        assert!(stuck.since > now - MINUTE && stuck.advice.contains("16 MiB"), "{stuck:?}");
        let name = "workflow.execution".to_owned();
        let queue = QueueView { name, messages: 0, consumers: 2, growth: 0.0 };
        watching.rune.queues(std::slice::from_ref(&queue), now + 3 * MINUTE);
        let verdict = look_through(&watching.rune, node).verdict.expect("a sentence");
        assert!(verdict.contains("too large"), "{verdict}");
        // Whoever had it in hand is gone: it is delivered again.
        watching.rune.queues(&[QueueView { consumers: 0, ..queue.clone() }], now + 4 * MINUTE);
        watching.rune.queues(&[queue], now + 5 * MINUTE);
        assert_eq!(watching.rune.findings(now + 5 * MINUTE), []);
    }
}

#[test]
fn a_branch_that_fails_at_a_merge_inside_of_a_fan_out_never_comes() {
    let nodes = vec![
        trigger(),
        split("s", "$trigger.items"),
        log("a"),
        wait("rest", 1),
        merge("m", "wait_for_all"),
        log("end"),
    ];
    let rests = workflow(nodes, "start>s s>a s>rest a>m rest>m m>end");
    let (_, watching) = watch(&rests, items(1), |_| {});
    let findings = watching.findings(10_000);
    let stuck = found(&findings, Rule::BarrierCannotOpen);
    assert_eq!(stuck.len(), 1, "{findings:?}");
    assert!(stuck[0].sentence.contains("has 1 of 2"), "{stuck:?}");
    assert!(stuck[0].sentence.contains("the branch from Rest will never come, it failed at M"), "{stuck:?}");
    let verdict = look_through(&watching.rune, "m").verdict.expect("a sentence");
    assert!(verdict.contains("can no longer open"), "{verdict}");
}

/// Behind one split, each side of a node has an aggregator of its own.
fn two_aggregators(node: Value) -> Value {
    let nodes = vec![
        trigger(),
        split("s", "$trigger.items"),
        node,
        http("x", "http://x/$item.id"),
        http("y", "http://y/$item.id"),
        gather("one"),
        gather("two"),
        log("end"),
    ];
    workflow(nodes, "start>s s>c c>x c>y x>one y>two one>end two>end")
}

#[test]
fn aggregators_that_count_together_open_once() {
    let choice = || two_aggregators(condition("c", "$item.id < 1", "x", "y"));
    for slow_to_say in [0, 1_000] {
        let mut cluster = RuneCluster::new();
        cluster.answer("http://y/2", 500, Ok(json!(1)));
        cluster.faults.slow_to_say.insert(("one".to_owned(), Some(0)), slow_to_say);
        cluster.start("x", &choice(), Some(items(3)));
        let mut watching = Watching::new();
        cluster.run_for(100);
        assert_eq!(watching.catch_up(&cluster).rules(10_000), [], "item 2 is on its way");
        cluster.run();
        let view = watching.catch_up(&cluster).view();
        assert_eq!(watching.rules(10_000), [], "{slow_to_say}");
        assert_eq!(view.summary.phase, ExecutionPhase::Completed, "{slow_to_say}");
        assert_eq!(watching.output("two")["aggregated"].as_array().map(Vec::len), Some(3));
    }
}

#[test]
fn a_fork_in_front_of_one_counter_is_not_delivered_again() {
    let (_, watching) = watch(&two_aggregators(log("c")), items(3), |_| {});
    let findings = watching.findings(10_000);
    let early = found(&findings, Rule::CountedTwice);
    assert_eq!(early.len(), 1, "{findings:?}");
    assert!(early[0].sentence.contains("more than one way leads"), "{early:?}");
    assert!(!early[0].sentence.contains("delivered again"), "{early:?}");
}

#[tokio::test]
async fn a_join_that_opens_with_everything_has_everything() {
    let kept = Kept::start().await;
    let (cluster, _) = watch(&fan_out(), items(3), |_| {});
    for unheard in ["success", "running success"] {
        let is_heard = |message: &&Published| {
            let body = message.json();
            let is_of_item = body["node_id"] == "a" && body["item_index"] == 0;
            !is_of_item || !unheard.contains(body["status"].as_str().unwrap_or_default())
        };
        let heard: Vec<Published> = cluster.published().iter().filter(is_heard).cloned().collect();
        let mut rune = Rune::new("test");
        listen(&mut rune);
        let mut events = hear(&mut rune, &heard);
        let now = cluster.now_millis();
        assert_eq!(found(&rune.findings(now + 10_000), Rule::CountedTwice).len(), 0, "{unheard}");
        events.extend(kept.look(&mut rune, now + MINUTE).await);
        let view = recording::ViewFold::replay(&events).expect("it has begun").view().clone();
        assert_eq!(view.summary.phase, ExecutionPhase::Completed, "{unheard}");
        assert_eq!(rune.findings(now + 10 * MINUTE), [], "{unheard}");
    }
}
