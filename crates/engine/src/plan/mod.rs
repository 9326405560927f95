//! The plan: a workflow that was found to make sense, with everything looked up that can be known before it runs.

mod cache;
mod canvas;
mod check;
mod describe;
mod flow;
mod load;
mod outline;
mod reach;
mod scope;
mod secrets;

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::Arc,
};

use protocol::{Edge, EdgeId, ErrorPolicy, Millis, Node, NodeId, Payload, Workflow};
use serde_json::Value;

pub use cache::load_once;
pub use flow::{Flow, Input, Target};
pub use load::{Limits, Loaded, load};

use crate::{
    expr::{Names, Template},
    nodes::{self, Kind, Resolve, ScopeEffect},
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
    /// How decisions travel.
    pub flow: Flow,
    by_id: HashMap<NodeId, usize>,
}

pub struct PlannedNode {
    pub id: NodeId,
    pub kind: &'static dyn Kind,
    pub source: Node,
    /// Parameters that are not plain literals to the kind.
    pub templates: BTreeMap<String, Template>,
    /// Where no parameter depends on anything, all of them: shared by all firings, and written down once.
    pub constant_parameters: Option<Payload>,
    /// Edges that are followed on success, in the order of the file.
    pub outgoing: Vec<usize>,
    /// All edges that leave the node, the error edge among them.
    pub leaving: Vec<usize>,
    /// How many edges lead here.
    pub arriving: usize,
    /// The edge that is followed on failure, where there is one.
    pub on_error: Option<usize>,
    /// The edges of a node that follows one of several ways.
    pub ways: Vec<Option<usize>>,
    /// The open fan-outs at this node, outermost first, as places of split nodes.
    pub scope: Vec<usize>,
    /// `$<id>`
    pub context_key: String,
    /// For a split: how many of its items may be under way at once.
    pub window: Option<u32>,
    /// How long a join waits for the rest once it has heard of something.
    pub timeout: Option<Millis>,
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

    /// How many fan-outs are open on an edge.
    pub fn depth_of(&self, edge: usize) -> usize {
        let from = &self.nodes[self.edges[edge].from];
        match from.on_error == Some(edge) && from.kind.scope() == ScopeEffect::Push {
            true => from.scope.len(),
            false => from.scope_behind(),
        }
    }

    /// An edge that leaves this node.
    pub fn edge_of(&self, node: usize, id: &EdgeId) -> Option<usize> {
        self.nodes[node].leaving.iter().copied().find(|&edge| self.edges[edge].source.id == *id)
    }
}

impl PlannedNode {
    /// The fan-outs inside which the node puts out: an aggregator stands in one and speaks outside of it.
    pub fn scope_of_output(&self) -> &[usize] {
        match self.kind.scope() {
            ScopeEffect::Pop => &self.scope[..self.scope.len().saturating_sub(1)],
            ScopeEffect::Push | ScopeEffect::Same => &self.scope,
        }
    }

    /// How many fan-outs are open behind the node.
    pub fn scope_behind(&self) -> usize {
        match self.kind.scope() {
            ScopeEffect::Same => self.scope.len(),
            ScopeEffect::Push => self.scope.len() + 1,
            ScopeEffect::Pop => self.scope.len().saturating_sub(1),
        }
    }

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

/// The nodes that lead to each node.
fn incoming(plan: &Plan) -> Vec<Vec<usize>> {
    let mut incoming = vec![Vec::new(); plan.nodes.len()];
    plan.edges.iter().for_each(|edge| incoming[edge.to].push(edge.from));
    incoming
}
