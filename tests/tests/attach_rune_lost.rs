//! Messages and statuses of a simulated Rune cluster that nobody sees again: which of them are lost, which wait in the
//! hands of somebody who is busy, and which must have been there because something came of them.

use observer::{Dialect, rune::Rune};
use protocol::{Event, ExecutionPhase, ExecutionView, Finding, Gap, NodeState, QueueView, Rule};
use recording::ViewFold;
use runeglass_tests::rune_cluster::{
    Kept, Published, RuneCluster, hear,
    watching::{Watching, watch},
    workflows::{
        condition, fan_out, gather, http, items, log, merge, on_error, split, trigger, wait, workflow,
    },
};
use serde_json::{Value, json};

const SECOND: i64 = 1_000;
const MINUTE: i64 = 60_000;

/// The queue of the workers, empty and served.
fn served() -> QueueView {
    QueueView { name: "workflow.execution".to_owned(), messages: 0, consumers: 2, growth: 0.0 }
}

fn chain() -> Value {
    workflow(vec![trigger(), log("a"), log("b")], "start>a a>b")
}

fn lost(findings: &[Finding]) -> Vec<&Finding> {
    findings.iter().filter(|found| found.rule == Rule::Discarded).collect()
}

/// A cluster in which one node runs for so long, and somebody who listens to all of it.
fn hanging(millis: i64) -> (RuneCluster, Watching) {
    let mut cluster = RuneCluster::new();
    cluster.answer("http://far", millis, Ok(json!(1)));
    let hangs = workflow(vec![trigger(), http("far", "http://far"), log("end")], "start>far far>end");
    cluster.start("hangs", &hangs, None);
    cluster.run_for(SECOND);
    let mut watching = Watching::new();
    watching.rune.listening(Some(0));
    (cluster, watching)
}

/// Goes on for a while, second by second; what was said to be lost, each sentence once.
fn follow(cluster: &mut RuneCluster, watching: &mut Watching, millis: i64) -> Vec<String> {
    let mut said: Vec<String> = Vec::new();
    for _ in 0..millis / SECOND {
        cluster.run_for(SECOND);
        let now = cluster.now_millis();
        watching.catch_up(cluster).rune.queues(&[served()], now);
        let findings = watching.rune.findings(now);
        said.extend(lost(&findings).into_iter().map(|found| found.sentence.clone()));
    }
    said.dedup();
    said
}

#[test]
fn a_node_that_hangs_elsewhere_hides_no_message_that_is_gone() {
    let (mut cluster, mut watching) = hanging(600 * MINUTE);
    assert_eq!(follow(&mut cluster, &mut watching, 5 * MINUTE), [""; 0]);
    cluster.faults.discarded.insert("b".to_owned());
    cluster.start("x", &chain(), None);
    assert_eq!(follow(&mut cluster, &mut watching, 4 * MINUTE), [""; 0], "it may only take long");
    let said = follow(&mut cluster, &mut watching, 5 * MINUTE);
    assert!(!said.is_empty(), "whoever hangs has ten messages at the most, and not all of the cluster");
    for sentence in said {
        assert!(sentence.contains("The message to B"), "{sentence}");
        assert!(sentence.contains("is gone, or it waits behind Far, which runs for 1"), "{sentence}");
    }
    let findings = watching.findings(0);
    let evidence = lost(&findings)[0].evidence.join("\n");
    assert!(evidence.contains("Far of hangs runs since"), "{evidence}");
}

#[test]
fn what_was_gone_before_a_node_hangs_is_gone_for_sure() {
    let mut cluster = RuneCluster::new();
    cluster.faults.discarded.insert("b".to_owned());
    cluster.start("x", &chain(), None);
    let mut watching = Watching::new();
    watching.rune.listening(Some(0));
    follow(&mut cluster, &mut watching, MINUTE);
    cluster.answer("http://far", 600 * MINUTE, Ok(json!(1)));
    cluster.start("hangs", &workflow(vec![trigger(), http("far", "http://far")], "start>far"), None);
    let said = follow(&mut cluster, &mut watching, 15 * MINUTE);
    assert!(!said.is_empty() && said.iter().all(|sentence| sentence.contains("is gone unless")), "{said:?}");
}

