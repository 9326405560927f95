//! Tables for every kind of node: what it puts out, where it leads, how it fails.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::{collections::BTreeMap, sync::Arc};

use protocol::{ErrorCode, MessageId, Payload};
use runeglass_engine::{Context, Limits, Message, Plan, Work, conclude, load, prepare};
use serde_json::{Value, json};

fn plan(workflow: Value) -> Arc<Plan> {
    let loaded = load(workflow.to_string().as_bytes(), &Limits::default());
    loaded.plan.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics))
}

/// Runs a plan to its end without any backend; gives each node's result (the last one, if it ran several times).
fn run(plan: &Plan, input: Value) -> BTreeMap<String, Result<Value, (ErrorCode, String)>> {
    let execution = "x".into();
    let start = |&node: &usize| Message {
        execution_id: "x".into(),
        id: MessageId::start(&execution, &plan.nodes[node].id),
        node,
        lineage: [].into(),
        context: Context::start(Payload::new(input.clone())),
        attempt: 1,
    };
    let mut messages: Vec<Message> = plan.starts.iter().map(start).collect();
    let mut results = BTreeMap::new();
    while let Some(message) = messages.pop() {
        let answer = match prepare(plan, &message, 0).work {
            Work::Done(output) => Ok(output),
            Work::Failed(error) => Err(error),
            Work::Sleep { then, .. } => *then,
        };
        let effects = conclude(plan, &message, answer);
        let node = &plan.nodes[message.node];
        let context = message.context.after(node, effects.outcome.as_ref());
        let shown = effects.outcome.map(|output| output.value().clone());
        results.insert(node.id.to_string(), shown.map_err(|error| (error.code, error.message)));
        messages.extend(effects.children.into_iter().map(|child| Message {
            id: child.message_id,
            node: plan.node(&child.node_id).unwrap(),
            context: context.clone(),
            ..message.clone()
        }));
    }
    results
}

/// One node between a trigger and nothing.
fn check_node(kind: &str, parameters: Value, input: Value, expected: Result<Value, (ErrorCode, &str)>) {
    let workflow = json!({
        "nodes": [{"id": "t", "type": "trigger"}, {"id": "n", "type": kind, "parameters": parameters}],
        "edges": [{"id": "e", "src": "t", "dst": "n"}]
    });
    let found = run(&plan(workflow), input).remove("n").unwrap();
    match (found, expected) {
        (Ok(output), Ok(wanted)) => assert_eq!(output, wanted, "{kind} {parameters}"),
        (Err((code, message)), Err((wanted, words))) => {
            assert_eq!(code, wanted, "{kind} {parameters}: {message}");
            assert!(message.contains(words), "{kind} {parameters}: {message}");
        }
        (found, _) => panic!("{kind} {parameters} gives {found:?}"),
    }
}

#[test]
fn trigger() {
    for kind in ["trigger", "ManualTrigger", "ScheduledTrigger", "webhook", "webhookTrigger"] {
        let workflow = json!({"nodes": [{"id": "t", "type": kind}]});
        assert_eq!(run(&plan(workflow), json!({"a": 1}))["t"], Ok(json!({"a": 1})), "{kind}");
    }
}

#[test]
fn log() {
    let said = |message: &str, level: &str| {
        Ok(json!({"message": message, "level": level, "logged_at": "1970-01-01T00:00:00.000Z"}))
    };
    let input = json!({"who": "Ada", "n": 1.5, "list": [1, {"a": null}]});
    check_node("log", json!({"message": "Hi $trigger.who."}), input.clone(), said("Hi Ada.", "info"));
    check_node("log", json!({"message": "$trigger.n", "level": "warn"}), input.clone(), said("1.5", "warn"));
    check_node("log", json!({"message": "$trigger.list"}), input.clone(), said("[1,{\"a\":null}]", "info"));
    check_node(
        "log",
        json!({"message": "costs $5 or $$trigger", "level": "loud"}),
        input.clone(),
        said("costs $5 or $trigger", "info"),
    );
    check_node("log", json!({"message": "a {{ $trigger.n + 1 }} b"}), input.clone(), said("a 2.5 b", "info"));
    let missing = Err((ErrorCode::ExpressionFailed, "$trigger has no .nobody"));
    check_node("log", json!({"message": "$trigger.nobody"}), input, missing);
}

#[test]
fn edit() {
    let write = |name: &str, value: Value| json!({"assignments": [{"name": name, "value": value}]});
    let input = json!({"a": 2, "text": "7", "list": [{"x": 1}, {"x": 2}]});
    let ok = |json: Value| Ok(json!({"$json": json}));
    check_node("edit", write("b", json!("$trigger.a")), input.clone(), ok(json!({"b": 2})));
    check_node(
        "edit",
        write("deep.er", json!("{{ $trigger.a * 2 }}")),
        input.clone(),
        ok(json!({"deep": {"er": 4}})),
    );
    let both = json!({"assignments": [{"name": "one", "value": 1}, {"name": "two", "value": "{{ $json.one + 1 }}"}]});
    check_node("edit", both, input.clone(), ok(json!({"one": 1, "two": 2})));
    let onto = json!({"target_path": "$trigger", "assignments": [{"name": "a", "value": 3}]});
    check_node("edit", onto, json!({"a": 2, "b": 1}), ok(json!({"a": 3, "b": 1})));
    let only =
        json!({"target_path": "$trigger", "mode": "keep_only", "assignments": [{"name": "a", "value": 3}]});
    check_node("edit", only, json!({"a": 2, "b": 1}), ok(json!({"a": 3})));
    let each = json!({"target_path": "$trigger.list", "assignments": [{"name": "y", "value": "{{ $json.x * 10 }}"}]});
    check_node("edit", each, input.clone(), ok(json!([{"x": 1, "y": 10}, {"x": 2, "y": 20}])));
    for (kind, value, wanted) in [
        ("number", json!("$trigger.text"), json!(7)),
        ("string", json!("$trigger.a"), json!("2")),
        ("boolean", json!("yes"), json!(true)),
        ("json", json!("{\"k\": [1]}"), json!({"k": [1]})),
    ] {
        let cast = json!({"assignments": [{"name": "v", "value": value, "type": kind}]});
        check_node("edit", cast, input.clone(), ok(json!({"v": wanted})));
    }
    let wrong = json!({"assignments": [{"name": "v", "value": "x", "type": "number"}]});
    check_node("edit", wrong, input.clone(), Err((ErrorCode::InvalidParameter, "as a number")));
    let no_fields = json!({"target_path": "$trigger.a", "assignments": []});
    check_node("edit", no_fields, input, Err((ErrorCode::InvalidParameter, "has no fields")));
}

