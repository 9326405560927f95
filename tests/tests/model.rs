//! The engine against the oracle: random workflows, any order of delivery, duplicates, time that passes at any moment,
//! crashes at every step. `make storm` runs a million of them.

use protocol::Recording;
use runeglass_tests::model::{
    Model,
    sabotage::Sabotage,
    shrink::{shrink, write},
    storm::{first_failure, missed, report, storm},
    world::Tally,
};

#[test]
fn random_workflows_mean_what_the_oracle_says() {
    let Tally { runs, crashes, duplicates, timers, races, timeouts, halts, retries } =
        storm(Model::Control, 20_000);
    // A few seeds, to look at one of them, prove nothing and need not.
    if runs < 1_000 {
        return;
    }
    let enough = [crashes, duplicates, timers, races].iter().all(|count| *count > runs / 5);
    let enough = enough && timeouts > runs / 50 && halts > runs / 100 && retries > runs / 4;
    assert!(enough, "the world was too kind to prove anything");
}

#[test]
fn planted_bugs_are_found() {
    let missed = missed(Model::Control, &Sabotage::ALL);
    assert!(missed.is_empty(), "{missed:?} were not found");
    println!("{} planted bugs, all found", Sabotage::ALL.len());
}

#[test]
fn a_failing_case_becomes_small_and_opens_as_a_recording() {
    let folder = tempfile::tempdir().unwrap();
    for sabotage in [Sabotage::ForgetBlockedSplit, Sabotage::DropAnItem, Sabotage::FireEarly] {
        let (seed, trial, failure) = first_failure(Model::Control, sabotage).expect("it is found");
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
