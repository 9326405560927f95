//! `runeglass bench`: how fast it is here, on a durable store with everything recorded, beside what others reach in
//! the same run. Figures are reported, never asserted.

mod cluster;
mod fan_out;
mod gate;
mod hop;
mod node_red;
mod part;
mod recordings;
mod report;
mod skeleton;

use std::path::PathBuf;

use clap::Args;
use session::ClusterAddress;

use crate::outcome::{CommandError, Outcome, say};
use part::Part;
use report::Report;

#[derive(Args)]
#[command(
    after_help = "Example:\n  make bench\n\nMeasure a release build on a quiet machine; compare figures of one run only."
)]
pub struct BenchArguments {
    /// The largest number of items.
    #[arg(long, default_value_t = 100_000)]
    most: usize,
    /// The script that measures Node-RED; without it there is nothing to compare with.
    #[arg(long, value_name = "SCRIPT")]
    node_red: Option<PathBuf>,
    /// The script that measures Celery on the same servers.
    #[arg(long, value_name = "SCRIPT")]
    celery: Option<PathBuf>,
    /// Measure a cluster on this RabbitMQ and --redis too.
    #[arg(long, value_name = "URL", env = "RUNEGLASS_AMQP", hide_env_values = true)]
    amqp: Option<String>,
    #[arg(long, value_name = "URL", env = "RUNEGLASS_REDIS", hide_env_values = true)]
    redis: Option<String>,
    /// Measure one part only, in this process, and print it as JSON.
    #[arg(long, hide = true, value_enum)]
    part: Option<Part>,
    #[arg(long, hide = true, default_value_t = COMPARED)]
    items: usize,
}

/// The number of items at which systems are compared.
const COMPARED: usize = 10_000;

/// Events of the recording that is looked into.
const LONG: usize = 100_000;

pub async fn bench(arguments: BenchArguments) -> Result<Outcome, CommandError> {
    match arguments.part {
        Some(Part::Cluster | Part::Looks) => measure_cluster(&arguments).await?,
        Some(part) => say(&part.measure(arguments.items).await?.to_string())?,
        None => {
            compare(&arguments)?;
            measure_cluster(&arguments).await?;
        }
    }
    Ok(Outcome::Completed)
}

async fn measure_cluster(arguments: &BenchArguments) -> Result<(), CommandError> {
    let (Some(amqp), Some(redis)) = (&arguments.amqp, &arguments.redis) else {
        return say("The cluster was not measured; `make bench` does that");
    };
    let (amqp, redis) = (amqp.clone(), redis.clone());
    let address = ClusterAddress { amqp, redis, prefix: String::new(), quorum: false };
    match arguments.part {
        Some(Part::Looks) => cluster::measure_looks(&address).await,
        _ => cluster::measure(&address, arguments.celery.as_deref()).await,
    }
}

/// Every figure comes from a process of its own, so that none inherits the memory or the warmth of another.
fn compare(arguments: &BenchArguments) -> Result<(), CommandError> {
    let mut report = Report::begin()?;
    for items in [1_000, COMPARED, 100_000].into_iter().filter(|items| *items <= arguments.most) {
        report.fan_out(items, &part::in_child(Part::FanOut, items)?)?;
    }
    report.ballast(&part::in_child(Part::Ballast, COMPARED)?);
    report.handles(&part::in_child(Part::Handles, COMPARED)?);
    report.hop(&part::in_child(Part::Hop, COMPARED)?)?;
    report.skeleton(&part::in_child(Part::Skeleton, COMPARED)?)?;
    match arguments.node_red.as_deref().map(node_red::measure) {
        Some(Ok(measured)) => report.node_red(&measured)?,
        Some(Err(reason)) => say(&format!("Node-RED was not measured: {reason}"))?,
        None => say("Node-RED was not measured; `make bench` does that")?,
    }
    report.recorder(&part::in_child(Part::Recorder, COMPARED)?)?;
    report.gate(&part::in_child(Part::Gate, COMPARED)?)?;
    report.seek(&part::in_child(Part::Seek, LONG)?)?;
    report.compare(&part::in_child(Part::Compare, COMPARED)?);
    if arguments.most >= LONG {
        report.store(&part::in_child(Part::Store, LONG)?)?;
    }
    report.end()
}
