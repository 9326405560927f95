//! Why: is it stuck, did it go this way, did it not run, does this value come from there, did it take so long.

use protocol::{Event, MissingAt};
use recording::{Explanation, explain};
use runeglass_tests::local;
use serde_json::{Value, json};

async fn recorded(workflow: &Value, input: Value) -> Vec<Event> {
    local::run(local::plan(workflow), input).await.events
}

fn explained(events: &[Event], node: Option<&str>, key: Option<&str>) -> Explanation {
    explain(events, node.map(Into::into).as_ref(), key).expect("a recording")
}

/// Items that rest as long as they say, and one that fails.
fn items() -> Value {
    json!({
        "nodes": [
            {"id": "start", "type": "trigger"},
            {"id": "each", "type": "split", "parameters": {"input_array": "$trigger"}},
            {"id": "rest", "type": "wait", "parameters": {"amount": "$item", "unit": "seconds"}},
            {"id": "work", "type": "edit", "parameters": {"assignments": [{"name": "n", "value": "{{ $item + 1 }}"}]}},
            {"id": "all", "type": "aggregator"},
            {"id": "end", "type": "log", "parameters": {"message": "{{ $all.length }}"}}
        ],
        "edges": [
            {"id": "1", "src": "start", "dst": "each"}, {"id": "2", "src": "each", "dst": "rest"},
            {"id": "3", "src": "rest", "dst": "work"}, {"id": "4", "src": "work", "dst": "all"},
            {"id": "5", "src": "all", "dst": "end"}
        ]
    })
}

fn choice() -> Value {
    json!({
        "nodes": [
            {"id": "start", "type": "trigger"},
            {"id": "price", "type": "edit", "parameters": {"assignments": [{"name": "total", "value": "$trigger.total"}]}},
            {"id": "large", "type": "conditional", "parameters": {"expression": "$price.$json.total > 100"}},
            {"id": "ask", "type": "log", "parameters": {"message": "Approve $price.$json.total?"}},
            {"id": "book", "type": "log", "parameters": {"message": "booked"}},
            {"id": "both", "type": "merge"}
        ],
        "edges": [
            {"id": "1", "src": "start", "dst": "price"}, {"id": "2", "src": "price", "dst": "large"},
            {"id": "yes", "src": "large", "dst": "ask", "source_handle": "true"},
            {"id": "no", "src": "large", "dst": "book", "source_handle": "false"},
            {"id": "5", "src": "ask", "dst": "both"}, {"id": "6", "src": "book", "dst": "both"}
        ]
    })
}

#[tokio::test]
async fn a_join_that_waits_says_what_it_lacks_and_where_that_is() {
    let events = recorded(&items(), json!([0, 0, 600, 0, 3_600])).await;
    let resting = |event: &&Event| event.at < 1_000;
    let past: Vec<Event> = events.iter().take_while(resting).cloned().collect();
    let explanation = explained(&past, None, None);
    assert_eq!((explanation.status, explanation.waiting.len()), (None, 1));
    let all = &explanation.waiting[0];
    assert_eq!((all.node_id.as_str(), all.arrived, all.expected), ("all", 3, 5));
    let missing: Vec<(&str, &MissingAt)> =
        all.missing.iter().map(|missing| (missing.what.as_str(), &missing.whereabouts)).collect();
    let waits = |until| MissingAt::Waiting { node_id: "rest".into(), until };
    assert_eq!(missing, [("item 2", &waits(600_000)), ("item 4", &waits(3_600_000))]);
    let sentence = explanation.sentences.iter().find(|said| said.starts_with("all has")).expect("a sentence");
    assert_eq!(
        sentence,
        "all has 3 of 5: item 2 waits in rest until 1970-01-01T00:10:00.000Z; item 4 waits in rest until 1970-01-01T01:00:00.000Z"
    );
    assert!(explained(&events, None, None).waiting.is_empty(), "in the end nobody waits");
}

#[tokio::test]
async fn an_item_that_nobody_has_begun_with_is_queued() {
    let events = recorded(&items(), json!([0, 0, 0])).await;
    let first = events.iter().position(|event| match &event.fact {
        protocol::Fact::NodeSucceeded(done) => !done.echo.arrivals.is_empty(),
        _ => false,
    });
    let mut past = events[..=first.expect("an arrival")].to_vec();
    let explanation = explained(&past, None, None);
    let places: Vec<&MissingAt> =
        explanation.waiting[0].missing.iter().map(|missing| &missing.whereabouts).collect();
    assert_eq!(places.len(), 2);
    assert!(places.iter().all(|place| !matches!(place, MissingAt::Lost)), "{places:?}");
    past.truncate(4);
    assert!(explained(&past, None, None).waiting.is_empty(), "no join has heard of anything");
}

