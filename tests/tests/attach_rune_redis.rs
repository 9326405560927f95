//! The Redis of a simulated Rune cluster that holds very much, answers slowly, refuses to, or is gone.

use observer::{Dialect, Reader, rune::Rune};
use protocol::{Event, NodeState, Rule};
use recording::{TimerFold, ViewFold};
use runeglass_tests::{
    proxy::Proxy,
    rune_cluster::{
        Kept, Keys, Live, Published, RuneCluster, hear,
        workflows::{fan_out, gather, items, log, split, trigger, wait, workflow},
    },
    servers::Redis,
};
use serde_json::{Value, json};

fn rules(rune: &Rune, now: i64) -> Vec<Rule> {
    rune.findings(now).into_iter().map(|found| found.rule).collect()
}

fn of(events: &[Event], execution: &str) -> Vec<Event> {
    events.iter().filter(|event| event.execution_id.as_str() == execution).cloned().collect()
}

/// A message that rests, as a worker freezes it.
fn frozen(execution: &str) -> String {
    let rests = workflow(vec![trigger(), wait("rest", 60), log("end")], "start>rest rest>end");
    let context = json!({"$Rest": {"resume_at": 5, "timer_id": "t"}});
    json!({"workflow_id": "7", "workflow_version": 1, "execution_id": execution, "current_node": "rest",
        "workflow_definition": rests, "accumulated_context": context, "is_worker_initiated": true})
    .to_string()
}

/// The same, so many bytes larger.
fn frozen_large(execution: &str, bytes: usize) -> String {
    let mut message: Value = serde_json::from_str(&frozen(execution)).expect("it is JSON");
    message["accumulated_context"]["$Far"] = json!("x".repeat(bytes));
    message.to_string()
}

/// A number of `INFO`.
async fn counted(write: &mut redis::aio::MultiplexedConnection, section: &str, name: &str) -> u64 {
    let text: String = redis::cmd("INFO").arg(section).query_async(write).await.expect("counted");
    let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("0");
    let digits: String = line.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().expect("a number")
}

async fn tell(kept: &mut Kept, words: &[&str]) {
    redis::cmd(words[0]).arg(&words[1..]).exec_async(&mut kept.write).await.expect("it is done");
}

#[tokio::test]
async fn what_was_numbered_is_told_although_redis_is_gone() {
    let mut rune = Rune::new("test");
    let mut cluster = RuneCluster::new();
    for execution in ["x", "y"] {
        cluster.start(execution, &fan_out(), Some(items(2)));
    }
    cluster.run();
    let (x, y): (Vec<Published>, Vec<Published>) =
        cluster.published().iter().cloned().partition(|message| message.json()["execution_id"] == "x");
    hear(&mut rune, &x);
    let y: Vec<Published> = y.into_iter().filter(Published::is_status).collect();
    let (early, late) = y.split_at(4);
    assert_eq!(hear(&mut rune, early), [], "nobody knows what it is made of");
    let server = Redis::start();
    let reader = Reader::connect(&server.url).await.expect("a reader");
    drop(server);
    let now = cluster.now_millis();
    assert!(rune.look(&reader, now + 6_000).await.is_err());
    let told = of(&hear(&mut rune, late), "y");
    let numbers: Vec<u64> = told.iter().map(|event| event.seq).collect();
    assert_eq!(numbers, (1..=told.len() as u64).collect::<Vec<_>>(), "without a gap");
}

