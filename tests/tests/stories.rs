//! Every sample tells the same story on every run: its event log, put in order of nodes, is committed beside the
//! tests. `make generate` writes the stories anew.

use std::{fs, sync::Arc};

use protocol::{Event, Fact};
use recording::{Ledger, ViewFold};
use runeglass_tests::{local, repository};

async fn run(plan: Arc<engine::Plan>) -> Vec<Event> {
    let input = plan.workflow.sample_input.clone().unwrap_or_default();
    local::run(plan, input).await.events
}

fn told(events: &[Event]) -> String {
    let mut lines: Vec<String> = events.iter().filter_map(line).collect();
    lines.sort();
    let last = match &events[events.len() - 1].fact {
        Fact::ExecutionEnded(ended) => format!("{:?} after {} ms", ended.status, events[events.len() - 1].at),
        other => format!("no end: {other:?}"),
    };
    lines.push(last);
    lines.join("\n") + "\n"
}

fn line(event: &Event) -> Option<String> {
    let (firing, duration, outcome, taken) = match &event.fact {
        Fact::NodeSucceeded(done) => {
            (&done.firing, done.duration, done.output.text().to_owned(), &done.taken)
        }
        Fact::NodeFailed(done) => {
            let error = format!("FAILED {}", serde_json::to_string(&done.error).expect("JSON"));
            (&done.firing, done.duration, error, &done.taken)
        }
        _ => return None,
    };
    let edges: Vec<&str> = taken.iter().map(|edge| edge.as_str()).collect();
    let key = firing.lineage.key();
    Some(format!(
        "{}[{key}] at {} ms, took {duration} ms: {outcome} → {}",
        firing.node_id,
        event.at,
        edges.join(", ")
    ))
}

#[tokio::test]
async fn every_sample() {
    let stories = repository().join("tests/stories");
    for entry in fs::read_dir(repository().join("workflows")).expect("samples").flatten() {
        let path = entry.path();
        let plan = session::read_workflow(&path).plan.expect("samples are valid");
        let events = run(plan).await;
        let story = told(&events);
        let committed = stories.join(path.with_extension("txt").file_name().expect("a name"));
        if std::env::var_os("RUNEGLASS_GENERATE").is_some() {
            fs::write(&committed, story).expect("written");
            continue;
        }
        let expected = fs::read_to_string(&committed).unwrap_or_default();
        assert_eq!(
            story,
            expected,
            "{} tells another story; `make generate` if that is right",
            path.display()
        );
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
