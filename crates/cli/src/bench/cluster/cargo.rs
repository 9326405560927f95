//! How many bytes executions move, and how much 5 MB in a context slow them down.

use serde_json::json;

use super::{
    COMPARED, Line, REPEATS,
    field::{Field, array},
    wire::{Meter, Moved},
};
use crate::outcome::{CommandError, say};

/// Bytes in the context that no item looks at.
const BALLAST: usize = 5_000_000;

pub async fn measure(field: &mut Field<'_>) -> Result<Vec<Line>, CommandError> {
    let (few, _) = moved(field, 1_000, "").await?;
    let (light, mut unburdened) = moved(field, COMPARED, "").await?;
    let ballast = "x".repeat(BALLAST);
    let (heavy, mut burdened) = moved(field, COMPARED, &ballast).await?;
    for _ in 0..REPEATS {
        unburdened = unburdened.min(field.once(array(COMPARED)).await?);
        let mut input = array(COMPARED);
        input["ballast"] = json!(ballast);
        burdened = burdened.min(field.once(input).await?);
    }
    let per_item = [few.broker / 1_000.0, light.broker / COMPARED as f64];
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
    Ok(vec![
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
    ])
}

/// What one execution moves, and how long it takes.
async fn moved(field: &mut Field<'_>, items: usize, ballast: &str) -> Result<(Moved, f64), CommandError> {
    let mut input = array(items);
    if !ballast.is_empty() {
        input["ballast"] = json!(ballast);
    }
    let meter = Meter::start(field.address).await.map_err(CommandError::elsewhere)?;
    let millis = field.once(input).await?;
    Ok((meter.stop().await.map_err(CommandError::elsewhere)?, millis))
}
