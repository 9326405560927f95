//! A simulated Rune cluster is looked at: what is heard becomes events, and the views folded from them show what a person
//! should see, the cluster's defects included.

use std::collections::BTreeMap;

use observer::{
    Dialect, Heard,
    rune::{Bounds, Rune},
};
use protocol::{
    Event, ExecutionPhase, ExecutionView, Fact, FanOutPlace, Finding, NodeState, Payload, Rule, WhyIgnored,
};
use recording::{Insight, TimerFold, ViewFold};
use runeglass_tests::rune_cluster::{
    Published, RuneCluster,
    workflows::{condition, gather, http, log, merge, node, on_error, split, trigger, wait, workflow},
};
use serde_json::{Value, json};

/// An observer, and everything it has made of what it heard.
struct Watching {
    rune: Rune,
    events: BTreeMap<String, Vec<Event>>,
    heard: usize,
    now: i64,
}

impl Watching {
    fn new() -> Self {
        Self { rune: Rune::new("test"), events: BTreeMap::new(), heard: 0, now: 0 }
    }

    /// Everything that was published since.
    fn catch_up(&mut self, cluster: &RuneCluster) -> &mut Self {
        let new = cluster.published()[self.heard..].to_vec();
        self.heard = cluster.published().len();
        self.now = cluster.now_millis();
        self.hear(&new)
    }

    fn hear(&mut self, messages: &[Published]) -> &mut Self {
        for message in messages {
            let heard = Heard {
                at: message.at,
                routing_key: message.routing_key.to_owned(),
                body: message.body.clone().into_bytes(),
            };
            for event in self.rune.hear(&heard).events {
                let events = self.events.entry(event.execution_id.to_string()).or_default();
                events.push(event);
                assert_eq!(events.last().unwrap().seq, events.len() as u64, "numbered without a gap");
            }
        }
        self
    }

    fn events(&self) -> &[Event] {
        self.events.get("x").map(Vec::as_slice).unwrap_or_default()
    }

    fn view(&self) -> ExecutionView {
        ViewFold::replay(self.events()).expect("it has begun").view().clone()
    }

    fn insight(&self) -> Insight {
        let mut insight = Insight::begin(self.events()).expect("it can be looked into");
        insight.extend(self.events()).expect("it adds up");
        insight
    }

    /// One letter per item.
    fn grid(&self, split: &str, parent: &[u32]) -> String {
        let place = FanOutPlace { split: split.into(), parent: parent.to_vec() };
        let grid = self.insight().item_grid(&place, 0);
        grid.chunks.into_iter().map(|chunk| chunk.states).collect()
    }

    fn findings(&self, later: i64) -> Vec<Finding> {
        self.rune.findings(self.now + later)
    }

    fn rules(&self, later: i64) -> Vec<Rule> {
        self.findings(later).into_iter().map(|finding| finding.rule).collect()
    }

    fn output(&self, node: &str) -> Value {
        let done = self.events().iter().rev().find_map(|event| match &event.fact {
            Fact::NodeSucceeded(done) if done.firing.node_id.as_str() == node => Some(done.output.clone()),
            _ => None,
        });
        done.as_ref().map(Payload::value).cloned().unwrap_or_default()
    }
}

/// Runs a workflow to its end, or until it hangs, and watches all of it.
fn watch(
    workflow: &Value,
    trigger: Value,
    prepare: impl FnOnce(&mut RuneCluster),
) -> (RuneCluster, Watching) {
    let mut cluster = RuneCluster::new();
    prepare(&mut cluster);
    cluster.start("x", workflow, Some(trigger));
    cluster.run();
    let mut watching = Watching::new();
    watching.catch_up(&cluster);
    (cluster, watching)
}

fn state(view: &ExecutionView, node: &str) -> NodeState {
    view.nodes[node].state
}

fn fan_out() -> Value {
    let nodes = vec![
        trigger(),
        split("s", "$trigger.items"),
        http("fetch", "http://shop/$item.id"),
        gather("a"),
        log("end"),
    ];
    workflow(nodes, "start>s s>fetch fetch>a a>end")
}

fn items(count: usize) -> Value {
    json!({"items": (0..count).map(|id| json!({"id": id})).collect::<Vec<_>>()})
}

