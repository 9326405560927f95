//! The defects of a simulated Rune cluster: what is shown of them, and which rule finds them.

use observer::Dialect;
use protocol::{ExecutionPhase, Fact, NodeState, Rule};
use recording::TimerFold;
use runeglass_tests::rune_cluster::{
    Published, RuneCluster,
    watching::{Watching, state, watch},
    workflows::{
        condition, fan_out, gather, http, items, log, merge_behind_a_choice, on_error, split, trigger,
        workflow,
    },
};
use serde_json::{Value, json};

#[test]
fn a_merge_behind_a_choice_hangs_and_says_so() {
    let (cluster, watching) = watch(&merge_behind_a_choice(), json!({"n": 9}), |_| {});
    let view = watching.view();
    assert_eq!(view.summary.phase, ExecutionPhase::Running);
    assert_eq!(state(&view, "m"), NodeState::WaitingBarrier);
    assert!(view.edges["c-no"].skipped && !view.edges["c-yes"].skipped);
    assert_eq!((state(&view, "yes"), state(&view, "no")), (NodeState::Success, NodeState::Idle));
    let findings = watching.findings(10_000);
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].rule, Rule::BarrierCannotOpen);
    assert!(findings[0].sentence.contains("the branch from No"), "{}", findings[0].sentence);
    let barrier = watching.rune.barrier(&"x".into(), &"m".into()).expect("a join");
    assert_eq!((barrier.places[0].arrived, barrier.places[0].expected), (1, 2));
    assert!(barrier.verdict.expect("a sentence").contains("no longer open"));
    assert!(cluster.keys.0.contains_key("exec:x:node:m:barrier:arrivals"), "and the keys stay for ever");
    assert_eq!(
        TimerFold::replay(watching.events()).expect("a fold").timers().count(),
        0,
        "no deadline ends it"
    );
}

#[test]
fn a_failure_without_a_lineage_is_placed_where_only_one_item_can_be_meant() {
    let (_, watching) = watch(&fan_out(), items(3), |cluster| {
        cluster.answer("http://shop/0", 50, Ok(json!(1)));
        cluster.answer("http://shop/1", 20, Err("refused"));
        cluster.answer("http://shop/2", 60, Ok(json!(1)));
    });
    // All three ran when it failed; the item in the context of the halt tells which it was.
    assert_eq!(watching.grid("s", &[]), "sAs");
    let view = watching.view();
    assert_eq!(view.nodes["fetch"].counts.failed, 1);
    assert_eq!(view.summary.phase, ExecutionPhase::Running, "the aggregator waits for what never comes");
    let rules = watching.rules(10_000);
    assert_eq!(rules, [Rule::BarrierCannotOpen, Rule::EarlyCompletion]);
    let hangs = &watching.findings(10_000)[0];
    assert!(
        hangs.sentence.contains("item 1") && hangs.sentence.contains("failed at Fetch"),
        "{}",
        hangs.sentence
    );
}

#[test]
fn a_failure_that_could_be_of_two_items_says_so() {
    let same = json!({"items": [{"id": 1}, {"id": 1}, {"id": 2}]});
    let mut cluster = RuneCluster::new();
    cluster.answer("http://shop/1", 20, Err("refused"));
    cluster.answer("http://shop/2", 10, Ok(json!(1)));
    cluster.start("x", &fan_out(), Some(same));
    cluster.run();
    let mut watching = Watching::new();
    let messages = cluster.published();
    let failed = |message: &&Published| message.is_status() && message.json()["status"] == "failed";
    let first = messages.iter().position(|message| failed(&message)).expect("one fails");
    let halted = first + 1;
    watching.hear(&messages[..=halted]);
    let said = watching.events().iter().find_map(|event| match &event.fact {
        Fact::NodeFailed(failed) => Some((failed.firing.lineage.clone(), failed.error.details.clone())),
        _ => None,
    });
    let (lineage, details) = said.expect("it is told, with or without a place");
    assert!(lineage.is_root());
    assert_eq!(details.expect("details")["one_of"], json!(["s=0", "s=1"]));
    watching.hear(&messages[halted + 1..]);
    assert_eq!(watching.view().nodes["fetch"].counts.failed, 2, "each is counted once");
    assert_eq!(watching.grid("s", &[]), "AAs", "and told where it was once that is known");
}

