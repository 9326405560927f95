//! The plan: a workflow that was found to make sense, with everything looked up that can be known before it runs.

mod check;
mod load;
mod outline;
mod scope;

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::Arc,
};

use protocol::{Edge, ErrorPolicy, Node, NodeId, Workflow};
use serde_json::Value;

pub use load::{Limits, Loaded, load};

use crate::{
    expr::{Names, Template},
    nodes::{self, Kind, Resolve},
};

/// Compiled once per definition and shared by all its executions.
pub struct Plan {
    pub workflow: Arc<Workflow>,
    /// Names this definition, byte for byte.
    pub hash: String,
    pub nodes: Vec<PlannedNode>,
    pub edges: Vec<PlannedEdge>,
    /// Where an execution starts.
    pub starts: Vec<usize>,
    pub names: Names,
    by_id: HashMap<NodeId, usize>,
}

pub struct PlannedNode {
    pub id: NodeId,
    pub kind: &'static dyn Kind,
    pub source: Node,
    /// Parameters that are not plain literals to the kind.
    pub templates: BTreeMap<String, Template>,
    /// Edges that are followed on success, in the order of the file.
    pub outgoing: Vec<usize>,
    pub branches: Branches,
    /// The open fan-outs at this node, outermost first, as places of split nodes.
    pub scope: Vec<usize>,
    /// `$<id>`
    pub context_key: String,
}

/// Edges with a meaning of their own.
#[derive(Clone, Copy, Debug, Default)]
pub struct Branches {
    pub on_true: Option<usize>,
    pub on_false: Option<usize>,
    pub on_error: Option<usize>,
}

pub struct PlannedEdge {
    pub source: Edge,
    pub from: usize,
    pub to: usize,
}

impl Plan {
    pub fn node(&self, id: &NodeId) -> Option<usize> {
        self.by_id.get(id).copied()
    }
}

impl PlannedNode {
    /// How a parameter is to be resolved; one the kind does not know stays as it is.
    pub fn how(&self, parameter: &str) -> Resolve {
        let known = self.kind.parameters().iter().find(|known| known.name == parameter);
        known.map_or(Resolve::Literal, |known| known.how)
    }
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Plan({}, {} nodes)", self.hash, self.nodes.len())
    }
}

/// An edge that the author marked as an error edge; it is never followed on success.
fn is_error_edge(edge: &Edge, from: &Node) -> bool {
    let marked = matches!(edge.other.get("is_error"), Some(Value::Bool(true)))
        || edge.other.get("is_error").and_then(Value::as_str) == Some("error");
    marked || matches!(&from.error, Some(ErrorPolicy::Branch { error_edge }) if *error_edge == edge.id)
}

/// `$<name>` of every node: its id, and its name where that is free.
fn names(nodes: &[Node]) -> Names {
    let mut aliases: BTreeMap<String, NodeId> = BTreeMap::new();
    for node in nodes {
        aliases.insert(node.name.clone(), node.id.clone());
    }
    aliases.extend(nodes.iter().map(|node| (node.id.to_string(), node.id.clone())));
    aliases.remove("");
    Names::new(aliases)
}

fn kind_of(node: &Node) -> Option<&'static dyn Kind> {
    nodes::kind(&node.kind)
}
