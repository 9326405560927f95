//! The model: random workflows, what they mean, and a world that is unkind to messages.

mod data_gather;
pub mod data_graphs;
mod data_oracle;
mod data_shape;
pub mod graphs;
mod log;
pub mod oracle;
mod oracle_shape;
pub mod sabotage;
pub mod shrink;
pub mod storm;
mod timers;
pub mod trial;
pub mod world;

use std::sync::Arc;

use engine::{Limits, Plan};
use protocol::DiagnosticCode;
use serde_json::Value;

/// Who makes a case up, and who says what it means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// Splits, joins, races, timeouts, waits and error edges.
    Control,
    /// Edges from handle to handle, mixed with some of these.
    Data,
}

/// A workflow and the input it is started with.
#[derive(Clone, Debug)]
pub struct Case {
    pub model: Model,
    pub workflow: Value,
    pub input: Value,
    /// Read once, or why it cannot be.
    pub plan: Result<Arc<Plan>, String>,
}

impl Case {
    pub fn new(model: Model, workflow: Value, input: Value) -> Self {
        let plan = load(&workflow);
        Self { model, workflow, input, plan }
    }

    /// The case of a seed.
    pub fn random(model: Model, seed: u64) -> Self {
        match model {
            Model::Control => graphs::random(seed),
            Model::Data => data_graphs::random(seed),
        }
    }

    pub fn node_count(&self) -> usize {
        self.workflow["nodes"].as_array().map_or(0, Vec::len)
    }
}

fn load(workflow: &Value) -> Result<Arc<Plan>, String> {
    let loaded = engine::load(workflow.to_string().as_bytes(), &Limits::default());
    // Where two edges share a way, a smaller case would say something else than the one it came from.
    if loaded.diagnostics.iter().any(|found| found.code == DiagnosticCode::NeverFollowed) {
        return Err("an edge is never followed".to_owned());
    }
    loaded.plan.ok_or_else(|| format!("{:#?}", loaded.diagnostics))
}

/// Where something happens: the place of a node in the plan, and the indexes of its key.
pub type Place = (usize, Vec<u32>);

/// How a run went wrong.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Failures of the same kind are the same failure as far as shrinking is concerned.
    pub kind: Kind,
    pub detail: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing is under way and yet it has not ended, or it does not end at all.
    Stuck,
    /// The ledger refuses an event that the engine has made.
    Refused,
    /// A message stands where its node does not.
    Lineage,
    /// A timer fires early, twice or not at all.
    Timer,
    /// A node runs that was said to be skipped, or is skipped twice.
    Skipped,
    /// A join fires and gives up, or gives up although it has heard everything.
    GaveUp,
    /// Something is left behind, or happens after the end, or the end is not the right one.
    End,
    /// Folding the log again gives something else.
    Fold,
    /// A message that comes again changes something.
    Redelivery,
    /// Something else came out than the oracle says.
    Meaning,
    /// Something else came out in another order of delivery.
    Order,
}

fn fail<T>(kind: Kind, detail: impl Into<String>) -> Result<T, Failure> {
    Err(Failure { kind, detail: detail.into() })
}

/// Numbers that look random and are the same for the same seed.
#[derive(Clone)]
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d)
    }

    pub fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % sides.max(1)
    }

    pub fn one_in(&mut self, sides: usize) -> bool {
        self.roll(sides) == 0
    }
}
