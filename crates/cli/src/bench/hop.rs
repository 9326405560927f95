//! How long one step takes when nothing else is going on: trigger → log, from the wish to start until the end is
//! durable and told.

use engine::Limits;
use serde_json::{Value, json};
use session::runnable;

use super::{
    fan_out::{open, run},
    part::{millis_since, percentile},
};
use crate::outcome::CommandError;

const WARM_UP: usize = 200;
const RUNS: usize = 2_000;

pub async fn measure() -> Result<Value, CommandError> {
    let workflow = json!({
        "nodes": [
            {"id": "start", "type": "trigger"},
            {"id": "say", "type": "log", "parameters": {"message": "Hello $trigger.name"}}
        ],
        "edges": [{"id": "1", "src": "start", "dst": "say"}],
        "sample_input": {"name": "Ada"}
    });
    let loaded = engine::load(workflow.to_string().as_bytes(), &Limits::default());
    let plan = runnable(loaded, "the benchmark")?;
    let folder = tempfile::tempdir().map_err(|error| CommandError::io("make a temporary folder", &error))?;
    let session = open(&folder.path().join("hop.db")).await?;
    let mut millis = Vec::with_capacity(RUNS);
    for at in 0..WARM_UP + RUNS {
        let began = tokio::time::Instant::now();
        run(&session, &plan, None).await?;
        if at >= WARM_UP {
            millis.push(millis_since(began));
        }
    }
    session.close().await?;
    millis.sort_by(f64::total_cmp);
    Ok(json!({"p50": percentile(&millis, 0.5), "p99": percentile(&millis, 0.99), "runs": RUNS}))
}
