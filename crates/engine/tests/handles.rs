//! What cannot work with data edges, in the words that people read: every rule has a workflow that breaks it.

use protocol::{Diagnostic, DiagnosticCode};
use runeglass_engine::{Limits, correlation::Descriptor, load, nodes};
use serde_json::{Value, json};

/// Edges are written `a.out>b.in`; either handle may be left out.
fn workflow(nodes: Value, edges: &str) -> Value {
    let edge = |(text, at): (&str, usize)| {
        let (from, to) = text.split_once('>').expect("a>b");
        let mut edge = json!({"id": format!("e{at}")});
        for (end, node, handle) in [(from, "src", "source_handle"), (to, "dst", "target_handle")] {
            let (id, name) = end.split_once('.').map_or((end, None), |(id, name)| (id, Some(name)));
            edge[node] = json!(id);
            if let Some(name) = name {
                edge[handle] = json!(name);
            }
        }
        edge
    };
    let edges: Vec<Value> = edges.split_whitespace().zip(0..).map(edge).collect();
    json!({"nodes": nodes, "edges": edges})
}

fn errors(nodes: Value, edges: &str) -> Vec<Diagnostic> {
    let loaded = load(workflow(nodes, edges).to_string().as_bytes(), &Limits::default());
    assert_eq!(loaded.plan.is_none(), loaded.diagnostics.iter().any(Diagnostic::is_error));
    loaded.diagnostics.into_iter().filter(Diagnostic::is_error).collect()
}

fn node(id: &str, kind: &str) -> Value {
    json!({"id": id, "type": kind, "parameters": {}})
}

fn two_iterations(third: Value) -> Value {
    json!([
        node("a", "simulate"),
        node("b", "simulate"),
        node("left", "for_each"),
        node("right", "for_each"),
        third
    ])
}

const TWO: &str = "a>left.input_list b>right.input_list";

#[test]
fn each_rule_has_a_workflow_that_breaks_it() {
    let reader = json!({"id": "j", "type": "simulate", "parameters": {"output": "$inputs"}});
    let streams = json!([node("a", "simulate"), node("s", "lines"), node("t", "lines"), reader]);
    let nested = json!([
        node("a", "simulate"),
        node("outer", "for_each"),
        node("s", "lines"),
        node("inner", "for_each"),
        reader
    ]);
    let if_only =
        json!([node("a", "simulate"), node("v", "simulate"), node("each", "for_each"), node("i", "if")]);
    let broken: Vec<(Value, String, &str, &str)> = vec![
        (
            two_iterations(reader.clone()),
            format!("{TWO} left.output>j.x right.output>j.y"),
            "come from independent iteration sources (scopes [left:items] and [right:items])",
            "Add Zip or Cross",
        ),
        (
            two_iterations(reader.clone()),
            format!("{TWO} a>j.x b>j.x"),
            "Handle \"x\" receives 2 edges but is not a list type",
            "merge them first",
        ),
        (
            two_iterations(json!({"id": "j", "type": "simulate", "inputs": {"x": {"type": "list[any]"}}})),
            format!("{TWO} left.output>j.x right.output>j.x"),
            "has incomparable source-edge scopes ([left:items] vs [right:items])",
            "Zip or Cross",
        ),
        (
            two_iterations(node("z", "zip")),
            "a>left.input_list left.output>z.left left.index>z.right".to_owned(),
            "must have exactly one iteration root after the common parent prefix; got 0",
            "aggregate first",
        ),
        (
            streams,
            "a>s.text a>t.text s.line>j.x t.line>j.y".to_owned(),
            "more than one repeats_per_key input at the execution scope: x, y",
            "Collect or Last",
        ),
        (
            nested,
            "a>outer.input_list outer.output>s.text outer.output>inner.input_list s.line>j.x inner.output>j.y".to_owned(),
            "may not use repeats_per_key input \"x\" as a strict-prefix sticky value",
            "Collect or Last",
        ),
        (
            if_only,
            "a>each.input_list v>i.value each.output>i.condition".to_owned(),
            "which is a strict prefix of the invocation scope",
            "aggregate first",
        ),
        (
            json!([node("a", "simulate"), node("each", "for_each"), node("inner", "for_each"), node("k", "take")]),
            "a>each.input_list each>k.input_item each>inner.input_list inner.index>k.n".to_owned(),
            "starts from scope [each:items], which is a strict prefix of the invocation scope [each:items, inner:items]",
            "aggregate first",
        ),
        (
            json!([node("a", "simulate"), node("each", "for_each"), node("b", "batch"), node("c", "collect")]),
            "a>each.input_list each>b.input_item a.size>b.size b.output>c.input_item".to_owned(),
            "batch has no input \"size\"",
            "it is a parameter: write it there",
        ),
        (
            two_iterations(node("x", "cross")),
            format!("{TWO} left>x.left right>x.right a>x.max_output_count"),
            "cross has no input \"max_output_count\"",
            "it is a parameter: write it there",
        ),
        (
            json!([node("a", "simulate"), node("c", "collect")]),
            "a>c.item".to_owned(),
            "collect has no input \"item\"",
            "its inputs are input_item",
        ),
        (
            json!([node("a", "simulate"), node("f", "for_each"), node("c", "collect")]),
            "a>f.input_list f.outputs>c.input_item".to_owned(),
            "for_each has no output \"outputs\"",
            "did you mean \"output\"",
        ),
        (
            json!([node("a", "simulate"), node("z", "zip")]),
            "a>z.left".to_owned(),
            "nothing leads to the input \"right\"",
            "\"target_handle\": \"right\"",
        ),
        (
            json!([node("a", "simulate"), {"id": "i", "type": "if", "parameters": {"condition": true}}, node("c", "reroute")]),
            "a>i.value i>c.value".to_owned(),
            "does not say which output it leaves from",
            "if_false, if_true",
        ),
        (
            json!([node("a", "reroute"), node("b", "reroute")]),
            "a>b.value b>a.value".to_owned(),
            "wait for each other in a circle: a, b",
            "remove one of the edges",
        ),
        (
            json!([{"id": "a", "type": "log", "parameters": {"message": "$inputs.x"}}]),
            String::new(),
            "$inputs holds what the handles of a node bring, and this node has none",
            "target_handle",
        ),
    ];
    for (nodes, edges, message, hint) in broken {
        let found = errors(nodes, &edges);
        let fits = |error: &&Diagnostic| error.message.contains(message) && error.hint.contains(hint);
        assert!(found.iter().any(|error| fits(&error)), "{edges}: nobody says {message:?} in {found:#?}");
        assert!(found.iter().all(|error| error.node_id.is_some()), "each names its node: {found:#?}");
        let misleads = |error: &Diagnostic| error.code == DiagnosticCode::RepeatedInput;
        assert!(!found.iter().any(misleads), "no branches meet here: {found:#?}");
    }
}

