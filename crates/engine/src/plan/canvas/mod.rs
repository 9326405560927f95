//! Workflows as the canvas of Rune exports them, turned into the one shape that everything behind the loader knows.
//!
//! A canvas says `data` where we say `parameters`, `source` and `target` where we say `src` and `dst`, and the way out
//! of an `if` or a `switch` is a handle of the edge. What else a canvas says is about how it looks: of that only the
//! positions and the notes are kept.

mod fields;
mod labels;
mod ways;

use std::collections::HashMap;

use protocol::{Credentials, Diagnostic, Edge, EdgeId, ErrorPolicy, Node, NodeId};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Map, Number, Value, json, value::RawValue};

/// A node as it stands in the file.
#[derive(Deserialize)]
pub struct CanvasNode {
    id: NodeId,
    #[serde(rename = "type")]
    kind: String,
    position: Option<Position>,
    #[serde(default)]
    data: Option<Data>,
    /// The canvas does not write one; people who edit the file may.
    error: Option<ErrorPolicy>,
    webhook_guid: Option<Value>,
}

#[derive(Deserialize)]
struct Position {
    x: Number,
    y: Number,
}

/// What the author has filled in, and what the canvas remembers about the node.
#[derive(Default, Deserialize)]
struct Data {
    label: Option<String>,
    credential: Option<Credentials>,
    #[serde(rename = "pinned")]
    _pinned: Option<IgnoredAny>,
    #[serde(flatten)]
    fields: Map<String, Value>,
}

/// An edge as it stands in the file.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CanvasEdge {
    id: EdgeId,
    source: NodeId,
    target: NodeId,
    source_handle: Option<String>,
    label: Option<String>,
}

pub struct Converted {
    pub nodes: Vec<Node>,
    pub edges: Vec<Edge>,
    pub findings: Vec<Diagnostic>,
}

impl CanvasNode {
    /// A sticky note lies on the canvas among the nodes and takes no part in the workflow.
    pub fn is_note(&self) -> bool {
        self.kind == "stickyNote"
    }

    /// A sticky note as an entry of `notes`.
    pub fn into_note(self) -> Value {
        let Data { label, fields, .. } = self.data.unwrap_or_default();
        let mut note = Map::from_iter([("id".to_owned(), json!(self.id))]);
        note.extend(label.map(|label| ("label".to_owned(), json!(label))));
        note.extend(self.position.map(|position| ("position".to_owned(), position.as_list())));
        note.extend(fields);
        Value::Object(note)
    }
}

impl Position {
    fn as_list(&self) -> Value {
        json!([self.x, self.y])
    }
}

/// Tells a canvas by its edges; where there are none, by its nodes. A node with `parameters` is none of a canvas.
pub fn is_canvas(nodes: &[&RawValue], edges: &[&RawValue]) -> bool {
    if nodes.iter().any(|node| Signs::of(node).parameters.is_some()) {
        return false;
    }
    let drawn = |part: &&RawValue| Signs::of(part).is_drawn();
    if edges.is_empty() { nodes.iter().any(drawn) } else { edges.iter().any(drawn) }
}

/// The fields that tell one shape from the other.
#[derive(Default, Deserialize)]
struct Signs<'t> {
    #[serde(borrow)]
    parameters: Option<&'t RawValue>,
    #[serde(borrow)]
    data: Option<&'t RawValue>,
    #[serde(borrow)]
    position: Option<&'t RawValue>,
    source: Option<IgnoredAny>,
    target: Option<IgnoredAny>,
}

impl<'t> Signs<'t> {
    /// What is no object shows no signs; that it is wrong is said when it is read in earnest.
    fn of(part: &'t RawValue) -> Self {
        serde_json::from_str(part.get()).unwrap_or_default()
    }

    fn is_drawn(&self) -> bool {
        let is_object = |value: Option<&RawValue>| value.is_some_and(|value| value.get().starts_with('{'));
        let is_node = is_object(self.data) || is_object(self.position);
        is_node || self.source.is_some() || self.target.is_some()
    }
}

/// Converts what is on a canvas, apart from its notes. Nodes and edges keep their order.
pub fn convert(nodes: Vec<CanvasNode>, edges: Vec<CanvasEdge>) -> Converted {
    let (names, mut findings) = labels::names(&nodes);
    let mut leaving: HashMap<NodeId, Vec<&CanvasEdge>> = HashMap::new();
    for edge in &edges {
        leaving.entry(edge.source.clone()).or_default().push(edge);
    }
    let kinds: HashMap<NodeId, String> =
        nodes.iter().map(|node| (node.id.clone(), node.kind.clone())).collect();
    let mut converted = Vec::with_capacity(nodes.len());
    for (node, name) in nodes.into_iter().zip(names) {
        let leaving = leaving.get(&node.id).map_or(&[][..], Vec::as_slice);
        converted.push(convert_node(node, name, leaving, &mut findings));
    }
    let edges = edges.iter().map(|edge| convert_edge(edge, kinds.get(&edge.source))).collect();
    Converted { nodes: converted, edges, findings }
}

fn convert_node(
    node: CanvasNode,
    name: String,
    leaving: &[&CanvasEdge],
    findings: &mut Vec<Diagnostic>,
) -> Node {
    let Data { label, credential, fields, .. } = node.data.unwrap_or_default();
    let mut parameters = fields::parameters(&node.kind, fields);
    findings.extend(ways::write(&node.kind, leaving, &mut parameters));
    let mut other = Map::new();
    other.extend(label.map(|label| ("label".to_owned(), json!(label))));
    other.extend(node.position.map(|position| ("position".to_owned(), position.as_list())));
    other.extend(node.webhook_guid.map(|id| ("webhook_guid".to_owned(), id)));
    let (kind, trigger) = worker_kind(&node.kind);
    Node {
        id: node.id,
        name,
        kind: kind.to_owned(),
        trigger,
        parameters,
        output: None,
        credentials: credential,
        error: node.error,
        other,
    }
}

/// The name a worker has for a kind, and whether executions start there.
fn worker_kind(kind: &str) -> (&str, bool) {
    match kind {
        "trigger" => ("ManualTrigger", true),
        "scheduledTrigger" => ("ScheduledTrigger", true),
        "webhookTrigger" => ("webhook", true),
        "if" => ("conditional", false),
        same => (same, false),
    }
}

/// The handles do not come along: what they mean stands in the parameters of the node they belong to.
fn convert_edge(edge: &CanvasEdge, from: Option<&String>) -> Edge {
    let way = from.and_then(|kind| ways::Way::of(kind, edge));
    let label = edge.label.clone().filter(|label| !label.trim().is_empty());
    Edge {
        id: edge.id.clone(),
        src: edge.source.clone(),
        dst: edge.target.clone(),
        source_handle: None,
        target_handle: None,
        label: label.or_else(|| way.map(|way| way.to_string())),
        other: Map::new(),
    }
}
