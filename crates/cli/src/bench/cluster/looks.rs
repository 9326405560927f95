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

/// Sittings alone, each beside one while somebody looks.
const PAIRS: usize = 10;
/// Runs of a sitting: what is looked for is small beside what a machine does by itself, and one run is over in a second.
const RUNS: usize = 5;
/// How long an observer takes to find its feet.
const SETTLED: Duration = Duration::from_secs(8);
/// Between two runs.
const REST: Duration = Duration::from_secs(2);
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

/// All that was measured alone, or while somebody looked.
#[derive(Default)]
struct Runs {
    millis: Vec<f64>,
    /// Of processors: the observer, and everybody else.
    observer: Vec<f64>,
    others: Vec<f64>,
}

impl Runs {
    /// One that nobody measures, so that all are as warm as in the middle of a night, and those that are.
    async fn sit(&mut self, field: &mut Field<'_>, looker: Option<&Looker>) -> Result<(), CommandError> {
        tokio::time::sleep(SETTLED).await;
        field.once(array(COMPARED)).await?;
        for _ in 0..RUNS {
            tokio::time::sleep(REST).await;
            let used = || (used_by_all(), looker.map_or(Some(0.0), Looker::used));
            let before = used();
            self.millis.push(field.once(array(COMPARED)).await?);
            if let ((Some(all), Some(one)), (Some(all_after), Some(one_after))) = (before, used()) {
                self.observer.push(one_after - one);
                self.others.push(all_after - all - (one_after - one));
            }
        }
        Ok(())
    }

    /// The middle one, and between which the middle half lies.
    fn described(&self) -> String {
        let sorted = sorted(&self.millis);
        let [quarter, middle, three] = [0.25, 0.5, 0.75].map(|part| percentile(&sorted, part));
        format!("{middle:.0} ms (half of them {quarter:.0} to {three:.0})")
    }
}

fn sorted(figures: &[f64]) -> Vec<f64> {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

fn median(figures: &[f64]) -> f64 {
    percentile(&sorted(figures), 0.5)
}

pub async fn measure(field: &mut Field<'_>) -> Result<Line, CommandError> {
    let (mut alone, mut watched) = (Runs::default(), Runs::default());
    for pair in 0..PAIRS {
        // Who comes first changes, so that a machine that grows faster or slower favours neither.
        for is_watched in [pair % 2 == 1, pair % 2 == 0] {
            if is_watched {
                let looker = Looker::start(field.address)?;
                watched.sit(field, Some(&looker)).await?;
            } else {
                alone.sit(field, None).await?;
            }
        }
    }
    say(&format!(
        "{COMPARED:>9} {} alone, {} while somebody looks, medians of {} each",
        alone.described(),
        watched.described(),
        PAIRS * RUNS
    ))?;
    say(&format!(
        "{:>9} {:.0} ms of processors alone; {:.0} while somebody looks, and {:.0} by the observer itself",
        "",
        median(&alone.others),
        median(&watched.others),
        median(&watched.observer)
    ))?;
    let slower = 100.0 * (median(&watched.millis) / median(&alone.millis) - 1.0);
    Ok(("F(10,000) while somebody looks, % slower", slower, "≤ 5"))
}