#[tokio::test]
async fn every_wait_that_began_before_we_came_is_shown_where_it_is() {
    let mut kept = Kept::start().await;
    let nodes = vec![trigger(), split("s", "$trigger.items"), wait("rest", 3_600), gather("a")];
    let many = workflow(nodes, "start>s s>rest rest>a");
    let nodes = vec![trigger(), split("s", "$trigger.items"), log("w"), gather("a"), wait("rest", 3_600)];
    let behind = workflow(nodes, "start>s s>w w>a a>rest");
    let mut cluster = RuneCluster::new();
    cluster.start("many", &many, Some(items(50)));
    cluster.start("behind", &behind, Some(items(3)));
    cluster.run_for(5_000);
    kept.hold(&cluster.keys).await;
    let mut rune = Rune::new("test");
    let mut events = Vec::new();
    for second in 0..5 {
        events.extend(kept.look(&mut rune, cluster.now_millis() + second * 1_000).await);
    }
    let view = ViewFold::replay(&of(&events, "many")).expect("it has begun").view().clone();
    assert_eq!((view.nodes["rest"].state, view.nodes["rest"].counts.waiting), (NodeState::WaitingTimer, 50));
    assert_eq!(rune.timers().len(), 51);
    let by_events: Vec<_> = TimerFold::replay(&of(&events, "behind")).expect("a fold").timers().collect();
    assert_eq!((by_events.len(), by_events[0].key.as_str()), (1, ""));
    let timers = rune.timers();
    let listed = timers.iter().find(|timer| timer.execution_id.as_str() == "behind").expect("it is listed");
    assert_eq!(listed.key.as_str(), "", "what the aggregator has gathered is no place any more");
    // What is heard of them afterwards adds up.
    let before = cluster.published().len();
    cluster.run();
    events.extend(hear(&mut rune, &cluster.published()[before..]));
    let view = ViewFold::replay(&of(&events, "many")).expect("it has begun").view().clone();
    assert_eq!((view.nodes["rest"].counts.success, view.nodes["rest"].counts.waiting), (50, 0));
}

#[tokio::test]
async fn a_wait_that_was_set_in_a_gap_is_shown_too() {
    let mut kept = Kept::start().await;
    let rests = workflow(vec![trigger(), log("a"), wait("rest", 600), log("end")], "start>a a>rest rest>end");
    let mut cluster = RuneCluster::new();
    cluster.start("x", &rests, None);
    cluster.run_for(5_000);
    kept.hold(&cluster.keys).await;
    let unheard = |message: &&Published| message.json()["node_id"] != "rest";
    let heard: Vec<Published> = cluster.published().iter().filter(unheard).cloned().collect();
    let mut rune = Rune::new("test");
    let now = cluster.now_millis();
    let mut events = hear(&mut rune, &heard);
    events.extend(kept.look(&mut rune, now).await);
    let gap = protocol::Gap { from: now - 4_000, until: Some(now), dropped: 2, why: "too fast".to_owned() };
    events.extend(rune.missed(&gap, now).events);
    events.extend(kept.look(&mut rune, now + 1_000).await);
    let view = ViewFold::replay(&events).expect("it has begun").view().clone();
    assert_eq!(view.nodes["rest"].state, NodeState::WaitingTimer);
}

#[tokio::test]
async fn timers_that_are_claimed_one_after_the_other_are_not_overdue() {
    let mut kept = Kept::start().await;
    let mut keys = Keys::default();
    for timer in 0..2_600 {
        keys.freeze(&format!("t{timer:04}"), 1_000, frozen(&format!("e{timer}")));
    }
    // One was claimed long ago, and its message was never sent.
    keys.freeze("lost", 1_000, frozen("lost"));
    kept.hold(&keys).await;
    tell(&mut kept, &["ZREM", "scheduler:timers", "lost"]).await;
    let mut rune = Rune::new("test");
    for second in 1..12 {
        let now = second * 1_000;
        kept.look(&mut rune, now).await;
        let rules = rules(&rune, now);
        assert!(!rules.contains(&Rule::OverdueTimer), "after {second} s: {rules:?}");
        for timer in (second - 1) * 200..second * 200 {
            let id = format!("t{timer:04}");
            tell(&mut kept, &["ZREM", "scheduler:timers", &id]).await;
            tell(&mut kept, &["HDEL", "scheduler:payloads", &id]).await;
        }
    }
    // The worker is gone.
    let mut found = Vec::new();
    for second in 12..200 {
        kept.look(&mut rune, second * 1_000).await;
        found = rune.findings(second * 1_000);
        // The lost one is met wherever it lies on the way through all, sooner or later than nobody claims the others.
        if [Rule::LostResume, Rule::OverdueTimer]
            .iter()
            .all(|rule| found.iter().any(|each| each.rule == *rule))
        {
            break;
        }
    }
    let by = |rule: Rule| found.iter().filter(|found| found.rule == rule).collect::<Vec<_>>();
    assert_eq!(by(Rule::OverdueTimer).len(), 1, "{found:?}");
    let lost = by(Rule::LostResume);
    let [lost] = &lost[..] else { panic!("{found:?}") };
    assert_eq!(lost.execution_id.as_ref().map(|id| id.as_str()), Some("lost"));
}

