//! The core, run again over a recording, says the same; another workflow says what would have happened.

use protocol::{Event, Fact, Payload};
use recording::{compare, imagine, verify};
use runeglass_tests::{
    local,
    model::{Dice, Model, sabotage::Sabotage, trial::Trial},
};
use serde_json::{Value, json};

/// A price, a choice, a fan-out, a rest.
fn shop(limit: i64) -> Value {
    json!({
        "nodes": [
            {"id": "start", "type": "trigger"},
            {"id": "price", "type": "edit", "parameters": {"assignments": [{"name": "total", "value": "{{ $trigger.n * 3 }}"}]}},
            {"id": "large", "type": "conditional", "parameters": {"expression": format!("$json.total > {limit}")}},
            {"id": "each", "type": "split", "parameters": {"input_array": "{{ [1, 2, 3] }}"}},
            {"id": "rest", "type": "wait", "parameters": {"amount": 1, "unit": "seconds"}},
            {"id": "stamp", "type": "edit", "parameters": {"assignments": [{"name": "at", "value": "{{ Date.now() + $item }}"}]}},
            {"id": "all", "type": "aggregator"},
            {"id": "small", "type": "log", "parameters": {"message": "small"}}
        ],
        "edges": [
            {"id": "1", "src": "start", "dst": "price"}, {"id": "2", "src": "price", "dst": "large"},
            {"id": "yes", "src": "large", "dst": "each", "source_handle": "true"},
            {"id": "no", "src": "large", "dst": "small", "source_handle": "false"},
            {"id": "5", "src": "each", "dst": "rest"}, {"id": "6", "src": "rest", "dst": "stamp"},
            {"id": "7", "src": "stamp", "dst": "all"}
        ]
    })
}

async fn recorded(workflow: &Value, n: i64) -> Vec<Event> {
    local::run(local::plan(workflow), json!({"n": n})).await.events
}

#[test]
fn random_recordings_replay_to_the_same() {
    let (mut events, mut firings) = (0, 0);
    for (model, seed) in
        (0..600).map(|seed| (Model::Control, seed)).chain((0..200).map(|seed| (Model::Data, seed)))
    {
        let outcome = Trial::of_seed(model, seed).run(Sabotage::None);
        if outcome.events.is_empty() {
            continue;
        }
        let verified = verify(&outcome.events).expect("a recording");
        assert_eq!(verified.difference, None, "seed {seed}");
        assert_eq!(verified.events, outcome.events.len() as u64, "seed {seed}");
        events += verified.events;
        firings += verified.firings;
    }
    println!("measured: {events} events, {firings} firings");
    assert!(events > 10_000 && firings > 4_000, "{events} events, {firings} firings");
}

#[test]
fn a_changed_recording_is_found_out() {
    let (mut dice, mut found, mut tried) = (Dice::new(3), 0, 0);
    for seed in 0..200 {
        let mut events = Trial::of_seed(Model::Control, seed).run(Sabotage::None).events;
        let at = dice.roll(events.len());
        let Fact::NodeSucceeded(done) = &mut events[at].fact else { continue };
        tried += 1;
        done.output = Payload::new(json!({"somebody": "else"}));
        let verified = verify(&events).expect("a recording");
        if let Some(difference) = verified.difference {
            assert_eq!((difference.position, difference.what), (at as u64 + 1, "output"), "seed {seed}");
            assert_eq!(difference.recorded, json!({"somebody": "else"}));
            assert_ne!(difference.replayed, difference.recorded);
            found += 1;
        }
    }
    assert!(tried > 40 && found == tried, "{found} of {tried}");
}