#[test]
fn what_begins_after_failures_that_were_placed_late_has_not_failed() {
    let same = json!({"items": [{"id": 1}, {"id": 1}, {"id": 2}]});
    let (_, watching) = watch(&fan_out(), same, |cluster| {
        cluster.answer("http://shop/1", 20, Err("refused"));
        cluster.answer("http://shop/2", 60, Ok(json!(1)));
        cluster.faults.redelivered.insert(("fetch".to_owned(), Some(2)));
    });
    let counts = watching.view().nodes["fetch"].counts;
    assert_eq!((counts.failed, counts.success, counts.running), (2, 2, 0));
    let starts = watching.events().iter().filter(|event| match &event.fact {
        Fact::NodeStarted(started) => started.firing.lineage.key().as_str() == "s=2",
        _ => false,
    });
    assert_eq!(starts.count(), 2, "it ran twice, and ended as often");
}

#[test]
fn a_sibling_that_went_well_does_not_tell_who_failed() {
    let nodes = vec![
        trigger(),
        split("s", "$trigger.items"),
        on_error(http("fetch", "http://shop/$item.id"), "ignore", ""),
        http("note", "http://note/$item.id"),
    ];
    let workflow = workflow(nodes, "start>s s>fetch s>note");
    let (_, watching) = watch(&workflow, items(3), |cluster| {
        cluster.answer("http://shop/0", 20, Err("refused"));
        cluster.answer("http://note/0", 90, Ok(json!(1)));
        cluster.answer("http://note/1", 21, Ok(json!(1)));
        cluster.answer("http://shop/1", 60, Ok(json!(1)));
        cluster.answer("http://shop/2", 60, Ok(json!(1)));
    });
    let failed = watching.events().iter().filter_map(|event| match &event.fact {
        Fact::NodeFailed(failed) => Some(failed.firing.lineage.key().to_string()),
        _ => None,
    });
    assert_eq!(failed.collect::<Vec<_>>(), ["s=0"], "the item of the note that was over is another one");
    assert_eq!(watching.view().summary.phase, ExecutionPhase::Completed);
}

#[test]
fn an_ignored_failure_goes_on_where_it_happened() {
    let nodes = vec![
        trigger(),
        split("s", "$trigger.items"),
        on_error(http("fetch", "http://shop/$item.id"), "ignore", ""),
        log("note"),
        gather("a"),
    ];
    let workflow = workflow(nodes, "start>s s>fetch fetch>note note>a");
    let same = json!({"items": [{"id": 1}, {"id": 1}, {"id": 2}]});
    let (_, watching) = watch(&workflow, same, |cluster| cluster.answer("http://shop/1", 20, Err("refused")));
    let view = watching.view();
    assert_eq!(view.summary.phase, ExecutionPhase::Completed);
    assert_eq!((view.nodes["fetch"].counts.failed, view.nodes["note"].counts.success), (2, 3));
    let places: Vec<String> = watching
        .events()
        .iter()
        .filter_map(|event| match &event.fact {
            Fact::NodeFailed(failed) => Some(failed.firing.lineage.key().to_string()),
            _ => None,
        })
        .collect();
    assert_eq!(places, ["s=0", "s=1"], "the message that follows tells whose it was");
}

