//! The engine against an oracle for data edges: random workflows of iterations, joins by handle, choices, folds, pairs
//! and streams of pieces, mixed with splits, merges and waits, in the same unkind world as the other model.

use runeglass_tests::model::{
    Model,
    sabotage::Sabotage,
    storm::{missed, storm},
    world::Tally,
};

#[test]
fn random_data_edges_mean_what_the_oracle_says() {
    let Tally { runs, crashes, duplicates, timers, halts, retries, .. } = storm(Model::Data, 5_000);
    // A few seeds, to look at one of them, prove nothing and need not.
    if runs < 1_000 {
        return;
    }
    let enough = [crashes, duplicates, retries].iter().all(|count| *count > runs / 5);
    assert!(enough && timers > runs / 50 && halts > runs / 500, "the world was too kind to prove anything");
}

#[test]
fn planted_bugs_are_found() {
    let missed = missed(Model::Data, &Sabotage::DATA);
    assert!(missed.is_empty(), "{missed:?} were not found");
    println!("{} planted bugs, all found", Sabotage::DATA.len());
}
