//! Plays a scene of a simulated Rune cluster on real servers, for tests that look at it from outside.
//!
//! `rune-scene AMQP REDIS SCENE ID` with one of the scenes below; it ends with the scene.

use std::{process::ExitCode, time::Duration};

use runeglass_tests::rune_cluster::{
    Live, RuneCluster,
    workflows::{condition, fan_out, http, items, log, merge, trigger, wait, workflow},
};
use serde_json::{Value, json};

/// Time passes there as it does here.
const STEP: Duration = Duration::from_millis(100);
const ITEMS: usize = 40;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [amqp, redis, scene, id] = &arguments[..] else {
        eprintln!("usage: rune-scene AMQP REDIS SCENE ID");
        return ExitCode::from(2);
    };
    let mut live = Live::connect(amqp, redis).await;
    match scene.as_str() {
        // Services that take what is said, until they are ended.
        "services" => return serve(&live).await,
        "fan-out" => play(&mut live, slow_fan_out(id), 0, 12_000).await,
        "race" => play(&mut live, race(id), 0, 1_000).await,
        "lost-resume" => tell(&mut live, &lost_resume(id)).await,
        "stuck-merge" => play(&mut live, stuck_merge(id), 0, 1_000).await,
        // Nobody hears how it begins.
        "joined-late" => play(&mut live, slow_fan_out(id), 30, 3_000).await,
        other => {
            eprintln!("there is no scene {other:?}");
            return ExitCode::from(2);
        }
    }
    println!("played {scene}");
    ExitCode::SUCCESS
}

async fn serve(live: &Live) -> ExitCode {
    println!("playing services");
    live.take_everything().await;
    ExitCode::SUCCESS
}

/// Items take from half a second to ten.
fn slow_fan_out(id: &str) -> RuneCluster {
    let mut cluster = RuneCluster::new();
    for item in 0..ITEMS {
        let millis = 500 + 240 * ((item * 17) % ITEMS) as i64;
        let answer = if item == 23 { Err("connection refused") } else { Ok(json!({"price": 40 + item})) };
        cluster.answer(&format!("http://shop/{item}"), millis, answer);
    }
    cluster.start(id, &fan_out(), Some(items(ITEMS)));
    cluster
}

/// A join behind a choice waits for the way that was not taken.
fn stuck_merge(id: &str) -> RuneCluster {
    let mut cluster = RuneCluster::new();
    cluster.answer("http://shop/stock", 300, Ok(json!({"in_stock": true})));
    cluster.start(id, &choice(), Some(json!({"amount": 90})));
    cluster
}

/// The first way wins, and the other one takes its time.
fn race(id: &str) -> RuneCluster {
    let mut cluster = RuneCluster::new();
    cluster.answer("http://shop/far", 60_000, Ok(json!({"price": 41})));
    let nodes = vec![
        trigger(),
        log("ask"),
        log("near"),
        http("far", "http://shop/far"),
        merge("first", "wait_for_any"),
        log("order"),
    ];
    let workflow = workflow(nodes, "start>ask ask>near ask>far near>first far>first first>order");
    cluster.start(id, &workflow, None);
    cluster
}

/// Whoever claims the timer dies before it sends the message.
fn lost_resume(id: &str) -> RuneCluster {
    let mut cluster = RuneCluster::new();
    cluster.faults.lost_resumes = true;
    let nodes = vec![trigger(), wait("rest", 2), log("remind")];
    cluster.start(id, &workflow(nodes, "start>rest rest>remind"), None);
    cluster.run();
    cluster
}

/// Publishes what has happened, and leaves what is kept of it.
async fn tell(live: &mut Live, cluster: &RuneCluster) {
    live.publish(cluster.published()).await;
    live.add(&cluster.keys).await;
}

fn choice() -> Value {
    let nodes = vec![
        trigger(),
        condition("check", "$trigger.amount > 50", "approve", "stock"),
        log("approve"),
        http("stock", "http://shop/stock"),
        merge("both", "wait_for_all"),
        log("ship"),
    ];
    workflow(nodes, "start>check check>approve check>stock approve>both stock>both both>ship")
}

/// Publishes what happens as it happens, but for the first messages, for so long.
async fn play(live: &mut Live, mut cluster: RuneCluster, unheard: usize, millis: u64) {
    let mut told = unheard;
    for _ in 0..millis / STEP.as_millis() as u64 {
        cluster.run_for(STEP.as_millis() as i64);
        if let Some(new) = cluster.published().get(told..).filter(|new| !new.is_empty()) {
            live.publish(new).await;
            live.add(&cluster.keys).await;
            told = cluster.published().len();
        }
        tokio::time::sleep(STEP).await;
    }
}