#[test]
fn ends_that_are_announced_at_every_leaf_are_one() {
    let nodes = vec![trigger(), log("fork"), http("slow", "http://slow"), log("quick"), log("last")];
    let workflow = workflow(nodes, "start>fork fork>quick fork>slow slow>last");
    let mut cluster = RuneCluster::new();
    cluster.answer("http://slow", 5_000, Ok(json!(1)));
    cluster.start("x", &workflow, None);
    cluster.run_for(1_000);
    let mut watching = Watching::new();
    assert_eq!(watching.catch_up(&cluster).view().summary.phase, ExecutionPhase::Running, "slow still runs");
    assert_eq!(watching.rules(0), [], "what was missed until now may be told of yet");
    assert_eq!(watching.rules(10_000), [Rule::EarlyCompletion]);
    cluster.run();
    let view = watching.catch_up(&cluster).view();
    assert_eq!(view.summary.phase, ExecutionPhase::Completed);
    let ends = watching.events().iter().filter(|event| matches!(event.fact, Fact::ExecutionEnded(_))).count();
    assert_eq!(ends, 1);
    assert_eq!(watching.rules(10_000), [Rule::EarlyCompletion, Rule::SeveralCompletions]);
}

#[test]
fn a_halt_is_not_undone_by_a_sibling_that_went_well() {
    let nodes = vec![trigger(), log("fork"), http("bad", "http://bad"), http("good", "http://good")];
    let workflow = workflow(nodes, "start>fork fork>bad fork>good");
    let (_, watching) = watch(&workflow, json!({}), |cluster| {
        cluster.answer("http://bad", 5, Err("refused"));
        cluster.answer("http://good", 500, Ok(json!(1)));
    });
    let view = watching.view();
    assert_eq!(view.summary.phase, ExecutionPhase::Halted, "although the last completion says completed");
    assert_eq!(view.summary.error.expect("why").node_id.expect("where").as_str(), "bad");
    assert!(watching.rules(0).contains(&Rule::SeveralCompletions));
}

#[test]
fn nested_splits_share_a_counter() {
    let nodes = vec![
        trigger(),
        split("o", "$trigger.rows"),
        split("i", "$item"),
        log("work"),
        gather("inner"),
        gather("outer"),
    ];
    let workflow = workflow(nodes, "start>o o>i i>work work>inner inner>outer");
    let (cluster, watching) = watch(&workflow, json!({"rows": [[1, 2], [3, 4, 5]]}), |_| {});
    assert_eq!(watching.grid("o", &[]).len(), 2);
    assert_eq!((watching.grid("i", &[0]).len(), watching.grid("i", &[1]).len()), (2, 3));
    let findings = watching.findings(10_000);
    let shared = findings.iter().find(|found| found.rule == Rule::SharedCounter).expect("it is found");
    assert!(shared.evidence.iter().any(|line| line.contains("exec:x:split:i:count")), "{shared:?}");
    assert_eq!(shared.evidence.iter().filter(|line| line.starts_with("o=")).count(), 2);
    let view = watching.view();
    assert!(view.nodes["inner"].counts.failed + view.nodes["outer"].counts.failed > 0);
    assert!(cluster.keys.0.keys().any(|key| key.starts_with("exec:x:split:i:")), "keys are left behind");
}

#[test]
fn one_fan_out_after_the_other_shares_nothing() {
    let nodes = vec![
        trigger(),
        split("s", "$trigger.items"),
        log("w"),
        gather("a"),
        split("t", "$trigger.items"),
        log("x"),
        gather("b"),
    ];
    let workflow = workflow(nodes, "start>s s>w w>a a>t t>x x>b");
    let (_, watching) = watch(&workflow, items(3), |_| {});
    assert_eq!(watching.view().summary.phase, ExecutionPhase::Completed);
    assert_eq!((watching.grid("s", &[]), watching.grid("t", &[])), ("sss".to_owned(), "sss".to_owned()));
    assert_eq!(watching.rules(10_000), []);
}

#[test]
fn an_item_that_is_delivered_again_is_counted_twice() {
    let (_, watching) = watch(&fan_out(), items(3), |cluster| {
        cluster.answer("http://shop/2", 800, Ok(json!("late")));
        cluster.faults.redelivered.insert(("a".to_owned(), Some(0)));
    });
    let twice = watching.findings(10_000).into_iter().find(|found| found.rule == Rule::CountedTwice);
    let twice = twice.expect("it is found");
    assert!(twice.sentence.contains("opened with 2 different parts of 3"), "{}", twice.sentence);
    assert_eq!(watching.output("a")["aggregated"][2], Value::Null);
    assert_eq!(watching.view().nodes["a"].counts.failed, 1, "the real one finds no counter any more");
}