#[tokio::test]
async fn what_is_lost_is_found_among_very_many_that_rest() {
    let mut kept = Kept::start().await;
    let mut keys = Keys::default();
    for timer in 0..2_500 {
        keys.freeze(&format!("t{timer:04}"), 9_000_000, frozen(&format!("e{timer}")));
    }
    keys.freeze("lost", 1_000, frozen("lost"));
    kept.hold(&keys).await;
    tell(&mut kept, &["ZREM", "scheduler:timers", "lost"]).await;
    let mut rune = Rune::new("test");
    let mut lost = Vec::new();
    for second in 0..200 {
        kept.look(&mut rune, second * 1_000).await;
        lost = rune.findings(second * 1_000);
        if !lost.is_empty() {
            break;
        }
    }
    assert_eq!(lost.iter().map(|found| found.rule).collect::<Vec<_>>(), [Rule::LostResume], "{lost:?}");
    // Somebody has sent it by hand.
    tell(&mut kept, &["HDEL", "scheduler:payloads", "lost"]).await;
    for second in 200..205 {
        kept.look(&mut rune, second * 1_000).await;
    }
    assert_eq!(rules(&rune, 205_000), []);
}

#[tokio::test]
async fn a_timer_is_told_as_it_was_seen_last() {
    let mut kept = Kept::start().await;
    let mut keys = Keys::default();
    keys.freeze("t", 10_000, frozen("x"));
    kept.hold(&keys).await;
    let mut rune = Rune::new("test");
    kept.look(&mut rune, 9_000).await;
    assert_eq!(rules(&rune, 900_000), [], "Redis was not asked since");
    // Claimed; its message is sent in this moment.
    tell(&mut kept, &["ZREM", "scheduler:timers", "t"]).await;
    kept.look(&mut rune, 10_500).await;
    assert_eq!(rules(&rune, 900_000), [], "it was seen alone once");
    kept.look(&mut rune, 14_000).await;
    assert_eq!(rules(&rune, 14_000), [Rule::LostResume]);
}

#[tokio::test]
async fn what_redis_refuses_keeps_nobody_from_asking_something_else() {
    let mut kept = Kept::start().await;
    let mut cluster = RuneCluster::new();
    cluster.answer("http://shop/1", 60_000, Ok(json!("late")));
    cluster.start("x", &fan_out(), Some(items(3)));
    let rests = workflow(vec![trigger(), wait("rest", 60), log("end")], "start>rest rest>end");
    cluster.start("old", &rests, None);
    cluster.run_for(1_000);
    let (_, heard): (Vec<Published>, Vec<Published>) =
        cluster.published().iter().cloned().partition(|message| message.json()["execution_id"] == "old");
    let url = |kept: &Kept, user: &str| kept.url.replace("redis://", &format!("redis://{user}:secret@"));
    for (user, refused, rests) in [("one", "-hkeys", 1), ("two", "-get", 1), ("three", "-zrange", 0)] {
        kept.hold(&cluster.keys).await;
        let words = ["ACL", "SETUSER", user, "on", ">secret", "~*", "+@all", refused];
        tell(&mut kept, &words).await;
        let reader = Reader::connect(&url(&kept, user)).await.expect("a reader");
        let mut rune = Rune::new("test");
        hear(&mut rune, &heard);
        let now = cluster.now_millis();
        let mut came = Vec::new();
        for second in 0..4 {
            came.push(rune.look(&reader, now + second).await.map(|news| news.events.len()));
        }
        assert!(came.iter().any(Result::is_err), "{refused} is said: {came:?}");
        assert_eq!(rune.timers().len(), rests, "{refused}");
        let barrier = rune.barrier(&"x".into(), &"a".into()).expect("a join");
        assert_eq!((barrier.places[0].arrived, barrier.places[0].expected), (2, 3), "{refused}");
        assert_eq!(rune.findings(now + 40_000), [], "{refused}");
    }
}

