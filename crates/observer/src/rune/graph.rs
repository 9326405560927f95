//! What a definition says about the ways of messages in a Rune cluster, before anything happens.

use std::collections::{HashMap, VecDeque};

use protocol::{Edge, EdgeId, ErrorPolicy, Lineage, Node, NodeId, Payload, Workflow};
use serde_json::Value;

use super::wire::{WireFrame, lineage_of, object};

pub struct Graph {
    pub nodes: Vec<Place>,
    pub edges: Vec<Way>,
    by_id: HashMap<NodeId, usize>,
}

/// A node.
pub struct Place {
    pub id: NodeId,
    /// What `$<name>` is called there.
    pub name: String,
    pub role: Role,
    pub error: Option<ErrorPolicy>,
    pub outgoing: Vec<usize>,
    pub incoming: Vec<usize>,
    /// The splits that it stands in, outermost first; absent where ways of different depth lead here.
    pub scope: Option<Vec<usize>>,
    /// The aggregators that gather its items, where it is a split. All of them count with one counter.
    pub gatherers: Vec<usize>,
    /// One message at the most comes here for one key, unless it is delivered again.
    pub begins_once: bool,
}

impl Place {
    /// No worker publishes a status of a node that has no name.
    pub fn is_mute(&self) -> bool {
        self.name.is_empty()
    }
}

/// An edge.
pub struct Way {
    pub id: EdgeId,
    pub from: usize,
    pub to: usize,
}

/// What matters about the kind of a node.
pub enum Role {
    Split,
    Aggregator,
    MergeAll,
    MergeAny,
    Wait,
    /// The edges of `true` and `false`.
    Conditional([Option<usize>; 2]),
    /// The edge of each rule, and of none.
    Switch(Vec<Option<usize>>),
    Plain,
}

impl Role {
    pub fn is_join(&self) -> bool {
        match self {
            Self::Aggregator | Self::MergeAll | Self::MergeAny => true,
            Self::Split | Self::Wait | Self::Conditional(_) | Self::Switch(_) | Self::Plain => false,
        }
    }
}

/// What is larger is no workflow that somebody has drawn, and is not gone through.
pub const NODES: usize = 10_000;
pub const EDGES: usize = 50_000;
/// Splits inside of each other.
const LEVELS: usize = 64;

impl Graph {
    /// `None` where it is too large.
    pub fn of(workflow: &Workflow) -> Option<Self> {
        if workflow.nodes.len() > NODES || workflow.edges.len() > EDGES {
            return None;
        }
        let by_id: HashMap<NodeId, usize> =
            workflow.nodes.iter().enumerate().map(|(at, node)| (node.id.clone(), at)).collect();
        let way = |edge: &Edge| {
            let (from, to) = (*by_id.get(&edge.src)?, *by_id.get(&edge.dst)?);
            Some(Way { id: edge.id.clone(), from, to })
        };
        let edges: Vec<Way> = workflow.edges.iter().filter_map(way).collect();
        let mut ways = vec![(Vec::new(), Vec::new()); workflow.nodes.len()];
        for (place, edge) in edges.iter().enumerate() {
            ways[edge.from].0.push(place);
            ways[edge.to].1.push(place);
        }
        let of_node = workflow.nodes.iter().zip(ways);
        let mut nodes: Vec<Place> =
            of_node.map(|(node, (outgoing, incoming))| place(node, outgoing, incoming, &edges)).collect();
        let triggers = workflow.nodes.iter().enumerate().filter(|(_, node)| node.trigger);
        set_scopes(&mut nodes, &edges, triggers.map(|(at, _)| at).collect())?;
        for at in
            (0..nodes.len()).filter(|&at| matches!(nodes[at].role, Role::Aggregator)).collect::<Vec<_>>()
        {
            if let Some(&split) = nodes[at].scope.as_ref().and_then(|scope| scope.last()) {
                nodes[split].gatherers.push(at);
            }
        }
        set_begins_once(&mut nodes, &edges);
        Some(Self { nodes, edges, by_id })
    }

