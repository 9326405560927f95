//! From the bytes of a file to a plan, with everything that is wrong on the way.

use std::{collections::HashMap, sync::Arc};

use protocol::{Diagnostic, DiagnosticCode as Code, Edge, EdgeId, Node, NodeId, Place, Workflow};
use serde::{Deserialize, de::DeserializeOwned, de::IgnoredAny};
use serde_json::{Map, Value, value::RawValue};

use super::{Plan, check, outline};

/// Bounds on what is read, so that a strange file cannot take the house down.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub file_bytes: usize,
    pub depth: usize,
    pub nodes: usize,
    pub edges: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { file_bytes: 16 * 1024 * 1024, depth: 128, nodes: 10_000, edges: 50_000 }
    }
}

/// What a file turned out to be.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// Absent when the file could not be read as a workflow at all.
    pub workflow: Option<Arc<Workflow>>,
    /// Present when there are no errors.
    pub plan: Option<Arc<Plan>>,
    /// Names the definition; empty without one.
    pub hash: String,
    /// In the order of the file.
    pub diagnostics: Vec<Diagnostic>,
}

impl Loaded {
    pub fn refused(diagnostic: Diagnostic) -> Self {
        Self { workflow: None, plan: None, hash: String::new(), diagnostics: vec![diagnostic] }
    }
}

/// Nodes and edges as slices of the text, so that every complaint knows its place.
#[derive(Deserialize)]
struct Outline<'t> {
    #[serde(borrow, default)]
    nodes: Vec<&'t RawValue>,
    #[serde(borrow, default)]
    edges: Vec<&'t RawValue>,
}

/// Everything but nodes and edges.
#[derive(Deserialize)]
struct Header {
    workflow_id: Option<protocol::WorkflowId>,
    name: Option<String>,
    description: Option<String>,
    sample_input: Option<Value>,
    #[serde(rename = "nodes")]
    _nodes: Option<IgnoredAny>,
    #[serde(rename = "edges")]
    _edges: Option<IgnoredAny>,
    #[serde(flatten)]
    other: Map<String, Value>,
}

/// The offset at which each node and edge begins, in the order of the file.
struct Offsets {
    nodes: Vec<usize>,
    edges: Vec<usize>,
}

/// Reads a workflow. `Err` would stop at the first complaint, so there is none: everything found is in the result.
pub fn load(bytes: &[u8], limits: &Limits) -> Loaded {
    let text = match text_of(bytes, limits) {
        Ok(text) => text,
        Err(diagnostic) => return Loaded::refused(diagnostic),
    };
    let (workflow, offsets, mut diagnostics) = match parse(text, limits) {
        Ok(parsed) => parsed,
        Err(diagnostic) => return Loaded::refused(diagnostic),
    };
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Loaded { workflow: None, plan: None, hash: String::new(), diagnostics };
    }
    let workflow = Arc::new(workflow);
    let (plan, found) = check::compile(&workflow);
    diagnostics.extend(place_all(found, &workflow, &offsets, text));
    diagnostics.sort_by_key(|diagnostic| (diagnostic.severity, diagnostic.place));
    let plan = plan.filter(|_| !diagnostics.iter().any(Diagnostic::is_error)).map(Arc::new);
    Loaded { hash: check::hash_of(&workflow), workflow: Some(workflow), plan, diagnostics }
}

