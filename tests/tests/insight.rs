//! A closer look at a recording, at any of its events: what joins wait for, what waits for a moment, when what happened.

use protocol::{BarKind, BarrierView, Event, MissingPart, NodeState, TimerPurpose};
use recording::{Insight, TimerFold};
use runeglass_tests::short::{condition, echo, gather, go, merge, node, split, trigger};
use serde_json::{Value, json};

const DAY: i64 = 86_400_000;

fn rest(id: &str) -> Value {
    node(id, "wait", json!({"mode": "interval", "amount": 1, "unit": "days"}))
}

/// The insight after the first event of which something holds.
fn insight_when(events: &[Event], holds: impl Fn(&Insight) -> bool) -> Insight {
    let mut insight = Insight::begin(events).expect("a recording");
    for event in events {
        insight.extend(std::slice::from_ref(event)).expect("it adds up");
        if holds(&insight) {
            return insight;
        }
    }
    panic!("it never holds");
}

fn arrived(barrier: &BarrierView) -> Option<(usize, usize)> {
    barrier.places.first().map(|place| (place.arrived, place.expected))
}

#[tokio::test]
async fn an_aggregator_names_the_item_it_misses_and_where_it_is() {
    let nodes = vec![
        trigger(),
        split("s", "$trigger"),
        condition("c", "$item === 37"),
        rest("w"),
        echo("e", "$item"),
        gather("a"),
    ];
    let items: Vec<usize> = (0..100).collect();
    let ran = go(nodes, "t>s s>c c>w:true c>e:false w>a e>a", json!(items)).await;
    let before = insight_when(&ran.events, |insight| insight.item_grid(&place(), 0).total.is_some());
    assert_eq!(arrived(&before.barrier(&"a".into())), Some((0, 100)), "the split has fired, nothing is here");
    let late = insight_when(&ran.events, |insight| arrived(&insight.barrier(&"a".into())) == Some((99, 100)));
    let barrier = late.barrier(&"a".into());
    let [MissingPart::Item { index: 37, at }] = &barrier.places[0].missing[..] else { panic!("{barrier:?}") };
    assert_eq!((at.node_id.as_ref().map(|id| id.as_str()), at.state), (Some("w"), NodeState::WaitingTimer));
    assert!(at.due.is_some_and(|due| due >= DAY));
    assert_eq!(barrier.places[0].whereabouts[0].count, 1);
    let whole = insight_when(&ran.events, |insight| insight.position() == ran.events.len() as u64);
    assert_eq!(whole.barrier(&"a".into()).total, 0, "nothing is missing any more");
}

fn place() -> protocol::FanOutPlace {
    protocol::FanOutPlace { split: "s".into(), parent: Vec::new() }
}

#[tokio::test]
async fn a_merge_names_the_parent_it_misses() {
    let nodes = vec![trigger(), echo("p", "1"), rest("w"), echo("q", "2"), merge("m")];
    let ran = go(nodes, "t>p t>w w>q p>m q>m", json!({})).await;
    let insight = insight_when(&ran.events, |insight| {
        let barrier = insight.barrier(&"m".into());
        barrier.places.first().is_some_and(|place| place.arrived == 1 && place.whereabouts[0].due.is_some())
    });
    let barrier = insight.barrier(&"m".into());
    let [MissingPart::Branch { parent, at, .. }] = &barrier.places[0].missing[..] else {
        panic!("{barrier:?}")
    };
    assert_eq!((parent.as_str(), at.node_id.as_ref().map(|id| id.as_str())), ("q", Some("w")));
}

#[tokio::test]
async fn a_race_names_who_came_first_from_then_on() {
    let race = node("m", "merge", json!({"wait_mode": "wait_for_any"}));
    let nodes = vec![trigger(), rest("w"), echo("p", "1"), race];
    let ran = go(nodes, "t>w t>p w>m p>m", json!({})).await;
    let winner = |insight: &Insight| insight.barrier(&"m".into()).winner.map(|node| node.to_string());
    let before = insight_when(&ran.events, |insight| insight.position() == 1);
    assert_eq!(winner(&before), None, "nobody is there yet");
    let first = insight_when(&ran.events, |insight| winner(insight).is_some());
    assert!(first.position() < ran.events.len() as u64);
    let end = insight_when(&ran.events, |insight| insight.position() == ran.events.len() as u64);
    assert_eq!(winner(&end).as_deref(), Some("p"), "who comes later changes nothing");
}

#[tokio::test]
async fn a_race_inside_a_fan_out_names_who_came_first_for_each_item() {
    let race = node("m", "merge", json!({"wait_mode": "wait_for_any"}));
    let quick = |id: &str| {
        node(id, "simulate", json!({"latency_ms": "{{ $item === '$ID' ? 10 : 500 }}".replace("$ID", id)}))
    };
    let nodes = vec![trigger(), split("s", "$trigger"), quick("p"), quick("q"), race, gather("a")];
    let ran = go(nodes, "t>s s>p s>q p>m q>m m>a", json!(["p", "q"])).await;
    let first = |insight: &Insight, index: u32| {
        let item = insight.item(&place(), index)?;
        item.nodes.get("m")?.first.as_ref().map(|node| node.to_string())
    };
    let both =
        insight_when(&ran.events, |insight| first(insight, 0).is_some() && first(insight, 1).is_some());
    assert!(both.position() < ran.events.len() as u64);
    let end = insight_when(&ran.events, |insight| insight.position() == ran.events.len() as u64);
    assert_eq!((first(&end, 0).as_deref(), first(&end, 1).as_deref()), (Some("p"), Some("q")));
    assert_eq!(end.barrier(&"m".into()).winner, None, "there is not one for all of them");
}

