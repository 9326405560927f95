//! The ways out of an `if` and a `switch`: on a canvas the handle an edge leaves from, in a workflow a parameter that
//! names the edge.

use std::fmt;

use protocol::{Diagnostic, DiagnosticCode as Code};
use serde_json::{Map, Value, json};

use super::CanvasEdge;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Side(bool),
    /// Counts from 0.
    Case(usize),
    Fallback,
}

impl Way {
    /// The handle says which; where there is none, the label that the canvas gives to such edges.
    pub fn of(kind: &str, edge: &CanvasEdge) -> Option<Self> {
        let word = edge.source_handle.as_deref().or(edge.label.as_deref())?.trim().to_lowercase();
        match (kind, word.as_str()) {
            ("if", "true") => Some(Self::Side(true)),
            ("if", "false") => Some(Self::Side(false)),
            ("switch", "switch-fallback" | "fallback") => Some(Self::Fallback),
            ("switch", word) => case(word).map(Self::Case),
            _ => None,
        }
    }
}

/// Handles count cases from 0, labels from 1.
fn case(word: &str) -> Option<usize> {
    if let Some(index) = word.strip_prefix("switch-case-") {
        return index.parse().ok();
    }
    word.strip_prefix("case")?.trim().parse::<usize>().ok()?.checked_sub(1)
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Side(side) => write!(f, "{side}"),
            Self::Case(index) => write!(f, "case {}", index + 1),
            Self::Fallback => f.write_str("fallback"),
        }
    }
}

/// Writes the edges that leave a node into its parameters; complains about those that will never be followed.
pub fn write(kind: &str, leaving: &[&CanvasEdge], parameters: &mut Map<String, Value>) -> Vec<Diagnostic> {
    match kind {
        "if" => write_sides(leaving, parameters),
        "switch" => write_routes(leaving, parameters),
        _ => Vec::new(),
    }
}

fn write_sides(leaving: &[&CanvasEdge], parameters: &mut Map<String, Value>) -> Vec<Diagnostic> {
    // Only the edges themselves say where they leave from.
    parameters.retain(|name, _| !matches!(name.as_str(), "true_edge_id" | "false_edge_id"));
    let mut unused = Vec::new();
    for edge in leaving {
        let side = match Way::of("if", edge) {
            Some(Way::Side(true)) => "true_edge_id",
            Some(Way::Side(false)) => "false_edge_id",
            Some(Way::Case(_) | Way::Fallback) | None => {
                unused.push(no_such_way(edge, "an if has the handles true and false"));
                continue;
            }
        };
        match parameters.contains_key(side) {
            true => unused.push(second_on_the_way(edge)),
            false => {
                parameters.insert(side.to_owned(), json!(edge.id));
            }
        }
    }
    unused
}

/// One route per rule and one more for when none holds; `null` where nothing follows.
fn write_routes(leaving: &[&CanvasEdge], parameters: &mut Map<String, Value>) -> Vec<Diagnostic> {
    let rules = parameters.entry("rules").or_insert_with(|| json!([])).as_array().map_or(0, Vec::len);
    let mut routes = vec![Value::Null; rules + 1];
    let mut unused = Vec::new();
    for edge in leaving {
        let index = match Way::of("switch", edge) {
            Some(Way::Case(index)) if index < rules => index,
            Some(Way::Fallback) => rules,
            Some(Way::Case(_) | Way::Side(_)) | None => {
                let hint = format!(
                    "this switch has {rules} rules; its handles are switch-case-0 and on, and switch-fallback"
                );
                unused.push(no_such_way(edge, &hint));
                continue;
            }
        };
        match routes[index].is_null() {
            true => routes[index] = json!(edge.id),
            false => unused.push(second_on_the_way(edge)),
        }
    }
    parameters.insert("routes".to_owned(), Value::Array(routes));
    unused
}

fn no_such_way(edge: &CanvasEdge, hint: &str) -> Diagnostic {
    let message = match &edge.source_handle {
        Some(handle) => format!("the handle {handle:?} does not exist, so this edge is never followed"),
        None => "this edge leaves from no handle, so it is never followed".to_owned(),
    };
    unused(edge, message, hint)
}

fn second_on_the_way(edge: &CanvasEdge) -> Diagnostic {
    let message = "another edge leaves from the same handle, so this one is never followed".to_owned();
    unused(edge, message, "lead both through one node, or remove the edge")
}

fn unused(edge: &CanvasEdge, message: String, hint: &str) -> Diagnostic {
    Diagnostic::warning(Code::UnknownHandle, message, hint).at_edge(&edge.id).at_node(&edge.source)
}
