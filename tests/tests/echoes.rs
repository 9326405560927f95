//! What a commit means for other nodes is said to people: skipped nodes, losers of a race, values that come too late;
//! and how many items of a split are under way.

use std::collections::BTreeMap;

use protocol::{Echo, Event, Fact, NodeStatus, NodeStatusMessage, StatusLine, WhyIgnored};
use recording::{StatusFold, ViewFold};
use runeglass_tests::local::{plan, run};
use serde_json::{Value, json};

/// Nodes as `id:kind`, edges as `from>to` or `from>to:handle`.
fn workflow(nodes: &[(&str, &str, Value)], edges: &[&str]) -> Value {
    let nodes: Vec<Value> = nodes
        .iter()
        .map(|(id, kind, parameters)| json!({"id": id, "type": kind, "parameters": parameters}))
        .collect();
    let edge = |text: &&str| {
        let (from, rest) = text.split_once('>').expect("from>to");
        let (to, handle) = rest.split_once(':').map_or((rest, None), |(to, handle)| (to, Some(handle)));
        let mut edge = json!({"id": text, "src": from, "dst": to});
        if let Some(handle) = handle {
            edge["source_handle"] = json!(handle);
        }
        edge
    };
    json!({"nodes": nodes, "edges": edges.iter().map(edge).collect::<Vec<_>>()})
}

fn echoes(events: &[Event]) -> impl Iterator<Item = &Echo> {
    events.iter().filter_map(|event| match &event.fact {
        Fact::NodeSucceeded(done) => Some(&done.echo),
        Fact::NodeFailed(done) => Some(&done.echo),
        _ => None,
    })
}

fn statuses(events: &[Event]) -> Vec<NodeStatusMessage> {
    let mut fold = StatusFold::default();
    let lines = events.iter().flat_map(|event| fold.apply(event)).filter_map(|line| match line {
        StatusLine::Status(status) => Some(*status),
        StatusLine::Completion(_) => None,
    });
    lines.collect()
}

/// Every (node, key) that was said to be skipped, in order.
fn skipped(events: &[Event]) -> Vec<String> {
    let said = statuses(events).into_iter().filter(|status| status.status == NodeStatus::Skipped);
    let mut said: Vec<String> = said
        .map(|status| {
            let key: Vec<String> =
                status.lineage_stack.iter().map(|frame| frame.item_index.to_string()).collect();
            format!("{}[{}]", status.node_id, key.join("."))
        })
        .collect();
    said.sort();
    said
}

fn log(message: &str) -> Value {
    json!({"message": message})
}

#[tokio::test]
async fn the_side_not_taken_is_skipped_up_to_where_ways_meet() {
    let nodes = [
        ("t", "trigger", json!({})),
        ("if", "conditional", json!({"expression": "$trigger.yes"})),
        ("a", "log", log("a")),
        ("b", "log", log("b")),
        ("b2", "log", log("b2")),
        ("meet", "merge", json!({})),
        ("end", "log", log("end")),
    ];
    let edges = ["t>if", "if>a:true", "if>b:false", "b>b2", "a>meet", "b2>meet", "meet>end"];
    let workflow = workflow(&nodes, &edges);
    let ran = run(plan(&workflow), json!({"yes": true})).await;
    assert_eq!(skipped(&ran.events), ["b2[]", "b[]"]);
    let ran = run(plan(&workflow), json!({"yes": false})).await;
    assert_eq!(skipped(&ran.events), ["a[]"]);
    let view = ViewFold::replay(&ran.events).expect("a view");
    assert!(view.view().edges["if>a:true"].skipped && view.view().edges["a>meet"].skipped);
    assert!(!view.view().edges["b2>meet"].skipped);
}