#[test]
fn a_fan_out_looks_like_one_of_ours() {
    let (_, watching) = watch(&fan_out(), items(3), |_| {});
    let view = watching.view();
    assert_eq!(view.summary.phase, ExecutionPhase::Completed);
    assert_eq!(view.summary.title, "Workflow 7");
    let observed = view.summary.observed.as_ref().expect("it says where it was seen");
    assert_eq!((observed.cluster.as_str(), observed.joined_late), ("test", false));
    for (node, successes) in [("s", 1), ("fetch", 3), ("a", 1), ("end", 1)] {
        assert_eq!(
            (state(&view, node), view.nodes[node].counts.success),
            (NodeState::Success, successes),
            "{node}"
        );
    }
    assert_eq!(view.nodes["a"].progress.map(|progress| (progress.arrived, progress.expected)), Some((3, 3)));
    assert_eq!(watching.grid("s", &[]), "sss");
    assert_eq!(watching.output("s"), json!({"count": 3}));
    let aggregated = &watching.output("a")["aggregated"];
    assert_eq!(aggregated[2]["$item"], json!({"id": 2}), "text in text is taken apart");
    assert_eq!(aggregated[2]["$S"], json!({"count": 3}), "the items are told once");
    let behind = watching.events().iter().find_map(|event| match &event.fact {
        Fact::NodeSucceeded(done) if done.firing.node_id.as_str() == "end" => {
            Some(done.firing.lineage.clone())
        }
        _ => None,
    });
    assert!(behind.expect("it ran").is_root(), "the stack still says item 2, and it is not");
    assert_eq!(watching.rules(100_000), []);
    let detail = recording::node_detail(watching.events(), &"fetch".into()).expect("a page");
    assert_eq!(detail.total, 3);
    assert!(detail.firings[0].input.is_some() && detail.firings[0].parameters.is_some());
}

#[test]
fn an_aggregator_that_waits_is_not_a_success() {
    let mut cluster = RuneCluster::new();
    cluster.answer("http://shop/1", 60_000, Ok(json!("late")));
    cluster.start("x", &fan_out(), Some(items(3)));
    cluster.run_for(1_000);
    let mut watching = Watching::new();
    watching.catch_up(&cluster);
    let view = watching.view();
    assert_eq!(state(&view, "a"), NodeState::WaitingBarrier);
    assert_eq!(view.nodes["a"].counts.success, 0);
    assert_eq!(view.nodes["a"].progress.map(|progress| (progress.arrived, progress.expected)), Some((2, 3)));
    assert_eq!(watching.grid("s", &[]), "srs");
    let of_events = watching.insight().barrier(&"a".into());
    let of_cluster = watching.rune.barrier(&"x".into(), &"a".into()).expect("it is a join");
    for barrier in [&of_events, &of_cluster] {
        let place = &barrier.places[0];
        assert_eq!((place.arrived, place.expected, place.missing.len()), (2, 3, 1));
        let at = place.missing[0].at();
        assert_eq!(at.node_id.as_ref().map(|id| id.as_str()), Some("fetch"));
        assert_eq!(at.state, NodeState::Running);
    }
    assert!(of_cluster.verdict.expect("a sentence").contains("2 of 3"));
    assert_eq!(watching.rules(3_000), [], "it is on its way");
    assert_eq!(watching.rules(40_000), [], "two peers do not tell what is usual");
    cluster.run();
    assert_eq!(watching.catch_up(&cluster).view().summary.phase, ExecutionPhase::Completed);
}

