//! The items of fan-outs, looked at while a workflow runs and afterwards.

use protocol::{Event, FanOutPlace, ItemGrid, NodeState, PayloadView};
use recording::{Insight, node_detail, node_detail_at};
use runeglass_tests::{
    local::Ran,
    short::{condition, echo, gather, go, merge, node, split, trigger},
};
use serde_json::json;

fn place(split: &str, parent: &[u32]) -> FanOutPlace {
    FanOutPlace { split: split.into(), parent: parent.to_vec() }
}

fn insight(events: &[Event]) -> Insight {
    let mut insight = Insight::begin(events).expect("a recording");
    insight.extend(events).expect("it adds up");
    insight
}

/// The letters of all items.
fn letters(grid: &ItemGrid) -> String {
    grid.chunks.iter().map(|chunk| chunk.states.as_str()).collect()
}

/// Asked again and again while it happens, the changes come to what one look at the end shows.
fn check_changes(ran: &Ran, place: &FanOutPlace) -> Vec<String> {
    let mut insight = Insight::begin(&ran.events).expect("a recording");
    let mut shown: Vec<char> = Vec::new();
    let (mut since, mut seen) = (0, Vec::new());
    for event in &ran.events {
        insight.extend(std::slice::from_ref(event)).expect("it adds up");
        let grid = insight.item_grid(place, since);
        since = grid.position;
        shown.resize(grid.total.unwrap_or(0) as usize, 'q');
        for chunk in &grid.chunks {
            let start = chunk.start as usize;
            chunk.states.chars().enumerate().for_each(|(at, state)| shown[start + at] = state);
        }
        let whole: String = shown.iter().collect();
        assert_eq!(letters(&insight.item_grid(place, 0)), whole, "after event {}", event.seq);
        if seen.last() != Some(&whole) {
            seen.push(whole);
        }
    }
    seen
}

fn flaky() -> serde_json::Value {
    let code = "{{ $item === 2 ? missing.field : $item === 4 ? missing.field : $item }}";
    echo("e", code)
}

#[tokio::test]
async fn each_item_has_a_letter_and_failures_have_a_group() {
    let nodes = vec![trigger(), split("s", "$trigger"), flaky(), gather("a")];
    let ran = go(nodes, "t>s s>e e>a", json!([0, 1, 2, 3, 4])).await;
    let seen = check_changes(&ran, &place("s", &[]));
    assert_eq!(seen.first().map(String::as_str), Some(""));
    assert_eq!(seen[1], "qqqqq");
    assert!(seen.iter().any(|letters| letters.contains('r')));
    assert_eq!(seen.last().map(String::as_str), Some("ssAsA"));
    let grid = insight(&ran.events).item_grid(&place("s", &[]), 0);
    assert_eq!((grid.total, grid.groups.len(), grid.groups[0].count), (Some(5), 1, 2));
    assert_eq!(grid.groups[0].node_id.as_str(), "e");
}

#[tokio::test]
async fn an_item_shows_its_way_its_value_and_its_error() {
    let nodes = vec![
        trigger(),
        split("s", "$trigger"),
        condition("c", "$item > 1"),
        echo("big", "{{ missing.field }}"),
        echo("small", "$item"),
        merge("m"),
        gather("a"),
    ];
    let ran = go(nodes, "t>s s>c c>big:true c>small:false big>m small>m m>a", json!([1, 2])).await;
    let insight = insight(&ran.events);
    let small = insight.item(&place("s", &[]), 0).expect("the first item");
    assert_eq!(small.key.as_str(), "s=0");
    assert_eq!(small.nodes["small"].state, NodeState::Success);
    assert_eq!(small.nodes["big"].state, NodeState::Skipped);
    assert_eq!(small.edges.len(), 4, "into the condition, along one way, into the merge, out of it");
    assert!(matches!(small.value, Some(PayloadView::Whole { json, .. }) if json == json!(1)));
    let big = insight.item(&place("s", &[]), 1).expect("the second item");
    assert_eq!(big.nodes["big"].state, NodeState::Failed);
    assert!(big.error.is_some_and(|error| error.message.contains("missing")));
    assert!(insight.item(&place("s", &[]), 2).is_none());
}

#[tokio::test]
async fn fan_outs_nest_and_an_error_is_the_result_of_the_innermost_item() {
    let inner = echo("e", "{{ $item === 3 ? missing.field : $item }}");
    let nodes = vec![trigger(), split("x", "$trigger"), split("y", "$item"), inner, gather("b"), gather("a")];
    let ran = go(nodes, "t>x x>y y>e e>b b>a", json!([[1, 2], [], [3, 4]])).await;
    assert_eq!(check_changes(&ran, &place("x", &[])).last().map(String::as_str), Some("sss"));
    assert_eq!(check_changes(&ran, &place("y", &[2])).last().map(String::as_str), Some("As"));
    let insight = insight(&ran.events);
    assert_eq!(insight.item_grid(&place("y", &[1]), 0).total, Some(0));
    assert_eq!(insight.item_grid(&place("y", &[]), 0).total, None);
    let outer = insight.item(&place("x", &[]), 2).expect("the third item");
    assert_eq!(outer.inner.get("y"), Some(&2));
    assert_eq!(insight.item(&place("y", &[2]), 0).expect("an inner item").key.as_str(), "x=2/y=0");
}

#[tokio::test]
async fn who_waits_and_who_tries_again_is_told_apart() {
    let rest = node("w", "wait", json!({"mode": "interval", "amount": 5, "unit": "seconds"}));
    let nodes = vec![
        trigger(),
        split("s", "$trigger"),
        condition("c", "$item > 1"),
        rest,
        // Nobody listens there.
        node("f", "http", json!({"url": "http://127.0.0.1:9/", "retry": 1, "retry_delay": 2})),
        gather("a"),
    ];
    let ran = go(nodes, "t>s s>c c>w:true c>f:false w>a f>a", json!([1, 2])).await;
    let seen = check_changes(&ran, &place("s", &[]));
    assert!(seen.iter().any(|letters| letters == "tw"), "{seen:?}");
    assert_eq!(seen.last().map(String::as_str), Some("As"));
}

#[tokio::test]
async fn what_a_node_saw_at_a_key_is_what_the_whole_recording_says() {
    let nodes = vec![
        trigger(),
        split("first", "$trigger"),
        echo("p", "$item"),
        gather("a"),
        split("s", "$a"),
        echo("e", "{{ $item * 10 }}"),
        gather("b"),
    ];
    let ran = go(nodes, "t>first first>p p>a a>s s>e e>b", json!([7, 8, 9])).await;
    let all = node_detail(&ran.events, &"e".into()).expect("a page");
    for firing in &all.firings {
        let one = node_detail_at(&ran.events, &"e".into(), &firing.key).expect("a page");
        assert_eq!((one.total, &one.firings[0]), (1, firing));
        let Some(PayloadView::Whole { json, .. }) = &firing.input else { panic!("an item has an input") };
        assert!(json["$item"].is_number());
    }
    let p = node_detail(&ran.events, &"p".into()).expect("a page");
    let one = node_detail_at(&ran.events, &"p".into(), &p.firings[0].key).expect("a page");
    assert_eq!(one.firings, p.firings[..1]);
}
