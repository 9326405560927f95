//! What it costs a cluster that somebody looks. Workers, servers and the observer share the processors of this machine,
//! so the observer's own work counts, too; elsewhere it has a machine of its own.

use std::{
    fs,
    process::{Child, Command, Stdio},
    time::Duration,
};

use session::ClusterAddress;

use super::{
    COMPARED, Line,
    field::{Field, array},
};
use crate::{
    bench::part::percentile,
    outcome::{CommandError, say},
};

/// Runs alone, each beside one while somebody looks. One of them is over in less than two seconds, and the next one of
/// the same kind may take a fifth longer, so many are needed to tell a few parts of a hundred.
const PAIRS: usize = 60;
/// Before every run. An observer finds its feet in it, and whoever is alone rests as long.
const REST: Duration = Duration::from_secs(4);
/// Milliseconds of a tick by which Linux tells how long processors were used.
const TICK: f64 = 10.0;

/// Somebody who looks, with the lowest priority.
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

    /// Milliseconds of a processor that it has used; `None` where nobody tells.
    fn used(&self) -> Option<f64> {
        let told = fs::read_to_string(format!("/proc/{}/stat", self.0.id())).ok()?;
        // Behind the name: the time for itself and the time in the kernel are the 12th and 13th.
        let fields = told.rsplit_once(')')?.1.split_whitespace().skip(11).take(2);
        Some(fields.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() * TICK)
    }
}

impl Drop for Looker {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Milliseconds of all processors that everybody has used.
fn used_by_all() -> Option<f64> {
    let told = fs::read_to_string("/proc/stat").ok()?;
    let ticks: Vec<f64> =
        told.lines().next()?.split_whitespace().filter_map(|ticks| ticks.parse().ok()).collect();
    // Behind these it is idle, waits for a disk, is interrupted.
    let [user, nice, system, _, _, hard, soft, ..] = ticks[..] else { return None };
    Some((user + nice + system + hard + soft) * TICK)
}

/// A run, and what it took of processors.
struct Run {
    millis: f64,
    /// The observer, and everybody else; absent where nobody tells.
    used: Option<(f64, f64)>,
}

impl Run {
    async fn measure(field: &mut Field<'_>, is_watched: bool) -> Result<Self, CommandError> {
        let looker = is_watched.then(|| Looker::start(field.address)).transpose()?;
        tokio::time::sleep(REST).await;
        let used = || Some((looker.as_ref().map_or(Some(0.0), Looker::used)?, used_by_all()?));
        let before = used();
        let millis = field.once(array(COMPARED)).await?;
        let used = before.zip(used()).map(|((one, all), (one_after, all_after))| {
            let observer = one_after - one;
            (observer, all_after - all - observer)
        });
        Ok(Self { millis, used })
    }
}

/// Figures from the lowest to the highest.
fn sorted(figures: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut sorted: Vec<f64> = figures.collect();
    sorted.sort_by(f64::total_cmp);
    sorted
}

fn median(figures: impl Iterator<Item = f64>) -> f64 {
    percentile(&sorted(figures), 0.5)
}

/// The middle one, and between which the middle half lies.
fn described(runs: &[Run]) -> String {
    let sorted = sorted(runs.iter().map(|run| run.millis));
    let [quarter, middle, three] = [0.25, 0.5, 0.75].map(|part| percentile(&sorted, part));
    format!("{middle:.0} ms (half of them {quarter:.0} to {three:.0})")
}

/// How much slower, in parts of a hundred, with how far off that may be: the middle of all means of two pairs, which a few
/// odd pairs do not move, and between which a figure from so many pairs lies nineteen times of twenty.
fn slower(alone: &[Run], watched: &[Run]) -> (f64, f64) {
    let pairs: Vec<f64> =
        alone.iter().zip(watched).map(|(alone, watched)| (watched.millis / alone.millis).ln()).collect();
    let means = (0..pairs.len()).flat_map(|one| (one..pairs.len()).map(move |other| (one, other)));
    let middle = median(means.map(|(one, other)| f64::midpoint(pairs[one], pairs[other])));
    // The half between the quarters is 1.35 deviations wide where chance alone is at work.
    let spread = sorted(pairs.iter().copied());
    let deviation = (percentile(&spread, 0.75) - percentile(&spread, 0.25)) / 1.35;
    let off = 1.96 * deviation / (pairs.len() as f64).sqrt();
    (100.0 * (middle.exp() - 1.0), 100.0 * off)
}

pub async fn measure(field: &mut Field<'_>) -> Result<Line, CommandError> {
    // So that the first is as warm as the last.
    field.once(array(COMPARED)).await?;
    let (mut alone, mut watched) = (Vec::new(), Vec::new());
    for pair in 0..PAIRS {
        // Who comes first changes, so that a machine that grows faster or slower favours neither.
        for is_watched in [pair % 2 == 1, pair % 2 == 0] {
            let run = Run::measure(field, is_watched).await?;
            if is_watched { watched.push(run) } else { alone.push(run) }
        }
    }
    let (slower, off) = slower(&alone, &watched);
    say(&format!(
        "{COMPARED:>9} {} alone, {} while somebody looks, medians of {PAIRS} each; by pairs {slower:.1} % slower, give or take {off:.1}",
        described(&alone),
        described(&watched),
    ))?;
    let others = |runs: &[Run]| median(runs.iter().filter_map(|run| Some(run.used?.1)));
    say(&format!(
        "{:>9} {:.0} ms of processors alone; {:.0} while somebody looks, and {:.0} by the observer itself",
        "",
        others(&alone),
        others(&watched),
        median(watched.iter().filter_map(|run| Some(run.used?.0)))
    ))?;
    Ok(("F(10,000) while somebody looks, % slower", slower, "≤ 5"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(millis: impl IntoIterator<Item = f64>) -> Vec<Run> {
        millis.into_iter().map(|millis| Run { millis, used: None }).collect()
    }

    #[test]
    fn a_machine_that_grows_slower_costs_nobody_anything() {
        let alone = |pair: i32| 1_000.0 + 50.0 * f64::from(pair);
        let watched = runs((0..20).map(|pair| alone(pair) * 1.03));
        let (by, off) = slower(&runs((0..20).map(alone)), &watched);
        assert!((by - 3.0).abs() < 0.01 && off < 0.01, "{by} {off}");
        // One run that everything came in the way of moves little.
        let odd = (0..20).map(|pair| alone(pair) * if pair == 7 { 9.0 } else { 1.03 });
        assert!((slower(&runs((0..20).map(alone)), &runs(odd)).0 - 3.0).abs() < 0.01);
    }
}