#[tokio::test]
async fn an_error_that_was_dealt_with_can_come_first_and_a_race_that_gave_up_has_no_winner() {
    let fails = json!({"id": "f", "type": "simulate", "error": {"type": "ignore"}, "parameters": {"failure_rate": 1}});
    let race = node("m", "merge", json!({"wait_mode": "wait_for_any"}));
    let ran = go(vec![trigger(), fails, rest("w"), race], "t>f t>w f>m w>m", json!({})).await;
    let end = insight_when(&ran.events, |insight| insight.position() == ran.events.len() as u64);
    assert_eq!(end.barrier(&"m".into()).winner, Some("f".into()));

    // One branch is known never to come, so it waits for the other no longer than it may.
    let race = node("m", "merge", json!({"wait_mode": "wait_for_any", "timeout": 1}));
    let nodes = vec![trigger(), condition("c", "1 === 2"), echo("p", "1"), echo("q", "2"), rest("w"), race];
    let ran = go(nodes, "t>c c>p:true c>q:false t>w p>m w>m", json!({})).await;
    let end = insight_when(&ran.events, |insight| insight.position() == ran.events.len() as u64);
    assert!(ran.events.iter().any(|event| matches!(event.fact, protocol::Fact::TimedOut(_))), "it gave up");
    assert_eq!(end.barrier(&"m".into()).winner, None);
}

#[tokio::test]
async fn what_a_halted_execution_waited_for_can_still_be_asked() {
    let fails = json!({"id": "f", "type": "simulate", "error": {"type": "halt"},
        "parameters": {"latency_ms": 100, "failure_rate": 1}});
    let nodes = vec![trigger(), fails, rest("w"), merge("m"), echo("p", "1")];
    let ran = go(nodes, "t>f t>w t>p f>m w>m p>m", json!({})).await;
    let end = insight_when(&ran.events, |insight| insight.position() == ran.events.len() as u64);
    let barrier = end.barrier(&"m".into());
    assert_eq!(arrived(&barrier), Some((2, 3)), "one came, and of one it is known that it never will");
    assert!(
        matches!(&barrier.places[0].missing[..], [MissingPart::Branch { parent, .. }] if parent.as_str() == "w")
    );
}

#[tokio::test]
async fn timers_are_there_as_long_as_something_waits() {
    let nodes = vec![
        trigger(),
        rest("w"),
        node("f", "http", json!({"url": "http://127.0.0.1:9/", "retry": 1, "retry_delay": 2})),
        node("m", "merge", json!({"timeout": 200_000})),
    ];
    let ran = go(nodes, "t>w t>f w>m !f>m", json!({})).await;
    let mut fold = TimerFold::begin(&ran.events[0]).expect("a start");
    let mut seen: Vec<String> = Vec::new();
    for event in &ran.events {
        fold.apply(event);
        for timer in fold.timers() {
            let what = match timer.purpose {
                TimerPurpose::Rest => "rest".to_owned(),
                TimerPurpose::Retry { attempt, .. } => format!("attempt {attempt}"),
                TimerPurpose::Deadline { arrived, expected, .. } => format!("{arrived} of {expected}"),
            };
            let line = format!("{} {what}", timer.node_id);
            if !seen.contains(&line) {
                seen.push(line);
            }
        }
    }
    seen.sort();
    assert_eq!(seen, ["f attempt 2", "m 1 of 2", "w rest"]);
    assert_eq!(fold.timers().count(), 0, "the end leaves none");
}

#[tokio::test]
async fn a_timeline_tells_queue_run_and_wait_apart() {
    let slow = node("e", "simulate", json!({"latency_ms": 500, "output": 1}));
    let ran = go(vec![trigger(), slow, rest("w")], "t>e e>w", json!({})).await;
    let end = insight_when(&ran.events, |insight| insight.position() == ran.events.len() as u64);
    let timeline = end.timeline();
    let rows: Vec<&str> = timeline.rows.iter().map(|row| row.node_id.as_str()).collect();
    assert_eq!(rows, ["t", "e", "w"]);
    let bar = |row: usize, kind: BarKind| timeline.rows[row].bars.iter().find(|bar| bar.kind == kind);
    assert_eq!(bar(1, BarKind::Run).map(|bar| (bar.from, bar.to)), Some((0, Some(500))));
    assert_eq!(bar(2, BarKind::Wait).map(|bar| (bar.from, bar.to)), Some((500, Some(500 + DAY))));
    assert_eq!((timeline.started_at, timeline.latest_at), (0, 500 + DAY));
    assert_eq!(timeline.ticks.last().map(|tick| tick.position), Some(ran.events.len() as u64));
}