/// What other programs save beside the graph is not taken at its word.
#[test]
fn saved_copies_of_what_the_registry_knows_are_ignored() {
    let each = json!({
        "id": "each", "type": "for_each", "parameters": {}, "sync_mode": "zip_all", "is_streaming_output": false,
        "output_correlation": {"output": {"kind": "single", "source": "__execution__"}}
    });
    let loaded = load(
        workflow(
            json!([node("a", "simulate"), each, node("c", "collect")]),
            "a>each.input_list each.output>c.input_item",
        )
        .to_string()
        .as_bytes(),
        &Limits::default(),
    );
    let plan = loaded.plan.expect("valid");
    assert_eq!(plan.describe()["edges"][1]["roots"], json!(["each:items"]));
    assert_eq!(loaded.diagnostics, []);
}

#[test]
fn the_registry_keeps_its_own_rules() {
    for name in nodes::kinds() {
        let kind = nodes::kind(name).expect("a kind");
        assert_eq!(kind.descriptor().complaints(), Vec::<String>::new(), "{name}");
    }
    let broken = [
        (json!({"outputs": {"a": {"kind": "single"}}}), "must declare an explicit source"),
        (
            json!({"outputs": {"a": {"kind": "forward", "source": "__execution__"}}}),
            "cannot use source \"__execution__\"",
        ),
        (
            json!({"mode": "stream", "outputs": {"a": {"kind": "aggregate", "source": "x"}}}),
            "must declare a collapse spec",
        ),
        (
            json!({"outputs": {"a": {"kind": "aggregate", "source": "x", "collapse": "innermost"}}}),
            "is not allowed on buffered nodes",
        ),
        (
            json!({"outputs": {
                "a": {"kind": "iteration", "source": "x", "group": "g"},
                "b": {"kind": "iteration", "source": "y", "group": "g"}
            }}),
            "iteration group \"g\" has conflicting sources",
        ),
        (
            json!({"outputs": {"a": {"kind": "single", "source": "__execution__"}, "b": null}}),
            "\"b\" is missing a correlation entry",
        ),
        (
            json!({"declared": ["a"], "outputs": {
                "a": {"kind": "single", "source": "__execution__"}, "c": {"kind": "single", "source": "__execution__"}
            }}),
            "\"c\" is not in declared outputs",
        ),
    ];
    for (descriptor, complaint) in broken {
        let descriptor: Descriptor = serde_json::from_value(descriptor).expect("a descriptor");
        let said = descriptor.complaints();
        assert!(said.iter().any(|said| said.contains(complaint)), "nobody says {complaint:?} in {said:?}");
    }
}

#[test]
fn a_plan_tells_the_scopes_of_handles() {
    let join = json!({"id": "j", "type": "simulate", "parameters": {"output": "$inputs"},
                      "inputs": {"k": {"default": 7}}});
    let nodes = json!([node("a", "simulate"), node("each", "for_each"), join, node("all", "collect")]);
    let edges = "a>each.input_list each.output>j.x a>j.k j>all.input_item";
    let loaded = load(workflow(nodes, edges).to_string().as_bytes(), &Limits::default());
    let described = loaded.plan.expect("valid").describe();
    let joined = &described["nodes"][2]["handles"];
    assert_eq!(joined["invocation"], json!(["each:items"]));
    assert_eq!(joined["inputs"]["x"]["required"], json!(true));
    assert_eq!(joined["inputs"]["k"]["required"], json!(false));
    assert_eq!(joined["inputs"]["k"]["scope"], json!([]));
    assert_eq!(joined["outputs"]["out"]["contributors"], json!(["e1"]));
    assert_eq!(described["nodes"][3]["handles"]["outputs"]["output"]["scope"], json!([]));
    assert!(loaded.diagnostics.iter().all(|found| found.code != DiagnosticCode::UnknownHandle));
}
