//! F(N): split N objects → edit (JavaScript) → simulate(0) → aggregator, durable and fully recorded.

use std::{fs, path::Path, sync::Arc};

use engine::{Limits, Plan};
use protocol::{ExecutionId, ExecutionStatus, Payload};
use runtime::Clock;
use serde_json::{Value, json};
use session::{Keep, Options, Reach, Session, runnable};
use sqlx::{ConnectOptions, Connection, sqlite::SqliteConnectOptions};

use super::part::{millis_since, times};
use crate::outcome::CommandError;

/// Nodes that run once per item.
pub const NODES_PER_ITEM: usize = 2;

/// The large trigger.
const BALLAST_BYTES: usize = 5 * 1024 * 1024;

struct Run {
    millis: f64,
    store_bytes: u64,
}

/// Large runs are their own average.
fn repeats(items: usize) -> usize {
    if items > 10_000 { 3 } else { 7 }
}

pub async fn measure(items: usize) -> Result<Value, CommandError> {
    let plan = plan()?;
    let first = once(&plan, items, 0).await?;
    // Later runs in the same process would add what the allocator keeps.
    let peak_kilobytes = peak_kilobytes();
    let mut millis = vec![first.millis];
    for _ in 1..repeats(items) {
        millis.push(once(&plan, items, 0).await?.millis);
    }
    Ok(json!({"millis": times(millis), "store_bytes": first.store_bytes, "peak_kilobytes": peak_kilobytes}))
}

/// The two take turns, so that a noisy moment meets both.
pub async fn measure_ballast(items: usize) -> Result<Value, CommandError> {
    let plan = plan()?;
    let (mut plain, mut heavy) = (Vec::new(), Vec::new());
    for _ in 0..repeats(items) {
        plain.push(once(&plan, items, 0).await?.millis);
        heavy.push(once(&plan, items, BALLAST_BYTES).await?.millis);
    }
    Ok(json!({"plain": times(plain), "heavy": times(heavy)}))
}

pub fn plan() -> Result<Arc<Plan>, CommandError> {
    plan_of(vec![edit(), json!({"id": "work", "type": "simulate", "parameters": {"output": "$json"}})])
}

/// Doubles a number, in JavaScript.
pub fn edit() -> Value {
    let double = json!({"name": "double", "value": "{{ $item.n * 2 }}"});
    json!({"id": "edit", "type": "edit", "parameters": {"assignments": [double]}})
}

/// Every item passes these nodes, one after the other.
pub fn plan_of(per_item: Vec<Value>) -> Result<Arc<Plan>, CommandError> {
    let mut nodes = vec![
        json!({"id": "start", "type": "trigger"}),
        json!({"id": "each", "type": "split", "parameters": {"input_array": "$trigger.items"}}),
    ];
    nodes.extend(per_item);
    nodes.push(json!({"id": "all", "type": "aggregator"}));
    let follows = |(at, pair): (usize, &[Value])| json!({"id": (at + 1).to_string(), "src": pair[0]["id"], "dst": pair[1]["id"]});
    let edges: Vec<Value> = nodes.windows(2).enumerate().map(follows).collect();
    let workflow = json!({"nodes": nodes, "edges": edges});
    let loaded = engine::load(workflow.to_string().as_bytes(), &Limits::default());
    Ok(runnable(loaded, "the benchmark")?)
}

/// The same with data edges: for_each instead of split, collect instead of aggregator.
fn plan_with_handles() -> Result<Arc<Plan>, CommandError> {
    let double = json!({"name": "double", "value": "{{ $inputs.item.n * 2 }}"});
    let workflow = json!({
        "nodes": [
            {"id": "start", "type": "trigger"},
            {"id": "each", "type": "for_each"},
            {"id": "edit", "type": "edit", "parameters": {"assignments": [double]}},
            {"id": "work", "type": "simulate"},
            {"id": "all", "type": "collect"}
        ],
        "edges": [
            {"id": "1", "src": "start", "source_handle": "items", "dst": "each", "target_handle": "input_list"},
            {"id": "2", "src": "each", "source_handle": "output", "dst": "edit", "target_handle": "item"},
            {"id": "3", "src": "edit", "dst": "work", "target_handle": "output"},
            {"id": "4", "src": "work", "dst": "all", "target_handle": "input_item"}
        ]
    });
    let loaded = engine::load(workflow.to_string().as_bytes(), &Limits::default());
    Ok(runnable(loaded, "the benchmark")?)
}

