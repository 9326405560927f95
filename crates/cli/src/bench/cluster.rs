//! F(N) on a cluster: split N objects → edit (JavaScript) → aggregator, by two worker processes on the given servers,
//! beside Celery's chord and a bare skeleton on the same ones.

mod cargo;
mod field;
mod looks;
mod skeleton;
mod wire;

use std::{
    path::Path,
    process::{Command, Stdio},
};

use serde_json::{Value, json};
use session::ClusterAddress;

use super::part::{percentile, times};
use crate::outcome::{CommandError, say};
use field::{Field, array};
use skeleton::Through;

const REPEATS: usize = 3;
const COMPARED: usize = 10_000;

/// A figure with its name, and what it must be.
type Line = (&'static str, f64, &'static str);

/// Measures and prints.
pub async fn measure(address: &ClusterAddress, celery: Option<&Path>) -> Result<(), CommandError> {
    say(
        "\nOn a cluster: split N objects → edit (JavaScript) → aggregator, 2 worker processes, RabbitMQ and Redis on this machine",
    )?;
    let mut field = Field::open(address).await?;
    field.once(array(200)).await?;
    let (compared, mut lines) = measure_sizes(&mut field).await?;
    lines.extend(cargo::measure(&mut field).await?);
    lines.push(looks::measure(&mut field).await?);
    drop(field);
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
    lines.into_iter().try_for_each(say_line)
}

/// Measures what it costs that somebody looks, and nothing else.
pub async fn measure_looks(address: &ClusterAddress) -> Result<(), CommandError> {
    let mut field = Field::open(address).await?;
    say_line(looks::measure(&mut field).await?)
}

fn say_line((name, figure, must): Line) -> Result<(), CommandError> {
    say(&format!("{name:<60} {figure:>8.2} {must:>8}"))
}

/// Few and many items, beside a bare skeleton. Returns the best time of those that are compared with others.
async fn measure_sizes(field: &mut Field<'_>) -> Result<(f64, Vec<Line>), CommandError> {
    let (mut best, mut bare, mut plain) = (Vec::new(), 0_f64, 0_f64);
    for items in [1_000, 2_000, COMPARED, 20_000] {
        let mut millis = Vec::new();
        for _ in 0..REPEATS {
            // In turns, so that both have the same machine.
            if items == COMPARED {
                let measure = |through| skeleton::measure(field.address, COMPARED, through);
                bare = bare.max(measure(Through::OneLikeOurs).await.map_err(CommandError::elsewhere)?);
                plain = plain.max(measure(Through::APlainOne).await.map_err(CommandError::elsewhere)?);
            }
            millis.push(field.once(array(items)).await?);
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
    say(&format!(
        "bare skeleton, no engine: publish with confirmation, consume, one script and acknowledge, best of {REPEATS}: {bare:.0} messages per s, {plain:.0} through a queue without priorities and time to live"
    ))?;
    say(
        "a message of ours is the work on one item: published with confirmation, consumed, written to the log and acknowledged; its statuses are not counted",
    )?;
    let [_, two_thousand, compared, twenty_thousand] = best[..] else { return Ok((0.0, Vec::new())) };
    let ours = messages(COMPARED) * 1_000.0 / compared;
    let lines = vec![
        ("F(20,000) / F(2,000), time", twenty_thousand / two_thousand, "≤ 12"),
        ("messages per s of F(10,000), % of the bare skeleton", 100.0 * ours / bare, "≥ 50"),
        ("the same beside a plain queue, %", 100.0 * ours / plain, ""),
    ];
    Ok((compared, lines))
}

/// One for every item; trigger, split and aggregator once.
fn messages(items: usize) -> f64 {
    (items + 3) as f64
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
