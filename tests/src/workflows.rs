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
