//! Somebody who watches a simulated cluster, and folds what is made of it into what people see.

use std::collections::BTreeMap;

use observer::{Dialect, Heard, rune::Rune};
use protocol::{Event, ExecutionView, Fact, FanOutPlace, Finding, NodeState, Payload, Rule};
use recording::{Insight, ViewFold};
use serde_json::Value;

use super::{Published, RuneCluster};

/// An observer, and everything it has made of what it heard.
pub struct Watching {
    pub rune: Rune,
    /// By execution.
    pub events: BTreeMap<String, Vec<Event>>,
    heard: usize,
    now: i64,
}

impl Default for Watching {
    fn default() -> Self {
        Self::new()
    }
}

impl Watching {
    pub fn new() -> Self {
        Self { rune: Rune::new("test"), events: BTreeMap::new(), heard: 0, now: 0 }
    }

    /// Everything that was published since.
    pub fn catch_up(&mut self, cluster: &RuneCluster) -> &mut Self {
        let new = cluster.published()[self.heard..].to_vec();
        self.heard = cluster.published().len();
        self.now = cluster.now_millis();
        self.hear(&new)
    }

    pub fn hear(&mut self, messages: &[Published]) -> &mut Self {
        for message in messages {
            let heard = Heard {
                at: message.at,
                routing_key: message.routing_key.to_owned(),
                body: message.body.clone().into_bytes(),
            };
            for event in self.rune.hear(&heard).events {
                let events = self.events.entry(event.execution_id.to_string()).or_default();
                events.push(event);
                assert_eq!(
                    events.last().map_or(0, |event| event.seq),
                    events.len() as u64,
                    "numbered without a gap"
                );
            }
        }
        self
    }

    /// Those of the execution `x`.
    pub fn events(&self) -> &[Event] {
        self.events.get("x").map(Vec::as_slice).unwrap_or_default()
    }

    pub fn view(&self) -> ExecutionView {
        ViewFold::replay(self.events()).expect("it has begun").view().clone()
    }

    pub fn insight(&self) -> Insight {
        let mut insight = Insight::begin(self.events()).expect("it can be looked into");
        insight.extend(self.events()).expect("it adds up");
        insight
    }

    /// One letter per item.
    pub fn grid(&self, split: &str, parent: &[u32]) -> String {
        let place = FanOutPlace { split: split.into(), parent: parent.to_vec() };
        let grid = self.insight().item_grid(&place, 0);
        grid.chunks.into_iter().map(|chunk| chunk.states).collect()
    }

    pub fn findings(&self, later: i64) -> Vec<Finding> {
        self.rune.findings(self.now + later)
    }

    pub fn rules(&self, later: i64) -> Vec<Rule> {
        self.findings(later).into_iter().map(|finding| finding.rule).collect()
    }

    pub fn output(&self, node: &str) -> Value {
        let done = self.events().iter().rev().find_map(|event| match &event.fact {
            Fact::NodeSucceeded(done) if done.firing.node_id.as_str() == node => Some(done.output.clone()),
            _ => None,
        });
        done.as_ref().map(Payload::value).cloned().unwrap_or_default()
    }
}

/// Runs a workflow to its end, or until it hangs, and watches all of it.
pub fn watch(
    workflow: &Value,
    trigger: Value,
    prepare: impl FnOnce(&mut RuneCluster),
) -> (RuneCluster, Watching) {
    let mut cluster = RuneCluster::new();
    prepare(&mut cluster);
    cluster.start("x", workflow, Some(trigger));
    cluster.run();
    let mut watching = Watching::new();
    watching.catch_up(&cluster);
    (cluster, watching)
}

pub fn state(view: &ExecutionView, node: &str) -> NodeState {
    view.nodes[node].state
}
