//! A simulated Rune cluster is looked at: what is heard becomes events, and the views folded from them show what a person
//! should see.

use observer::Dialect;
use protocol::{ExecutionPhase, ExecutionView, Fact, ForkWish, NodeState, Rule, WhyIgnored};
use recording::{Access, Redaction, Store, TimerFold, ViewFold};
use runeglass_tests::rune_cluster::{
    Published, RuneCluster,
    watching::{Watching, state, watch},
    workflows::{
        condition, fan_out, gather, http, items, log, merge, node, on_error, split, trigger, wait, workflow,
    },
};
use serde_json::json;
use session::{Clock, Keep, Options, Reach, Session};

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
fn of_very_many_secrets_none_comes_out() {
    let secret = |number: usize| format!("PLANTED-{number:05}-SECRET");
    let run = |many: usize| {
        let mut call = on_error(http("fetch", "http://shop/$item.id"), "ignore", "");
        let tokens: Vec<String> = (0..many).map(secret).collect();
        call["credentials"] =
            json!({"id": "7", "name": "Shop", "type": "many", "values": {"tokens": tokens}});
        let nodes = vec![trigger(), split("s", "$trigger.items"), call, gather("a"), log("end")];
        let asks = workflow(nodes, "start>s s>fetch fetch>a a>end");
        let (_, watching) = watch(&asks, items(3), |cluster| {
            let body = json!({"you sent": [secret(many / 2), secret(many - 1)]});
            cluster.answer("http://shop/0", 5, Ok(body));
            cluster.answer("http://shop/1", 50, Err(&format!("401 for {}", secret(many - 1))));
        });
        let facts: Vec<String> = watching
            .events()
            .iter()
            .map(|event| serde_json::to_string(&event.fact).expect("written"))
            .collect();
        let everything = format!("{} {:?}", facts.join("\n"), watching.findings(100_000));
        assert!(!everything.contains("PLANTED"), "of {many}");
        let view = watching.view();
        assert_eq!(view.summary.phase, ExecutionPhase::Completed);
        assert_eq!(watching.grid("s", &[]).len(), 3);
        assert_eq!((view.nodes["fetch"].counts.success, view.nodes["fetch"].counts.failed), (2, 1));
        (watching, everything)
    };
    let (_, everything) = run(3_000);
    assert!(everything.contains("[\"███\",\"███\"]"), "it is hidden where it was repeated");
    assert!(!everything.contains("more secrets than"));

    let (watching, everything) = run(12_000);
    let why = "hidden: this workflow has more secrets than can be looked for, and one of them may stand here";
    assert_eq!(watching.output("fetch"), json!({"hidden": why}), "nobody can tell whether one is in there");
    assert_eq!(watching.output("s"), json!({"count": 3}));
    assert!(!everything.contains("you sent") && !everything.contains("401 for"));
    let detail = recording::node_detail(watching.events(), &"fetch".into()).expect("a page");
    assert!(detail.firings.iter().all(|firing| firing.input.is_some()), "and what it used says so, too");
}

