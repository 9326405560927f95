//! F(N) on a cluster: split N objects → edit (JavaScript) → aggregator, by two worker processes on the given servers,
//! beside Celery's chord and a bare skeleton on the same ones.

mod skeleton;
mod wire;

use std::{
    path::Path,
    process::{Child, Command, Stdio},
    sync::Arc,
    time::Duration,
};

use engine::Plan;
use protocol::{ExecutionStatus, Payload};
use serde_json::{Value, json};
use session::{Cluster, ClusterAddress};

use skeleton::Through;

use super::{
    fan_out,
    part::{millis_since, percentile, times},
};
use crate::outcome::{CommandError, say};

const WORKERS: usize = 2;
const REPEATS: usize = 3;
/// Runs alone, and as many while somebody looks: what is looked for is small beside what this machine does by itself.
const LOOKS: usize = 6;
const COMPARED: usize = 10_000;
/// Bytes in the context that no item looks at.
const BALLAST: usize = 5_000_000;
/// How long an observer takes to find its feet.
const SETTLED: Duration = Duration::from_secs(8);

struct Crew(Vec<Child>);

impl Crew {
    fn start(address: &ClusterAddress) -> Result<Self, CommandError> {
        let failed = |error: &std::io::Error| CommandError::io("start a worker", error);
        let program = std::env::current_exe().map_err(|error| failed(&error))?;
        let worker = || {
            Command::new(&program)
                .args(["worker", "--amqp", &address.amqp, "--redis", &address.redis, "--keep", "5"])
                .stderr(Stdio::null())
                .spawn()
                .map_err(|error| failed(&error))
        };
        Ok(Self((0..WORKERS).map(|_| worker()).collect::<Result<_, _>>()?))
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        for worker in &mut self.0 {
            // They hold nothing any more, and may have ended by themselves.
            drop(worker.kill());
            drop(worker.wait());
        }
    }
}

/// Measures and prints.
pub async fn measure(address: &ClusterAddress, celery: Option<&Path>) -> Result<(), CommandError> {
    say(
        "\nOn a cluster: split N objects → edit (JavaScript) → aggregator, 2 worker processes, RabbitMQ and Redis on this machine",
    )?;
    let crew = Crew::start(address)?;
    let cluster = Cluster::connect(address).await?;
    let plan = fan_out::plan_of(vec![fan_out::edit()])?;
    let mut ear = wire::Ear::open(address).await.map_err(CommandError::elsewhere)?;
    once(&cluster, &mut ear, &plan, array(200)).await?;
    let (mut best, mut bare, mut plain) = (Vec::new(), 0_f64, 0_f64);
    for items in [1_000, 2_000, COMPARED, 20_000] {
        let mut millis = Vec::new();
        for _ in 0..REPEATS {
            // In turns, so that both have the same machine.
            if items == COMPARED {
                let measure = |through| skeleton::measure(address, COMPARED, through);
                bare = bare.max(measure(Through::OneLikeOurs).await.map_err(CommandError::elsewhere)?);
                plain = plain.max(measure(Through::APlainOne).await.map_err(CommandError::elsewhere)?);
            }
            millis.push(once(&cluster, &mut ear, &plan, array(items)).await?);
        }
        let times = times(millis);
        let fastest = times["best"].as_f64().unwrap_or_default();
        say(&format!(
            "{items:>9} {fastest:>9.0} ms best {:>9.0} ms median {:>9.0} messages per s",
            times["median"].as_f64().unwrap_or_default(),
            messages(items) * 1_000.0 / fastest
        ))?;
        best.push(fastest);
    }
    let mut bytes = Vec::new();
    for items in [1_000, COMPARED] {
        let meter = wire::Meter::start(address).await.map_err(CommandError::elsewhere)?;
        once(&cluster, &mut ear, &plan, array(items)).await?;
        bytes.push(meter.stop().await.map_err(CommandError::elsewhere)?);
    }
    let meter = wire::Meter::start(address).await.map_err(CommandError::elsewhere)?;
    let mut input = array(COMPARED);
    input["ballast"] = json!("x".repeat(BALLAST));
    let mut burdened = once(&cluster, &mut ear, &plan, input.clone()).await?;
    let heavy = meter.stop().await.map_err(CommandError::elsewhere)?;
    let mut unburdened = f64::MAX;
    for _ in 0..REPEATS {
        unburdened = unburdened.min(once(&cluster, &mut ear, &plan, array(COMPARED)).await?);
        burdened = burdened.min(once(&cluster, &mut ear, &plan, input.clone()).await?);
    }
    let watched = watched(address, &cluster, &mut ear, &plan).await?;
    drop(crew);
    let [_, two_thousand, compared, twenty_thousand] = best[..] else { return Ok(()) };
    let [few, light] = &bytes[..] else { return Ok(()) };
    let per_item = [few.broker / 1_000.0, light.broker / COMPARED as f64];
    let ours = messages(COMPARED) * 1_000.0 / compared;
    say(&format!(
        "bare skeleton, no engine: publish with confirmation, consume, one script and acknowledge, best of {REPEATS}: {bare:.0} messages per s, {plain:.0} through a queue without priorities and time to live"
    ))?;
    say(
        "a message of ours is the work on one item: published with confirmation, consumed, written to the log and acknowledged; its statuses are not counted",
    )?;
    let mut lines = vec![
        ("F(20,000) / F(2,000), time", twenty_thousand / two_thousand, "≤ 12"),
        (
            "bytes through the broker per item, 10,000 against 1,000, %",
            100.0 * (per_item[1] / per_item[0] - 1.0),
            "± 20",
        ),
        (
            "bytes that 5 MB in the context move more, in times of the 5 MB",
            (heavy.broker + heavy.redis - light.broker - light.redis) / BALLAST as f64,
            "≤ 20",
        ),
        ("F(10,000) under 5 MB of context, time", burdened / unburdened, "≤ 1.5"),
        ("messages per s of F(10,000), % of the bare skeleton", 100.0 * ours / bare, "≥ 50"),
        ("the same beside a plain queue, %", 100.0 * ours / plain, ""),
        ("F(10,000) while somebody looks, % slower", watched, "≤ 5"),
    ];
    match celery.map(measure_celery) {
        Some(Ok((version, millis))) => {
            say(&format!(
                "Celery {version}, chord of {COMPARED} tasks, one worker of 2 processes: {millis:.0} ms best"
            ))?;
            lines.push(("F(10,000), throughput over Celery's chord", millis / compared, "≥ 4"));
        }
        Some(Err(reason)) => say(&format!("Celery was not measured: {reason}"))?,
        None => say("Celery was not measured; `make bench` does that")?,
    }
    say(&format!(
        "{:.0} bytes per item through the broker at 1,000 items, {:.0} at 10,000; {:.0} into Redis and out of it",
        per_item[0],
        per_item[1],
        light.redis / COMPARED as f64
    ))?;
    say(&format!(
        "F(10,000) moves {:.1} MB, and {:.1} MB with 5 MB more in its context (each item carries a reference)",
        (light.broker + light.redis) / 1e6,
        (heavy.broker + heavy.redis) / 1e6
    ))?;
    for (name, figure, must) in lines {
        say(&format!("{name:<60} {figure:>8.2} {must:>8}"))?;
    }
    Ok(())
}

