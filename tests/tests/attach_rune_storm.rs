//! A simulated Rune cluster that is heard badly: in any order, twice, in pieces, and too much of it.

use observer::{
    Dialect, Heard,
    rune::{Bounds, Rune},
};
use protocol::{Event, ExecutionPhase};
use runeglass_tests::rune_cluster::{
    Published, RuneCluster,
    watching::{Watching, watch},
    workflows::{condition, fan_out, gather, http, items, log, merge, split, trigger, wait, workflow},
};
use serde_json::{Value, json};

/// A small generator of numbers, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

#[test]
fn the_order_and_number_of_statuses_does_not_matter() {
    let nodes = vec![
        trigger(),
        log("first"),
        split("s", "$trigger.items"),
        condition("c", "$item.id < 3", "fetch", "rest"),
        http("fetch", "http://shop/$item.id"),
        wait("rest", 3),
        log("note"),
        gather("a"),
        log("fork"),
        log("left"),
        log("right"),
        merge("m", "wait_for_all"),
        log("end"),
    ];
    let edges = "start>first first>s s>c c>fetch c>rest fetch>note rest>note note>a a>fork fork>left fork>right left>m right>m m>end";
    let (cluster, whole) = watch(&workflow(nodes, edges), items(6), |_| {});
    let expected = whole.view();
    assert_eq!(expected.summary.phase, ExecutionPhase::Completed);
    for seed in 0..200 {
        let mut numbers = Numbers(seed);
        let mut messages = cluster.published().to_vec();
        let places: Vec<usize> = (0..messages.len()).filter(|&at| messages[at].is_status()).collect();
        for last in (1..places.len()).rev() {
            messages.swap(places[last], places[numbers.below(last + 1)]);
        }
        for _ in 0..numbers.below(20) {
            let copy = messages[places[numbers.below(places.len())]].clone();
            // Never before the first message, which holds the definition.
            let place = 1 + numbers.below(messages.len());
            messages.insert(place, copy);
        }
        let mut watching = Watching::new();
        watching.hear(&messages);
        let view = watching.view();
        assert_eq!(view.summary.phase, expected.summary.phase, "seed {seed}");
        for (id, node) in &expected.nodes {
            let found = &view.nodes[id];
            assert_eq!(
                (found.state, found.counts.success),
                (node.state, node.counts.success),
                "{id}, seed {seed}"
            );
        }
        let grid = watching.grid("s", &[]);
        assert_eq!(grid.len(), 6);
    }
}

#[test]
fn garbage_is_counted_and_nothing_more() {
    let (cluster, _) = watch(&fan_out(), items(4), |_| {});
    let mut watching = Watching::new();
    let mut numbers = Numbers(1);
    let said = |routing_key: &'static str, body: String| Published { at: 0, routing_key, body };
    let keys = [
        "workflow.execution",
        "workflow.resume",
        "workflow.worker.initiated",
        "workflow.node.status",
        "workflow.completion",
    ];
    for key in keys {
        for body in ["", "{", "null", "[]", "7", "{}", "\"x\"", &"[".repeat(100_000)] {
            watching.hear(&[said(key, body.to_owned())]);
        }
        watching.hear(&[said(
            key,
            json!({"execution_id": "x", "current_node": "n", "node_id": 5, "status": "odd"}).to_string(),
        )]);
    }
    watching.hear(&[said("workflow.something.new", "whatever".to_owned())]);
    assert!(watching.rune.let_go().unreadable >= 40, "{:?}", watching.rune.let_go());
    assert!(watching.events.is_empty());
    // Every message with a field taken away, changed, or cut off.
    for _ in 0..3_000 {
        let message = &cluster.published()[numbers.below(cluster.published().len())];
        let mut body = message.json();
        let fields: Vec<String> = body.as_object().expect("an object").keys().cloned().collect();
        let field = &fields[numbers.below(fields.len())];
        match numbers.below(4) {
            0 => drop(body.as_object_mut().expect("an object").remove(field)),
            1 => body[field] = json!(["odd", 1]),
            2 => body["something_new"] = json!({"deep": [1]}),
            _ => body[field] = Value::Null,
        }
        let text = body.to_string();
        let cut = text.char_indices().nth(numbers.below(text.len())).map_or(0, |(at, _)| at);
        let body = if numbers.below(5) == 0 { text[..cut].to_owned() } else { text };
        watching.hear(&[Published { body, ..message.clone() }]);
    }
    watching.findings(1_000_000);
    if !watching.events().is_empty() {
        watching.view();
        watching.insight();
    }
}

#[test]
fn what_is_kept_is_bounded() {
    let bounds = Bounds { executions: 20, places: 1_000, strangers: 5, per_stranger: 3 };
    let mut rune = Rune::with_bounds("small", bounds);
    let hear = |rune: &mut Rune, message: &Published, later: i64| {
        let (at, body) = (message.at + later * 1_000, message.body.clone().into_bytes());
        rune.hear(&Heard { at, routing_key: message.routing_key.to_owned(), body }).events
    };
    for number in 0..200 {
        let mut cluster = RuneCluster::new();
        cluster.start(&format!("e{number}"), &fan_out(), Some(items(3)));
        cluster.run();
        let skipped = usize::from(number % 10 == 0);
        let events: Vec<Event> = cluster
            .published()
            .iter()
            .skip(skipped)
            .flat_map(|message| hear(&mut rune, message, number))
            .collect();
        assert!(!events.is_empty() || skipped == 1);
        // Heard of again when it is long gone.
        if number == 150 {
            let mut old = RuneCluster::new();
            old.start("e5", &fan_out(), Some(items(3)));
            old.run();
            let events: usize =
                old.published().iter().map(|message| hear(&mut rune, message, number).len()).sum();
            assert_eq!(events, 0, "nobody begins it anew");
        }
    }
    let let_go = rune.let_go();
    assert!(let_go.executions >= 160 && let_go.messages > 0, "{let_go:?}");
    assert!(rune.findings(i64::MAX / 2).len() < 1_000);
}

#[test]
fn numbers_beyond_reason_are_borne() {
    let (cluster, _) = watch(&fan_out(), items(3), |_| {});
    let mut watching = Watching::new();
    for message in cluster.published() {
        let mut body = message.json();
        if message.is_status() {
            body["duration_ms"] = json!(1e300);
            body["executed_at"] = json!("-009999-01-02T01:59:59Z");
            for frame in body["lineage_stack"].as_array_mut().into_iter().flatten() {
                frame["total_items"] = json!(u32::MAX);
            }
        }
        watching.hear(&[Published { body: body.to_string(), ..message.clone() }]);
    }
    let status = |field: &str, value: Value| {
        let mut body = json!({"workflow_id": "7", "execution_id": "x", "node_id": "fetch", "node_name": "Fetch",
            "status": "waiting", "executed_at": "9999-12-30T00:00:00Z", "output": {}});
        body["output"][field] = value;
        Published { at: 5, routing_key: "workflow.node.status", body: body.to_string() }
    };
    watching.hear(&[status("resume_at", json!(i64::MAX)), status("resume_at", json!(i64::MIN))]);
    watching.view();
    watching.insight().barrier(&"a".into());
    for now in [0, i64::from(u32::MAX), i64::MAX / 4] {
        watching.rune.findings(now);
        watching.rune.barrier(&"x".into(), &"a".into());
    }
}