#[test]
fn a_node_that_is_delivered_again_has_run_twice() {
    let workflow = workflow(vec![trigger(), log("mail"), log("end")], "start>mail mail>end");
    let (_, watching) = watch(&workflow, json!({}), |cluster| {
        cluster.faults.redelivered.insert(("mail".to_owned(), None));
    });
    let view = watching.view();
    assert_eq!((view.nodes["mail"].counts.success, view.nodes["end"].counts.success), (2, 2));
    assert!(watching.rules(0).contains(&Rule::SeveralCompletions));
    assert_eq!(watching.rune.redelivered(), 2, "it, and what stands behind it");
}

#[test]
fn a_branch_that_ends_before_the_aggregator_keeps_it_from_opening() {
    let nodes = vec![
        trigger(),
        split("s", "$trigger.items"),
        condition("c", "$item.id < 2", "keep", ""),
        log("keep"),
        gather("a"),
    ];
    let workflow = workflow(nodes, "start>s s>c c>keep keep>a");
    let (_, watching) = watch(&workflow, items(3), |_| {});
    let hangs = &watching.findings(10_000)[0];
    assert_eq!(hangs.rule, Rule::BarrierCannotOpen);
    assert!(hangs.sentence.contains("item 2 will never come, its way ended at C"), "{}", hangs.sentence);
    assert_eq!(watching.view().summary.phase, ExecutionPhase::Running);
}

#[test]
fn a_message_that_was_refused_is_gone() {
    let workflow = workflow(vec![trigger(), log("a"), log("b")], "start>a a>b");
    let (_, mut watching) = watch(&workflow, json!({}), |cluster| {
        cluster.faults.discarded.insert("b".to_owned());
    });
    assert_eq!(state(&watching.view(), "b"), NodeState::Queued);
    assert_eq!(watching.rules(600_000), [], "without the queue nobody can tell");
    let queue =
        protocol::QueueView { name: "workflow.execution".to_owned(), messages: 0, consumers: 2, growth: 0.0 };
    watching.rune.queues(std::slice::from_ref(&queue), 0);
    assert_eq!(watching.rules(600_000), [Rule::Discarded]);
    assert_eq!(watching.rules(10_000), [], "a worker may hold it in its hands");
    watching.rune.queues(&[protocol::QueueView { messages: 5, ..queue.clone() }], 0);
    assert_eq!(watching.rules(600_000), [], "it is still in the queue");
    watching.rune.queues(&[protocol::QueueView { messages: 5, consumers: 0, growth: 1.5, ..queue }], 0);
    assert_eq!(watching.rules(600_000), [Rule::NoConsumer]);
}

fn taken_up() -> protocol::QueueView {
    protocol::QueueView { name: "workflow.execution".to_owned(), messages: 0, consumers: 2, growth: 0.0 }
}

#[test]
fn what_waits_in_the_hands_of_a_busy_worker_is_not_gone() {
    let mut cluster = RuneCluster::new();
    for item in 0..20 {
        cluster.answer(&format!("http://shop/{item}"), 30_000, Ok(json!(1)));
    }
    cluster.start("x", &fan_out(), Some(items(20)));
    cluster.run_for(5_000);
    // Two workers have taken ten items each, and work on one.
    let of_item = |message: &Published, item: u64| message.json()["item_index"] == json!(item);
    let is_begun = |message: &&Published| !message.is_status() || !(2..20).any(|item| of_item(message, item));
    let heard: Vec<Published> = cluster.published().iter().filter(is_begun).cloned().collect();
    let mut watching = Watching::new();
    watching.hear(&heard);
    let now = cluster.now_millis();
    for second in 0..130 {
        watching.rune.queues(&[taken_up()], now + second * 1_000);
        assert_eq!(watching.rune.findings(now + second * 1_000), [], "after {second} s");
    }
    // The next two begin: what takes half a minute takes five until the last one has its turn.
    cluster.run_for(30_000);
    let next = |message: &&Published| (0..2).any(|item| of_item(message, item));
    let over: Vec<Published> = cluster.published()[heard.len()..].iter().filter(next).cloned().collect();
    watching.hear(&over);
    watching.rune.queues(&[taken_up()], now + 131_000);
    assert_eq!(watching.rune.findings(now + 131_000), []);
    // Nobody works on anything any more, and nobody has begun with them.
    for second in 131..170 {
        watching.rune.queues(&[taken_up()], now + second * 1_000);
    }
    let found = watching.rune.findings(now + 170_000);
    assert_eq!(found.iter().filter(|found| found.rule == Rule::Discarded).count(), 18, "{found:?}");
}