#[test]
fn conditional() {
    let workflow = |expression: &str| {
        json!({
            "nodes": [
                {"id": "t", "type": "trigger"},
                {"id": "c", "type": "conditional", "parameters": {
                    "expression": expression, "true_edge_id": "yes", "false_edge_id": "no"}},
                {"id": "y", "type": "log", "parameters": {"message": "y"}},
                {"id": "n", "type": "log", "parameters": {"message": "n"}}
            ],
            "edges": [
                {"id": "e", "src": "t", "dst": "c"},
                {"id": "yes", "src": "c", "dst": "y"},
                {"id": "no", "src": "c", "dst": "n"}
            ]
        })
    };
    for (expression, taken) in [
        ("$trigger.n > 1", true),
        ("{{ $trigger.n > 1 }}", true),
        ("$trigger.n > 2 || $trigger.s === 'a > b'", true),
        ("$trigger.n > 2", false),
        ("$trigger.flag", false),
        ("$trigger.zero", false),
        ("$trigger.nothing", false),
        ("$trigger.s", true),
        ("$trigger.list", true),
    ] {
        let input = json!({"n": 2, "s": "a > b", "flag": false, "zero": 0, "nothing": null, "list": []});
        let results = run(&plan(workflow(expression)), input);
        assert_eq!(results["c"], Ok(json!({"result": taken})), "{expression}");
        assert_eq!(results.contains_key("y"), taken, "{expression}");
        assert_eq!(results.contains_key("n"), !taken, "{expression}");
    }
    let results = run(&plan(workflow("$trigger.missing > 1")), json!({}));
    assert!(
        results.len() == 3 && results["c"].is_ok(),
        "undefined > 1 is false in JavaScript, not a failure"
    );
    let results = run(&plan(workflow("$trigger.missing")), json!({}));
    assert_eq!(results["c"].as_ref().unwrap_err().0, ErrorCode::ExpressionFailed);
}

#[test]
fn simulate() {
    check_node("simulate", json!({}), json!(1), Ok(json!({"ok": true, "latency_ms": 0})));
    check_node("simulate", json!({"output": "$trigger"}), json!([1]), Ok(json!([1])));
    check_node("simulate", json!({"output": null}), json!(1), Ok(json!(null)));
    let fails = json!({"failure_rate": "1", "error_message": "down"});
    check_node("simulate", fails, json!(1), Err((ErrorCode::SimulatedFailure, "down")));
    let negative = Err((ErrorCode::InvalidParameter, "zero or more"));
    check_node("simulate", json!({"latency_ms": -1}), json!(1), negative.clone());
    check_node("simulate", json!({"latency_ms": "soon"}), json!(1), negative);
}

#[test]
fn simulated_chance_is_the_same_every_time_and_different_from_node_to_node() {
    let node =
        |id: usize| json!({"id": format!("n{id}"), "type": "simulate", "parameters": {"failure_rate": 0.5}});
    let nodes: Vec<Value> = (0..200).map(node).collect();
    let plan = plan(json!({"nodes": nodes}));
    let failed = |results: BTreeMap<String, Result<_, _>>| {
        results.into_iter().filter(|(_, result)| result.is_err()).map(|(id, _)| id).collect::<Vec<_>>()
    };
    let first = failed(run(&plan, json!({})));
    assert_eq!(first, failed(run(&plan, json!({}))));
    assert!((60..140).contains(&first.len()), "{} of 200 failed", first.len());
}

#[test]
fn error_policies() {
    let workflow = |error: Value| {
        json!({
            "nodes": [
                {"id": "s", "type": "simulate", "parameters": {"failure_rate": 1}, "error": error},
                {"id": "next", "type": "log", "parameters": {"message": "$s.error.code"}},
                {"id": "rescue", "type": "log", "parameters": {"message": "$s.error.message"}}
            ],
            "edges": [{"id": "on", "src": "s", "dst": "next"}, {"id": "err", "src": "s", "dst": "rescue", "is_error": "error"}]
        })
    };
    for (error, followed) in [
        (json!({"type": "halt"}), vec!["s"]),
        (json!({"type": "ignore"}), vec!["next", "s"]),
        (json!({"type": "branch", "error_edge": "err"}), vec!["rescue", "s"]),
    ] {
        let results = run(&plan(workflow(error.clone())), json!({}));
        assert_eq!(results.keys().collect::<Vec<_>>(), followed, "{error}");
    }
    let mut fine = workflow(json!({"type": "branch", "error_edge": "err"}));
    fine["nodes"][0]["parameters"] = json!({"output": {"error": {"code": "none"}}});
    let results = run(&plan(fine), json!({}));
    assert_eq!(
        results.keys().collect::<Vec<_>>(),
        ["next", "s"],
        "an error edge is never followed on success"
    );
}
