//! Who hears what, and what is known then: each case the smallest workflow that shows what the oracle has found.

use protocol::{Event, Fact};
use recording::Ledger;
use runeglass_tests::{
    local::{plan, run},
    short::{condition, echo, gather, go, merge, node, split, trigger, workflow},
};
use serde_json::{Value, json};

/// A split on a side that was not taken never runs, and so never fails: its error edge carries nothing.
#[tokio::test]
async fn a_split_that_never_runs_says_so_on_its_error_edge() {
    let nodes = vec![
        trigger(),
        condition("c", "$trigger.go"),
        split("s", "$trigger.items"),
        echo("x", "$item"),
        echo("h", "handled"),
        echo("y", "y"),
        merge("m"),
    ];
    let input = || json!({"go": false, "items": [1]});
    let ungathered = "t>c c>s:true s>x !s>h h>m c>y:false y>m";
    assert_eq!(go(nodes.clone(), ungathered, input()).await.output("m"), json!(["y"]));
    let nodes: Vec<_> = nodes.into_iter().chain([gather("a")]).collect();
    let gathered = "t>c c>s:true s>x x>a a>m !s>h h>m c>y:false y>m";
    assert_eq!(go(nodes, gathered, input()).await.output("m"), json!(["y"]));
}

/// The merge is about an item, also when the branch of the item brings nothing.
#[tokio::test]
async fn a_merge_knows_its_item_when_only_an_outer_value_came() {
    let nodes = vec![
        trigger(),
        echo("y", "why"),
        split("s", "$trigger"),
        condition("c", "$item > 1"),
        echo("x", "$item"),
        merge("m"),
        echo("z", "$item $index $c.result $y"),
        gather("a"),
    ];
    let ran = go(nodes, "t>y t>s s>c c>x:true x>m y>m m>z z>a", json!([1, 2])).await;
    assert_eq!(ran.output("a"), json!(["1 0 false why", "2 1 true why"]));
}

/// Where an error keeps a choice from choosing, nothing runs on its sides, also no join that could make a value of the
/// error: else both sides would run. It is the result of the item.
#[tokio::test]
async fn an_error_runs_nothing_on_the_sides_of_a_choice() {
    let nodes = |before: &str| {
        let before = [trigger(), split("s", "$trigger"), echo("f", before), condition("c", "$item.missing")];
        let sides = [merge("m1"), merge("m2"), echo("n", "n"), gather("a")];
        before.into_iter().chain(sides).collect::<Vec<_>>()
    };
    for (before, failed) in [("$item.missing", "f"), ("$item", "c")] {
        for meeting in ["m1>n m2>n n>a", "m1>a m2>n n>a"] {
            let edges = format!("t>s s>f f>c c>m1:true c>m2:false {meeting}");
            let ran = go(nodes(before), &edges, json!([{}])).await;
            assert_eq!(ran.output("a")[0]["error"]["node_id"], failed, "{edges}");
            assert_eq!(["m1", "m2", "n", "a"].map(|node| ran.firings(node)), [0, 0, 0, 1], "{edges}");
        }
    }
}

/// A merge is the end of the sides that meet in it, and an error that comes to one side after the choice is a value to
/// a merge on that side.
#[tokio::test]
async fn an_error_is_a_value_where_the_sides_have_met() {
    let nodes = || vec![trigger(), split("s", "$trigger"), condition("c", "$item.missing"), echo("x", "x")];
    let joined = |more: Vec<Value>| nodes().into_iter().chain(more).collect::<Vec<_>>();
    let ran =
        go(joined(vec![merge("m"), gather("a")]), "t>s s>c c>x:true x>m c>m:false m>a", json!([{}])).await;
    assert_eq!(ran.output("a")[0][0]["error"]["node_id"], "c");

    let nodes = vec![
        trigger(),
        split("s", "$trigger"),
        condition("c", "$item > 1"),
        echo("f", "$item.missing"),
        merge("m"),
        gather("a"),
    ];
    let ran = go(nodes, "t>s s>c c>f:true f>m c>a:false m>a", json!([1, 2])).await;
    assert_eq!(ran.output("a")[1][0]["error"]["node_id"], "f");
}