#[tokio::test]
async fn a_join_that_nothing_reaches_is_skipped_with_what_is_behind_it() {
    let nodes = [
        ("t", "trigger", json!({})),
        ("left", "conditional", json!({"expression": "$trigger.yes"})),
        ("right", "conditional", json!({"expression": "$trigger.yes"})),
        ("a", "log", log("a")),
        ("b", "log", log("b")),
        ("meet", "merge", json!({})),
        ("each", "split", json!({"input_array": "$trigger.list"})),
        ("in", "log", log("in")),
        ("all", "aggregator", json!({})),
    ];
    let edges = [
        "t>left",
        "t>right",
        "left>a:true",
        "right>b:true",
        "a>meet",
        "b>meet",
        "meet>each",
        "each>in",
        "in>all",
    ];
    let ran = run(plan(&workflow(&nodes, &edges)), json!({"yes": false, "list": [1]})).await;
    assert_eq!(skipped(&ran.events), ["a[]", "all[]", "b[]", "each[]", "in[]", "meet[]"]);
    let view = ViewFold::replay(&ran.events).expect("a view");
    assert_eq!(
        view.view().nodes["meet"].counts.skipped,
        1,
        "it waits no longer, and is not counted again at the end"
    );
}

#[tokio::test]
async fn items_skip_what_they_leave_out() {
    let nodes = [
        ("t", "trigger", json!({})),
        ("each", "split", json!({"input_array": "$trigger.list"})),
        ("if", "conditional", json!({"expression": "$item > 1"})),
        ("work", "simulate", json!({"output": "$item", "failure_rate": "{{ $item === 3 ? 1 : 0 }}"})),
        ("more", "log", log("more")),
        ("all", "aggregator", json!({})),
    ];
    let workflow = workflow(&nodes, &["t>each", "each>if", "if>work:true", "work>more", "more>all"]);
    let ran = run(plan(&workflow), json!({"list": [1, 2, 3]})).await;
    assert_eq!(skipped(&ran.events), ["more[0]", "more[2]", "work[0]"]);
    let ran = run(plan(&workflow), json!({"list": []})).await;
    assert_eq!(skipped(&ran.events), ["if[]", "more[]", "work[]"], "an empty array runs nothing inside");
}

#[tokio::test]
async fn losers_of_a_race_and_late_values_are_recorded() {
    let slow = |millis: u32| json!({"latency_ms": millis});
    let race = [
        ("t", "trigger", json!({})),
        ("fast", "simulate", slow(10)),
        ("slow", "simulate", slow(20)),
        ("first", "merge", json!({"wait_mode": "wait_for_any"})),
        ("end", "log", log("end")),
    ];
    let edges = ["t>fast", "t>slow", "fast>first", "slow>first", "first>end"];
    let ran = run(plan(&workflow(&race, &edges)), json!({})).await;
    let ignored: Vec<_> = echoes(&ran.events).flat_map(|echo| &echo.ignored).collect();
    assert_eq!(
        (ignored.len(), ignored[0].edge_id.as_str(), ignored[0].why),
        (1, "slow>first", WhyIgnored::LostRace)
    );
    assert_eq!(ran.firings("end"), 1);
    let view = ViewFold::replay(&ran.events).expect("a view");
    assert_eq!(view.view().edges["slow>first"].ignored, 1);

    let mut late = workflow(&race, &edges);
    late["nodes"][3]["parameters"] = json!({"timeout": 1});
    late["nodes"][3]["error"] = json!({"type": "ignore"});
    late["nodes"][2]["parameters"] = slow(5_000);
    let ran = run(plan(&late), json!({})).await;
    let ignored: Vec<_> = echoes(&ran.events).flat_map(|echo| &echo.ignored).collect();
    assert_eq!(
        (ignored.len(), ignored[0].edge_id.as_str(), ignored[0].why),
        (1, "slow>first", WhyIgnored::Late)
    );
    assert_eq!(ran.firings("first"), 1);
}