#[test]
fn credentials_come_out_nowhere() {
    const SECRET: &str = "PLANTED-hunter2-SECRET";
    let mut call = http("call", "http://echo");
    call["credentials"] = json!({"id": "7", "name": "Shop", "type": "api_key",
        "values": {"value": SECRET, "key": "X-Api-Key"}});
    let agent = node(
        "agent",
        "agent",
        json!({
            "messages": [{"role": "user", "content": "hi"}],
            "tools": [{"type": "http_request", "name": "t", "credential": {"id": "8"},
                "credentials": {"id": "8", "values": {"token": SECRET}}}],
            "mcp_servers": [{"name": "m", "url": "http://mcp", "credentials": {"values": {"token": SECRET}}}]
        }),
    );
    let fails = on_error(http("fails", "http://refuses"), "ignore", "");
    let nodes = vec![trigger(), call, agent, fails, wait("rest", 5), log("end")];
    let workflow = workflow(nodes, "start>call call>agent agent>fails fails>rest rest>end");
    let (cluster, watching) = watch(&workflow, json!({}), |cluster| {
        cluster.answer("http://echo", 5, Ok(json!({"you sent": format!("X-Api-Key: {SECRET}")})));
        cluster.answer("http://refuses", 5, Err(&format!("401 for {SECRET}")));
    });
    let on_the_wire = cluster.published().iter().filter(|message| message.body.contains(SECRET)).count();
    assert!(on_the_wire > 5, "the cluster itself tells everybody");
    let view = watching.view();
    assert_eq!(view.summary.phase, ExecutionPhase::Completed);
    let facts: Vec<String> =
        watching.events().iter().map(|event| serde_json::to_string(&event.fact).expect("written")).collect();
    let everything = format!(
        "{} {} {:?} {:?}",
        facts.join("\n"),
        serde_json::to_string(&view).expect("written"),
        watching.findings(100_000),
        watching.rune.timers()
    );
    assert!(!everything.contains(SECRET) && !everything.contains("hunter2"));
    assert!(everything.contains("\"name\":\"Shop\""), "what it is called is no secret");
    assert!(everything.contains("X-Api-Key: ███"), "it is hidden where it was repeated");
}

#[test]
fn a_merge_behind_a_choice_hangs_and_says_so() {
    let nodes = vec![
        trigger(),
        condition("c", "$trigger.n > 5", "yes", "no"),
        log("yes"),
        log("no"),
        merge("m", "wait_for_all"),
        log("end"),
    ];
    let workflow = workflow(nodes, "start>c c>yes c>no yes>m no>m m>end");
    let (cluster, watching) = watch(&workflow, json!({"n": 9}), |_| {});
    let view = watching.view();
    assert_eq!(view.summary.phase, ExecutionPhase::Running);
    assert_eq!(state(&view, "m"), NodeState::WaitingBarrier);
    assert!(view.edges["c-no"].skipped && !view.edges["c-yes"].skipped);
    assert_eq!((state(&view, "yes"), state(&view, "no")), (NodeState::Success, NodeState::Idle));
    let findings = watching.findings(10_000);
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].rule, Rule::BarrierCannotOpen);
    assert!(findings[0].sentence.contains("the branch from No"), "{}", findings[0].sentence);
    let barrier = watching.rune.barrier(&"x".into(), &"m".into()).expect("a join");
    assert_eq!((barrier.places[0].arrived, barrier.places[0].expected), (1, 2));
    assert!(barrier.verdict.expect("a sentence").contains("no longer open"));
    assert!(cluster.keys.0.contains_key("exec:x:node:m:barrier:arrivals"), "and the keys stay for ever");
    assert_eq!(
        TimerFold::replay(watching.events()).expect("a fold").timers().count(),
        0,
        "no deadline ends it"
    );
}

#[test]
fn a_race_has_a_winner_and_the_others_are_ignored() {
    let nodes = vec![
        trigger(),
        log("fork"),
        http("fast", "http://fast"),
        http("slow", "http://slow"),
        merge("m", "wait_for_any"),
        log("end"),
    ];
    let workflow = workflow(nodes, "start>fork fork>fast fork>slow fast>m slow>m m>end");
    let (_, watching) =
        watch(&workflow, json!({}), |cluster| cluster.answer("http://slow", 500, Ok(json!(1))));
    let view = watching.view();
    assert_eq!(view.summary.phase, ExecutionPhase::Completed);
    assert_eq!((view.nodes["m"].counts.success, view.nodes["end"].counts.success), (1, 1));
    assert_eq!((view.edges["slow-m"].ignored, view.edges["fast-m"].ignored), (1, 0));
    let lost = watching.events().iter().any(|event| match &event.fact {
        Fact::Gathered(done) => done.echo.ignored.iter().any(|ignored| ignored.why == WhyIgnored::LostRace),
        _ => false,
    });
    assert!(lost);
    // The end was announced by the winner while the slow one still ran.
    assert_eq!(watching.rules(10_000), [Rule::EarlyCompletion]);
}