/// A split with an error edge is a choice too. What is behind its aggregator runs only if it began; inside it has.
#[tokio::test]
async fn an_error_runs_nothing_behind_a_split_that_never_began() {
    let nodes = |more: Vec<Value>| {
        let before =
            [trigger(), split("s", "$trigger"), echo("f", "$item.missing"), split("s2", "$item.list")];
        let inside = [echo("h", "h"), merge("m"), gather("b"), gather("a")];
        before.into_iter().chain(inside).chain(more).collect::<Vec<_>>()
    };
    let items = || json!([{"list": [1]}]);
    let ran = go(nodes(vec![merge("n")]), "t>s s>f f>s2 !s2>h s2>m f>m m>b b>n n>a", items()).await;
    assert_eq!(ran.output("a")[0]["error"]["node_id"], "f");
    assert_eq!(["m", "b", "n"].map(|node| ran.firings(node)), [0, 0, 0]);
    let ran = go(nodes(vec![]), "t>s s>f s>s2 !s2>h s2>m f>m m>b b>a", items()).await;
    let met = &ran.output("a")[0][0];
    assert_eq!((&met[0], &met[1]["error"]["node_id"]), (&json!(1), &json!("f")));
}

/// What one pair of sides has come to does not make the aggregator forget what it has heard of the other.
#[tokio::test]
async fn two_choices_in_front_of_one_aggregator_do_not_disturb_each_other() {
    let nodes = vec![
        trigger(),
        split("s", "$trigger"),
        condition("c1", "true"),
        node("w", "wait", json!({"amount": 1})),
        condition("c3", "false"),
        echo("p", "p"),
        echo("q", "q"),
        condition("c2", "true"),
        echo("r", "r"),
        echo("u", "u"),
        gather("a"),
    ];
    let edges = "t>s s>c1 c1>w:true w>c3 c3>p:true p>a c1>q:false q>a s>c2 c2>r:true r>a c2>u:false u>a";
    let ran = go(nodes, edges, json!([1])).await;
    let gathered: Vec<_> = ran
        .events
        .iter()
        .filter_map(|event| match &event.fact {
            Fact::NodeSucceeded(done) if done.firing.node_id.as_str() == "a" => Some(done.output.value()),
            _ => None,
        })
        .collect();
    assert_eq!(gathered, [&json!(["r"]), &json!([null])]);
}

/// The ledger in front of the last event, which clears it.
fn before_the_end(events: &[Event]) -> Ledger {
    let plan = Ledger::begin(events).expect("a start").plan().clone();
    Ledger::resume("local".into(), plan, &events[..events.len() - 1]).expect("the log adds up")
}

#[tokio::test]
async fn an_aggregator_keeps_nothing_of_an_item_it_is_done_with() {
    let nodes = |timeout: u32| {
        vec![
            trigger(),
            split("s", "$trigger"),
            condition("c", "$item < 3"),
            echo("small", "small $item"),
            node("w", "wait", json!({"amount": 10})),
            node("a", "aggregator", json!({"timeout": timeout})),
        ]
    };
    let ran = go(nodes(0), "t>s s>c c>a:true c>small:false small>w w>a", json!([1, 2, 3])).await;
    assert_eq!(ran.firings("a"), 1);
    assert_eq!(before_the_end(&ran.events).under_way(), [""; 0]);

    let mut text = workflow(nodes(1), "t>s s>c c>a:true c>small:false small>w w>a");
    text["nodes"][5]["error"] = json!({"type": "ignore"});
    let ran = run(plan(&text), json!([1, 2, 3])).await;
    assert_eq!(before_the_end(&ran.events).under_way(), [""; 0], "it has given up");
}

/// An event that is refused leaves the ledger as it was, so that the right one can follow.
#[tokio::test]
async fn what_the_ledger_refuses_it_does_not_count() {
    let ran = go(vec![trigger(), echo("e", "e")], "t>e", json!(1)).await;
    let plan = Ledger::begin(&ran.events).expect("a start").plan().clone();
    let mut ledger = Ledger::new("local".into(), plan);
    ledger.apply(&ran.events[0]).expect("the start");
    let mut stray = ran.events[ran.events.len() - 2].clone();
    stray.seq = 2;
    assert!(ledger.apply(&stray).is_err(), "nothing of this is under way");
    assert_eq!(ledger.position(), 1);
    ran.events[1..].iter().for_each(|event| drop(ledger.apply(event).expect("the log adds up")));
    assert!(ledger.is_ended());
}

/// The story of a large fan-out: nothing, one item, and a hundred thousand, through the log and back.
#[tokio::test]
async fn a_hundred_thousand_items() {
    let nodes =
        || vec![trigger(), split("s", "$trigger"), echo("e", "$item"), gather("a"), echo("z", "$a.length")];
    for count in [0, 1, 100_000] {
        let items: Vec<usize> = (0..count).collect();
        let ran = go(nodes(), "t>s s>e e>a a>z", json!(items)).await;
        assert!(ran.output("a") == json!(items), "every item in its place");
        assert_eq!((ran.output("z"), ran.firings("e"), ran.firings("a")), (json!(count), count, 1));
        // A start and a commit for every firing, the start and the end: no more than that, whatever the count.
        assert_eq!(ran.events.len(), 2 * (count + 4) + 2);
    }
}