/// The two take turns, as above.
pub async fn measure_handles(items: usize) -> Result<Value, CommandError> {
    let (plain_plan, handles_plan) = (plan()?, plan_with_handles()?);
    let (mut plain, mut handles) = (Vec::new(), Vec::new());
    for _ in 0..repeats(items) {
        plain.push(once(&plain_plan, items, 0).await?.millis);
        handles.push(once(&handles_plan, items, 0).await?.millis);
    }
    Ok(json!({"plain": times(plain), "handles": times(handles)}))
}

/// With everything written down, and with nothing: the same engine makes the same events and folds them into the same
/// view, and forgets them. They take turns, as above.
pub async fn measure_recorder(items: usize) -> Result<Value, CommandError> {
    let plan = plan()?;
    let (mut recorded, mut forgotten) = (Vec::new(), Vec::new());
    for _ in 0..2 * repeats(items) {
        recorded.push(once(&plan, items, 0).await?.millis);
        let session = open_as(Keep::Unrecorded).await?;
        let began = tokio::time::Instant::now();
        run(&session, &plan, Some(input(items, 0))).await?;
        forgotten.push(millis_since(began));
        session.close().await?;
    }
    Ok(json!({"recorded": times(recorded), "forgotten": times(forgotten)}))
}

pub fn input(items: usize, ballast_bytes: usize) -> Payload {
    let objects: Vec<Value> = (0..items).map(|n| json!({"n": n})).collect();
    Payload::new(json!({"items": objects, "ballast": "x".repeat(ballast_bytes)}))
}

async fn once(plan: &Arc<Plan>, items: usize, ballast_bytes: usize) -> Result<Run, CommandError> {
    let folder = temporary()?;
    let path = folder.path().join("bench.db");
    let input = input(items, ballast_bytes);
    let session = open(&path).await?;
    let began = tokio::time::Instant::now();
    run(&session, plan, Some(input)).await?;
    let millis = millis_since(began);
    session.close().await?;
    drop(session);
    Ok(Run { millis, store_bytes: bytes_of(&path).await? })
}

pub fn temporary() -> Result<tempfile::TempDir, CommandError> {
    tempfile::tempdir().map_err(|error| CommandError::io("make a temporary folder", &error))
}

pub async fn open(path: &Path) -> Result<Session, CommandError> {
    open_as(Keep::At(path.to_owned())).await
}

async fn open_as(keep: Keep) -> Result<Session, CommandError> {
    let clock = Clock::system();
    Ok(Session::open(Options { keep, folder: None, clock, recover: false, reach: Reach::default() }).await?)
}

/// From the wish to start until the end is durable and told.
pub async fn run(
    session: &Session,
    plan: &Arc<Plan>,
    input: Option<Payload>,
) -> Result<ExecutionId, CommandError> {
    let started = session.start(Arc::clone(plan), "bench", None, input).await?;
    match started.statuses.end().await {
        Some(ExecutionStatus::Completed) => Ok(started.execution_id),
        Some(ExecutionStatus::Failed | ExecutionStatus::Halted) | None => {
            Err(CommandError::usage("the benchmark did not complete", "run `make test`"))
        }
    }
}

/// The store once its write-ahead log has been worked in, so that no page counts twice.
async fn bytes_of(path: &Path) -> Result<u64, CommandError> {
    let failed = |error: sqlx::Error| CommandError::io("look at the store", &std::io::Error::other(error));
    let mut connection = SqliteConnectOptions::new().filename(path).connect().await.map_err(failed)?;
    sqlx::raw_sql("PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut connection).await.map_err(failed)?;
    connection.close().await.map_err(failed)?;
    let log = path.with_extension("db-wal");
    let sizes = [path, &log].into_iter().filter_map(|path| fs::metadata(path).ok());
    Ok(sizes.map(|meta| meta.len()).sum())
}

/// The most memory this process has had so far, where the system says so.
fn peak_kilobytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}
