//! From the bytes of a file to a plan, with everything that is wrong on the way.

use std::{collections::HashMap, sync::Arc};

use protocol::{Diagnostic, DiagnosticCode as Code, EdgeId, ErrorPolicy, Node, NodeId, Place, Workflow};
use serde::{Deserialize, de::DeserializeOwned, de::IgnoredAny};
use serde_json::{Map, Value, value::RawValue};

use super::{
    Plan,
    canvas::{self, CanvasEdge, CanvasNode, Converted},
    check, outline,
};

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
    #[serde(borrow)]
    nodes: Option<Vec<&'t RawValue>>,
    #[serde(borrow)]
    edges: Option<Vec<&'t RawValue>>,
    /// Where Rune keeps the graph in a row of its table, and where in a message.
    #[serde(borrow, alias = "workflow_definition")]
    workflow_data: Option<&'t RawValue>,
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

impl Header {
    /// What stands around the graph fills what the graph does not say itself. The rest of it is about the row or the
    /// message, not about the workflow.
    fn within(self, around: Self) -> Self {
        Self {
            workflow_id: self.workflow_id.or(around.workflow_id),
            name: self.name.or(around.name),
            description: self.description.or(around.description),
            sample_input: self.sample_input.or(around.sample_input),
            ..self
        }
    }
}

/// A workflow and the pieces of text its nodes and edges were read from, in the same order.
struct Parsed<'t> {
    workflow: Workflow,
    nodes: Vec<&'t str>,
    edges: Vec<&'t str>,
    /// What people have stuck onto the canvas.
    notes: Vec<Value>,
    /// Parts that could not be read, with their places.
    unreadable: Vec<Diagnostic>,
    /// Complaints that name a node or an edge.
    found: Vec<Diagnostic>,
}

/// Reads a workflow. `Err` would stop at the first complaint, so there is none: everything found is in the result.
pub fn load(bytes: &[u8], limits: &Limits) -> Loaded {
    let text = match text_of(bytes, limits) {
        Ok(text) => text,
        Err(diagnostic) => return Loaded::refused(diagnostic),
    };
    let parsed = match parse(text, limits) {
        Ok(parsed) => parsed,
        Err(diagnostic) => return Loaded::refused(diagnostic),
    };
    if !parsed.unreadable.is_empty() {
        return Loaded { workflow: None, plan: None, hash: String::new(), diagnostics: parsed.unreadable };
    }
    let workflow = Arc::new(parsed.workflow);
    let (plan, found) = check::compile(&workflow);
    let found = parsed.found.into_iter().chain(found);
    let mut diagnostics = place_all(found, &workflow, text, (&parsed.nodes, &parsed.edges));
    diagnostics.sort_by_key(|diagnostic| (diagnostic.severity, diagnostic.place));
    let plan = plan.filter(|_| !diagnostics.iter().any(Diagnostic::is_error)).map(Arc::new);
    Loaded { hash: check::hash_of(&workflow), workflow: Some(workflow), plan, diagnostics }
}

/// The shape of a workflow that is only looked at: kinds that are not known stand in it as well, and nothing that is
/// wrong with it counts. `None` where it does not hold together at all, such as in a circle. It is not to be run.
pub fn load_shape(bytes: &[u8]) -> Option<Arc<Plan>> {
    let text = text_of(bytes, &Limits::default()).ok()?;
    let Parsed { mut workflow, .. } = parse(text, &Limits::default()).ok()?;
    for node in workflow.nodes.iter_mut().filter(|node| super::kind_of(node).is_none()) {
        "log".clone_into(&mut node.kind);
        node.parameters.clear();
    }
    check::compile(&Arc::new(workflow)).0.map(Arc::new)
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

fn parse<'t>(text: &'t str, limits: &Limits) -> Result<Parsed<'t>, Diagnostic> {
    if let Some(offset) = outline::too_deep(text, limits.depth) {
        let message = format!("the file nests objects and arrays deeper than {} levels", limits.depth);
        let diagnostic = Diagnostic::error(Code::TooDeep, message, "flatten the value at this place");
        return Err(diagnostic.at_place(outline::Lines::new(text).place(offset)));
    }
    serde_json::from_str::<IgnoredAny>(text).map_err(|error| {
        let said = error.to_string();
        let (what, hint) = match without_place(&said).strip_prefix("EOF while parsing ") {
            Some(open) => {
                (format!("it ends in the middle of {open}"), "close what is open, from the inside out")
            }
            None => (without_place(&said).to_owned(), "check the comma, quote or bracket at this place"),
        };
        // An end behind a line break is told as column 0, where nobody can look.
        let place = Place { line: error.line(), column: error.column().max(1) };
        Diagnostic::error(Code::NotJson, format!("the file is not JSON: {what}"), hint).at_place(place)
    })?;
    if !text.trim_start().starts_with('{') {
        let complaint = Complaint {
            message: "the file holds JSON, but not an object".to_owned(),
            place: Place { line: 1, column: 1 },
        };
        return Err(complaint.with_hint(SHAPE));
    }
    let (header, outline) = unwrap(text)?;
    let (nodes, edges) = (outline.nodes.unwrap_or_default(), outline.edges.unwrap_or_default());
    check_counts(&nodes, &edges, limits)?;
    let mut parsed = match canvas::is_canvas(&nodes, &edges) {
        true => parse_canvas(text, &nodes, &edges),
        false => parse_plain(text, &nodes, &edges),
    };
    if parsed.workflow.nodes.is_empty() && parsed.unreadable.is_empty() {
        return Err(no_nodes());
    }
    parsed.found.extend(unknown_policies(&parsed));
    parsed.workflow.workflow_id = header.workflow_id.filter(|id| !id.as_str().is_empty());
    parsed.workflow.name = header.name;
    parsed.workflow.description = header.description;
    parsed.workflow.sample_input = header.sample_input;
    parsed.workflow.other = with_notes(header.other, std::mem::take(&mut parsed.notes));
    Ok(parsed)
}

