//! Small workflows in the shape that the workers get.

use serde_json::{Value, json};

pub fn trigger() -> Value {
    json!({"id": "start", "name": "Start", "type": "ManualTrigger", "trigger": true, "parameters": {}})
}

/// A node whose name is its id with a capital letter, as people name them.
pub fn node(id: &str, kind: &str, parameters: Value) -> Value {
    let mut name = id.to_owned();
    name[..1].make_ascii_uppercase();
    json!({"id": id, "name": name, "type": kind, "parameters": parameters, "position": [10.0, 20.0]})
}

pub fn http(id: &str, url: &str) -> Value {
    node(id, "http", json!({"method": "GET", "url": url}))
}

pub fn log(id: &str) -> Value {
    node(id, "log", json!({"message": id}))
}

pub fn split(id: &str, array: &str) -> Value {
    node(id, "split", json!({"input_array": array}))
}

pub fn gather(id: &str) -> Value {
    node(id, "aggregator", json!({}))
}

pub fn merge(id: &str, mode: &str) -> Value {
    node(id, "merge", json!({"wait_mode": mode}))
}

pub fn wait(id: &str, seconds: u32) -> Value {
    node(id, "wait", json!({"amount": seconds, "unit": "seconds"}))
}

/// Its edges are `<id>-<yes>` and `<id>-<no>`, where there are such nodes.
pub fn condition(id: &str, expression: &str, yes: &str, no: &str) -> Value {
    let mut parameters = json!({"expression": expression});
    for (name, to) in [("true_edge_id", yes), ("false_edge_id", no)] {
        if !to.is_empty() {
            parameters[name] = json!(format!("{id}-{to}"));
        }
    }
    node(id, "conditional", parameters)
}

pub fn on_error(mut node: Value, kind: &str, edge: &str) -> Value {
    node["error"] = json!({"type": kind, "error_edge": edge});
    node
}

/// Edges are written as `a>b b>c`; each is called `a-b`.
pub fn workflow(nodes: Vec<Value>, edges: &str) -> Value {
    let edge = |edge: &str| {
        let (from, to) = edge.split_once('>').expect("an edge is from>to");
        json!({"id": format!("{from}-{to}"), "src": from, "dst": to})
    };
    let edges: Vec<Value> = edges.split_whitespace().map(edge).collect();
    json!({"nodes": nodes, "edges": edges})
}

/// Three nodes behind a trigger: each item is asked for, all are gathered.
pub fn fan_out() -> Value {
    let nodes = vec![
        trigger(),
        split("s", "$trigger.items"),
        http("fetch", "http://shop/$item.id"),
        gather("a"),
        log("end"),
    ];
    workflow(nodes, "start>s s>fetch fetch>a a>end")
}

/// A merge behind a choice: it waits for both sides, and one of them never comes.
pub fn merge_behind_a_choice() -> Value {
    let nodes = vec![
        trigger(),
        condition("c", "$trigger.n > 5", "yes", "no"),
        log("yes"),
        log("no"),
        merge("m", "wait_for_all"),
        log("end"),
    ];
    workflow(nodes, "start>c c>yes c>no yes>m no>m m>end")
}

/// So many of them, as an input.
pub fn items(count: usize) -> Value {
    json!({"items": (0..count).map(|id| json!({"id": id})).collect::<Vec<_>>()})
}