#[test]
fn what_a_worker_had_in_hand_while_it_hung_is_not_gone_when_it_is_back() {
    let (mut cluster, mut watching) = hanging(30 * MINUTE);
    cluster.faults.held_up.insert(("a".to_owned(), "b".to_owned()), 30 * MINUTE + 2 * SECOND);
    cluster.start("x", &chain(), None);
    let said = follow(&mut cluster, &mut watching, 31 * MINUTE);
    assert!(
        !said.is_empty() && said.iter().all(|sentence| sentence.contains("waits behind Far")),
        "{said:?}"
    );
    assert_eq!(follow(&mut cluster, &mut watching, MINUTE), [""; 0], "somebody has begun with it");
}

/// So many messages wait in the queue, always.
fn busy(messages: u64) -> QueueView {
    QueueView { messages, ..served() }
}

#[test]
fn a_queue_that_is_never_empty_hides_no_message_that_is_gone() {
    let mut cluster = RuneCluster::new();
    cluster.faults.discarded.insert("b".to_owned());
    cluster.start("x", &chain(), None);
    let mut watching = Watching::new();
    watching.rune.listening(Some(0));
    // Each second ten nodes begin, and a hundred messages wait.
    let goes_on = workflow(vec![trigger(), log("only")], "start>only");
    let mut said = Vec::new();
    for second in 0..15 * 60 {
        (0..10).for_each(|number| cluster.start(&format!("e{second}-{number}"), &goes_on, None));
        cluster.run_for(SECOND);
        let now = cluster.now_millis();
        watching.catch_up(&cluster).rune.queues(&[busy(100)], now);
        let findings = watching.rune.findings(now);
        said.extend(lost(&findings).into_iter().map(|found| (second, found.sentence.clone())));
    }
    // Thirty seconds until everything before it was taken up, and two minutes in the hands of somebody.
    assert!(said.first().is_some_and(|(second, _)| (140..220).contains(second)), "{:?}", said.first());
    assert!(said.iter().all(|(_, sentence)| sentence.contains("The message to B")), "{said:?}");
}

#[test]
fn a_message_behind_very_many_others_is_not_gone() {
    let mut cluster = RuneCluster::new();
    cluster.start("x", &chain(), None);
    cluster.faults.held_up.insert(("a".to_owned(), "b".to_owned()), 60 * MINUTE);
    let mut watching = Watching::new();
    watching.rune.listening(Some(0));
    watching.rune.queues(&[served()], cluster.now_millis());
    // Five thousand were sent at once before it; the queue was asked for its depth a moment too early.
    let goes_on = workflow(vec![trigger(), log("only")], "start>only");
    for second in 0..14 * 60 {
        (0..5).for_each(|number| cluster.start(&format!("e{second}-{number}"), &goes_on, None));
        cluster.run_for(SECOND);
        let now = cluster.now_millis();
        watching.catch_up(&cluster).rune.queues(&[busy(5_000 - 5 * second)], now);
        assert_eq!(lost(&watching.rune.findings(now)), [] as [&Finding; 0], "after {second} s");
    }
}

#[test]
fn a_node_that_is_never_heard_of_again_is_named() {
    let race = {
        let nodes = vec![trigger(), log("fork"), log("b"), log("c"), merge("m", "wait_for_any")];
        workflow(nodes, "start>fork fork>b fork>c b>m c>m")
    };
    // The broker took neither what the node said in the end nor what it sent.
    for (workflow, node) in [(chain(), "a"), (race, "m")] {
        let (cluster, _) = watch(&workflow, json!({}), |_| {});
        let begins = |message: &Published| message.is_status() && message.json()["node_id"] == node;
        let begins = cluster.published().iter().position(begins).expect("it begins");
        let mut watching = Watching::new();
        watching.rune.listening(Some(0));
        watching.hear(&cluster.published()[..=begins]);
        let begun = cluster.now_millis();
        let rules = |watching: &Watching, now: i64| {
            watching.rune.findings(now).into_iter().map(|found| found.rule).collect::<Vec<_>>()
        };
        assert_eq!(rules(&watching, begun + 29 * MINUTE), []);
        let findings = watching.rune.findings(begun + 40 * MINUTE);
        let [long] = &findings[..] else { panic!("{findings:?}") };
        assert_eq!((long.rule, long.node_id.as_ref().map(|id| id.as_str())), (Rule::SlowItem, Some(node)));
        assert!(long.sentence.contains("nothing was heard of it"), "{}", long.sentence);
        let gap = Gap { from: begun, until: Some(begun), dropped: 1, why: "too fast".to_owned() };
        watching.rune.missed(&gap, begun);
        assert_eq!(rules(&watching, begun + 90 * MINUTE), [], "its end may have gone by");
    }
}