#[test]
fn a_failure_without_a_lineage_is_placed_where_only_one_item_can_be_meant() {
    let (_, watching) = watch(&fan_out(), items(3), |cluster| {
        cluster.answer("http://shop/0", 50, Ok(json!(1)));
        cluster.answer("http://shop/1", 20, Err("refused"));
        cluster.answer("http://shop/2", 60, Ok(json!(1)));
    });
    // All three ran when it failed; the item in the context of the halt tells which it was.
    assert_eq!(watching.grid("s", &[]), "sAs");
    let view = watching.view();
    assert_eq!(view.nodes["fetch"].counts.failed, 1);
    assert_eq!(view.summary.phase, ExecutionPhase::Running, "the aggregator waits for what never comes");
    let rules = watching.rules(10_000);
    assert_eq!(rules, [Rule::BarrierCannotOpen, Rule::EarlyCompletion]);
    let hangs = &watching.findings(10_000)[0];
    assert!(
        hangs.sentence.contains("item 1") && hangs.sentence.contains("failed at Fetch"),
        "{}",
        hangs.sentence
    );
}

#[test]
fn a_failure_that_could_be_of_two_items_says_so() {
    let same = json!({"items": [{"id": 1}, {"id": 1}, {"id": 2}]});
    let mut cluster = RuneCluster::new();
    cluster.answer("http://shop/1", 20, Err("refused"));
    cluster.answer("http://shop/2", 10, Ok(json!(1)));
    cluster.start("x", &fan_out(), Some(same));
    cluster.run();
    let mut watching = Watching::new();
    let messages = cluster.published();
    let failed = |message: &&Published| message.is_status() && message.json()["status"] == "failed";
    let first = messages.iter().position(|message| failed(&message)).expect("one fails");
    let halted = first + 1;
    watching.hear(&messages[..=halted]);
    let said = watching.events().iter().find_map(|event| match &event.fact {
        Fact::NodeFailed(failed) => Some((failed.firing.lineage.clone(), failed.error.details.clone())),
        _ => None,
    });
    let (lineage, details) = said.expect("it is told, with or without a place");
    assert!(lineage.is_root());
    assert_eq!(details.expect("details")["one_of"], json!(["s=0", "s=1"]));
    watching.hear(&messages[halted + 1..]);
    assert_eq!(watching.view().nodes["fetch"].counts.failed, 2);
}

#[test]
fn an_ignored_failure_goes_on_where_it_happened() {
    let nodes = vec![
        trigger(),
        split("s", "$trigger.items"),
        on_error(http("fetch", "http://shop/$item.id"), "ignore", ""),
        log("note"),
        gather("a"),
    ];
    let workflow = workflow(nodes, "start>s s>fetch fetch>note note>a");
    let same = json!({"items": [{"id": 1}, {"id": 1}, {"id": 2}]});
    let (_, watching) = watch(&workflow, same, |cluster| cluster.answer("http://shop/1", 20, Err("refused")));
    let view = watching.view();
    assert_eq!(view.summary.phase, ExecutionPhase::Completed);
    assert_eq!((view.nodes["fetch"].counts.failed, view.nodes["note"].counts.success), (2, 3));
    let places: Vec<String> = watching
        .events()
        .iter()
        .filter_map(|event| match &event.fact {
            Fact::NodeFailed(failed) => Some(failed.firing.lineage.key().to_string()),
            _ => None,
        })
        .collect();
    assert_eq!(places, ["s=0", "s=1"], "the message that follows tells whose it was");
}

#[test]
fn a_wait_rests_and_goes_on() {
    let workflow = workflow(vec![trigger(), wait("rest", 60), log("end")], "start>rest rest>end");
    let mut cluster = RuneCluster::new();
    cluster.start("x", &workflow, None);
    cluster.run_for(1_000);
    let mut watching = Watching::new();
    watching.catch_up(&cluster);
    let view = watching.view();
    assert_eq!(state(&view, "rest"), NodeState::WaitingTimer);
    let due = view.nodes["rest"].due.expect("a moment");
    let timers: Vec<_> = TimerFold::replay(watching.events()).expect("a fold").timers().collect();
    assert_eq!((timers.len(), timers[0].due, timers[0].name.as_str()), (1, due, "Rest"));
    cluster.run();
    let view = watching.catch_up(&cluster).view();
    assert_eq!(view.summary.phase, ExecutionPhase::Completed);
    assert_eq!((state(&view, "rest"), view.nodes["rest"].counts.success), (NodeState::Success, 1));
    assert_eq!(watching.rules(10_000), []);
}

