//! The joins of a simulated Rune cluster as they are in life: clocks that differ, messages that wait for a worker, counts
//! that are asked for a moment later, and keys that several items share.

use observer::{Dialect, rune::Rune};
use protocol::{ExecutionPhase, Finding, NodeState, QueueView, Rule};
use runeglass_tests::rune_cluster::{
    Published, RuneCluster,
    watching::{Watching, state, watch},
    workflows::{condition, fan_out, http, items, log, merge, trigger, workflow},
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