/// Hears everything but what was said of a node with these words, and looks again when nobody says it any more.
async fn without(kept: &Kept, cluster: &RuneCluster, node: &str, words: &[&str]) -> (Rune, Vec<Event>) {
    let is_heard = |message: &&Published| {
        let body = message.json();
        let is_of_it = message.is_status() && body["node_id"] == node;
        !is_of_it || !words.contains(&body["status"].as_str().unwrap_or_default())
    };
    let heard: Vec<Published> = cluster.published().iter().filter(is_heard).cloned().collect();
    let mut rune = Rune::new("test");
    rune.listening(Some(0));
    let mut events = hear(&mut rune, &heard);
    events.extend(kept.look(&mut rune, cluster.now_millis() + MINUTE).await);
    for minute in 1..20 {
        rune.queues(&[served()], cluster.now_millis() + minute * MINUTE);
    }
    (rune, events)
}

fn view_of(events: &[Event]) -> ExecutionView {
    ViewFold::replay(events).expect("it has begun").view().clone()
}

/// Both sides of a fork, and what joins them.
fn both(mode: &str) -> Value {
    let nodes = vec![trigger(), log("fork"), log("b"), log("c"), merge("m", mode), log("end")];
    workflow(nodes, "start>fork fork>b fork>c b>m c>m m>end")
}

/// Nothing is complained of: not while it may be told of what was missed, not soon afterwards, and not later.
fn check_silent(rune: &Rune, cluster: &RuneCluster, what: &str) {
    for later in [0, 10 * SECOND, MINUTE, 20 * MINUTE] {
        assert_eq!(rune.findings(cluster.now_millis() + later), [], "{what}, after {later} ms");
    }
}

const EVERYTHING: [&str; 4] = ["running", "success", "failed", "waiting"];

#[tokio::test]
async fn whoever_has_sent_something_on_was_there() {
    let kept = Kept::start().await;
    let plain = workflow(vec![trigger(), log("a"), http("b", "http://b"), log("c")], "start>a a>b b>c");
    let choice = workflow(
        vec![trigger(), log("a"), condition("b", "$trigger.n > 5", "c", "d"), log("c"), log("d")],
        "start>a a>b b>c b>d",
    );
    let rests = workflow(vec![trigger(), log("a"), wait("b", 1), log("c")], "start>a a>b b>c");
    let items_of = |item: &str| {
        let nodes =
            vec![trigger(), split("s", "$trigger.items"), log(item), log("note"), gather("a"), log("end")];
        workflow(nodes, &format!("start>s s>{item} {item}>note note>a a>end"))
    };
    for (workflow, node) in [
        (&plain, "b"),
        (&plain, "c"),
        (&choice, "b"),
        (&rests, "b"),
        (&items_of("b"), "b"),
        (&items_of("b"), "s"),
        (&fan_out(), "a"),
        (&both("wait_for_all"), "b"),
        (&both("wait_for_all"), "m"),
        (&both("wait_for_any"), "m"),
    ] {
        let input = json!({"n": 9, "items": [{"id": 1}, {"id": 2}]});
        let (cluster, whole) = watch(workflow, input, |_| {});
        let expected = whole.view();
        // Of what came too late for a race nobody hears anything else.
        let is_race = node == "m" && workflow["nodes"][4]["parameters"]["wait_mode"] == "wait_for_any";
        for words in [&EVERYTHING[1..], &EVERYTHING[..]].into_iter().take(if is_race { 1 } else { 2 }) {
            let (rune, events) = without(&kept, &cluster, node, words).await;
            let view = view_of(&events);
            let told = |view: &ExecutionView, id: &str| (view.nodes[id].state, view.nodes[id].counts.success);
            for id in expected.nodes.keys() {
                assert_eq!(
                    told(&view, id.as_str()),
                    told(&expected, id.as_str()),
                    "{id} without {words:?} of {node}"
                );
            }
            assert_eq!(view.summary.phase, ExecutionPhase::Completed, "without {words:?} of {node}");
            check_silent(&rune, &cluster, &format!("without {words:?} of {node}"));
        }
    }
}

