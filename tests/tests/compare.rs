//! Two executions side by side.

use protocol::{Event, Fact, Payload};
use recording::compare;
use runeglass_tests::local;
use serde_json::{Value, json};

fn fan_out() -> Value {
    json!({
        "nodes": [
            {"id": "start", "type": "trigger"},
            {"id": "each", "type": "split", "parameters": {"input_array": "$trigger"}},
            {"id": "edit", "type": "edit", "parameters": {"assignments": [{"name": "double", "value": "{{ $item.n * 2 }}"}]}},
            {"id": "work", "type": "simulate", "parameters": {"output": "$json"}},
            {"id": "all", "type": "aggregator"}
        ],
        "edges": [
            {"id": "1", "src": "start", "dst": "each"}, {"id": "2", "src": "each", "dst": "edit"},
            {"id": "3", "src": "edit", "dst": "work"}, {"id": "4", "src": "work", "dst": "all"}
        ]
    })
}

async fn ran(items: usize, changed: Option<usize>) -> Vec<Event> {
    let item = |n: usize| json!({"n": if changed == Some(n) { 1_000_000 } else { n }});
    let input: Vec<Value> = (0..items).map(item).collect();
    local::run(local::plan(&fan_out()), json!(input)).await.events
}

#[tokio::test]
async fn what_did_the_same_is_equal() {
    let (a, b) = (ran(20, None).await, ran(20, None).await);
    let comparison = compare(&a, &b);
    assert!(comparison.is_equal() && !comparison.definition_changed, "{comparison:#?}");
    assert_eq!(comparison.total.equal, 43);
}

#[tokio::test]
async fn one_changed_field_is_the_first_divergence() {
    let (a, b) = (ran(20, None).await, ran(20, Some(7)).await);
    let comparison = compare(&a, &b);
    assert_eq!(comparison.input.len(), 1);
    assert_eq!(comparison.input[0].path, "$[7].n");
    let first = comparison.first.expect("a divergence");
    assert_eq!((first.node_id.as_str(), first.verdict), ("start", "changed"), "the trigger puts it out");
    let edit = comparison.differences.iter().find(|found| found.node_id.as_str() == "edit").expect("found");
    assert_eq!(edit.key.as_str(), "each=7");
    let double = edit.changes.iter().find(|change| change.path == "output.$json.double").expect("a change");
    assert_eq!((&double.a, &double.b), (&Some(json!(14)), &Some(json!(2_000_000))));
    assert_eq!((comparison.total.changed, comparison.nodes["edit"].equal), (5, 19));
}

#[tokio::test]
async fn more_items_are_only_in_one() {
    let (a, b) = (ran(20, None).await, ran(23, None).await);
    let comparison = compare(&a, &b);
    assert_eq!((comparison.total.only_a, comparison.total.only_b), (0, 6));
    assert_eq!(comparison.nodes["work"].equal, 20, "the others are aligned by their key");
}

#[tokio::test]
async fn attempts_and_slowness_are_told_apart() {
    let a = ran(3, None).await;
    let mut b = a.clone();
    for event in &mut b {
        match &mut event.fact {
            Fact::NodeSucceeded(done) if done.firing.lineage.key().as_str() == "each=1" => {
                done.duration += 500
            }
            Fact::NodeStarted(started) if started.firing.lineage.key().as_str() == "each=2" => {
                started.firing.attempt = 2;
            }
            _ => {}
        }
    }
    let comparison = compare(&a, &b);
    assert_eq!(comparison.total.slower, 2);
    assert_eq!(
        (comparison.slower[0].duration_b - comparison.slower[0].duration_a, comparison.slower.len()),
        (500, 2)
    );
    assert_eq!(comparison.total.only_b, 2, "the second attempts");
}

#[tokio::test]
async fn ten_thousand_items_are_compared_in_no_time() {
    let a = ran(10_000, None).await;
    let mut b = a.clone();
    for event in &mut b {
        // As if read from another file: nothing is shared.
        for payload in event.fact.payloads_mut() {
            *payload = Payload::from_text(payload.text().to_owned()).expect("JSON");
        }
    }
    if let Fact::NodeSucceeded(done) = &mut b[20_005].fact {
        done.duration += 1;
    }
    let began = tokio::time::Instant::now();
    let comparison = compare(&a, &b);
    let took = began.elapsed();
    println!("measured: {} attempts compared in {took:?}", comparison.total.equal);
    assert!(comparison.is_equal());
    assert_eq!(comparison.total.equal, 20_003);
    assert!(took.as_millis() < 10_000, "{took:?}");
}
