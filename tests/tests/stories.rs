//! Every sample tells the same story on every run: its event log, put in order of nodes, is committed beside the
//! tests. `make generate` writes the stories anew.

use std::{fs, sync::Arc};

use protocol::{Event, StatusLine};
use recording::{Ledger, StatusFold, ViewFold};
use runeglass_tests::{local, repository, story};

async fn run(plan: Arc<engine::Plan>) -> Vec<Event> {
    let input = plan.workflow.sample_input.clone().unwrap_or_default();
    local::run(plan, input).await.events
}

#[tokio::test]
async fn every_sample() {
    for sample in story::samples() {
        let events = run(Arc::clone(&sample.plan)).await;
        if std::env::var_os("RUNEGLASS_GENERATE").is_some() {
            fs::write(&sample.committed, story::told(&events)).expect("written");
        } else {
            sample.check(&events);
        }
    }
}

/// Folding event by event, by patches, or all at once gives the same view; every prefix is a legal state.
#[tokio::test]
async fn every_way_to_fold_gives_the_same_view() {
    let path = repository().join("workflows/resilient.json");
    let events = run(session::read_workflow(&path).plan.expect("valid")).await;
    let recording = recording::record(&events).expect("adds up").expect("has a beginning");
    let mut patched = recording.start;
    for (at, timed) in recording.patches.into_iter().enumerate() {
        patched.position = timed.patch.position;
        patched.summary = timed.patch.summary;
        patched.nodes.extend(timed.patch.nodes);
        patched.edges.extend(timed.patch.edges);
        let folded = ViewFold::replay(&events[..=at]).expect("a view");
        assert_eq!(*folded.view(), patched, "after event {}", at + 1);
        Ledger::replay(&events[..=at]).expect("every prefix adds up");
    }
}

/// Whoever only follows an execution knows the same end as whoever announces every event of it.
#[tokio::test]
async fn followers_know_the_same_end() {
    for sample in story::samples() {
        let events = run(Arc::clone(&sample.plan)).await;
        let (mut announcing, mut following) = (StatusFold::default(), StatusFold::default());
        let announced = events.iter().flat_map(|event| announcing.apply(event)).last();
        let followed = events.iter().filter_map(|event| following.follow(event)).last();
        let Some(StatusLine::Completion(announced)) = announced else { panic!("{} has no end", sample.name) };
        assert_eq!(followed, Some(*announced), "{}", sample.name);
    }
}