/// Notes that lie on the canvas join those that are written down already.
fn with_notes(mut other: Map<String, Value>, notes: Vec<Value>) -> Map<String, Value> {
    if notes.is_empty() {
        return other;
    }
    match other.get_mut("notes") {
        Some(Value::Array(written)) => written.extend(notes),
        Some(_) | None => {
            other.insert("notes".to_owned(), Value::Array(notes));
        }
    }
    other
}

/// The header and the outline of the graph, which may stand inside a row or a message of Rune.
fn unwrap(text: &str) -> Result<(Header, Outline<'_>), Diagnostic> {
    let read = |part| {
        let header: Header = parse_part(text, part, "the workflow").map_err(|it| it.with_hint(SHAPE))?;
        let outline: Outline = parse_part(text, part, "the workflow").map_err(|it| it.with_hint(SHAPE))?;
        Ok((header, outline))
    };
    let (header, outline) = read(text)?;
    match outline.workflow_data {
        Some(inner) if outline.nodes.is_none() => {
            let (inside, outline) = read(inner.get())?;
            Ok((inside.within(header), outline))
        }
        Some(_) | None => Ok((header, outline)),
    }
}

fn parse_plain<'t>(text: &'t str, nodes: &[&'t RawValue], edges: &[&'t RawValue]) -> Parsed<'t> {
    let mut unreadable = Vec::new();
    let (nodes, node_texts) = parse_list(text, "nodes", nodes, SHAPE, &mut unreadable).into_iter().unzip();
    let (edges, edge_texts) = parse_list(text, "edges", edges, SHAPE, &mut unreadable).into_iter().unzip();
    let workflow = Workflow { nodes, edges, ..Workflow::default() };
    Parsed {
        workflow,
        nodes: node_texts,
        edges: edge_texts,
        notes: Vec::new(),
        unreadable,
        found: Vec::new(),
    }
}

fn parse_canvas<'t>(text: &'t str, nodes: &[&'t RawValue], edges: &[&'t RawValue]) -> Parsed<'t> {
    let mut unreadable = Vec::new();
    let nodes = parse_list::<CanvasNode>(text, "nodes", nodes, CANVAS_SHAPE, &mut unreadable);
    let edges = parse_list::<CanvasEdge>(text, "edges", edges, CANVAS_SHAPE, &mut unreadable);
    let (notes, nodes): (Vec<_>, Vec<_>) = nodes.into_iter().partition(|(node, _)| node.is_note());
    let notes: Vec<Value> = notes.into_iter().map(|(note, _)| note.into_note()).collect();
    let (nodes, node_texts) = nodes.into_iter().unzip();
    let (edges, edge_texts) = edges.into_iter().unzip();
    let Converted { nodes, edges, findings } = canvas::convert(nodes, edges);
    let workflow = Workflow { nodes, edges, ..Workflow::default() };
    Parsed { workflow, nodes: node_texts, edges: edge_texts, notes, unreadable, found: findings }
}