/// Somebody who looks. It has the lowest priority here; elsewhere it has a machine of its own.
struct Looker(Child);

impl Looker {
    fn start(address: &ClusterAddress) -> Result<Self, CommandError> {
        let failed = |error: &std::io::Error| CommandError::io("start an observer", error);
        let program = std::env::current_exe().map_err(|error| failed(&error))?;
        let started = Command::new("nice")
            .args(["-n", "19"])
            .arg(program)
            .args(["attach", "--json", "--amqp", &address.amqp, "--redis", &address.redis])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        started.map(Self).map_err(|error| failed(&error))
    }
}

impl Drop for Looker {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// How much slower it is while somebody looks, in percent, the middle one of each: the best is often a lucky one. Both begin
/// after the same rest: what a run leaves to be tidied up is not to burden one of them alone.
async fn watched(
    address: &ClusterAddress,
    cluster: &Cluster,
    ear: &mut wire::Ear,
    plan: &Arc<Plan>,
) -> Result<f64, CommandError> {
    let (mut alone, mut watched) = (Vec::new(), Vec::new());
    for _ in 0..LOOKS {
        tokio::time::sleep(SETTLED).await;
        alone.push(once(cluster, ear, plan, array(COMPARED)).await?);
        let looker = Looker::start(address)?;
        // It is there, and has seen what was there before.
        tokio::time::sleep(SETTLED).await;
        watched.push(once(cluster, ear, plan, array(COMPARED)).await?);
        drop(looker);
    }
    let (alone, watched) = (times(alone), times(watched));
    let figure = |times: &Value, name: &str| times[name].as_f64().unwrap_or_default();
    say(&format!(
        "{COMPARED:>9} {:>9.0} ms best {:>9.0} ms median alone; {:.0} and {:.0} ms while somebody looks",
        figure(&alone, "best"),
        figure(&alone, "median"),
        figure(&watched, "best"),
        figure(&watched, "median"),
    ))?;
    Ok(100.0 * (figure(&watched, "median") / figure(&alone, "median") - 1.0))
}

/// One for every item; trigger, split and aggregator once.
fn messages(items: usize) -> f64 {
    (items + 3) as f64
}

/// Milliseconds from the wish to start until the result is here.
async fn once(
    cluster: &Cluster,
    ear: &mut wire::Ear,
    plan: &Arc<Plan>,
    input: Value,
) -> Result<f64, CommandError> {
    let items = input["items"].as_array().map_or(0, Vec::len);
    ear.forget_statuses().await.map_err(CommandError::elsewhere)?;
    let began = tokio::time::Instant::now();
    let id = cluster.start(Arc::clone(plan), "bench", None, Some(Payload::new(input))).await?;
    let completion = ear.end_of(&id).await.map_err(CommandError::elsewhere)?;
    let gathered = completion.final_context.get("$all").and_then(|all| all.value().as_array().map(Vec::len));
    if completion.status == ExecutionStatus::Completed && gathered == Some(items) {
        return Ok(millis_since(began));
    }
    Err(CommandError::elsewhere(format!("{:?} with {gathered:?} of {items} items", completion.status)))
}

fn array(items: usize) -> Value {
    json!({"items": (0..items).map(|n| json!({"n": n})).collect::<Vec<_>>()})
}

/// The version and the best time. The error is for people: the bench goes on without these figures.
fn measure_celery(script: &Path) -> Result<(String, f64), String> {
    let child = Command::new("python3").arg(script).stderr(Stdio::inherit()).output();
    let child = child.map_err(|error| format!("python3 cannot be started: {error}"))?;
    if !child.status.success() {
        return Err("its script has said why".to_owned());
    }
    let printed: Value = serde_json::from_slice(&child.stdout)
        .map_err(|error| format!("its script printed something else: {error}"))?;
    let mut millis: Vec<f64> =
        printed["millis"].as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
    millis.sort_by(f64::total_cmp);
    if printed["items"] != json!(COMPARED) || millis.is_empty() {
        return Err("its script has measured something else".to_owned());
    }
    Ok((printed["version"].as_str().unwrap_or("?").to_owned(), percentile(&millis, 0.0)))
}