#[test]
fn secrets_in_what_was_gathered_come_out_nowhere() {
    const SECRET: &str = "PLANTED<hunter2>&\"SECRET";
    const TOKEN: &str = "given-by-the-shop";
    let mut call = http("login", "http://shop/$item.id");
    call["credentials"] = json!({"id": "7", "name": "Shop", "type": "api_key", "values": {"value": SECRET}});
    let before = node("before", "log", json!({"message": format!("with {SECRET}")}));
    let uses = node("uses", "log", json!({"message": "$A.aggregated"}));
    let nodes = vec![trigger(), before, split("s", "$trigger.items"), call, gather("a"), uses];
    let workflow = workflow(nodes, "start>before before>s s>login login>a a>uses");
    let (cluster, watching) = watch(&workflow, items(2), |cluster| {
        for item in 0..2 {
            let body = json!({"access_token": TOKEN, "you sent": SECRET});
            cluster.answer(&format!("http://shop/{item}"), 5, Ok(body));
        }
    });
    let used = cluster.published().iter().filter(|message| message.json()["used_inputs"]["$A"].is_object());
    assert!(used.count() > 0, "the text of each branch is an input");
    let hidden = Redaction::default().for_observed().hide(watching.events()).into_owned();
    let facts: Vec<String> =
        hidden.iter().map(|event| serde_json::to_string(&event.fact).expect("written")).collect();
    let everything = facts.join("\n");
    assert!(!everything.contains("hunter2"), "{everything}");
    assert!(!everything.contains(TOKEN), "{everything}");
    assert!(everything.contains("access_token"), "what it is called is no secret");
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
fn an_empty_split_ends_everything_and_that_is_shown() {
    let (_, watching) = watch(&fan_out(), items(0), |_| {});
    let view = watching.view();
    assert_eq!(view.summary.phase, ExecutionPhase::Completed);
    assert_eq!((state(&view, "s"), state(&view, "end")), (NodeState::Success, NodeState::Skipped));
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

#[tokio::test]
async fn what_was_observed_can_be_forked_with_its_answers() {
    let (_, watching) = watch(&fan_out(), items(3), |cluster| {
        cluster.answer("http://shop/1", 5, Ok(json!({"stock": 11})));
    });
    let mut hanging = RuneCluster::new();
    hanging.answer("http://shop/1", 60_000, Ok(json!(1)));
    hanging.start("y", &fan_out(), Some(items(3)));
    hanging.run_for(1_000);
    let mut other = Watching::new();
    other.catch_up(&hanging);

    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("runs.db");
    let store = Store::open(&path, Access::Write).await.expect("a store");
    store.append(watching.events()).await.expect("recorded");
    store.append(&other.events["y"]).await.expect("recorded");
    assert_eq!(store.unfinished().await.expect("a list"), [], "what is theirs is not taken up here");
    drop(store);

    let reach = Reach { credentials: Some(folder.path().join("none.json")), ..Reach::default() };
    let options =
        Options { keep: Keep::At(path), folder: None, clock: Clock::system(), recover: true, reach };
    let session = Session::open(options).await.expect("opens");
    let wish = ForkWish::At { position: 1, edit: None, run: Vec::new() };
    let preview = session.preview_fork(&"x".into(), &wish).await.expect("a preview");
    assert_eq!(preview.effects_total, 0, "nobody is asked: {preview:?}");
    let forked = session.fork(&"x".into(), &wish).await.expect("a fork").execution_id;
    session.until_rest(&forked).await.expect("rests");
    let events = session.recorded(&forked).await.expect("events");
    let view = ViewFold::replay(&events).expect("a view").view().clone();
    assert_eq!(view.summary.phase, ExecutionPhase::Completed);
    assert_eq!(view.summary.observed, None, "it is ours");
    let output = |node: &str, key: &str| {
        events.iter().find_map(|event| match &event.fact {
            Fact::NodeSucceeded(done)
                if done.firing.node_id.as_str() == node && done.firing.lineage.key().as_str() == key =>
            {
                Some(done.output.value().clone())
            }
            _ => None,
        })
    };
    assert_eq!(
        output("fetch", "s=1").expect("an answer")["body"],
        json!({"stock": 11}),
        "as it was observed"
    );
    let all = output("a", "").expect("gathered");
    assert_eq!(all[1]["body"], json!({"stock": 11}), "gathered as it is done here");
    let run = ForkWish::At { position: 1, edit: None, run: vec!["fetch".into()] };
    assert_eq!(session.preview_fork(&"x".into(), &run).await.expect("a preview").effects_total, 3);
}

#[test]
fn a_cluster_whose_clock_is_wrong_is_told_on_ours() {
    const HOUR: i64 = 3_600_000;
    for wrong in [HOUR, -HOUR] {
        let mut cluster = RuneCluster::new();
        cluster.answer("http://shop/7", 600_000, Ok(json!("late")));
        let nodes =
            vec![trigger(), split("s", "$trigger.items"), http("fetch", "http://shop/$item.id"), gather("a")];
        cluster.start("x", &workflow(nodes, "start>s s>fetch fetch>a"), Some(items(8)));
        cluster.run_for(2_000);
        let ours: Vec<Published> = cluster
            .published()
            .iter()
            .map(|message| Published { at: message.at + wrong, ..message.clone() })
            .collect();
        let mut watching = Watching::new();
        watching.hear(&ours);
        let now = cluster.now_millis() + wrong;
        let view = watching.view();
        let began = view.nodes["fetch"].started_at.expect("it began");
        assert!((now - 2_000..=now).contains(&began), "{began} is not within the last seconds of {now}");
        assert_eq!(watching.rune.findings(now), [], "it runs for two seconds, not for an hour");
        let lasts = watching.insight().timeline().latest_at - view.summary.started_at;
        assert!((5..2_000).contains(&lasts), "{lasts} ms");
    }
}