fn text_of<'b>(bytes: &'b [u8], limits: &Limits) -> Result<&'b str, Diagnostic> {
    if bytes.len() > limits.file_bytes {
        let message = format!("the file has {} bytes, {} are allowed", bytes.len(), limits.file_bytes);
        return Err(Diagnostic::error(
            Code::FileTooLarge,
            message,
            "a workflow holds the graph, not the data",
        ));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let message =
            format!("byte {} is not UTF-8 text; this looks like a binary file", error.valid_up_to());
        Diagnostic::error(Code::NotText, message, "a workflow is a JSON file in UTF-8")
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

type Parsed = (Workflow, Offsets, Vec<Diagnostic>);

fn parse(text: &str, limits: &Limits) -> Result<Parsed, Diagnostic> {
    if let Some(offset) = outline::too_deep(text, limits.depth) {
        let message = format!("the file nests objects and arrays deeper than {} levels", limits.depth);
        let diagnostic = Diagnostic::error(Code::TooDeep, message, "flatten the value at this place");
        return Err(diagnostic.at_place(outline::Lines::new(text).place(offset)));
    }
    serde_json::from_str::<IgnoredAny>(text).map_err(|error| {
        let hint = "check the comma, quote or bracket at this place";
        let message = format!("the file is not JSON: {}", without_place(&error.to_string()));
        Diagnostic::error(Code::NotJson, message, hint)
            .at_place(Place { line: error.line(), column: error.column() })
    })?;
    if !text.trim_start().starts_with('{') {
        return Err(wrong_shape(
            "the file holds JSON, but not an object".to_owned(),
            Place { line: 1, column: 1 },
        ));
    }
    let outline: Outline = parse_part(text, text, "the workflow")?;
    let header: Header = parse_part(text, text, "the workflow")?;
    check_counts(&outline, limits)?;

    let mut diagnostics = Vec::new();
    let (nodes, node_offsets) = parse_list::<Node>(text, "nodes", &outline.nodes, &mut diagnostics);
    let (edges, edge_offsets) = parse_list::<Edge>(text, "edges", &outline.edges, &mut diagnostics);
    let Header { workflow_id, name, description, sample_input, other, .. } = header;
    let workflow = Workflow { workflow_id, name, description, sample_input, nodes, edges, other };
    Ok((workflow, Offsets { nodes: node_offsets, edges: edge_offsets }, diagnostics))
}

fn check_counts(outline: &Outline<'_>, limits: &Limits) -> Result<(), Diagnostic> {
    let hint = "split the workflow into smaller ones";
    if outline.nodes.is_empty() {
        let hint = "add a node to \"nodes\", for example {\"id\": \"start\", \"type\": \"trigger\"}";
        return Err(Diagnostic::error(Code::NoNodes, "the workflow has no nodes", hint));
    }
    if outline.nodes.len() > limits.nodes {
        let message = format!("{} nodes, {} are allowed", outline.nodes.len(), limits.nodes);
        return Err(Diagnostic::error(Code::TooManyNodes, message, hint));
    }
    if outline.edges.len() > limits.edges {
        let message = format!("{} edges, {} are allowed", outline.edges.len(), limits.edges);
        return Err(Diagnostic::error(Code::TooManyEdges, message, hint));
    }
    Ok(())
}

fn parse_list<T: DeserializeOwned>(
    text: &str,
    list: &str,
    parts: &[&RawValue],
    diagnostics: &mut Vec<Diagnostic>,
) -> (Vec<T>, Vec<usize>) {
    let mut parsed = Vec::with_capacity(parts.len());
    let mut offsets = Vec::with_capacity(parts.len());
    for (index, part) in parts.iter().enumerate() {
        match parse_part(text, part.get(), &format!("{list}[{index}]")) {
            Ok(value) => {
                parsed.push(value);
                offsets.push(outline::offset_of(text, part.get()));
            }
            Err(diagnostic) => diagnostics.push(diagnostic),
        }
    }
    (parsed, offsets)
}

fn parse_part<'p, T: Deserialize<'p>>(text: &str, part: &'p str, what: &str) -> Result<T, Diagnostic> {
    serde_json::from_str(part).map_err(|error| {
        let start = outline::Lines::new(text).place(outline::offset_of(text, part));
        let place = match error.line() {
            0 | 1 => Place { line: start.line, column: start.column + error.column().saturating_sub(1) },
            line => Place { line: start.line + line - 1, column: error.column() },
        };
        wrong_shape(format!("{what}: {}", without_place(&error.to_string())), place)
    })
}

fn wrong_shape(message: String, place: Place) -> Diagnostic {
    let hint = "a workflow is {\"nodes\": [{\"id\", \"type\", \"parameters\"}], \"edges\": [{\"id\", \"src\", \"dst\"}]}";
    Diagnostic::error(Code::WrongShape, message, hint).at_place(place)
}

/// The parser appends its own place, relative to the part it was given.
fn without_place(message: &str) -> &str {
    message.rfind(" at line ").map_or(message, |at| &message[..at])
}

/// Adds the places of the nodes and edges that complaints name. Of two with the same id it is the later one.
fn place_all(found: Vec<Diagnostic>, workflow: &Workflow, offsets: &Offsets, text: &str) -> Vec<Diagnostic> {
    let nodes: HashMap<&NodeId, usize> =
        workflow.nodes.iter().map(|node| &node.id).zip(offsets.nodes.iter().copied()).collect();
    let edges: HashMap<&EdgeId, usize> =
        workflow.edges.iter().map(|edge| &edge.id).zip(offsets.edges.iter().copied()).collect();
    let lines = outline::Lines::new(text);
    let place = |diagnostic: Diagnostic| {
        let edge = diagnostic.edge_id.as_ref().and_then(|id| edges.get(id));
        match edge.or_else(|| nodes.get(diagnostic.node_id.as_ref()?)) {
            Some(&offset) => diagnostic.at_place(lines.place(offset)),
            None => diagnostic,
        }
    };
    found.into_iter().map(place).collect()
}