#[test]
fn while_nobody_listens_nothing_grows_old() {
    let refused = workflow(vec![trigger(), log("a"), log("b")], "start>a a>b");
    let (cluster, mut gone) = watch(&refused, json!({}), |cluster| {
        cluster.faults.discarded.insert("b".to_owned());
    });
    let (_, mut hung) = watch(&merge_behind_a_choice(), json!({"n": 9}), |_| {});
    let mut slow = RuneCluster::new();
    slow.answer("http://shop/6", 600_000, Ok(json!("late")));
    slow.start("x", &fan_out(), Some(items(8)));
    slow.run_for(1_000);
    let mut lags = Watching::new();
    lags.catch_up(&slow);
    let now = cluster.now_millis();
    for (watching, rule) in
        [(&mut gone, Rule::Discarded), (&mut hung, Rule::BarrierCannotOpen), (&mut lags, Rule::SlowItem)]
    {
        watching.rune.queues(&[taken_up()], now);
        watching.rune.listening(Some(0));
        watching.rune.listening(None);
        assert_eq!(watching.rules(600_000), [], "{rule:?}");
        watching.rune.listening(Some(0));
        assert_eq!(watching.rules(600_000), [rule], "it is found where everything is heard");
        watching.rune.queues(&[taken_up()], now + 600_000);
        watching.rune.listening(Some(0));
        watching.rune.listening(None);
        assert_eq!(watching.rules(900_000), [rule], "what was found stays");
    }
}

#[test]
fn an_item_that_lags_behind_is_named() {
    let mut cluster = RuneCluster::new();
    cluster.answer("http://shop/6", 600_000, Ok(json!("late")));
    cluster.start("x", &fan_out(), Some(items(8)));
    cluster.run_for(60_000);
    let mut watching = Watching::new();
    watching.catch_up(&cluster);
    let slow = &watching.findings(0)[0];
    assert_eq!(slow.rule, Rule::SlowItem);
    assert_eq!(slow.key.as_ref().map(|key| key.as_str()), Some("s=6"));
}

#[test]
fn items_that_all_take_long_are_not_slow() {
    let mut cluster = RuneCluster::new();
    for item in 0..8 {
        cluster.answer(&format!("http://shop/{item}"), 20_000 + 1_000 * item, Ok(json!("in its time")));
    }
    cluster.start("x", &fan_out(), Some(items(8)));
    for _ in 0..30 {
        cluster.run_for(1_000);
        let mut watching = Watching::new();
        watching.catch_up(&cluster);
        assert_eq!(watching.rules(0), []);
    }
}

