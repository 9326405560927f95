//! One part of the bench, measured in a process of its own.

use std::process::{Command, Stdio};

use clap::ValueEnum;
use serde_json::{Value, json};

use super::{fan_out, gate, hop, recordings, skeleton};
use crate::outcome::CommandError;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// F(N), and the memory it takes.
    FanOut,
    /// F(N) with a small and with a large trigger.
    Ballast,
    /// F(N) over plain edges and over data edges.
    Handles,
    /// One node behind a trigger, again and again.
    Hop,
    /// The least that any engine would have to do.
    Skeleton,
    /// F(N) with and without writing anything down.
    Recorder,
    /// F(N) without a gate and behind one that nobody uses.
    Gate,
    /// Random moments of a long recording.
    Seek,
    /// A store of a million messages.
    Store,
    /// Two recordings side by side.
    Compare,
    /// Two workers on the given servers; says what it has measured itself.
    Cluster,
    /// What it costs these that somebody looks.
    Looks,
}

impl Part {
    pub async fn measure(self, items: usize) -> Result<Value, CommandError> {
        match self {
            Self::FanOut => fan_out::measure(items).await,
            Self::Ballast => fan_out::measure_ballast(items).await,
            Self::Handles => fan_out::measure_handles(items).await,
            Self::Hop => hop::measure().await,
            Self::Recorder => fan_out::measure_recorder(items).await,
            Self::Gate => gate::measure(items).await,
            Self::Seek => recordings::measure_seek(items).await,
            Self::Store => recordings::measure_store().await,
            Self::Compare => recordings::measure_compare(items).await,
            Self::Cluster | Self::Looks => Ok(Value::Null),
            Self::Skeleton => skeleton::measure(items).await.map_err(|error| {
                CommandError::io("measure the bare skeleton", &std::io::Error::other(error))
            }),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::FanOut => "fan-out",
            Self::Ballast => "ballast",
            Self::Handles => "handles",
            Self::Hop => "hop",
            Self::Skeleton => "skeleton",
            Self::Recorder => "recorder",
            Self::Gate => "gate",
            Self::Seek => "seek",
            Self::Store => "store",
            Self::Compare => "compare",
            Self::Cluster => "cluster",
            Self::Looks => "looks",
        }
    }
}

pub fn in_child(part: Part, items: usize) -> Result<Value, CommandError> {
    let failed = |error: &std::io::Error| CommandError::io(&format!("measure {}", part.name()), error);
    let program = std::env::current_exe().map_err(|error| failed(&error))?;
    let items = items.to_string();
    let child = Command::new(program)
        .args(["bench", "--part", part.name(), "--items", &items])
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| failed(&error))?;
    if !child.status.success() {
        return Err(failed(&std::io::Error::other(format!("the process ended with {}", child.status))));
    }
    serde_json::from_slice(&child.stdout).map_err(|error| failed(&error.into()))
}

/// Milliseconds of several runs as they are reported: the best, because noise only ever adds, and the median, because
/// others are measured by theirs.
pub fn times(mut millis: Vec<f64>) -> Value {
    millis.sort_by(f64::total_cmp);
    json!({"best": percentile(&millis, 0.0), "median": percentile(&millis, 0.5), "runs": millis.len()})
}

/// Of figures in ascending order.
pub fn percentile(sorted: &[f64], share: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    sorted.get((last as f64 * share).round() as usize).copied().unwrap_or_default()
}

pub fn millis_since(began: tokio::time::Instant) -> f64 {
    began.elapsed().as_secs_f64() * 1_000.0
}