#[tokio::test]
async fn whoever_has_sent_something_on_without_a_result_has_failed() {
    let kept = Kept::start().await;
    let nodes = vec![
        trigger(),
        split("s", "$trigger.items"),
        on_error(http("b", "http://shop/$item.id"), "ignore", ""),
        log("note"),
        gather("a"),
    ];
    let ignores = workflow(nodes, "start>s s>b b>note note>a");
    let (cluster, _) =
        watch(&ignores, items(2), |cluster| cluster.answer("http://shop/1", 20, Err("refused")));
    let (rune, events) = without(&kept, &cluster, "b", &EVERYTHING).await;
    let view = view_of(&events);
    let counts = view.nodes["b"].counts;
    assert_eq!((counts.success, counts.failed, view.summary.phase), (1, 1, ExecutionPhase::Completed));
    check_silent(&rune, &cluster, "without what was said of B");
}

#[tokio::test]
async fn what_comes_late_is_told_once() {
    let kept = Kept::start().await;
    let chain = workflow(vec![trigger(), log("a"), http("b", "http://b"), log("c")], "start>a a>b b>c");
    let (cluster, _) = watch(&chain, json!({}), |_| {});
    let is_of_b = |message: &Published| message.is_status() && message.json()["node_id"] == "b";
    let (late, heard): (Vec<Published>, Vec<Published>) =
        cluster.published().iter().cloned().partition(is_of_b);
    let mut rune = Rune::new("test");
    rune.listening(Some(0));
    let mut events = hear(&mut rune, &heard);
    events.extend(kept.look(&mut rune, cluster.now_millis() + 5 * SECOND).await);
    assert_eq!(view_of(&events).nodes["b"].state, NodeState::Queued, "its word may come yet");
    events.extend(hear(&mut rune, &late));
    events.extend(kept.look(&mut rune, cluster.now_millis() + MINUTE).await);
    let view = view_of(&events);
    assert_eq!((view.nodes["b"].counts.success, view.summary.phase), (1, ExecutionPhase::Completed));
}

#[test]
fn what_went_by_in_a_gap_is_not_waited_for_when_something_came_of_it() {
    let mut cluster = RuneCluster::new();
    cluster.start("x", &workflow(vec![trigger(), log("a"), log("b"), log("c")], "start>a a>b b>c"), None);
    cluster.run();
    let is_of_b = |message: &&Published| message.is_status() && message.json()["node_id"] == "b";
    let mut rune = Rune::new("test");
    let sent = |message: &Published| message.json()["current_node"] == "b";
    let sent = cluster.published().iter().position(sent).expect("it is sent");
    let mut events = hear(&mut rune, &cluster.published()[..=sent]);
    let now = cluster.now_millis();
    let gap = Gap { from: now, until: Some(now), dropped: 2, why: "too fast".to_owned() };
    events.extend(rune.missed(&gap, now).events);
    let heard: Vec<Published> =
        cluster.published()[sent + 1..].iter().filter(|message| !is_of_b(message)).cloned().collect();
    events.extend(hear(&mut rune, &heard));
    let view = view_of(&events);
    assert_eq!((view.nodes["b"].counts.success, view.summary.phase), (1, ExecutionPhase::Completed));
}

/// What was said of the end of an execution, as long as it is told.
fn early(rune: &Rune, now: i64) -> Vec<String> {
    let found = rune.findings(now).into_iter().filter(|found| found.rule == Rule::EarlyCompletion);
    found.map(|found| found.sentence).collect()
}

/// Hears these, of which something else went by at that moment, as is told after so long.
fn hear_patchy(heard: &[Published], missed_at: i64, told_after: i64) -> Rune {
    let mut rune = Rune::new("test");
    rune.listening(Some(0));
    hear(&mut rune, heard);
    let gap = Gap { from: missed_at, until: Some(missed_at), dropped: 2, why: "too fast".to_owned() };
    rune.missed(&gap, missed_at + told_after);
    rune
}

fn is_said_of(message: &Published, node: &str, word: &str) -> bool {
    message.is_status() && message.json()["node_id"] == node && message.json()["status"] == word
}