#[test]
fn ends_that_are_announced_at_every_leaf_are_one() {
    let nodes = vec![trigger(), log("fork"), http("slow", "http://slow"), log("quick"), log("last")];
    let workflow = workflow(nodes, "start>fork fork>quick fork>slow slow>last");
    let mut cluster = RuneCluster::new();
    cluster.answer("http://slow", 5_000, Ok(json!(1)));
    cluster.start("x", &workflow, None);
    cluster.run_for(1_000);
    let mut watching = Watching::new();
    assert_eq!(watching.catch_up(&cluster).view().summary.phase, ExecutionPhase::Running, "slow still runs");
    assert_eq!(watching.rules(0), [Rule::EarlyCompletion]);
    cluster.run();
    let view = watching.catch_up(&cluster).view();
    assert_eq!(view.summary.phase, ExecutionPhase::Completed);
    let ends = watching.events().iter().filter(|event| matches!(event.fact, Fact::ExecutionEnded(_))).count();
    assert_eq!(ends, 1);
    assert_eq!(watching.rules(0), [Rule::EarlyCompletion, Rule::SeveralCompletions]);
}

#[test]
fn a_halt_is_not_undone_by_a_sibling_that_went_well() {
    let nodes = vec![trigger(), log("fork"), http("bad", "http://bad"), http("good", "http://good")];
    let workflow = workflow(nodes, "start>fork fork>bad fork>good");
    let (_, watching) = watch(&workflow, json!({}), |cluster| {
        cluster.answer("http://bad", 5, Err("refused"));
        cluster.answer("http://good", 500, Ok(json!(1)));
    });
    let view = watching.view();
    assert_eq!(view.summary.phase, ExecutionPhase::Halted, "although the last completion says completed");
    assert_eq!(view.summary.error.expect("why").node_id.expect("where").as_str(), "bad");
    assert!(watching.rules(0).contains(&Rule::SeveralCompletions));
}

#[test]
fn an_empty_split_ends_everything_and_that_is_shown() {
    let (_, watching) = watch(&fan_out(), items(0), |_| {});
    let view = watching.view();
    assert_eq!(view.summary.phase, ExecutionPhase::Completed);
    assert_eq!((state(&view, "s"), state(&view, "end")), (NodeState::Success, NodeState::Skipped));
}

#[test]
fn nested_splits_share_a_counter() {
    let nodes = vec![
        trigger(),
        split("o", "$trigger.rows"),
        split("i", "$item"),
        log("work"),
        gather("inner"),
        gather("outer"),
    ];
    let workflow = workflow(nodes, "start>o o>i i>work work>inner inner>outer");
    let (cluster, watching) = watch(&workflow, json!({"rows": [[1, 2], [3, 4, 5]]}), |_| {});
    assert_eq!(watching.grid("o", &[]).len(), 2);
    assert_eq!((watching.grid("i", &[0]).len(), watching.grid("i", &[1]).len()), (2, 3));
    let findings = watching.findings(10_000);
    let shared = findings.iter().find(|found| found.rule == Rule::SharedCounter).expect("it is found");
    assert!(shared.evidence.iter().any(|line| line.contains("exec:x:split:i:count")), "{shared:?}");
    assert_eq!(shared.evidence.iter().filter(|line| line.starts_with("o=")).count(), 2);
    let view = watching.view();
    assert!(view.nodes["inner"].counts.failed + view.nodes["outer"].counts.failed > 0);
    assert!(cluster.keys.0.keys().any(|key| key.starts_with("exec:x:split:i:")), "keys are left behind");
}

#[test]
fn one_fan_out_after_the_other_shares_nothing() {
    let nodes = vec![
        trigger(),
        split("s", "$trigger.items"),
        log("w"),
        gather("a"),
        split("t", "$trigger.items"),
        log("x"),
        gather("b"),
    ];
    let workflow = workflow(nodes, "start>s s>w w>a a>t t>x x>b");
    let (_, watching) = watch(&workflow, items(3), |_| {});
    assert_eq!(watching.view().summary.phase, ExecutionPhase::Completed);
    assert_eq!((watching.grid("s", &[]), watching.grid("t", &[])), ("sss".to_owned(), "sss".to_owned()));
    assert_eq!(watching.rules(10_000), []);
}

