//! The plan: a workflow that was found to make sense, with everything looked up that can be known before it runs.

mod cache;
mod canvas;
mod check;
mod describe;
mod flow;
mod handles;
mod load;
mod outline;
mod reach;
mod secrets;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt,
    sync::Arc,
};

use protocol::{Edge, EdgeId, ErrorPolicy, Millis, Node, NodeId, Payload, Workflow};
use serde_json::Value;

pub use cache::load_once;
pub use flow::{Flow, Gathering, Input, Target};
pub use handles::PlannedInput;
pub use load::{Limits, Loaded, load, load_shape};

use crate::{
    correlation::{Analysis, Descriptor},
    expr::{Names, Template},
    nodes::{self, Kind, Pick, Resolve},
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
    /// Which items belong together.
    pub analysis: Analysis,
    by_id: HashMap<NodeId, usize>,
}

pub struct PlannedNode {
    pub id: NodeId,
    pub kind: &'static dyn Kind,
    /// What the kind says about its handles.
    pub descriptor: Descriptor,
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
    /// The levels that are open on the deepest edge to this node, outermost first, as places of the nodes that open
    /// them.
    pub scope: Vec<usize>,
    /// The levels at which it fires: an aggregator stands in one and fires outside of it.
    pub fires: Vec<usize>,
    /// For a node that waits for several inputs: these.
    pub inputs: Vec<PlannedInput>,
    /// For a node that takes its items one after the other, in the order of their indexes: how many levels those have
    /// in common that are counted together.
    pub in_order: Option<usize>,
    /// At how many keys it may wait at once (`max_pending_keys`).
    pub most_pending: usize,
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
    /// The output it leaves from, and what travels from there.
    pub output: Box<str>,
    pub pick: Pick,
    /// The input it arrives at, where the node waits for several.
    pub input: Option<Arc<str>>,
    /// The levels that are open on it.
    pub scope: Vec<usize>,
    /// It carries pieces of one value.
    pub repeats: bool,
}

impl Plan {
    pub fn node(&self, id: &NodeId) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    /// This node and every node that can be reached from it, as places of the plan.
    pub fn downstream(&self, node: usize) -> BTreeSet<usize> {
        self.reached(node, |at| self.nodes[at].leaving.iter().map(|&edge| self.edges[edge].to).collect())
    }

    /// This node and every node that leads to it.
    pub fn upstream(&self, node: usize) -> BTreeSet<usize> {
        let incoming = incoming(self);
        self.reached(node, |at| incoming[at].clone())
    }

    fn reached(&self, node: usize, next: impl Fn(usize) -> Vec<usize>) -> BTreeSet<usize> {
        let mut reached = BTreeSet::from([node]);
        let mut ahead = vec![node];
        while let Some(at) = ahead.pop() {
            ahead.extend(next(at).into_iter().filter(|&to| reached.insert(to)));
        }
        reached
    }

    /// How many levels are open on an edge.
    pub fn depth_of(&self, edge: usize) -> usize {
        self.edges[edge].scope.len()
    }

    /// An edge that leaves this node.
    pub fn edge_of(&self, node: usize, id: &EdgeId) -> Option<usize> {
        self.nodes[node].leaving.iter().copied().find(|&edge| self.edges[edge].source.id == *id)
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
    nodes::kind_of(node)
}

/// The nodes that lead to each node.
fn incoming(plan: &Plan) -> Vec<Vec<usize>> {
    let mut incoming = vec![Vec::new(); plan.nodes.len()];
    plan.edges.iter().for_each(|edge| incoming[edge.to].push(edge.from));
    incoming
}