#[test]
fn an_end_is_not_early_where_what_seems_to_go_on_may_have_ended_unheard() {
    // Both are leaves: what one of them ends with says nothing of the other.
    let nodes = vec![trigger(), log("fork"), http("slow", "http://slow"), log("quick"), log("last")];
    let forks = workflow(nodes, "start>fork fork>quick fork>slow slow>last");
    let mut cluster = RuneCluster::new();
    cluster.answer("http://slow", 20_000, Ok(json!(1)));
    cluster.start("x", &forks, None);
    cluster.run_for(SECOND);
    let now = cluster.now_millis();
    let whole = cluster.published().to_vec();
    let mut rune = Rune::new("test");
    rune.listening(Some(0));
    hear(&mut rune, &whole);
    assert_eq!(early(&rune, now + 2 * SECOND), [""; 0], "what was missed may be told of yet");
    let told = early(&rune, now + MINUTE);
    assert!(told.len() == 1 && told[0].contains("went on: Slow runs."), "{told:?}");
    let gap = Gap { from: now + 30 * SECOND, until: None, dropped: 1, why: "too fast".to_owned() };
    rune.missed(&gap, now + 40 * SECOND);
    assert_eq!(early(&rune, now + MINUTE), told, "what was missed later has nothing to do with it");

    // The end of the slow one may have gone by before the other one announced its own.
    let mut rune = hear_patchy(&whole, now, 4 * SECOND);
    assert_eq!(early(&rune, now + MINUTE), [""; 0]);
    cluster.run();
    let later: Vec<Published> = cluster.published()[whole.len()..].to_vec();
    let ends = later.iter().position(|message| is_said_of(message, "slow", "success")).expect("it ends");
    hear(&mut rune, &later[..=ends]);
    let told = early(&rune, now + MINUTE);
    assert!(told.len() == 1 && told[0].contains("1 node ended behind it"), "it went on for sure: {told:?}");
    let begins = later.iter().position(|message| is_said_of(message, "last", "running")).expect("it begins");
    let mut rune = hear_patchy(&whole, now, 4 * SECOND);
    hear(&mut rune, &later[begins..=begins]);
    let told = early(&rune, now + MINUTE);
    assert!(told.len() == 1 && told[0].contains("1 node began behind it"), "{told:?}");
}

#[test]
fn an_end_is_not_early_because_the_node_that_announced_it_was_not_heard() {
    let inside = workflow(vec![trigger(), split("s", "$trigger.items"), log("leaf")], "start>s s>leaf");
    let gathers = workflow(
        vec![trigger(), split("s", "$trigger.items"), log("leaf"), gather("a")],
        "start>s s>leaf leaf>a",
    );
    let fails = workflow(vec![trigger(), http("bad", "http://bad")], "start>bad");
    for (workflow, many, node, word) in [
        (&inside, 1, "leaf", "success"),
        (&gathers, 1, "a", "success"),
        (&gathers, 3, "a", "success"),
        (&fails, 0, "bad", "failed"),
    ] {
        let (cluster, _) =
            watch(workflow, items(many), |cluster| cluster.answer("http://bad", 5, Err("refused")));
        let last = cluster.published().iter().rposition(|message| is_said_of(message, node, word));
        let mut heard = cluster.published().to_vec();
        heard.remove(last.expect("it is said"));
        let mut rune = Rune::new("test");
        rune.listening(Some(0));
        hear(&mut rune, &heard);
        assert_eq!(early(&rune, cluster.now_millis() + MINUTE), [""; 0], "{node} of {many}");
    }
    // Of two items one is over, and all of that was heard.
    let nodes = vec![trigger(), split("s", "$trigger.items"), http("leaf", "http://shop/$item.id")];
    let mut cluster = RuneCluster::new();
    cluster.answer("http://shop/1", MINUTE, Ok(json!(1)));
    cluster.start("x", &workflow(nodes, "start>s s>leaf"), Some(items(2)));
    cluster.run_for(SECOND);
    let mut watching = Watching::new();
    let told = early(&watching.catch_up(&cluster).rune, cluster.now_millis() + 10 * SECOND);
    assert!(told.len() == 1 && told[0].contains("Leaf runs"), "{told:?}");
}