#[tokio::test]
async fn a_look_over_a_slow_link_is_short_and_comes_to_everything_in_turn() {
    let server = Redis::start();
    let client = redis::Client::open(server.url.as_str()).expect("an address");
    let mut write = client.get_multiplexed_async_connection().await.expect("Redis answers");
    let mut keys = Keys::default();
    for execution in 0..40 {
        keys.expect(&format!("e{execution}"), "s", 3);
        keys.gather(&format!("e{execution}"), "s", 0, "{}".to_owned());
    }
    for timer in 0..60 {
        keys.freeze(&format!("t{timer:02}"), 9_000_000, frozen(&format!("r{timer}")));
    }
    Live::write_to(&mut write, &keys).await;
    let another_building = look_from_afar(server.port, &mut write, &keys, 30, 40).await;
    assert!(another_building.iter().any(|id| id.starts_with('e')), "joins are looked into");
    assert!(another_building.iter().any(|id| id.starts_with('r')), "and timers");
    let another_continent = look_from_afar(server.port, &mut write, &keys, 80, 6).await;
    assert!(another_continent.iter().any(|id| id.starts_with('r')), "timers are opened from there, too");
}

/// The executions that so many looks tell of.
async fn look_from_afar(
    port: u16,
    write: &mut redis::aio::MultiplexedConnection,
    keys: &Keys,
    later_millis: u64,
    looks: i64,
) -> std::collections::BTreeSet<String> {
    let proxy = Proxy::slow_before(port, std::time::Duration::from_millis(later_millis)).await;
    let reader = Reader::connect(&format!("redis://127.0.0.1:{}", proxy.port)).await.expect("a reader");
    let asked = async |write: &mut redis::aio::MultiplexedConnection| {
        counted(write, "stats", "total_commands_processed:").await
    };
    let mut rune = Rune::new("test");
    rune.found(&keys.0.keys().cloned().collect::<Vec<String>>());
    let mut executions = std::collections::BTreeSet::new();
    for second in 0..looks {
        let before = asked(write).await;
        let events = rune.look(&reader, second * 1_000).await.expect("it looks").events;
        let questions = asked(write).await - before;
        assert!(questions <= 18, "{questions} questions in one look");
        executions.extend(events.into_iter().map(|event| event.execution_id.to_string()));
    }
    assert!(rune.timers().len() as i64 * 4 > looks, "{} timers", rune.timers().len());
    executions
}

#[tokio::test]
async fn a_wait_with_a_giant_payload_is_told_and_not_asked_for() {
    let mut kept = Kept::start().await;
    let mut keys = Keys::default();
    keys.freeze("giant", 5_000, frozen_large("giant", 17_000_000));
    keys.freeze("small", 9_000_000, frozen("small"));
    kept.hold(&keys).await;
    let mut rune = Rune::new("test");
    for second in 0..5 {
        kept.look(&mut rune, second * 1_000).await;
    }
    let timers = rune.timers();
    let [giant, small] = &timers[..] else { panic!("{timers:?}") };
    assert_eq!((giant.node_id.as_str(), giant.due, giant.execution_id.as_str()), ("giant", 5_000, ""));
    assert_eq!(giant.title, "its payload of 17.0 MB is too large to be looked at from here");
    assert_eq!(small.execution_id.as_str(), "small");
    assert_eq!(counted(&mut kept.write, "commandstats", "cmdstat_hget:calls=").await, 1, "the small one");
    kept.look(&mut rune, 20_000).await;
    let findings = rune.findings(20_000);
    let [overdue] = &findings[..] else { panic!("{findings:?}") };
    assert_eq!((overdue.rule, &overdue.execution_id), (Rule::OverdueTimer, &None));
    assert!(overdue.sentence.starts_with("A wait (its payload of 17.0 MB is too"), "{}", overdue.sentence);
}