#[test]
fn an_item_that_is_delivered_again_is_counted_twice() {
    let (_, watching) = watch(&fan_out(), items(3), |cluster| {
        cluster.answer("http://shop/2", 800, Ok(json!("late")));
        cluster.faults.redelivered.insert(("a".to_owned(), Some(0)));
    });
    let twice = watching.findings(10_000).into_iter().find(|found| found.rule == Rule::CountedTwice);
    let twice = twice.expect("it is found");
    assert!(twice.sentence.contains("opened with 2 different parts of 3"), "{}", twice.sentence);
    assert_eq!(watching.output("a")["aggregated"][2], Value::Null);
    assert_eq!(watching.view().nodes["a"].counts.failed, 1, "the real one finds no counter any more");
}

#[test]
fn a_node_that_is_delivered_again_has_run_twice() {
    let workflow = workflow(vec![trigger(), log("mail"), log("end")], "start>mail mail>end");
    let (_, watching) = watch(&workflow, json!({}), |cluster| {
        cluster.faults.redelivered.insert(("mail".to_owned(), None));
    });
    let view = watching.view();
    assert_eq!((view.nodes["mail"].counts.success, view.nodes["end"].counts.success), (2, 2));
    assert!(watching.rules(0).contains(&Rule::SeveralCompletions));
}

#[test]
fn a_branch_that_ends_before_the_aggregator_keeps_it_from_opening() {
    let nodes = vec![
        trigger(),
        split("s", "$trigger.items"),
        condition("c", "$item.id < 2", "keep", ""),
        log("keep"),
        gather("a"),
    ];
    let workflow = workflow(nodes, "start>s s>c c>keep keep>a");
    let (_, watching) = watch(&workflow, items(3), |_| {});
    let hangs = &watching.findings(10_000)[0];
    assert_eq!(hangs.rule, Rule::BarrierCannotOpen);
    assert!(hangs.sentence.contains("item 2 will never come, its way ended at C"), "{}", hangs.sentence);
    assert_eq!(watching.view().summary.phase, ExecutionPhase::Running);
}

#[test]
fn a_message_that_was_refused_is_gone() {
    let workflow = workflow(vec![trigger(), log("a"), log("b")], "start>a a>b");
    let (_, mut watching) = watch(&workflow, json!({}), |cluster| {
        cluster.faults.discarded.insert("b".to_owned());
    });
    assert_eq!(state(&watching.view(), "b"), NodeState::Queued);
    assert_eq!(watching.rules(600_000), [], "without the queue nobody can tell");
    let queue =
        protocol::QueueView { name: "workflow.execution".to_owned(), messages: 0, consumers: 2, growth: 0.0 };
    watching.rune.queues(&[queue.clone()]);
    assert_eq!(watching.rules(600_000), [Rule::Discarded]);
    assert_eq!(watching.rules(10_000), [], "a worker may hold it in its hands");
    watching.rune.queues(&[protocol::QueueView { messages: 5, ..queue.clone() }]);
    assert_eq!(watching.rules(600_000), [], "it is still in the queue");
    watching.rune.queues(&[protocol::QueueView { messages: 5, consumers: 0, growth: 1.5, ..queue }]);
    assert_eq!(watching.rules(600_000), [Rule::NoConsumer]);
}

#[test]
fn an_item_that_lags_behind_is_named() {
    let mut cluster = RuneCluster::new();
    cluster.answer("http://shop/6", 600_000, Ok(json!("late")));
    cluster.start("x", &fan_out(), Some(items(8)));
    cluster.run_for(60_000);
    let mut watching = Watching::new();
    watching.catch_up(&cluster);
    let slow = &watching.findings(0)[0];
    assert_eq!(slow.rule, Rule::SlowItem);
    assert_eq!(slow.key.as_ref().map(|key| key.as_str()), Some("s=6"));
}

