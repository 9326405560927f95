//! The engine against the oracle: random workflows, any order of delivery, duplicates, time that passes at any moment,
//! crashes at every step. `make storm` runs a million of them.

use std::{
    path::Path,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use protocol::Recording;
use runeglass_tests::model::{
    Failure,
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
    outcome.verdict.and_then(|tally| closer().map(|()| tally))
}

/// Makes the case small, writes it down and says where.
fn report(folder: &Path, seed: u64, trial: &Trial, failure: &Failure, sabotage: Sabotage) -> String {
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
fn seeds() -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|number| number.parse().ok());
    let first = number("RUNEGLASS_FIRST_SEED").unwrap_or(0);
    first..first + number("RUNEGLASS_SEEDS").unwrap_or(20_000)
}

#[test]
fn random_workflows_mean_what_the_oracle_says() {
    let seeds = seeds();
    let (next, last) = (AtomicU64::new(seeds.start), seeds.end);
    let (total, failed) = (Mutex::new(Tally::default()), Mutex::new(None));
    let work = || {
        let mut tally = Tally::default();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= last {
                break;
            }
            let trial = Trial::of_seed(seed);
            match check(&trial, seed) {
                Ok(ran) => tally += ran,
                Err(failure) => {
                    next.store(last, Ordering::Relaxed);
                    *failed.lock().unwrap() = Some((seed, trial, failure));
                }
            }
        }
        *total.lock().unwrap() += tally;
    };
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    if let Some((seed, trial, failure)) = failed.into_inner().unwrap() {
        panic!("{}", report(&folder(), seed, &trial, &failure, Sabotage::None));
    }
    let Tally { runs, crashes, duplicates, timers, races, timeouts, halts, retries } =
        total.into_inner().unwrap();
    println!(
        "{runs} seeds, {crashes} crashes, {duplicates} duplicates, {timers} timers fired, {races} races, \
         {timeouts} timeouts, {halts} halts, {retries} retries"
    );
    // A few seeds, to look at one of them, prove nothing and need not.
    if runs < 1_000 {
        return;
    }
    let enough = [crashes, duplicates, timers, races].iter().all(|count| *count > runs / 5);
    let enough = enough && timeouts > runs / 50 && halts > runs / 100 && retries > runs / 4;
    assert!(enough, "the world was too kind to prove anything");
}

/// Each within so many runs.
const MOST_RUNS: u64 = 4_000;

fn first_failure(sabotage: Sabotage) -> Option<(u64, Trial, Failure)> {
    let failure = |seed: u64| {
        let crash = if sabotage.forges() { 0 } else { UNKIND.crash };
        let trial = Trial { faults: Faults { crash, ..UNKIND }, ..Trial::of_seed(seed) };
        let failure = trial.run(sabotage).verdict.err()?;
        Some((seed, trial, failure))
    };
    (0..MOST_RUNS).find_map(failure)
}

#[test]
fn planted_bugs_are_found() {
    let missed: Vec<Sabotage> = Sabotage::ALL
        .into_iter()
        .filter(|sabotage| match first_failure(*sabotage) {
            Some((seed, _, failure)) => {
                println!("{sabotage:?} was found after {} runs: {:?}", seed + 1, failure.kind);
                false
            }
            None => true,
        })
        .collect();
    assert!(missed.is_empty(), "{missed:?} were not found");
    println!("{} planted bugs, all found", Sabotage::ALL.len());
}

#[test]
fn a_failing_case_becomes_small_and_opens_as_a_recording() {
    let folder = tempfile::tempdir().unwrap();
    for sabotage in [Sabotage::ForgetBlockedSplit, Sabotage::DropAnItem, Sabotage::FireEarly] {
        let (seed, trial, failure) = first_failure(sabotage).expect("it is found");
        let small = shrink(&trial, &failure, sabotage);
        assert!(small.case.node_count() < trial.case.node_count(), "{sabotage:?}: {:?}", small.case);
        let outcome = small.run(sabotage);
        assert_eq!(outcome.verdict.as_ref().expect_err("it still fails").kind, failure.kind);
        let [recording, workflow] = write(folder.path(), seed, &small, &outcome).expect("it is written");
        let text = std::fs::read_to_string(&recording).unwrap();
        let read: Recording = serde_json::from_str(&text).expect("a recording");
        assert_eq!((read.format.as_str(), read.version), (Recording::FORMAT, Recording::VERSION));
        assert!(!read.patches.is_empty() && read.start.definition.nodes.len() == small.case.node_count());
        let text = std::fs::read(&workflow).unwrap();
        assert!(engine::load(&text, &engine::Limits::default()).plan.is_some(), "the workflow can be run");
        let said = report(folder.path(), seed, &trial, &failure, sabotage);
        let names = [&recording, &workflow].map(|path| path.display().to_string());
        assert!(names.iter().all(|name| said.contains(name)), "{said}");
        println!("{sabotage:?}: {} nodes became {}", trial.case.node_count(), small.case.node_count());
    }
}
