//! The same stories on RabbitMQ and Redis as in one process.

use std::sync::Arc;

use cluster::{Appended, Kind, Letter, Log, Looks, Post, Queue, Step, Topology};
use futures::StreamExt;
use protocol::{ExecutionId, Fact, Lineage, TimedOut};
use runeglass_tests::{
    clustered::{Crew, Servers},
    model::{Dice, Model, trial::Trial},
    story,
};
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread")]
async fn every_sample_tells_its_story() {
    let servers = Servers::shared();
    for sample in story::samples() {
        let input = sample.plan.workflow.sample_input.clone().unwrap_or_default();
        let crew = Crew::start(&servers, &format!("{}.", sample.name)).await;
        // Its clock starts at 0, as that of the story.
        sample.check(&crew.run("local", Arc::clone(&sample.plan), input).await);
        crew.close().await;
    }
}

/// Work in queues that are kept on several brokers.
#[tokio::test(flavor = "multi_thread")]
async fn quorum_queues_tell_the_same_stories() {
    let servers = Servers::shared();
    for sample in story::samples() {
        let input = sample.plan.workflow.sample_input.clone().unwrap_or_default();
        let topology = Topology::of_kind(&format!("quorum.{}.", sample.name), Kind::Quorum);
        let crew = Crew::start_on(&servers, topology).await;
        sample.check(&crew.run("local", Arc::clone(&sample.plan), input).await);
        crew.close().await;
    }
}