#[test]
fn what_waited_while_no_worker_was_there_is_not_gone() {
    let mut cluster = RuneCluster::new();
    cluster.start("x", &fan_out(), Some(items(20)));
    cluster.run_for(1_000);
    let is_sent = |message: &&Published| match message.routing_key {
        "workflow.node.status" => message.json()["node_id"] == "s",
        "workflow.execution" => message.json()["current_node"] == "fetch",
        key => key != "workflow.completion",
    };
    let sent: Vec<Published> = cluster.published().iter().filter(is_sent).cloned().collect();
    let mut watching = Watching::new();
    watching.hear(&sent);
    let now = cluster.now_millis();
    let gone = |watching: &mut Watching, queue: protocol::QueueView, second: i64| {
        watching.rune.queues(&[queue], now + second * 1_000);
        let found = watching.rune.findings(now + second * 1_000);
        found.iter().filter(|found| found.rule == Rule::Discarded).count()
    };
    let nobody = || protocol::QueueView { messages: 20, consumers: 0, ..taken_up() };
    for second in 0..600 {
        assert_eq!(gone(&mut watching, nobody(), second), 0);
    }
    // They are back, and have taken all of it.
    for second in 600..700 {
        assert_eq!(gone(&mut watching, taken_up(), second), 0, "after {second} s");
    }
    assert_eq!(gone(&mut watching, taken_up(), 725), 20, "nobody has begun with it for two minutes");
}

/// An item goes on by itself, or behind the aggregator: what stands there is inside of the fan-out, and is not.
fn depths(expression: &str) -> Value {
    let nodes = vec![
        trigger(),
        split("s", "$trigger.items"),
        condition("x", expression, "a", "done"),
        gather("a"),
        http("done", "http://done/$item.id"),
    ];
    workflow(nodes, "start>s s>x x>a x>done a>done")
}

#[test]
fn where_ways_of_different_depth_meet_nothing_is_awaited_that_never_comes() {
    let (_, watching) = watch(&depths("$item.id < 9"), items(3), |_| {});
    let view = watching.view();
    assert_eq!(watching.rules(10_000), []);
    assert_eq!((view.summary.phase, view.nodes["done"].counts.success), (ExecutionPhase::Completed, 1));
}

#[test]
fn where_ways_of_different_depth_meet_a_failure_is_of_what_runs() {
    let (_, watching) = watch(&depths("$item.id < 1"), items(2), |cluster| {
        cluster.answer("http://done/1", 20, Err("refused"));
    });
    let failed = watching.events().iter().filter_map(|event| match &event.fact {
        Fact::NodeFailed(failed) => Some(failed.firing.lineage.key().to_string()),
        _ => None,
    });
    assert_eq!(failed.collect::<Vec<_>>(), ["s=1"]);
    assert_eq!(watching.view().nodes["done"].counts.running, 0);
}

#[test]
fn a_circle_around_a_fan_out_ends_once() {
    let nodes = vec![
        trigger(),
        split("s", "$trigger.items"),
        log("w"),
        condition("c", "$trigger.n > 5", "s", "end"),
        log("end"),
    ];
    let circle = workflow(nodes, "start>s s>w w>c c>s c>end");
    let (_, watching) = watch(&circle, json!({"n": 1, "items": [1]}), |_| {});
    assert_eq!(watching.view().summary.phase, ExecutionPhase::Completed);
    assert_eq!(watching.rules(10_000), []);
}

#[test]
fn an_aggregator_that_gave_way_to_another_one_waits_no_longer() {
    let nodes = vec![
        trigger(),
        split("s", "$trigger.items"),
        condition("c", "$item.id < 1", "x", "y"),
        log("x"),
        log("y"),
        gather("one"),
        gather("two"),
        log("after"),
        http("end", "http://end"),
    ];
    let shared = workflow(nodes, "start>s s>c c>x c>y x>one y>two one>after two>end");
    let mut cluster = RuneCluster::new();
    cluster.answer("http://end", 600_000, Ok(json!(1)));
    cluster.start("x", &shared, Some(items(3)));
    cluster.run_for(1_000);
    let mut watching = Watching::new();
    let view = watching.catch_up(&cluster).view();
    assert_eq!((state(&view, "two"), state(&view, "end")), (NodeState::Success, NodeState::Running));
    assert_eq!(
        state(&view, "one"),
        NodeState::Skipped,
        "what had reached it was taken along by the other one"
    );
    assert!(view.edges["one-after"].skipped);
    let barrier = watching.rune.barrier(&"x".into(), &"one".into()).expect("a join");
    assert_eq!(barrier.places, []);
    assert!(barrier.verdict.as_ref().expect("a sentence").contains("Two counts with it"), "{barrier:?}");
}
