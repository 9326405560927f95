//! The shape of a workflow with data edges, as its oracle reads it from the file: which levels are open on every edge,
//! which inputs a node has, and what part of a result an edge carries.

use serde_json::Value;

/// Nodes stand behind the nodes that lead to them, in the order of the file.
pub struct DataShape<'w> {
    pub nodes: &'w [Value],
    pub edges: Vec<DataEdge<'w>>,
    /// The levels at which each node fires, by the nodes that open them.
    pub fires: Vec<Vec<usize>>,
}

pub struct DataEdge<'w> {
    pub from: usize,
    pub to: usize,
    /// Empty for the whole result.
    pub output: &'w str,
    /// The input it arrives at, where the node has any.
    pub input: Option<&'w str>,
    pub is_error: bool,
    pub scope: Vec<usize>,
}

/// One of the ways of a node that chooses.
pub type Side = (usize, String);

/// What an edge carries of a result.
pub enum Part<'w> {
    Whole,
    Field(&'w str),
    Index,
}

const GATHERS: [&str; 5] = ["collect", "last", "count", "batch", "aggregator"];
const OPENS: [&str; 6] = ["for_each", "split", "lines", "batch", "zip", "cross"];

/// The input that an edge without a name arrives at, for kinds that name their inputs.
fn main_input(kind: &str) -> Option<&'static str> {
    match kind {
        "for_each" => Some("input_list"),
        "lines" => Some("text"),
        "collect" | "last" | "count" | "batch" | "filter_items" => Some("input_item"),
        "take" | "drop" | "take_while" | "drop_while" | "distinct" => Some("input_item"),
        "if" | "reroute" | "fallback" => Some("value"),
        "switch_value" => Some("input"),
        _ => None,
    }
}

impl<'w> DataShape<'w> {
    pub fn of(workflow: &'w Value) -> Self {
        let nodes = workflow["nodes"].as_array().map_or(&[][..], Vec::as_slice);
        let edges = workflow["edges"].as_array().map_or(&[][..], Vec::as_slice);
        let mut shape = Self { nodes, edges: Vec::new(), fires: Vec::new() };
        shape.edges = edges.iter().map(|edge| shape.edge(edge)).collect();
        for (node, written) in nodes.iter().enumerate() {
            let fires = shape.fires_at(node);
            for edge in shape.edges.iter_mut().filter(|edge| edge.from == node) {
                assert!(edge.to > node, "the file is in order");
                edge.scope.clone_from(&fires);
                let opens = OPENS.contains(&written["type"].as_str().unwrap_or_default());
                edge.scope.extend((opens && !edge.is_error).then_some(node));
            }
            shape.fires.push(fires);
        }
        shape
    }

    fn edge(&self, edge: &'w Value) -> DataEdge<'w> {
        let place = |end: &str| self.nodes.iter().position(|node| node["id"] == edge[end]).expect("a node");
        let (from, to) = (place("src"), place("dst"));
        let written = |name: &str| self.nodes[to]["parameters"].get(name).is_some();
        let input = edge["target_handle"].as_str().or_else(|| {
            let main = main_input(self.kind(to))?;
            Some(if written(main) { "in" } else { main })
        });
        let output = edge["source_handle"].as_str().unwrap_or_default();
        let is_error = self.nodes[from]["error"]["error_edge"] == edge["id"];
        DataEdge { from, to, output, input, is_error, scope: Vec::new() }
    }

    pub fn kind(&self, node: usize) -> &'w str {
        self.nodes[node]["type"].as_str().unwrap_or_default()
    }