/// A message as somebody else writes it.
fn foreign(id: &str, node: &str) -> Value {
    json!({
        "workflow_id": "w", "execution_id": id, "current_node": node,
        "workflow_definition": {
            "nodes": [
                {"id": "start", "type": "trigger"},
                {"id": "say", "type": "log", "parameters": {"message": "$trigger.name"}},
            ],
            "edges": [{"id": "e", "src": "start", "dst": "say"}],
        },
        "accumulated_context": {"$trigger": {"name": "Ada"}},
        "from_elsewhere": true,
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn nonsense_is_parked_with_the_reason_and_work_goes_on() {
    let servers = Servers::shared();
    let crew = Crew::start(&servers, "bad.").await;
    let mut cyclic = foreign("cyclic", "start");
    cyclic["workflow_definition"]["edges"] = json!([
        {"id": "e", "src": "start", "dst": "say"}, {"id": "f", "src": "say", "dst": "start"}
    ]);
    let mut inside = foreign("inside", "start");
    inside["lineage_stack"] =
        json!([{"split_node_id": "s", "branch_id": "b", "item_index": 0, "total_items": 3}]);
    let mut lost = foreign("lost", "start");
    lost["message_id"] = json!("0123");
    let large = format!("{{\"execution_id\": \"{}\"}}", "x".repeat(64 << 20));
    let bad: Vec<(Vec<u8>, &str)> = vec![
        (b"\xff\xfe garbage".to_vec(), "INVALID_MESSAGE: not a message"),
        (b"[1, 2, 3]".to_vec(), "INVALID_MESSAGE: not a message"),
        (b"{\"execution_id\": 7}".to_vec(), "INVALID_MESSAGE: not a message"),
        (large.into_bytes(), "TOO_LARGE"),
        (
            foreign("{brace}", "start").to_string().into_bytes(),
            "INVALID_MESSAGE: \"{brace}\" is not an execution id",
        ),
        (foreign("unknown", "nobody").to_string().into_bytes(), "UNKNOWN_NODE"),
        (cyclic.to_string().into_bytes(), "INVALID_WORKFLOW"),
        (inside.to_string().into_bytes(), "LINEAGE_MISMATCH"),
        (lost.to_string().into_bytes(), "STATE_LOST"),
    ];
    let post = Post::open(&servers.rabbit.url, Topology::new("bad.")).await.expect("connects");
    for (body, _) in &bad {
        post.send(&[Letter::new(Queue::Execution, body.clone())]).await.expect("sent");
    }
    // A good one behind them, and a forged copy of it.
    let good = foreign("good", "start").to_string().into_bytes();
    for _ in 0..2 {
        post.send(&[Letter::new(Queue::Execution, good.clone())]).await.expect("sent");
    }
    let parked = servers.take("bad.", Queue::Parking, bad.len()).await;
    for (body, reason) in &bad {
        let found = parked.iter().find(|(parked, _)| parked == body).map(|(_, why)| why.as_str());
        assert!(found.is_some_and(|why| why.starts_with(reason)), "{reason}: {found:?}");
    }
    let completions = servers.take("bad.", Queue::Completion, 1).await;
    let completion: Value = serde_json::from_slice(&completions[0].0).expect("JSON");
    assert_eq!((&completion["execution_id"], &completion["status"]), (&json!("good"), &json!("completed")));
    assert_eq!(completion["final_context"]["$say"]["message"], "Ada");
    crew.close().await;
}

/// Whoever started the execution may look for something of its own in what follows.
#[tokio::test(flavor = "multi_thread")]
async fn unknown_fields_of_a_start_travel_with_every_message() {
    let servers = Servers::start();
    let crew = Crew::start(&servers, "odd.").await;
    let topology = Topology::new("odd.");
    let copies = servers.copies(&topology.exchange(), &topology.queue(Queue::Execution)).await;
    let post = Post::open(&servers.rabbit.url, topology).await.expect("connects");
    let mut start = foreign("odd", "start");
    start["attempt"] = json!("not ours");
    post.send(&[Letter::new(Queue::Execution, start.to_string().into_bytes())]).await.expect("sent");
    servers.take("odd.", Queue::Completion, 1).await;
    // The start itself, and one message for each of the two nodes.
    let seen: Vec<Value> = copies.take(3).collect().await;
    for message in &seen[1..] {
        assert_eq!(message["from_elsewhere"], true, "{message}");
        assert_eq!(message["attempt"], 1, "{message}");
    }
    let nodes: Vec<&Value> = seen.iter().map(|message| &message["current_node"]).collect();
    assert_eq!(nodes, ["start", "start", "say"]);
    crew.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queue_with_other_settings_is_a_clear_message() {
    let servers = Servers::shared();
    Post::open(&servers.rabbit.url, Topology::new("same.")).await.expect("declared");
    let refused = Post::open(&servers.rabbit.url, Topology::of_kind("same.", Kind::Quorum)).await;
    let said = refused.err().map(|error| error.to_string()).unwrap_or_default();
    assert!(said.contains("is there already with other settings"), "{said}");
    assert!(said.contains("--queue-prefix"), "{said}");
}

/// Two schedulers want the same looks; every one goes to one of them, and comes back when its lease is over.
#[tokio::test(flavor = "multi_thread")]
async fn a_timer_is_claimed_once_and_comes_back_when_its_claimer_dies() {
    let servers = Servers::shared();
    let log = Log::connect(&servers.redis.url, "timers.", 1).await.expect("connects");
    let looks = Looks::new(&log);
    for number in 0..250 {
        looks.ask(&format!("x{number}").as_str().into(), number).await.expect("asked");
    }
    let claim = async |now: i64| {
        let mut mine = Vec::new();
        loop {
            let claimed = looks.claim(now, now + 1_000).await.expect("claimed");
            if claimed.is_empty() {
                return mine;
            }
            mine.extend(claimed);
        }
    };
    let (first, second) = tokio::join!(claim(199), claim(199));
    let mut claimed: Vec<ExecutionId> = first.into_iter().chain(second).collect();
    claimed.sort_unstable();
    assert_eq!(claimed.len(), 200, "those that are due, and no others");
    claimed.dedup();
    assert_eq!(claimed.len(), 200, "each once");
    looks.settle(&claimed[0], 1_199, None).await.expect("settled");
    looks.settle(&claimed[1], 1_199, Some(5_000)).await.expect("settled");
    // Whoever claimed the others is gone.
    assert_eq!(claim(1_198).await.len(), 50);
    assert_eq!(claim(1_199).await.len(), 198);
    // Somebody asks for an earlier look while one is under way; that holds.
    looks.ask(&claimed[2], 2_000).await.expect("asked");
    looks.settle(&claimed[2], 2_199, Some(9_000)).await.expect("settled");
    assert!(claim(2_000).await.contains(&claimed[2]));
}

/// What the script does, as a model in Rust.
#[derive(Default)]
struct LogModel {
    facts: Vec<i64>,
    ended: bool,
}

impl LogModel {
    fn append(&mut self, position: u64, facts: &[(i64, Fact)]) -> &'static str {
        if self.facts.is_empty() && position > 0 {
            return "lost";
        }
        if self.ended {
            return "ended";
        }
        if position != self.facts.len() as u64 {
            return "behind";
        }
        self.facts.extend(facts.iter().map(|(at, _)| *at));
        self.ended = facts.iter().any(|(_, fact)| matches!(fact, Fact::ExecutionEnded(_)));
        "appended"
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_script_and_its_model_agree() {
    let servers = Servers::shared();
    let log = Log::connect(&servers.redis.url, "model.", 60_000).await.expect("connects");
    let mut dice = Dice::new(1);
    let mut counts = std::collections::BTreeMap::<&str, u32>::new();
    for run in 0..300 {
        let id = ExecutionId::from(format!("run-{run}"));
        let mut model = LogModel::default();
        for moment in 0..40 {
            let length = model.facts.len() as u64;
            let position = (length + dice.roll(4) as u64).saturating_sub(dice.roll(3) as u64);
            let late =
                || Fact::TimedOut(TimedOut { node_id: "n".into(), lineage: Lineage::default(), group: 0 });
            let mut facts: Vec<(i64, Fact)> = (0..=dice.roll(3)).map(|_| (moment, late())).collect();
            if dice.one_in(15) {
                facts.push((moment, engine::cancelled()));
            }
            let expected = model.append(position, &facts);
            let step = Step { facts, ..Step::default() };
            let found = match log.append(&id, position, &step).await.expect("answered") {
                Appended::Yes => "appended",
                Appended::Behind(tail) => {
                    let tail: Vec<i64> = tail.iter().map(|event| event.at).collect();
                    assert_eq!(tail, model.facts[(position as usize).min(model.facts.len())..]);
                    "behind"
                }
                Appended::Ended => "ended",
                Appended::Lost => "lost",
            };
            assert_eq!(found, expected, "run {run}, moment {moment}");
            *counts.entry(found).or_default() += 1;
        }
        let facts = log.read(&id, 0).await.expect("read");
        assert_eq!(facts.iter().map(|event| event.at).collect::<Vec<_>>(), model.facts);
        let standing = log.standing(&id).await.expect("asked");
        let expected = (!model.facts.is_empty()).then_some((model.facts.len() as u64, model.ended));
        assert_eq!(standing.map(|standing| (standing.position, standing.ended)), expected);
    }
    println!("{counts:?}");
    assert_eq!(counts.len(), 4, "every answer was given");
}

/// Random workflows on the cluster mean what the oracle says.
#[tokio::test(flavor = "multi_thread")]
async fn random_workflows_mean_what_the_oracle_says() {
    let servers = Servers::shared();
    let crew = Crew::start(&servers, "random.").await;
    let mut events_seen = 0;
    for (model, seeds) in [(Model::Control, 0..150), (Model::Data, 0..100)] {
        for seed in seeds {
            let trial = Trial::of_seed(model, seed);
            let plan = trial.case.plan.clone().expect("the generator makes valid workflows");
            let id = format!("{model:?}-{seed}");
            let events = crew.run(&id, Arc::clone(&plan), trial.case.input.clone()).await;
            events_seen += events.len();
            if let Err(failure) = trial.judge(&plan, &events) {
                panic!("{id}: {failure:?}\n{}", trial.case.workflow);
            }
        }
    }
    crew.close().await;
    println!("250 random workflows, {events_seen} events");
}
