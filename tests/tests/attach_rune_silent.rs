//! A simulated Rune cluster in which nodes say nothing: nobody gave them a name.

use observer::{Dialect, rune::Rune};
use protocol::{ExecutionPhase, NodeState, QueueView};
use runeglass_tests::rune_cluster::{
    RuneCluster,
    watching::{Watching, state, watch},
    workflows::{gather, http, items, log, split, trigger, workflow},
};
use serde_json::{Value, json};

const MINUTE: i64 = 60_000;

/// Somebody who is connected, and whose queues are empty.
fn listen(rune: &mut Rune, now: i64) {
    rune.listening(Some(0));
    let name = "workflow.execution".to_owned();
    rune.queues(&[QueueView { name, messages: 0, consumers: 2, growth: 0.0 }], now);
}

/// Whoever made it gave it no name: no worker publishes a status of it.
fn mute(mut node: Value) -> Value {
    node["name"] = json!("");
    node
}

#[test]
fn a_node_without_a_name_is_not_waited_for() {
    let chain = workflow(vec![trigger(), log("a"), mute(log("b")), log("c")], "start>a a>b b>c");
    let leaf = workflow(vec![trigger(), log("a"), mute(log("b"))], "start>a a>b");
    for (workflow, is_told) in [(chain, true), (leaf, false)] {
        let (cluster, mut watching) = watch(&workflow, json!({}), |_| {});
        let view = watching.view();
        assert_eq!(view.summary.phase, ExecutionPhase::Completed);
        assert_eq!(state(&view, "b") == NodeState::Success, is_told, "what stands behind it tells of it");
        let now = cluster.now_millis();
        (0..20).for_each(|minute| listen(&mut watching.rune, now + minute * MINUTE));
        assert_eq!(watching.rules(20 * MINUTE), []);
    }
}

#[test]
fn an_item_at_a_node_without_a_name_is_on_its_way() {
    let fetch = mute(http("fetch", "http://shop/$item.id"));
    let nodes = vec![trigger(), split("s", "$trigger.items"), fetch, gather("a"), log("end")];
    let mut cluster = RuneCluster::new();
    cluster.answer("http://shop/1", 20 * MINUTE, Ok(json!(1)));
    cluster.start("x", &workflow(nodes, "start>s s>fetch fetch>a a>end"), Some(items(2)));
    cluster.run_for(1_000);
    let mut watching = Watching::new();
    watching.catch_up(&cluster);
    let now = cluster.now_millis();
    (0..10).for_each(|minute| listen(&mut watching.rune, now + minute * MINUTE));
    assert_eq!(watching.rules(10 * MINUTE), [], "it takes long and says nothing");
    cluster.run();
    assert_eq!(watching.catch_up(&cluster).view().summary.phase, ExecutionPhase::Completed);
}
