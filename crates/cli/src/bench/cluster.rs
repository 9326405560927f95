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
use protocol::{ExecutionStatus, Payload, StatusLine};
use serde_json::{Value, json};
use session::{Cluster, ClusterAddress, cluster_problem};

use super::{
    fan_out,
    part::{millis_since, percentile, times},
};
use crate::outcome::{CommandError, say};

const WORKERS: usize = 2;
const REPEATS: usize = 3;
const COMPARED: usize = 10_000;
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
    let skeleton = skeleton::measure(address, COMPARED).await.map_err(CommandError::elsewhere)?;
    let crew = Crew::start(address)?;
    let cluster = Cluster::connect(address).await?;
    let plan = fan_out::plan_of(vec![fan_out::edit()])?;
    once(&cluster, &plan, 200).await?;
    let mut best = Vec::new();
    for items in [1_000, 2_000, COMPARED, 20_000] {
        let mut millis = Vec::new();
        for _ in 0..REPEATS {
            millis.push(once(&cluster, &plan, items).await?);
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
        once(&cluster, &plan, items).await?;
        bytes.push(meter.stop().await as f64 / items as f64);
    }
    let watched = watched(address, &cluster, &plan).await?;
    drop(crew);
    let [_, two_thousand, compared, twenty_thousand] = best[..] else { return Ok(()) };
    let ours = messages(COMPARED) * 1_000.0 / compared;
    say(&format!(
        "bare skeleton, no engine: confirm, one script and acknowledgement for each of {} messages: {:.0} messages per s",
        skeleton.messages, skeleton.per_second
    ))?;
    let mut lines = vec![
        ("F(20,000) / F(2,000), time", twenty_thousand / two_thousand, "≤ 12"),
        (
            "bytes through the broker per item, 10,000 against 1,000, %",
            100.0 * (bytes[1] / bytes[0] - 1.0),
            "± 20",
        ),
        ("messages per s of F(10,000), % of the bare skeleton", 100.0 * ours / skeleton.per_second, "≥ 50"),
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
        "{:.0} bytes per item through the broker at 1,000 items, {:.0} at 10,000",
        bytes[0], bytes[1]
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

/// How much slower it is while somebody looks, in percent, the best of each.
async fn watched(address: &ClusterAddress, cluster: &Cluster, plan: &Arc<Plan>) -> Result<f64, CommandError> {
    let (mut alone, mut watched) = (f64::MAX, f64::MAX);
    for _ in 0..REPEATS {
        alone = alone.min(once(cluster, plan, COMPARED).await?);
        let looker = Looker::start(address)?;
        // It is there, and has seen what was there before.
        tokio::time::sleep(SETTLED).await;
        watched = watched.min(once(cluster, plan, COMPARED).await?);
        drop(looker);
    }
    say(&format!("{COMPARED:>9} {alone:>9.0} ms best alone, {watched:.0} ms while somebody looks"))?;
    Ok(100.0 * (watched / alone - 1.0))
}

/// One for every item; trigger, split and aggregator once.
fn messages(items: usize) -> f64 {
    (items + 3) as f64
}

/// Milliseconds from the wish to start until the end is known.
async fn once(cluster: &Cluster, plan: &Arc<Plan>, items: usize) -> Result<f64, CommandError> {
    let input = json!({"items": (0..items).map(|n| json!({"n": n})).collect::<Vec<_>>()});
    let began = tokio::time::Instant::now();
    let id = cluster.start(Arc::clone(plan), "bench", None, Some(Payload::new(input))).await?;
    let mut follower = cluster.follow(&id).await?;
    while let Some((_, lines)) = follower.next().await.map_err(|error| cluster_problem(&error))? {
        for line in lines {
            let StatusLine::Completion(completion) = line else { continue };
            let gathered =
                completion.final_context.get("$all").and_then(|all| all.value().as_array().map(Vec::len));
            if completion.status == ExecutionStatus::Completed && gathered == Some(items) {
                return Ok(millis_since(began));
            }
            let what = format!("{:?} with {gathered:?} of {items} items", completion.status);
            return Err(CommandError::elsewhere(what));
        }
    }
    Err(CommandError::elsewhere("the log ended without an end"))
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