    pub fn node(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    /// Where a message stands. The stack on the wire grows and never shrinks, so the levels that are open here are
    /// picked out of it.
    pub fn lineage(&self, node: usize, frames: &[WireFrame]) -> Lineage {
        match &self.nodes[node].scope {
            Some(scope) => lineage_of(frames, scope.iter().map(|&split| self.nodes[split].id.clone())),
            None => lineage_of(frames, frames.iter().map(|frame| NodeId::from(frame.split_node_id.as_str()))),
        }
    }

    /// Where a node fires: an aggregator one level further out than what reaches it.
    pub fn fires_at(&self, node: usize, reached: &Lineage) -> Lineage {
        match self.nodes[node].role {
            Role::Aggregator => reached.parent(),
            _ => reached.clone(),
        }
    }

    /// How many levels are open where something reaches the node.
    pub fn depth(&self, node: usize) -> usize {
        self.nodes[node].scope.as_ref().map_or(0, Vec::len)
    }

    /// The edges that carry a message after a success. An error edge is an edge like any other there.
    pub fn taken(&self, node: usize, output: Option<&Payload>) -> Vec<usize> {
        match &self.nodes[node].role {
            Role::Conditional(ways) => {
                let is_true =
                    object(output).and_then(|output| output.get("result")) == Some(&Value::Bool(true));
                ways[usize::from(!is_true)].into_iter().collect()
            }
            Role::Switch(routes) => {
                let index =
                    object(output).and_then(|output| output.get("output_index")).and_then(Value::as_u64);
                let way = index.and_then(|index| routes.get(index as usize));
                way.copied().flatten().into_iter().collect()
            }
            Role::Split | Role::Aggregator | Role::MergeAll | Role::MergeAny | Role::Wait | Role::Plain => {
                self.nodes[node].outgoing.clone()
            }
        }
    }

    /// The edges that carry a message after a failure; `None` where the execution is given up instead.
    pub fn taken_after_failure(&self, node: usize) -> Option<Vec<usize>> {
        match &self.nodes[node].error {
            None | Some(ErrorPolicy::Halt) => None,
            Some(ErrorPolicy::Ignore) => Some(self.taken(node, None)),
            Some(ErrorPolicy::Branch { error_edge }) => {
                let edge = self.edge_of(node, error_edge.as_str())?;
                Some(vec![edge])
            }
        }
    }

    /// The aggregators that count with the same counter as this one, itself among them.
    pub fn sharers(&self, aggregator: usize) -> &[usize] {
        let split = self.nodes[aggregator].scope.as_ref().and_then(|scope| scope.last());
        split.map(|&split| &self.nodes[split].gatherers[..]).unwrap_or_default()
    }

    /// More than one message of an item may reach these aggregators: somewhere before them it goes several ways at once.
    pub fn forks_before(&self, aggregator: usize) -> bool {
        let Some(&split) = self.nodes[aggregator].scope.as_ref().and_then(|scope| scope.last()) else {
            return false;
        };
        let mut leads = vec![false; self.nodes.len()];
        for &gathers in self.sharers(aggregator) {
            self.upstream(gathers).into_iter().for_each(|node| leads[node] = true);
        }
        let is_inside = |at: usize| {
            at == split || self.nodes[at].scope.as_ref().is_some_and(|scope| scope.contains(&split))
        };
        let forks = |at: usize| {
            let ways = self.nodes[at].outgoing.iter().filter(|&&edge| leads[self.edges[edge].to]).count();
            ways > 1 && !matches!(self.nodes[at].role, Role::Conditional(_) | Role::Switch(_))
        };
        (0..self.nodes.len()).any(|at| leads[at] && is_inside(at) && forks(at))
    }

    fn edge_of(&self, node: usize, id: &str) -> Option<usize> {
        self.nodes[node].outgoing.iter().copied().find(|&edge| self.edges[edge].id.as_str() == id)
    }

    /// Everything that leads to a node, nearest first, the node itself among it.
    pub fn upstream(&self, node: usize) -> Vec<usize> {
        let mut seen = vec![false; self.nodes.len()];
        let (mut open, mut order) = (VecDeque::from([node]), Vec::new());
        seen[node] = true;
        while let Some(next) = open.pop_front() {
            order.push(next);
            for &edge in &self.nodes[next].incoming {
                let from = self.edges[edge].from;
                if !std::mem::replace(&mut seen[from], true) {
                    open.push_back(from);
                }
            }
        }
        order
    }
}

fn place(node: &Node, outgoing: Vec<usize>, incoming: Vec<usize>, edges: &[Way]) -> Place {
    let named = |id: Option<&Value>| {
        let id = id.and_then(Value::as_str)?;
        outgoing.iter().copied().find(|&edge| edges[edge].id.as_str() == id)
    };
    let role = match node.kind.as_str() {
        "split" => Role::Split,
        "aggregator" => Role::Aggregator,
        "merge" if node.parameters.get("wait_mode").and_then(Value::as_str) == Some("wait_for_any") => {
            Role::MergeAny
        }
        "merge" => Role::MergeAll,
        "wait" => Role::Wait,
        "conditional" => {
            let way = |name: &str| named(node.parameters.get(name));
            Role::Conditional([way("true_edge_id"), way("false_edge_id")])
        }
        "switch" => {
            let routes = node.parameters.get("routes").and_then(Value::as_array);
            // Of edges with one name the first counts.
            let by_id: HashMap<&str, usize> =
                outgoing.iter().rev().map(|&edge| (edges[edge].id.as_str(), edge)).collect();
            let way = |route: &Value| by_id.get(route.as_str()?).copied();
            Role::Switch(routes.into_iter().flatten().map(way).collect())
        }
        _ => Role::Plain,
    };
    Place {
        id: node.id.clone(),
        name: node.name.clone(),
        role,
        error: node.error.clone(),
        outgoing,
        incoming,
        scope: None,
        gatherers: Vec::new(),
        begins_once: false,
    }
}

/// From the triggers along the edges; where there are none, from everywhere that nothing leads to. Where ways of different depth meet, and behind, nothing is
/// known beforehand. `None` where there are too many levels.
fn set_scopes(nodes: &mut [Place], edges: &[Way], triggers: VecDeque<usize>) -> Option<()> {
    let mut scopes: Vec<Option<Vec<usize>>> = vec![None; nodes.len()];
    let mut mixed = vec![false; nodes.len()];
    let mut open = triggers;
    if open.is_empty() {
        open.extend((0..nodes.len()).filter(|&at| nodes[at].incoming.is_empty()));
    }
    // A graph that is nothing but a circle begins where its author began.
    if open.is_empty() && !nodes.is_empty() {
        open.push_back(0);
    }
    open.iter().for_each(|&at| scopes[at] = Some(Vec::new()));
    while let Some(at) = open.pop_front() {
        let mut scope = scopes[at].clone().unwrap_or_default();
        match nodes[at].role {
            Role::Split => scope.push(at),
            Role::Aggregator => drop(scope.pop()),
            _ => {}
        }
        if scope.len() > LEVELS {
            return None;
        }
        for &edge in &nodes[at].outgoing {
            let to = edges[edge].to;
            let meets = scopes[to].as_ref().is_some_and(|known| *known != scope);
            let spreads = (mixed[at] || meets) && !mixed[to];
            if spreads || scopes[to].is_none() {
                mixed[to] |= mixed[at] || meets;
                scopes[to].get_or_insert_with(|| scope.clone());
                open.push_back(to);
            }
        }
    }
    for (at, node) in nodes.iter_mut().enumerate() {
        node.scope = scopes[at].take().filter(|_| !mixed[at]);
    }
    Some(())
}

/// In the order of the edges: what stands in a circle, or where ways meet without a join, may begin any number of times.
fn set_begins_once(nodes: &mut [Place], edges: &[Way]) {
    let mut waits_for: Vec<usize> = nodes.iter().map(|node| node.incoming.len()).collect();
    let mut open: Vec<usize> = (0..nodes.len()).filter(|&at| waits_for[at] == 0).collect();
    while let Some(at) = open.pop() {
        let meets_once = nodes[at].role.is_join() || nodes[at].incoming.len() <= 1;
        let from_once = nodes[at].incoming.iter().all(|&edge| nodes[edges[edge].from].begins_once);
        nodes[at].begins_once = meets_once && from_once;
        for &edge in &nodes[at].outgoing {
            let to = edges[edge].to;
            waits_for[to] -= 1;
            if waits_for[to] == 0 {
                open.push(to);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn graph(nodes: &[(&str, &str)], edges: &[(&str, &str)]) -> Graph {
        let nodes: Vec<Value> =
            nodes.iter().map(|(id, kind)| json!({"id": id, "name": id, "type": kind})).collect();
        let edges: Vec<Value> = edges
            .iter()
            .map(|(from, to)| json!({"id": format!("{from}{to}"), "src": from, "dst": to}))
            .collect();
        let workflow = serde_json::from_value(json!({"nodes": nodes, "edges": edges})).unwrap();
        Graph::of(&workflow).unwrap()
    }

    /// Splits one behind the other, each inside of the one before.
    fn nested(levels: usize) -> Workflow {
        let nodes: Vec<Value> =
            (0..levels).map(|at| json!({"id": at.to_string(), "name": "S", "type": "split"})).collect();
        let edge =
            |at: usize| json!({"id": at.to_string(), "src": at.to_string(), "dst": (at + 1).to_string()});
        let edges: Vec<Value> = (0..levels - 1).map(edge).collect();
        serde_json::from_value(json!({"nodes": nodes, "edges": edges})).unwrap()
    }

    #[test]
    fn what_is_too_large_is_not_gone_through() {
        assert!(Graph::of(&nested(LEVELS)).is_some());
        assert!(Graph::of(&nested(LEVELS + 1)).is_none());
        assert!(Graph::of(&nested(NODES)).is_none());
        let mut wide = nested(2);
        wide.edges = vec![wide.edges[0].clone(); EDGES];
        assert_eq!(Graph::of(&wide).unwrap().nodes[1].incoming.len(), EDGES);
        wide.edges.push(wide.edges[0].clone());
        assert!(Graph::of(&wide).is_none());
    }

    fn frame(split: &str, index: u32, total: u32) -> WireFrame {
        WireFrame { split_node_id: split.to_owned(), item_index: index, total_items: total }
    }

    #[test]
    fn what_an_aggregator_leaves_on_the_stack_is_no_level() {
        let kinds = [
            ("s", "split"),
            ("x", "log"),
            ("a", "aggregator"),
            ("t", "split"),
            ("y", "log"),
            ("b", "aggregator"),
            ("z", "log"),
        ];
        let graph = graph(&kinds, &[("s", "x"), ("x", "a"), ("a", "t"), ("t", "y"), ("y", "b"), ("b", "z")]);
        let stack = [frame("s", 1, 2), frame("t", 4, 5)];
        let key =
            |id: &str, frames: &[WireFrame]| graph.lineage(graph.node(id).unwrap(), frames).key().to_string();
        assert_eq!(key("x", &stack[..1]), "s=1");
        assert_eq!(key("t", &stack[..1]), "", "it is behind the first aggregator");
        assert_eq!(key("y", &stack), "t=4");
        assert_eq!(key("z", &stack), "");
        let b = graph.node("b").unwrap();
        assert!(graph.fires_at(b, &graph.lineage(b, &stack)).is_root());
    }

    #[test]
    fn where_ways_of_different_depth_meet_the_stack_is_taken_as_it_is() {
        let kinds = [("o", "log"), ("s", "split"), ("x", "log"), ("y", "log")];
        let graph = graph(&kinds, &[("o", "s"), ("s", "x"), ("o", "x"), ("x", "y")]);
        let y = graph.node("y").unwrap();
        assert!(graph.nodes[y].scope.is_none());
        assert_eq!(graph.lineage(y, &[frame("s", 3, 4)]).key().as_str(), "s=3");
        assert!(graph.lineage(y, &[]).is_root());
    }

    #[test]
    fn what_no_trigger_leads_to_says_nothing_of_depth() {
        let node = |id: &str, kind: &str, trigger: bool| json!({"id": id, "name": id, "type": kind, "trigger": trigger});
        let nodes = [node("t", "ManualTrigger", true), node("s", "split", false), node("x", "log", false)];
        let nodes: Vec<Value> = nodes.into_iter().chain([node("odd", "log", false)]).collect();
        let edge = |from: &str, to: &str| json!({"id": format!("{from}{to}"), "src": from, "dst": to});
        let edges = [edge("t", "s"), edge("s", "x"), edge("odd", "x")];
        let workflow = serde_json::from_value(json!({"nodes": nodes, "edges": edges})).unwrap();
        let graph = Graph::of(&workflow).unwrap();
        assert_eq!(graph.nodes[2].scope.as_deref(), Some(&[1][..]));
    }

    #[test]
    fn a_circle_has_an_end() {
        let graph = graph(&[("a", "log"), ("b", "log")], &[("a", "b"), ("b", "a")]);
        assert_eq!(graph.upstream(0), [0, 1]);
        assert_eq!(graph.taken(0, None), [0]);
    }
}