#[tokio::test]
async fn every_kind_of_lie_is_told_with_both_sides() {
    let events = recorded(&shop(10), 5).await;
    let check = |what: &str, lie: &dyn Fn(&mut Fact) -> bool| {
        let mut lies = events.clone();
        let told = lies.iter_mut().find_map(|event| lie(&mut event.fact).then_some(event.seq));
        let difference = verify(&lies).expect("a recording").difference.expect("a difference");
        assert_eq!((Some(difference.position), difference.what), (told, what));
        assert_ne!(difference.recorded, difference.replayed);
    };
    check("parameters", &|fact| match fact {
        Fact::NodeStarted(started)
            if started.firing.node_id.as_str() == "small" || started.firing.node_id.as_str() == "rest" =>
        {
            started.parameters = Some(Payload::new(json!({"amount": 2})));
            true
        }
        _ => false,
    });
    check("edges", &|fact| match fact {
        Fact::NodeSucceeded(done) if done.firing.node_id.as_str() == "large" => {
            done.taken = vec!["no".into()];
            true
        }
        _ => false,
    });
    check("due", &|fact| match fact {
        Fact::NodeParked(parked) => {
            parked.due += 1;
            true
        }
        _ => false,
    });
    check("echo", &|fact| match fact {
        Fact::NodeSucceeded(done) if !done.echo.arrivals.is_empty() => {
            done.echo.arrivals[0].arrived += 1;
            true
        }
        _ => false,
    });
    check("end", &|fact| match fact {
        Fact::ExecutionEnded(ended) => {
            ended.status = protocol::ExecutionStatus::Failed;
            true
        }
        _ => false,
    });
}

#[tokio::test]
async fn the_same_workflow_would_have_done_the_same() {
    let workflow = shop(10);
    let events = recorded(&workflow, 5).await;
    let imagined = imagine(&events, local::plan(&workflow)).expect("imagined");
    assert!(imagined.unknown.is_empty());
    let comparison = compare(&events, &imagined.events);
    assert!(comparison.is_equal(), "{:#?}", comparison.first);
    assert_eq!(comparison.total.equal, 11);
    assert_eq!(
        verify(&imagined.events).expect("a recording").difference,
        None,
        "it is a recording like any other"
    );
}

#[tokio::test]
async fn an_edited_workflow_goes_another_way() {
    let events = recorded(&shop(10), 5).await;
    let imagined = imagine(&events, local::plan(&shop(100))).expect("imagined");
    let comparison = compare(&events, &imagined.events);
    let first = comparison.first.expect("a difference");
    assert_eq!((first.node_id.as_str(), first.verdict), ("large", "changed"));
    let changed: Vec<&str> = first.changes.iter().map(|change| change.path.as_str()).collect();
    assert!(changed.contains(&"output.result") && changed.contains(&"edges[0]"), "{changed:?}");
    assert_eq!((comparison.total.only_a, comparison.total.only_b), (8, 1));
    assert!(comparison.definition_changed);
}

#[tokio::test]
async fn answers_from_outside_are_those_of_the_recording() {
    let call = |url: &str| {
        json!({
            "nodes": [
                {"id": "start", "type": "trigger"},
                {"id": "ask", "type": "http", "parameters": {"url": url, "method": "GET"}, "error": {"type": "ignore"}},
                {"id": "say", "type": "log", "parameters": {"message": "{{ 'got ' + JSON.stringify($ask) }}"}}
            ],
            "edges": [{"id": "1", "src": "start", "dst": "ask"}, {"id": "2", "src": "ask", "dst": "say"}]
        })
    };
    // Nobody listens there: the recorded answer is a failure, and nobody is asked again.
    let events = recorded(&call("http://127.0.0.1:9/"), 1).await;
    let verified = verify(&events).expect("a recording");
    assert_eq!((verified.difference, verified.recorded_answers), (None, 1));
    let imagined = imagine(&events, local::plan(&call("http://127.0.0.1:9/"))).expect("imagined");
    assert!(compare(&events, &imagined.events).is_equal());
    let elsewhere = imagine(&events, local::plan(&call("http://127.0.0.1:9/other"))).expect("imagined");
    let unknown = &elsewhere.unknown[0];
    assert_eq!((unknown.node_id.as_str(), unknown.asked_before), ("ask", true));
    assert!(
        !elsewhere.events.iter().any(|event| matches!(event.fact, Fact::ExecutionEnded(_))),
        "it is not known"
    );
}
