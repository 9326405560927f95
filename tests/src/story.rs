//! What an execution tells, in order of nodes, so that every run tells the same.

use std::{fs, path::PathBuf, sync::Arc};

use engine::Plan;
use protocol::{Event, Fact};

use crate::repository;

/// A sample and the story it has to tell.
pub struct Sample {
    pub name: String,
    pub plan: Arc<Plan>,
    pub committed: PathBuf,
}

pub fn samples() -> Vec<Sample> {
    let files = fs::read_dir(repository().join("workflows")).expect("samples").flatten();
    let sample = |path: PathBuf| {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let committed = repository().join("tests/stories").join(format!("{name}.txt"));
        Sample { name, plan: session::read_workflow(&path).plan.expect("samples are valid"), committed }
    };
    files.map(|entry| sample(entry.path())).collect()
}

impl Sample {
    pub fn check(&self, events: &[Event]) {
        let expected = fs::read_to_string(&self.committed).unwrap_or_default();
        assert_eq!(
            told(events),
            expected,
            "{} tells another story; `make generate` if that is right",
            self.name
        );
    }
}

pub fn told(events: &[Event]) -> String {
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