/// The most items of `node`'s split that were under way at once, told by what starts and ends in `first` and `last`.
fn most_at_once(events: &[Event], first: &str, last: &str) -> usize {
    let mut open: BTreeMap<String, ()> = BTreeMap::new();
    let mut most = 0;
    for event in events {
        match &event.fact {
            Fact::NodeStarted(started) if started.firing.node_id.as_str() == first => {
                open.insert(started.firing.lineage.key().as_str().to_owned(), ());
            }
            Fact::NodeSucceeded(done) if done.firing.node_id.as_str() == last => {
                open.remove(done.firing.lineage.key().as_str());
            }
            _ => {}
        }
        most = most.max(open.len());
    }
    most
}

#[tokio::test]
async fn a_window_bounds_the_items_under_way() {
    let nodes = |window: Value| {
        [
            ("t", "trigger", json!({})),
            ("each", "split", json!({"input_array": "$trigger.list", "max_in_flight": window})),
            ("rest", "wait", json!({"amount": 1})),
            ("work", "log", log("$item")),
            ("all", "aggregator", json!({})),
        ]
    };
    let edges = ["t>each", "each>rest", "rest>work", "work>all"];
    let list: Vec<u32> = (0..10).collect();
    for (window, most, millis) in
        [(json!(3), 3, 4_000), (json!("1"), 1, 10_000), (json!(50), 10, 1_000), (json!(null), 10, 1_000)]
    {
        let ran = run(plan(&workflow(&nodes(window.clone()), &edges)), json!({"list": list})).await;
        assert_eq!(most_at_once(&ran.events, "rest", "work"), most, "window {window}");
        assert_eq!(ran.ended_at(), millis, "window {window}");
        assert_eq!(ran.output("all").as_array().map(Vec::len), Some(10));
    }
}

#[tokio::test]
async fn windows_nest() {
    let nodes = [
        ("t", "trigger", json!({})),
        ("outer", "split", json!({"input_array": "$trigger.list", "max_in_flight": 2})),
        ("inner", "split", json!({"input_array": "$item", "max_in_flight": 1})),
        ("rest", "wait", json!({"amount": 1})),
        ("few", "aggregator", json!({})),
        ("all", "aggregator", json!({})),
    ];
    let edges = ["t>outer", "outer>inner", "inner>rest", "rest>few", "few>all"];
    let ran = run(plan(&workflow(&nodes, &edges)), json!({"list": [[1, 2, 3], [], [4, 5], [6]]})).await;
    assert_eq!(ran.output("all").as_array().map(Vec::len), Some(4));
    assert_eq!(ran.ended_at(), 3_000, "six items, two at a time, one at a time in each");
    assert_eq!(most_at_once(&ran.events, "rest", "rest"), 2);
}

#[tokio::test]
async fn items_come_in_batches() {
    let nodes = |size: Value| {
        [
            ("t", "trigger", json!({})),
            ("each", "split", json!({"input_array": "$trigger.list", "batch_size": size})),
            ("sum", "simulate", json!({"output": "{{ $item.reduce((a, b) => a + b, 0) }}"})),
            ("all", "aggregator", json!({})),
        ]
    };
    let edges = ["t>each", "each>sum", "sum>all"];
    let ran = run(plan(&workflow(&nodes(json!(2)), &edges)), json!({"list": [1, 2, 3, 4, 5]})).await;
    assert_eq!((ran.output("all"), ran.output("each")), (json!([3, 7, 5]), json!({"count": 3})));
    let ran = run(plan(&workflow(&nodes(json!(0)), &edges)), json!({"list": [1]})).await;
    let error = ran.completion.error.expect("it fails");
    assert!(error.message.contains("batch_size") && error.message.contains("from 1 on"), "{}", error.message);
}

