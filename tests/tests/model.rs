//! The engine against the oracle: random workflows, any order of delivery, duplicates, crashes at every step.
//! `RUNEGLASS_SEEDS=1000000 cargo test --release --test model` is the storm.

use std::sync::Arc;

use engine::{Limits, Plan, load};
use runeglass_tests::model::{
    Dice,
    graphs::{self, Random},
    oracle,
    world::{Faults, Sabotage, World, differences},
};

fn plan_of(random: &Random, seed: u64) -> Arc<Plan> {
    let loaded = load(random.workflow.to_string().as_bytes(), &Limits::default());
    loaded.plan.unwrap_or_else(|| panic!("seed {seed}: {:#?}\n{}", loaded.diagnostics, random.workflow))
}

/// Runs one seed; `Err` says how the engine and the oracle differ.
fn check(seed: u64, faults: Faults, sabotage: Sabotage) -> Result<(usize, usize), String> {
    let random = graphs::random(seed);
    let plan = plan_of(&random, seed);
    let expected = oracle::meaning(&plan, &random.input);
    let mut dice = Dice::new(seed ^ 0xfeed);
    let mut world = World::new(&plan, &mut dice, faults, sabotage);
    let found = world.run(&random.input)?;
    let different = differences(&expected, &found);
    match different.is_empty() {
        true => Ok((world.crashes, world.duplicates)),
        false => Err(format!("{different:#?}")),
    }
}

const KIND: Faults = Faults { duplicate: 0, crash_before_commit: 0, crash_after_commit: 0 };
const UNKIND: Faults = Faults { duplicate: 8, crash_before_commit: 12, crash_after_commit: 12 };

fn storm(seeds: impl Iterator<Item = u64>) {
    let (mut count, mut crashes, mut duplicates) = (0, 0, 0);
    for seed in seeds {
        let faults = if seed % 4 == 0 { KIND } else { UNKIND };
        match check(seed, faults, Sabotage::None) {
            Ok((crashed, duplicated)) => {
                count += 1;
                crashes += crashed;
                duplicates += duplicated;
            }
            Err(difference) => {
                let random = graphs::random(seed);
                panic!("seed {seed}, input {}\n{}\n{difference}", random.input, random.workflow);
            }
        }
    }
    println!("{count} seeds, {crashes} crashes, {duplicates} duplicates");
    assert!(crashes > count / 4 && duplicates > count / 4, "the world was too kind to prove anything");
}

fn seeds() -> u64 {
    std::env::var("RUNEGLASS_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(20_000)
}

// Two halves, for two cores.
#[test]
fn random_workflows_mean_what_the_oracle_says() {
    storm(0..seeds() / 2);
}

#[test]
fn more_random_workflows_mean_what_the_oracle_says() {
    storm(seeds() / 2..seeds());
}

#[test]
fn planted_bugs_are_found() {
    for sabotage in Sabotage::ALL {
        let found = (0..2_000).find(|&seed| check(seed, UNKIND, sabotage).is_err());
        let seed = found.unwrap_or_else(|| panic!("{sabotage:?} was not found"));
        println!("{sabotage:?} was found by seed {seed}");
    }
}
