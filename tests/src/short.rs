//! Small workflows, written in short.

use serde_json::{Value, json};

use crate::local::{Ran, plan, run};

pub fn node(id: &str, kind: &str, parameters: Value) -> Value {
    json!({"id": id, "type": kind, "parameters": parameters})
}

/// Edges are written `a>b`, with `:true` or `:false` behind a side of a condition; `!` leads an error edge. Handles stand
/// behind a dot: `a.left>b.value`.
pub fn workflow(nodes: Vec<Value>, edges: &str) -> Value {
    let mut nodes = nodes;
    let mut written = Vec::new();
    for text in edges.split_whitespace() {
        let is_error = text.starts_with('!');
        let (path, side) =
            text.trim_start_matches('!').split_once(':').unwrap_or((text.trim_start_matches('!'), ""));
        let (from, to) = path.split_once('>').expect("a>b");
        let (src, output) = from.split_once('.').unwrap_or((from, side));
        let (dst, input) = to.split_once('.').unwrap_or((to, ""));
        let mut edge = json!({"id": path, "src": src, "dst": dst});
        if !input.is_empty() {
            edge["target_handle"] = json!(input);
        }
        if !output.is_empty() {
            edge["source_handle"] = json!(output);
        }
        if is_error {
            let from = nodes.iter_mut().find(|node| node["id"] == src).expect("a node");
            from["error"] = json!({"type": "branch", "error_edge": path});
        }
        written.push(edge);
    }
    json!({"nodes": nodes, "edges": written})
}

pub async fn go(nodes: Vec<Value>, edges: &str, input: Value) -> Ran {
    run(plan(&workflow(nodes, edges)), input).await
}

pub fn trigger() -> Value {
    node("t", "trigger", json!({}))
}

pub fn split(id: &str, array: &str) -> Value {
    node(id, "split", json!({"input_array": array}))
}

pub fn echo(id: &str, value: &str) -> Value {
    node(id, "simulate", json!({"output": value}))
}

pub fn gather(id: &str) -> Value {
    node(id, "aggregator", json!({"timeout": 0}))
}

pub fn merge(id: &str) -> Value {
    node(id, "merge", json!({"timeout": 0}))
}

pub fn condition(id: &str, expression: &str) -> Value {
    node(id, "conditional", json!({"expression": expression}))
}