#[tokio::test]
async fn ways_that_are_lost_one_after_the_other_add_up() {
    let nodes = [
        ("t", "trigger", json!({})),
        ("s", "split", json!({"input_array": [0, 1]})),
        ("a", "conditional", json!({"expression": "$item > 0"})),
        ("b", "conditional", json!({"expression": "$item > 0"})),
        ("x", "log", log("x")),
        ("after", "log", log("after")),
        ("y", "log", log("y")),
        ("z", "log", log("z")),
    ];
    let edges = ["t>s", "s>a", "s>b", "a>x:true", "b>x:true", "a>y:false", "b>z:false", "x>after"];
    let ran = run(plan(&workflow(&nodes, &edges)), json!({})).await;
    assert_eq!(skipped(&ran.events), ["after[0]", "x[0]", "y[1]", "z[1]"]);
}

#[tokio::test]
async fn what_runs_after_all_is_not_said_to_be_skipped() {
    let write = |value: u32| json!({"assignments": [{"name": "v", "value": value}]});
    let nodes = [
        ("t", "trigger", json!({})),
        ("a", "edit", write(1)),
        ("b", "edit", write(2)),
        ("c", "conditional", json!({"expression": "$json.v > 1"})),
        ("yes", "log", log("yes")),
        ("no", "log", log("no")),
    ];
    let edges = ["t>a", "t>b", "a>c", "b>c", "c>yes:true", "c>no:false"];
    let ran = run(plan(&workflow(&nodes, &edges)), json!({})).await;
    assert_eq!(skipped(&ran.events), Vec::<String>::new(), "each side was taken once");
    let view = ViewFold::replay(&ran.events).expect("a view");
    assert!(view.view().edges.values().all(|edge| !edge.skipped));
}

#[tokio::test]
async fn nothing_is_said_to_be_skipped_twice() {
    let nodes = [
        ("t", "trigger", json!({})),
        ("c", "conditional", json!({"expression": "false"})),
        ("s", "split", json!({"input_array": [1]})),
        ("a", "log", log("a")),
        ("b", "log", log("b")),
        ("g", "aggregator", json!({})),
        ("end", "log", log("end")),
    ];
    let edges = ["t>c", "c>s:true", "s>a", "s>b", "a>g", "b>g", "g>end"];
    let ran = run(plan(&workflow(&nodes, &edges)), json!({})).await;
    assert_eq!(skipped(&ran.events), ["a[]", "b[]", "end[]", "g[]", "s[]"]);
}

#[tokio::test]
async fn the_error_edge_of_a_split_that_works_is_skipped() {
    let nodes = [
        ("t", "trigger", json!({})),
        ("s", "split", json!({"input_array": [[1], 5]})),
        ("in", "split", json!({"input_array": "$item"})),
        ("x", "log", log("x")),
        ("h", "log", log("h")),
    ];
    let mut workflow = workflow(&nodes, &["t>s", "s>in", "in>x", "in>h"]);
    workflow["nodes"][2]["error"] = json!({"type": "branch", "error_edge": "in>h"});
    let ran = run(plan(&workflow), json!({})).await;
    assert_eq!(skipped(&ran.events), ["h[0]", "x[1]"]);
}

/// An outer branch that comes late releases many joins at once, which takes back what the window had offered.
#[tokio::test]
async fn time_goes_on_when_a_window_fills_up_at_once() {
    let nodes = [
        ("t", "trigger", json!({})),
        ("s", "split", json!({"input_array": "$trigger.list", "max_in_flight": 10})),
        ("a", "log", log("a")),
        ("b", "log", log("b")),
        ("slow", "simulate", json!({"latency_ms": 5_000})),
        ("m", "merge", json!({})),
        ("w", "wait", json!({"amount": 10})),
        ("g", "aggregator", json!({})),
    ];
    let edges = ["t>s", "s>a", "s>b", "t>slow", "slow>m", "a>m", "m>w", "w>g"];
    let list: Vec<u32> = (0..200).collect();
    let ended = run(plan(&workflow(&nodes, &edges)), json!({"list": list}));
    let ran = tokio::time::timeout(std::time::Duration::from_secs(60), ended).await.expect("time goes on");
    assert_eq!(ran.output("g").as_array().map(Vec::len), Some(200));
}