#[tokio::test]
async fn a_payload_that_did_not_come_in_time_is_asked_for_once() {
    let server = Redis::start();
    let client = redis::Client::open(server.url.as_str()).expect("an address");
    let mut write = client.get_multiplexed_async_connection().await.expect("Redis answers");
    let mut keys = Keys::default();
    keys.freeze("a", 9_000_000, frozen_large("large", 13_000_000));
    keys.freeze("b", 9_000_001, frozen_large("larger", 13_000_001));
    keys.freeze("c", 9_000_002, frozen("small"));
    Live::write_to(&mut write, &keys).await;
    // Thirty milliseconds for 64 kB: it would take six seconds.
    let proxy = Proxy::slow_before(server.port, std::time::Duration::from_millis(30)).await;
    let url = format!("redis://127.0.0.1:{}", proxy.port);
    let mut rune = Rune::new("test");
    let mut slow = 0;
    for second in 0..6 {
        // Whoever does not answer is asked anew, as an observer does.
        let reader = Reader::connect(&url).await.expect("a reader");
        let looked = rune.look(&reader, second * 1_000).await;
        slow += usize::from(looked.is_err_and(|error| error.is_slow()));
    }
    assert_eq!(slow, 1, "and what is as large is not asked for at all");
    let timers = rune.timers();
    let told: Vec<(&str, &str)> =
        timers.iter().map(|timer| (timer.execution_id.as_str(), timer.title.as_str())).collect();
    let left_out = ("", "its payload of 13.0 MB is too large to be looked at from here");
    assert_eq!(told, [left_out, left_out, ("small", "Workflow 7")]);
}

#[tokio::test]
async fn what_rests_is_read_at_a_bounded_pace() {
    let mut kept = Kept::start().await;
    let mut keys = Keys::default();
    for timer in 0..2_100 {
        keys.freeze(&format!("t{timer:04}"), 9_000_000, frozen(&format!("e{timer}")));
    }
    for timer in 0..30 {
        keys.freeze(&format!("lost{timer}"), 1_000, frozen_large(&format!("lost{timer}"), 200_000));
    }
    kept.hold(&keys).await;
    for timer in 0..30 {
        tell(&mut kept, &["ZREM", "scheduler:timers", &format!("lost{timer}")]).await;
    }
    let mut rune = Rune::new("test");
    let sent = async |kept: &mut Kept| counted(&mut kept.write, "stats", "total_net_output_bytes:").await;
    let (before, mut looks) = (sent(&mut kept).await, 0);
    while rune.findings(looks * 1_000).len() < 30 && looks < 2_000 {
        looks += 1;
        rune.look(&kept.reader, looks * 1_000).await.expect("it looks");
    }
    assert_eq!(rules(&rune, looks * 1_000), [Rule::LostResume; 30]);
    let all = sent(&mut kept).await;
    let each = (all - before) / looks as u64;
    assert!(each < 400_000, "{each} bytes in each of {looks} looks");
    // What is known to be lost is asked for by its size.
    for second in looks + 1..=looks + 20 {
        rune.look(&kept.reader, second * 1_000).await.expect("it looks");
    }
    let each = (sent(&mut kept).await - all) / 20;
    assert!(each < 250_000, "{each} bytes in each look behind that");
}

#[test]
fn a_definition_beyond_reason_is_counted_and_passed_over() {
    let mut cluster = RuneCluster::new();
    let mut nodes: Vec<Value> = vec![trigger()];
    nodes.extend((0..100).map(|level| split(&format!("s{level}"), "$trigger.items")));
    let edges: Vec<String> = (0..99).map(|level| format!("s{level}>s{}", level + 1)).collect();
    let deep = workflow(nodes, &format!("start>s0 {}", edges.join(" ")));
    cluster.start("x", &deep, Some(items(0)));
    cluster.run();
    let mut rune = Rune::new("test");
    assert_eq!(hear(&mut rune, cluster.published()), []);
    assert!(rune.let_go().unreadable > 0);
}