    pub fn parameter(&self, node: usize, name: &str) -> &'w Value {
        &self.nodes[node]["parameters"][name]
    }

    pub fn opens(&self, node: usize) -> bool {
        OPENS.contains(&self.kind(node))
    }

    pub fn gathers(&self, node: usize) -> bool {
        GATHERS.contains(&self.kind(node))
    }

    pub fn arriving(&self, node: usize) -> Vec<usize> {
        (0..self.edges.len()).filter(|edge| self.edges[*edge].to == node).collect()
    }

    pub fn leaving(&self, node: usize) -> Vec<usize> {
        (0..self.edges.len()).filter(|edge| self.edges[*edge].from == node).collect()
    }

    /// Without a trigger an execution starts wherever nothing leads to.
    pub fn starts(&self, node: usize) -> bool {
        let triggered = (0..self.nodes.len()).any(|node| self.kind(node) == "trigger");
        if triggered { self.kind(node) == "trigger" } else { self.arriving(node).is_empty() }
    }

    /// At the deepest input; one level further out where levels are closed; at what both sides of a pair have in common.
    fn fires_at(&self, node: usize) -> Vec<usize> {
        let scopes: Vec<&Vec<usize>> =
            self.arriving(node).into_iter().map(|edge| &self.edges[edge].scope).collect();
        let deepest =
            || scopes.iter().max_by_key(|scope| scope.len()).map_or(Vec::new(), |scope| scope.to_vec());
        match (self.kind(node), scopes.as_slice()) {
            ("zip" | "cross", [left, right]) => {
                let same = left.iter().zip(right.iter()).take_while(|(left, right)| left == right);
                same.map(|(level, _)| *level).collect()
            }
            _ if self.gathers(node) => self.collapsed(deepest()),
            _ => deepest(),
        }
    }

    /// Without the innermost iteration. Pieces are no iteration: they go with what is around them.
    fn collapsed(&self, mut scope: Vec<usize>) -> Vec<usize> {
        let iteration = scope.iter().rposition(|level| self.kind(*level) != "lines").unwrap_or(0);
        scope.truncate(iteration);
        while scope.last().is_some_and(|level| self.kind(*level) == "lines") {
            scope.pop();
        }
        scope
    }

    /// The inputs of a node, in the order of their first edges.
    pub fn inputs(&self, node: usize) -> Vec<(&'w str, Vec<usize>)> {
        let mut inputs: Vec<(&str, Vec<usize>)> = Vec::new();
        for edge in self.arriving(node) {
            let Some(name) = self.edges[edge].input else { continue };
            match inputs.iter_mut().find(|(known, _)| *known == name) {
                Some((_, edges)) => edges.push(edge),
                None => inputs.push((name, vec![edge])),
            }
        }
        inputs
    }

    /// Where nothing comes, the node does not run: unless it has something else to take, or need not have it.
    pub fn is_required(&self, node: usize, input: &str) -> bool {
        let optional = matches!(
            (self.kind(node), input),
            ("for_each", "limit")
                | ("switch_value", "value")
                | ("fallback", "fallback")
                | ("distinct", "key")
        );
        let written = !self.parameter(node, input).is_null() || self.default(node, input).is_some();
        !optional && !written
    }

    pub fn default(&self, node: usize, input: &str) -> Option<&'w Value> {
        self.nodes[node]["inputs"][input].get("default")
    }

    pub fn is_list(&self, node: usize, input: &str) -> bool {
        self.nodes[node]["inputs"][input]["type"].as_str().is_some_and(|text| text.starts_with("list["))
    }

    /// The way of its node on which an edge lies, if the node chooses, or has an error edge.
    pub fn side(&self, edge: usize) -> Option<Side> {
        let DataEdge { from, output, is_error, .. } = self.edges[edge];
        let ways: &[&str] = match self.kind(from) {
            "conditional" => &["true", "false"],
            "if" => &["if_true", "if_false"],
            "switch_value" => &["matched", "default"],
            _ => &[],
        };
        let guarded = self.leaving(from).into_iter().any(|edge| self.edges[edge].is_error);
        let side = match is_error {
            true => "error",
            false if ways.contains(&output) => output,
            false if guarded => "no error",
            false => return None,
        };
        Some((from, side.to_owned()))
    }

    /// The side on which the items of an opening node lie.
    pub fn side_of_items(&self, node: usize) -> Option<Side> {
        let items = self.leaving(node).into_iter().find(|edge| !self.edges[*edge].is_error)?;
        self.side(items)
    }

    /// The node takes the pieces of a value one after the other.
    pub fn is_driven(&self, node: usize) -> bool {
        let innermost = self.fires[node].last();
        let joins = matches!(self.kind(node), "zip" | "cross") || self.gathers(node);
        !joins && innermost.is_some_and(|level| self.kind(*level) == "lines")
    }

    /// The part of a key that the items have in common that are counted together: pieces do not divide them.
    pub fn counted_at(&self, node: usize, key: &[u32]) -> Vec<u32> {
        let around = &self.fires[node][..key.len().saturating_sub(1)];
        let iteration = around.iter().rposition(|level| self.kind(*level) != "lines");
        key[..iteration.map_or(0, |iteration| iteration + 1)].to_vec()
    }

    pub fn part(&self, edge: usize) -> Part<'w> {
        let DataEdge { from, output, is_error, .. } = self.edges[edge];
        match (self.kind(from), output) {
            _ if is_error => Part::Whole,
            ("for_each" | "lines" | "batch" | "zip" | "cross", "index") => Part::Index,
            ("for_each" | "lines" | "batch" | "collect" | "count" | "reroute" | "conditional", _) => {
                Part::Whole
            }
            ("take" | "drop" | "take_while" | "drop_while" | "distinct", "index") => Part::Field("index"),
            ("take" | "drop" | "take_while" | "drop_while" | "distinct", _) => Part::Field("output"),
            ("last" | "filter_items", _) | ("fallback", "") => Part::Field("output"),
            (_, "") => Part::Whole,
            (_, field) => Part::Field(field),
        }
    }
}
