//! Workflows that are too large to write down.

use serde_json::{Value, json};

/// `chains` chains of `length` nodes behind one trigger. Each node adds one to what the node before it put out, so
/// that a lost or repeated step would show in the result.
pub fn wide(chains: usize, length: usize, latency_ms: u32) -> Value {
    let mut nodes = vec![json!({"id": "start", "type": "trigger"})];
    let mut edges = Vec::new();
    for chain in 0..chains {
        for step in 0..length {
            let id = format!("c{chain}_{step}");
            let (before, value) = match step {
                0 => ("start".to_owned(), format!("{{{{ {chain} * 1000 }}}}")),
                _ => (format!("c{chain}_{}", step - 1), format!("{{{{ $c{chain}_{}.n + 1 }}}}", step - 1)),
            };
            nodes.push(json!({
                "id": id, "type": "simulate",
                "parameters": {"latency_ms": latency_ms, "output": {"n": value}}
            }));
            edges.push(json!({"id": format!("to_{id}"), "src": before, "dst": id}));
        }
    }
    json!({"workflow_id": "wide", "nodes": nodes, "edges": edges})
}

/// A split inside a split, with a short wait for every item: `outer` times `inner` items.
pub fn nested(outer: usize, inner: usize) -> (Value, Value) {
    let workflow = json!({
        "workflow_id": "nested",
        "nodes": [
            {"id": "start", "type": "trigger"},
            {"id": "rows", "type": "split", "parameters": {"input_array": "$trigger"}},
            {"id": "cells", "type": "split", "parameters": {"input_array": "$item"}},
            {"id": "rest", "type": "wait", "parameters": {"amount": "{{ ($item % 7) / 50 }}", "unit": "seconds"}},
            {"id": "work", "type": "simulate", "parameters": {"latency_ms": 2, "output": "{{ $item * 2 }}"}},
            {"id": "row", "type": "aggregator"},
            {"id": "all", "type": "aggregator"}
        ],
        "edges": [
            {"id": "1", "src": "start", "dst": "rows"}, {"id": "2", "src": "rows", "dst": "cells"},
            {"id": "3", "src": "cells", "dst": "rest"}, {"id": "4", "src": "rest", "dst": "work"},
            {"id": "5", "src": "work", "dst": "row"}, {"id": "6", "src": "row", "dst": "all"}
        ]
    });
    let rows: Vec<Vec<usize>> =
        (0..outer).map(|row| (0..inner).map(|cell| row * inner + cell).collect()).collect();
    (workflow, json!(rows))
}
