//! `runeglass bench`: how fast it is here, on a durable store with everything recorded.

use std::{path::Path, sync::Arc};

use clap::Args;
use engine::{Limits, Plan};
use protocol::{Millis, Payload};
use runtime::Clock;
use serde_json::{Value, json};
use session::{Keep, Options, Reach, Session, runnable};

use crate::outcome::{CommandError, Outcome, say};

#[derive(Args)]
#[command(
    after_help = "Example:\n  make bench\n\nMeasure a release build on a quiet machine; compare figures of one run only."
)]
pub struct BenchArguments {
    /// The largest number of items.
    #[arg(long, default_value_t = 100_000)]
    most: usize,
}

/// What one run took.
struct Figure {
    items: usize,
    millis: Millis,
    store_bytes: u64,
}

impl Figure {
    /// Every item passes two nodes; trigger, split and aggregator run once.
    fn per_second(&self) -> f64 {
        (2 * self.items + 3) as f64 * 1_000.0 / self.millis.max(1) as f64
    }
}

/// Times one run is repeated; the best counts, because noise only ever adds.
const REPEATS: usize = 3;

pub async fn bench(arguments: BenchArguments) -> Result<Outcome, CommandError> {
    let plan = fan_out()?;
    say("F(N): split N objects → edit (JavaScript) → simulate(0) → aggregator; durable, fully recorded")?;
    say(&format!("{:>9} {:>10} {:>16} {:>14}", "N", "time", "nodes per s", "bytes per item"))?;
    let mut figures = Vec::new();
    for items in [1_000, 10_000, 100_000].into_iter().filter(|items| *items <= arguments.most) {
        let figure = best(&plan, items, 0).await?;
        say(&format!(
            "{:>9} {:>7} ms {:>16.0} {:>14}",
            items,
            figure.millis,
            figure.per_second(),
            figure.store_bytes / items as u64
        ))?;
        figures.push(figure);
    }
    let plain = best(&plan, 10_000, 0).await?.millis;
    let heavy = best(&plan, 10_000, 5 * 1024 * 1024).await?.millis;
    say(&format!(
        "a 5 MB trigger makes F(10,000) take {:.2} times as long",
        heavy as f64 / plain.max(1) as f64
    ))?;
    let growth = match figures.as_slice() {
        [.., ten, hundred] if hundred.items == 100_000 => {
            Some(hundred.millis as f64 / ten.millis.max(1) as f64)
        }
        _ => None,
    };
    if let Some(growth) = growth {
        say(&format!("F(100,000) takes {growth:.1} times as long as F(10,000)"))?;
    }
    let rows: Vec<Value> = figures
        .iter()
        .map(|figure| json!({"items": figure.items, "millis": figure.millis, "nodes_per_second": figure.per_second(), "store_bytes": figure.store_bytes}))
        .collect();
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let build = if cfg!(debug_assertions) { "debug" } else { "release" };
    let version = env!("CARGO_PKG_VERSION");
    say(&format!(
        "{}",
        json!({"version": version, "build": build, "load": load.trim(), "fan_out": rows, "growth": growth, "heavy_trigger_ratio": heavy as f64 / plain.max(1) as f64})
    ))?;
    Ok(Outcome::Completed)
}

fn fan_out() -> Result<Arc<Plan>, CommandError> {
    let workflow = json!({
        "nodes": [
            {"id": "start", "type": "trigger"},
            {"id": "each", "type": "split", "parameters": {"input_array": "$trigger.items"}},
            {"id": "edit", "type": "edit", "parameters": {"assignments": [{"name": "double", "value": "{{ $item.n * 2 }}"}]}},
            {"id": "work", "type": "simulate", "parameters": {"output": "$json"}},
            {"id": "all", "type": "aggregator"}
        ],
        "edges": [
            {"id": "1", "src": "start", "dst": "each"}, {"id": "2", "src": "each", "dst": "edit"},
            {"id": "3", "src": "edit", "dst": "work"}, {"id": "4", "src": "work", "dst": "all"}
        ]
    });
    let loaded = engine::load(workflow.to_string().as_bytes(), &Limits::default());
    Ok(runnable(loaded, "the benchmark")?)
}

async fn best(plan: &Arc<Plan>, items: usize, ballast_bytes: usize) -> Result<Figure, CommandError> {
    let mut best: Option<Figure> = None;
    for _ in 0..REPEATS {
        let figure = once(plan, items, ballast_bytes).await?;
        if best.as_ref().is_none_or(|best| figure.millis < best.millis) {
            best = Some(figure);
        }
    }
    best.ok_or_else(|| CommandError::usage("nothing was measured", ""))
}

async fn once(plan: &Arc<Plan>, items: usize, ballast_bytes: usize) -> Result<Figure, CommandError> {
    let folder = tempfile::tempdir().map_err(|error| CommandError::io("make a temporary folder", &error))?;
    let path = folder.path().join("bench.db");
    let objects: Vec<Value> = (0..items).map(|n| json!({"n": n})).collect();
    let input = Payload::new(json!({"items": objects, "ballast": "x".repeat(ballast_bytes)}));
    let clock = Clock::system();
    let options = Options {
        keep: Keep::At(path.clone()),
        folder: None,
        clock: clock.clone(),
        recover: false,
        reach: Reach::default(),
    };
    let session = Session::open(options).await?;
    let began = clock.now();
    let mut started = session.start(Arc::clone(plan), "bench", None, Some(input)).await?;
    while started.statuses.next().await.is_some() {}
    let millis = clock.now() - began;
    session.close().await?;
    Ok(Figure { items, millis, store_bytes: bytes_of(&path) })
}

/// The store with what is still in its write-ahead log.
fn bytes_of(path: &Path) -> u64 {
    let log = path.with_extension("db-wal");
    [path, &log].into_iter().filter_map(|path| std::fs::metadata(path).ok()).map(|meta| meta.len()).sum()
}
