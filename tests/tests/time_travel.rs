//! Any moment of a recording can be seen again, however one gets there.

use std::path::Path;

use protocol::{Event, ExecutionView};
use recording::{Access, Store, ViewFold, ViewState};
use runeglass_tests::{
    local,
    model::{Dice, Model, sabotage::Sabotage, trial::Trial},
    workflows,
};

/// A large recording with splits inside splits and a wait for every item.
async fn large(outer: usize, inner: usize) -> Vec<Event> {
    let (mut workflow, input) = workflows::nested(outer, inner);
    // More sleepers than workers would hold up a simulated clock.
    workflow["nodes"][4]["parameters"]["latency_ms"] = 0.into();
    local::run(local::plan(&workflow), input).await.events
}

/// The fold from the start.
fn seen(events: &[Event], position: usize) -> ExecutionView {
    let mut fold = ViewFold::begin(&events[0]).expect("a start");
    events[..position].iter().for_each(|event| fold.apply(event));
    fold.view().clone()
}

async fn kept(path: &Path, events: &[Event]) -> Store {
    let store = Store::open(path, Access::Write).await.expect("a store");
    for group in events.chunks(500) {
        store.append(group).await.expect("written");
    }
    store
}

#[test]
fn a_fold_goes_on_from_any_state_of_it() {
    let (mut dice, mut moments) = (Dice::new(6), 0);
    for (model, seed) in
        (0..300).map(|seed| (Model::Control, seed)).chain((0..150).map(|seed| (Model::Data, seed)))
    {
        let events = Trial::of_seed(model, seed).run(Sabotage::None).events;
        if events.is_empty() {
            continue;
        }
        for _ in 0..8 {
            let (one, other) = (1 + dice.roll(events.len()), 1 + dice.roll(events.len()));
            let (first, last) = (one.min(other), one.max(other));
            let mut before = ViewFold::begin(&events[0]).expect("a start");
            events[..first].iter().for_each(|event| before.apply(event));
            let written = serde_json::to_string(&before.state()).expect("JSON");
            let state: ViewState = serde_json::from_str(&written).expect("a state");
            let mut resumed = ViewFold::resume(&events[0], state).expect("a start");
            events[first..last].iter().for_each(|event| resumed.apply(event));
            assert_eq!(*resumed.view(), seen(&events, last), "seed {seed}: {first} to {last}");
            moments += 1;
        }
    }
    println!("measured: {moments} pairs of moments");
    assert!(moments >= 3_000, "{moments}");
}

#[tokio::test]
async fn seeking_equals_folding_from_the_start() {
    let events = large(40, 50).await;
    assert!(events.len() > 8_000, "{} events", events.len());
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("runs.db");
    let store = kept(&path, &events).await;
    let id = "local".into();
    let mut dice = Dice::new(42);
    for turn in 0..120 {
        let position = 1 + dice.roll(events.len());
        let found = store.view_at(&id, position as u64).await.expect("read").expect("known");
        assert!(found == seen(&events, position), "turn {turn}, position {position}");
    }
    let last = store.view_at(&id, u64::MAX).await.expect("read").expect("known");
    assert!(last == seen(&events, events.len()), "past the end is the end");
    assert!(folder.path().join("runs.db.index").exists(), "snapshots were kept");

    // Another process, without the file of snapshots, sees the same.
    std::fs::remove_file(folder.path().join("runs.db.index")).expect("removed");
    let reader = Store::open(&path, Access::Read).await.expect("a store");
    let half = events.len() / 2;
    assert!(reader.view_at(&id, half as u64).await.expect("read") == Some(seen(&events, half)));
    assert_eq!(reader.view_at(&"nobody".into(), 1).await.expect("read"), None);
    let moment = events[half].at;
    let position = reader.position_at(&id, moment).await.expect("read").expect("known") as usize;
    assert!(events[position - 1].at <= moment && events.get(position).is_none_or(|next| next.at > moment));
}

#[tokio::test]
async fn any_moment_can_be_seen_while_more_is_being_written() {
    let events = large(20, 50).await;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("runs.db");
    let writer = Store::open(&path, Access::Write).await.expect("a store");
    let mut dice = Dice::new(77);
    let mut written = 0;
    let mut reader = None;
    while written < events.len() {
        let more = (1 + dice.roll(700)).min(events.len() - written);
        writer.append(&events[written..written + more]).await.expect("written");
        written += more;
        if reader.is_none() {
            reader = Some(Store::open(&path, Access::Read).await.expect("another process reads it"));
        }
        let reader = reader.as_ref().expect("opened");
        for _ in 0..4 {
            let position = 1 + dice.roll(written);
            let found = reader.view_at(&"local".into(), position as u64).await.expect("read").expect("known");
            assert!(found == seen(&events, position), "position {position} of {written}");
        }
        let last = reader.view_at(&"local".into(), u64::MAX).await.expect("read").expect("known");
        assert_eq!(last.position, written as u64, "what was committed is seen");
    }
}

#[tokio::test]
async fn a_store_that_was_put_back_does_not_believe_its_snapshots() {
    let events = large(10, 50).await;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("runs.db");
    let store = kept(&path, &events).await;
    store.view_at(&"local".into(), u64::MAX).await.expect("read");
    // The same execution, told otherwise, beside the snapshots of the first.
    let path = folder.path().join("other.db");
    for ending in ["", "-wal"] {
        let [from, to] = ["runs", "other"].map(|name| folder.path().join(format!("{name}.db.index{ending}")));
        std::fs::copy(from, to).expect("copied");
    }
    let mut otherwise = events.clone();
    otherwise.iter_mut().for_each(|event| event.at += 5);
    for event in &mut otherwise {
        if let protocol::Fact::NodeSucceeded(done) = &mut event.fact {
            done.duration += 7;
        }
    }
    let store = kept(&path, &otherwise).await;
    for position in [1_500, 2_000, events.len()] {
        let found = store.view_at(&"local".into(), position as u64).await.expect("read");
        assert!(found == Some(seen(&otherwise, position)), "position {position}");
    }
}

#[tokio::test]
async fn an_index_that_is_no_index_is_made_anew() {
    let events = large(10, 50).await;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("runs.db");
    let store = kept(&path, &events).await;
    std::fs::write(folder.path().join("runs.db.index"), "shopping list".repeat(1_000)).expect("written");
    let found = store.view_at(&"local".into(), 2_000).await.expect("read");
    assert!(found == Some(seen(&events, 2_000)));
    // Where there can be none, it works without.
    drop(store);
    std::fs::remove_file(folder.path().join("runs.db.index")).expect("removed");
    std::fs::create_dir(folder.path().join("runs.db.index")).expect("a folder in its place");
    let reader = Store::open(&path, Access::Read).await.expect("a store");
    assert!(reader.view_at(&"local".into(), 2_000).await.expect("read") == Some(seen(&events, 2_000)));
}
