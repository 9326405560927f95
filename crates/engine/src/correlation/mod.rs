//! Correlation: which items belong together, known from where they come from. A kind of node describes its inputs and
//! outputs ([`Descriptor`]); from the descriptors and the edges alone [`analyse`] tells, before anything runs, the scope of
//! every edge and output, the key at which every node fires, and everything that cannot work.

mod analysis;
mod descriptor;
mod rules;

use std::{collections::BTreeMap, fmt, sync::Arc};

use protocol::{EdgeId, NodeId};
use serde::Deserialize;

pub use analysis::analyse;
pub use descriptor::{Descriptor, Handle};

/// One iteration: `<node>:<group>`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Root(Arc<str>);

impl Root {
    pub fn new(node: &NodeId, group: &str) -> Self {
        Self(format!("{node}:{group}").into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The node whose firing opens the iteration.
    pub fn node(&self) -> &str {
        self.0.rsplit_once(':').map_or(&self.0, |(node, _)| node)
    }
}

/// The iterations something is inside of, outermost first. Constants are inside of none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope(pub Vec<Root>);

impl Scope {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The same scope or one further out.
    pub fn is_prefix_of(&self, other: &Self) -> bool {
        other.0.starts_with(&self.0)
    }

    pub fn is_strict_prefix_of(&self, other: &Self) -> bool {
        self.len() < other.len() && self.is_prefix_of(other)
    }

    /// One contains the other, so that an item of one belongs to exactly one item of the other.
    pub fn is_comparable_with(&self, other: &Self) -> bool {
        self.is_prefix_of(other) || other.is_prefix_of(self)
    }

    fn inside(&self, root: Root) -> Self {
        Self(self.0.iter().cloned().chain([root]).collect())
    }

    fn common_prefix(&self, other: &Self) -> Self {
        Self(
            self.0
                .iter()
                .zip(&other.0)
                .take_while(|(left, right)| left == right)
                .map(|(root, _)| root.clone())
                .collect(),
        )
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let roots: Vec<&str> = self.0.iter().map(Root::as_str).collect();
        write!(f, "[{}]", roots.join(", "))
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InputMode {
    /// Fires once per key, with one value of every input.
    #[default]
    Buffered,
    /// Takes every value as it is decided, in the order of its index.
    Stream,
    Controlled,
}

/// Where what an output emits stands, relative to an input.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct OutputRule {
    pub kind: OutputKind,
    #[serde(default)]
    pub source: Option<Source>,
    #[serde(default)]
    pub group: Option<String>,
    #[serde(default)]
    pub collapse: Option<Collapse>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputKind {
    /// One value per firing.
    Single,
    /// Several items, each with an index of its own.
    Iteration,
    /// Pieces of one value; they have an order, but no identity.
    Chunk,
    /// The value of an input, or nothing.
    Forward,
    /// One value for all items of the innermost iteration.
    Aggregate,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub enum Source {
    /// The firing as a whole.
    Execution,
    Handle(String),
}

impl From<String> for Source {
    fn from(text: String) -> Self {
        if text == "__execution__" { Self::Execution } else { Self::Handle(text) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Collapse {
    Innermost,
}

/// A node and what its kind says about it.
#[derive(Clone, Debug)]
pub struct DataNode {
    pub id: NodeId,
    pub descriptor: Descriptor,
}

/// From an output to an input.
#[derive(Clone, Debug)]
pub struct DataEdge {
    pub id: EdgeId,
    pub from: NodeId,
    pub output: String,
    pub to: NodeId,
    pub input: String,
}

/// What is known of everything that travels along an edge or leaves an output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    pub scope: Scope,
    /// More than one value may have the same key.
    pub repeats: bool,
    /// Iterations whose items may come.
    pub child_roots: Vec<Root>,
    /// The scope with the streams of pieces between its iterations.
    pub nest: Nest,
}

/// Everything that is open, outermost first. A stream of pieces has an order but no identity: it is a level for whoever
/// counts messages, and none for whoever compares keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Nest(pub Vec<Level>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Level {
    pub root: Root,
    pub pieces: bool,
}

impl Nest {
    fn inside(mut self, root: Root, pieces: bool) -> Self {
        self.0.push(Level { root, pieces });
        self
    }

    /// Without the innermost iteration, and without the streams of pieces around it.
    fn collapsed(mut self) -> Self {
        let drop_pieces = |levels: &mut Vec<Level>| {
            while levels.last().is_some_and(|level| level.pieces) {
                levels.pop();
            }
        };
        drop_pieces(&mut self.0);
        self.0.pop();
        drop_pieces(&mut self.0);
        self
    }

    /// How many levels the items of the innermost one have in common: those of the iteration around it, for pieces do
    /// not tell one key from another.
    pub fn counted_at(&self) -> usize {
        let around = &self.0[..self.0.len().saturating_sub(1)];
        around.iter().rposition(|level| !level.pieces).map_or(0, |iteration| iteration + 1)
    }

    fn common_prefix(&self, other: &Self) -> Self {
        let same = self.0.iter().zip(&other.0).take_while(|(left, right)| left == right);
        Self(same.map(|(level, _)| level.clone()).collect())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputFlow {
    pub flow: Flow,
    pub edges: Vec<EdgeId>,
}

impl InputFlow {
    pub fn has_several_edges(&self) -> bool {
        self.edges.len() > 1
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputFlow {
    pub flow: Flow,
    /// The edges that must have said everything before the output has.
    pub contributors: Vec<EdgeId>,
}

/// Everything that is known before a workflow runs.
#[derive(Clone, Debug, Default)]
pub struct Analysis {
    pub edges: BTreeMap<EdgeId, Flow>,
    pub nodes: BTreeMap<NodeId, NodeFlow>,
    /// In the order of the nodes; a workflow with any of them does not run.
    pub issues: Vec<Issue>,
}

#[derive(Clone, Debug, Default)]
pub struct NodeFlow {
    /// The node fires once for each key of this scope.
    pub invocation: Scope,
    pub nest: Nest,
    pub inputs: BTreeMap<String, InputFlow>,
    pub outputs: BTreeMap<String, OutputFlow>,
}

/// Something that cannot work, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    pub message: String,
    pub node: Option<NodeId>,
    pub handle: Option<String>,
}