#[test]
fn what_began_before_we_came_is_put_together() {
    let mut cluster = RuneCluster::new();
    cluster.answer("http://shop/1", 10_000, Ok(json!("late")));
    let nodes = vec![
        trigger(),
        log("first"),
        split("s", "$trigger.items"),
        http("fetch", "http://shop/$item.id"),
        log("note"),
        gather("a"),
        log("end"),
    ];
    let workflow = workflow(nodes, "start>first first>s s>fetch fetch>note note>a a>end");
    cluster.start("x", &workflow, Some(items(3)));
    cluster.run_for(5_000);
    let before = cluster.published().len();
    cluster.run();
    let mut watching = Watching::new();
    watching.hear(&cluster.published()[before..]);
    let view = watching.view();
    assert!(view.summary.observed.as_ref().expect("observed").joined_late);
    assert_eq!(view.summary.phase, ExecutionPhase::Completed);
    for node in ["first", "s", "fetch", "note", "a", "end"] {
        assert_eq!(state(&view, node), NodeState::Success, "{node}");
    }
    assert_eq!(watching.output("first")["message"], "first", "its output travels along");
    assert_eq!(watching.grid("s", &[]).len(), 3);
    assert!(!watching.rules(10_000).contains(&Rule::CountedTwice), "what was not heard is not missing");
}

#[test]
fn statuses_before_the_definition_are_kept_for_a_while() {
    let (cluster, whole) = watch(&fan_out(), items(2), |_| {});
    let (first, rest) = cluster.published().split_first().expect("the mirrored message");
    let (early, late) = rest.split_at(3);
    let mut watching = Watching::new();
    watching.hear(early).hear(std::slice::from_ref(first)).hear(late);
    let (one, other) = (whole.view(), watching.view());
    let states = |view: &ExecutionView| view.nodes.values().map(|node| node.state).collect::<Vec<_>>();
    assert_eq!(states(&one), states(&other));
    assert_eq!(one.summary.phase, other.summary.phase);
}

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
            messages.push(copy);
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
    let hear = |rune: &mut Rune, message: &Published| {
        let body = message.body.clone().into_bytes();
        rune.hear(&Heard { at: message.at, routing_key: message.routing_key.to_owned(), body }).events
    };
    for number in 0..200 {
        let mut cluster = RuneCluster::new();
        cluster.start(&format!("e{number}"), &fan_out(), Some(items(3)));
        cluster.run();
        let skipped = usize::from(number % 10 == 0);
        let events: Vec<Event> =
            cluster.published().iter().skip(skipped).flat_map(|message| hear(&mut rune, message)).collect();
        assert!(!events.is_empty() || skipped == 1);
        // Heard of again when it is long gone.
        if number == 150 {
            let mut old = RuneCluster::new();
            old.start("e5", &fan_out(), Some(items(3)));
            old.run();
            let events: usize = old.published().iter().map(|message| hear(&mut rune, message).len()).sum();
            assert_eq!(events, 0, "nobody begins it anew");
        }
    }
    let let_go = rune.let_go();
    assert!(let_go.executions >= 160 && let_go.messages > 0, "{let_go:?}");
    assert!(rune.findings(i64::MAX / 2).len() < 1_000);
}

#[test]
fn kinds_that_we_do_not_run_are_shown() {
    let nodes = vec![
        trigger(),
        split("s", "$trigger.items"),
        node("agent", "agent", json!({"messages": [{"role": "user", "content": "$item.id"}]})),
        gather("a"),
    ];
    let (_, watching) = watch(&workflow(nodes, "start>s s>agent agent>a"), items(2), |_| {});
    assert_eq!(watching.view().summary.phase, ExecutionPhase::Completed);
    assert_eq!(watching.grid("s", &[]), "ss");
    let strange = workflow(vec![trigger(), node("odd", "integration.unheard.of", json!({}))], "start>odd");
    let (_, watching) = watch(&strange, json!({}), |_| {});
    let view = watching.view();
    assert_eq!((view.summary.phase, state(&view, "odd")), (ExecutionPhase::Failed, NodeState::Failed));
}

#[test]
fn a_circle_is_followed_as_well() {
    let nodes = vec![trigger(), log("turn"), condition("c", "$trigger.n > 5", "turn", "end"), log("end")];
    let workflow = workflow(nodes, "start>turn turn>c c>turn c>end");
    let mut cluster = RuneCluster::new();
    cluster.start("x", &workflow, Some(json!({"n": 9})));
    cluster.run_for(200);
    let mut watching = Watching::new();
    watching.catch_up(&cluster);
    let view = watching.view();
    assert!(view.nodes["turn"].counts.success > 10, "{:?}", view.nodes["turn"].counts);
    assert_eq!(view.summary.phase, ExecutionPhase::Running);
}