/// A policy that is not known is read as `halt`; its author is told.
fn unknown_policies(parsed: &Parsed<'_>) -> Vec<Diagnostic> {
    #[derive(Deserialize)]
    struct Written {
        error: Policy,
    }
    #[derive(Deserialize)]
    struct Policy {
        #[serde(rename = "type")]
        word: String,
    }
    let halting = parsed.workflow.nodes.iter().zip(&parsed.nodes);
    let halting = halting.filter(|(node, _)| node.error == Some(ErrorPolicy::Halt));
    let complain = |(node, text): (&Node, &&str)| {
        let Written { error: Policy { word } } = serde_json::from_str(text).ok()?;
        let message = format!("the error policy {word:?} is not known and is read as halt");
        let hint = "write halt, ignore or branch";
        let warning = Diagnostic::warning(Code::UnknownErrorPolicy, message, hint).at_node(&node.id);
        (word != "halt").then_some(warning)
    };
    halting.filter_map(complain).collect()
}

fn no_nodes() -> Diagnostic {
    let hint = "add a node to \"nodes\", for example {\"id\": \"start\", \"type\": \"trigger\"}";
    Diagnostic::error(Code::NoNodes, "the workflow has no nodes", hint)
}

fn check_counts(nodes: &[&RawValue], edges: &[&RawValue], limits: &Limits) -> Result<(), Diagnostic> {
    let hint = "split the workflow into smaller ones";
    if nodes.is_empty() {
        return Err(no_nodes());
    }
    if nodes.len() > limits.nodes {
        let message = format!("{} nodes, {} are allowed", nodes.len(), limits.nodes);
        return Err(Diagnostic::error(Code::TooManyNodes, message, hint));
    }
    if edges.len() > limits.edges {
        let message = format!("{} edges, {} are allowed", edges.len(), limits.edges);
        return Err(Diagnostic::error(Code::TooManyEdges, message, hint));
    }
    Ok(())
}

/// The entries that could be read, each with its text.
fn parse_list<'t, T: DeserializeOwned>(
    text: &str,
    list: &str,
    parts: &[&'t RawValue],
    hint: &str,
    unreadable: &mut Vec<Diagnostic>,
) -> Vec<(T, &'t str)> {
    let mut parsed = Vec::with_capacity(parts.len());
    for (index, part) in parts.iter().enumerate() {
        match parse_part(text, part.get(), &format!("{list}[{index}]")) {
            Ok(value) => parsed.push((value, part.get())),
            Err(complaint) => unreadable.push(complaint.with_hint(hint)),
        }
    }
    parsed
}

/// What a workflow looks like.
const SHAPE: &str = "a workflow is {\"nodes\": [{\"id\", \"type\", \"parameters\"}], \"edges\": [{\"id\", \"src\", \"dst\"}]}";
const CANVAS_SHAPE: &str = "a Rune canvas is {\"nodes\": [{\"id\", \"type\", \"data\"}], \"edges\": [{\"id\", \"source\", \"target\"}]}";

/// Something that does not have the shape it should have.
struct Complaint {
    message: String,
    place: Place,
}

impl Complaint {
    fn with_hint(self, hint: &str) -> Diagnostic {
        Diagnostic::error(Code::WrongShape, self.message, hint).at_place(self.place)
    }
}

fn parse_part<'p, T: Deserialize<'p>>(text: &str, part: &'p str, what: &str) -> Result<T, Complaint> {
    serde_json::from_str(part).map_err(|error| {
        let start = outline::Lines::new(text).place(outline::offset_of(text, part));
        let place = match error.line() {
            0 | 1 => Place { line: start.line, column: start.column + error.column().saturating_sub(1) },
            line => Place { line: start.line + line - 1, column: error.column() },
        };
        Complaint { message: format!("{what}: {}", without_place(&error.to_string())), place }
    })
}

/// The parser appends its own place, relative to the part it was given.
fn without_place(message: &str) -> &str {
    message.rfind(" at line ").map_or(message, |at| &message[..at])
}

/// Adds the places of the nodes and edges that complaints name. Of two with the same id it is the later one.
fn place_all(
    found: impl Iterator<Item = Diagnostic>,
    workflow: &Workflow,
    text: &str,
    (node_texts, edge_texts): (&[&str], &[&str]),
) -> Vec<Diagnostic> {
    let nodes: HashMap<&NodeId, &str> =
        workflow.nodes.iter().map(|node| &node.id).zip(node_texts.iter().copied()).collect();
    let edges: HashMap<&EdgeId, &str> =
        workflow.edges.iter().map(|edge| &edge.id).zip(edge_texts.iter().copied()).collect();
    let lines = outline::Lines::new(text);
    let place = |diagnostic: Diagnostic| {
        let edge = diagnostic.edge_id.as_ref().and_then(|id| edges.get(id));
        match edge.or_else(|| nodes.get(diagnostic.node_id.as_ref()?)) {
            Some(part) => diagnostic.at_place(lines.place(outline::offset_of(text, part))),
            None => diagnostic,
        }
    };
    found.map(place).collect()
}
