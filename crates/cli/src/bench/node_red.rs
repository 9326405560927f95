//! Node-RED in the same run: an array split, a few trivial nodes per item, joined again. It neither stores nor records
//! anything.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use serde::Deserialize;

use super::part::percentile;

/// What the script prints.
#[derive(Deserialize)]
struct Printed {
    version: String,
    node: String,
    items: usize,
    runs: Runs,
}

/// Milliseconds, by the number of nodes per item.
#[derive(Deserialize)]
struct Runs {
    #[serde(rename = "2")]
    two: Vec<f64>,
    #[serde(rename = "3")]
    three: Vec<f64>,
}

/// Medians.
pub struct Measured {
    pub version: String,
    pub node: String,
    pub two_per_item: f64,
    pub three_per_item: f64,
    pub runs: usize,
}

/// The error is for people: the bench goes on without these figures.
pub fn measure(script: &Path) -> Result<Measured, String> {
    let child = Command::new("node")
        .arg(script)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("node cannot be started: {error}"))?;
    if !child.status.success() {
        return Err("its script has said why".to_owned());
    }
    let printed: Printed = serde_json::from_slice(&child.stdout)
        .map_err(|error| format!("its script printed something else: {error}"))?;
    if printed.items != super::COMPARED {
        return Err(format!("its script has measured {} items, not {}", printed.items, super::COMPARED));
    }
    let median = |mut millis: Vec<f64>| {
        millis.sort_by(f64::total_cmp);
        percentile(&millis, 0.5)
    };
    Ok(Measured {
        version: printed.version,
        node: printed.node,
        runs: printed.runs.three.len(),
        two_per_item: median(printed.runs.two),
        three_per_item: median(printed.runs.three),
    })
}
