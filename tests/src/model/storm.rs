//! Many seeds, on all cores: the first that fails is made small, written down and told.

use std::{
    ops::Range,
    path::Path,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use super::{
    Failure, Model,
    sabotage::Sabotage,
    shrink::{folder, shrink, write},
    trial::{Trial, UNKIND},
    world::{Faults, Tally},
};

/// One in so many seeds is run in several orders, and has every prefix of its log folded: that takes longer.
const CLOSER: u64 = 16;

fn check(trial: &Trial, seed: u64) -> Result<Tally, Failure> {
    let outcome = trial.run(Sabotage::None);
    let closer = || match seed % CLOSER {
        0 => trial.check_orders().and_then(|()| trial.check_prefixes(&outcome.events)),
        _ => Ok(()),
    };
    let looked_on = || trial.check_looking_on(&outcome.events);
    outcome.verdict.and_then(|tally| looked_on().and_then(|()| closer()).map(|()| tally))
}

/// Makes the case small, writes it down and says where.
pub fn report(folder: &Path, seed: u64, trial: &Trial, failure: &Failure, sabotage: Sabotage) -> String {
    let small = shrink(trial, failure, sabotage);
    let outcome = small.run(sabotage);
    let detail = outcome.verdict.as_ref().err().unwrap_or(failure).detail.clone();
    let written = match write(folder, seed, &small, &outcome) {
        Ok([recording, workflow]) => format!("{} and {}", recording.display(), workflow.display()),
        Err(complaint) => format!("not written: {complaint}"),
    };
    let (before, after) = (trial.case.node_count(), small.case.node_count());
    format!(
        "seed {seed}, {before} nodes, shrunk to {after}, {:?}: {:?} {detail}\n{written}",
        small.faults, failure.kind
    )
}

/// How many seeds, and the first of them.
fn seeds(usually: u64) -> Range<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|number| number.parse().ok());
    let first = number("RUNEGLASS_FIRST_SEED").unwrap_or(0);
    first..first + number("RUNEGLASS_SEEDS").unwrap_or(usually)
}

/// Runs so many seeds, or as many as `RUNEGLASS_SEEDS` says, and tells what happened in all of them.
///
/// # Panics
/// Where a seed fails.
pub fn storm(model: Model, usually: u64) -> Tally {
    let seeds = seeds(usually);
    let (next, last) = (AtomicU64::new(seeds.start), seeds.end);
    let (total, failed) = (Mutex::new(Tally::default()), Mutex::new(None));
    let work = || {
        let mut tally = Tally::default();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= last {
                break;
            }
            let trial = Trial::of_seed(model, seed);
            match check(&trial, seed) {
                Ok(ran) => tally += ran,
                Err(failure) => {
                    next.store(last, Ordering::Relaxed);
                    *failed.lock().expect("nobody panics") = Some((seed, trial, failure));
                }
            }
        }
        *total.lock().expect("nobody panics") += tally;
    };
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    if let Some((seed, trial, failure)) = failed.into_inner().expect("nobody panics") {
        panic!("{}", report(&folder(), seed, &trial, &failure, Sabotage::None));
    }
    let total = total.into_inner().expect("nobody panics");
    let Tally { runs, crashes, duplicates, timers, races, timeouts, halts, retries } = total;
    println!(
        "{runs} seeds, {crashes} crashes, {duplicates} duplicates, {timers} timers fired, {races} races, \
         {timeouts} timeouts, {halts} halts, {retries} retries"
    );
    total
}

/// Each planted bug is to be found within so many runs.
const MOST_RUNS: u64 = 4_000;

pub fn first_failure(model: Model, sabotage: Sabotage) -> Option<(u64, Trial, Failure)> {
    let failure = |seed: u64| {
        let crash = if sabotage.forges() { 0 } else { UNKIND.crash };
        let trial = Trial { faults: Faults { crash, ..UNKIND }, ..Trial::of_seed(model, seed) };
        let failure = trial.run(sabotage).verdict.err()?;
        Some((seed, trial, failure))
    };
    (0..MOST_RUNS).find_map(failure)
}

/// The planted bugs that are not found.
pub fn missed(model: Model, planted: &[Sabotage]) -> Vec<Sabotage> {
    let is_missed = |sabotage: &Sabotage| match first_failure(model, *sabotage) {
        Some((seed, _, failure)) => {
            println!("{sabotage:?} was found after {} runs: {:?}", seed + 1, failure.kind);
            false
        }
        None => true,
    };
    planted.iter().copied().filter(is_missed).collect()
}