#[tokio::test]
async fn a_choice_is_told_with_its_values() {
    let events = recorded(&choice(), json!({"total": 250})).await;
    let story = explained(&events, Some("large"), None).node.expect("a story");
    let firing = story.firing.expect("a firing");
    assert_eq!(firing.conditions[0].written, "$price.$json.total > 100");
    assert_eq!(firing.conditions[0].held, Some(true));
    let taken: Vec<&str> = firing.taken.iter().map(|edge| edge.as_str()).collect();
    let not_taken: Vec<&str> = firing.not_taken.iter().map(|edge| edge.as_str()).collect();
    assert_eq!((taken, not_taken), (vec!["yes"], vec!["no"]));
    let used = &firing.used[0];
    assert_eq!((used.reference.as_str(), &used.value), ("$price.$json.total", &Some(json!(250))));
    assert_eq!(used.node_id.as_ref().map(|node| node.as_str()), Some("price"));
    let position = used.position.expect("an event") as usize;
    let protocol::Fact::NodeSucceeded(done) = &events[position - 1].fact else { panic!("no success") };
    assert_eq!(done.firing.node_id.as_str(), "price", "the event that put it out");
}

#[tokio::test]
async fn a_node_that_did_not_run_says_who_decided_it() {
    let events = recorded(&choice(), json!({"total": 250})).await;
    let story = explained(&events, Some("book"), None).node.expect("a story");
    assert_eq!((story.firings, story.not_run.len()), (0, 1));
    let not_run = &story.not_run[0];
    assert_eq!(not_run.decided_by.as_ref().map(|node| node.as_str()), Some("large"));
    assert_eq!(
        not_run.sentence,
        "book does not run: large found \"$price.$json.total > 100\" to be true, and followed yes"
    );
    let nobody = explained(&events, Some("nobody"), None).sentences;
    assert_eq!(nobody, ["there is no node nobody in this workflow"]);
    let early = explained(&events[..2], Some("both"), None).sentences;
    assert_eq!(early, ["both has not run yet: nothing has reached it"]);
}

#[tokio::test]
async fn a_failure_is_told_with_its_item() {
    let events = recorded(&items(), json!([0, "x", 0])).await;
    let story = explained(&events, Some("rest"), None).node.expect("a story");
    assert_eq!((story.firings, story.failed), (3, 1));
    let firing = story.firing.expect("the one that failed");
    assert_eq!(firing.key.as_str(), "each=1");
    assert!(firing.error.expect("an error").contains("amount"));
    assert_eq!(firing.used[0].value, Some(json!("x")));
    let other = explained(&events, Some("rest"), Some("each=2")).node.and_then(|story| story.firing);
    assert_eq!(other.map(|firing| firing.error), Some(None));
    let skipped = explained(&events, Some("work"), Some("each=1")).node.expect("a story").not_run;
    assert_eq!(skipped[0].decided_by.as_ref().map(|node| node.as_str()), Some("rest"));
    assert!(skipped[0].sentence.starts_with("work does not run at [each=1]: rest failed"), "{skipped:?}");
}

#[tokio::test]
async fn the_longest_way_goes_through_the_slowest_item() {
    let events = recorded(&items(), json!([1, 60, 2])).await;
    let explanation = explained(&events, None, None);
    let way: Vec<(String, String)> = explanation
        .critical_path
        .iter()
        .map(|leg| (leg.node_id.to_string(), leg.key.as_str().to_owned()))
        .collect();
    let leg = |node: &str, key: &str| (node.to_owned(), key.to_owned());
    assert_eq!(
        way,
        [
            leg("start", ""),
            leg("each", ""),
            leg("rest", "each=1"),
            leg("work", "each=1"),
            leg("all", ""),
            leg("end", "")
        ]
    );
    let total: i64 = explanation.critical_path.iter().map(protocol::Leg::total).sum();
    assert_eq!(total, events.last().expect("events").at - events[0].at, "it accounts for all of the time");
    assert_eq!(explanation.critical_path[2].timer, 60_000);
    let all = explanation.spent.iter().find(|spent| spent.node_id == Some("all".into())).expect("spent");
    assert_eq!(all.barrier, 59_000, "from the first item to the last");
    assert_eq!(explanation.spent[0].node_id, Some("rest".into()), "the most expensive first");
}

#[test]
fn random_recordings_can_be_explained_at_any_position() {
    use runeglass_tests::model::{Dice, Model, sabotage::Sabotage, trial::Trial};
    let mut dice = Dice::new(8);
    for seed in 0..200 {
        let events = Trial::of_seed(Model::Control, seed).run(Sabotage::None).events;
        let past = &events[..=dice.roll(events.len())];
        let explanation = explained(past, None, None);
        assert!(!explanation.sentences.is_empty(), "seed {seed}");
        for waiting in &explanation.waiting {
            let missing = waiting.missing.len() + waiting.more;
            assert!(missing > 0, "seed {seed}: {waiting:?}");
        }
    }
}
