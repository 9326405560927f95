//! Tables for every kind of node: what it puts out, where it leads, how it fails.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::{collections::BTreeMap, sync::Arc};

use protocol::{ErrorCode, Lineage, MessageId, Payload};
use runeglass_engine::{Context, Failures, Limits, Message, Plan, Work, conclude, load, prepare};
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
        lineage: Lineage::default(),
        context: Context::start(Payload::new(input.clone())),
        attempt: 1,
        failures: Failures::default(),
        joined: None,
        resumed: None,
        parameters: None,
    };
    let mut messages: Vec<Message> = plan.starts.iter().map(start).collect();
    let mut results = BTreeMap::new();
    while let Some(message) = messages.pop() {
        let answer = match prepare(plan, &message, 0).work {
            Work::Done(output) => Ok(output),
            Work::Failed(error) => Err(error),
            Work::Sleep { then, .. } => *then,
            Work::Call(call) => panic!("nobody answers {call:?}"),
            Work::Wait { due } => Ok(Payload::new(json!({"due": due})).into()),
        };
        let effects = conclude(plan, &message, answer);
        let node = &plan.nodes[message.node];
        let trace = message.context.after(node, effects.outcome.as_ref().map(|output| &output.payload));
        let shown = effects.outcome.map(|output| output.payload.value().clone());
        results.insert(node.id.to_string(), shown.map_err(|error| (error.code, error.message)));
        messages.extend(effects.taken.into_iter().map(|edge| Message {
            id: message.id.child(&plan.edges[edge].source.id, 0),
            node: plan.edges[edge].to,
            context: trace.context.clone(),
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
    for path in ["trigger.list", "$trigger.list", "{{ $trigger.list }}"] {
        let each = json!({"array_path": path, "assignments": [{"name": "x", "value": 0}], "target_path": ""});
        check_node("edit", each, input.clone(), ok(json!([{"x": 0}, {"x": 0}])));
    }
    for (kind, value, wanted) in [
        ("number", json!("$trigger.text"), json!(7)),
        ("number", json!("+.5"), json!(0.5)),
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
        ("$trigger.n > 2 or $trigger.s contains '>' and not $trigger.flag", true),
        ("$trigger.nothing == nil and $trigger.flag == 'false'", true),
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
    let dollars = json!({"output": {"price": ["$$5", {"also": "$$trigger"}]}});
    check_node("simulate", dollars, json!(1), Ok(json!({"price": ["$5", {"also": "$trigger"}]})));
    let fails = json!({"failure_rate": "1", "error_message": "down"});
    check_node("simulate", fails, json!(1), Err((ErrorCode::SimulatedFailure, "down")));
    let negative = Err((ErrorCode::InvalidParameter, "zero or more"));
    check_node("simulate", json!({"latency_ms": -1}), json!(1), negative.clone());
    check_node("simulate", json!({"latency_ms": "soon"}), json!(1), negative);
}

#[test]
fn switch() {
    let workflow = json!({
        "nodes": [
            {"id": "t", "type": "trigger"},
            {"id": "s", "type": "switch", "parameters": {
                "rules": [
                    {"value": "{{ $trigger.n }}", "operator": "is greater than", "compare": "10"},
                    {"value": "$trigger.s", "operator": "contains", "compare": "'x'"}
                ],
                "routes": ["big", null, "other"]}},
            {"id": "b", "type": "log", "parameters": {"message": "b"}},
            {"id": "o", "type": "log", "parameters": {"message": "o"}}
        ],
        "edges": [
            {"id": "e", "src": "t", "dst": "s"},
            {"id": "big", "src": "s", "dst": "b"},
            {"id": "other", "src": "s", "dst": "o"}
        ]
    });
    let plan = plan(workflow);
    for (input, index, followed) in [
        (json!({"n": 11, "s": "x"}), 0, vec!["b", "s", "t"]),
        (json!({"n": "9", "s": "axb"}), 1, vec!["s", "t"]),
        (json!({"n": 9, "s": ""}), 2, vec!["o", "s", "t"]),
    ] {
        let results = run(&plan, input.clone());
        assert_eq!(results["s"].as_ref().unwrap()["output_index"], index, "{input}");
        assert_eq!(results.keys().collect::<Vec<_>>(), followed, "{input}");
    }
}

#[test]
fn a_switch_without_rules_goes_the_last_way() {
    let workflow = json!({
        "nodes": [
            {"id": "s", "type": "switch", "parameters": {"routes": ["on"]}},
            {"id": "o", "type": "log", "parameters": {"message": "o"}}
        ],
        "edges": [{"id": "on", "src": "s", "dst": "o"}]
    });
    let results = run(&plan(workflow), json!({}));
    assert_eq!(results["s"], Ok(json!({"output_index": 0, "fallback": true})));
    assert!(results.contains_key("o"));
}

#[test]
fn lists() {
    let input = json!([{"n": 3, "s": "b"}, {"n": 1, "s": "A"}, {"s": "c"}, {"n": 2, "s": null}]);
    let list = |parameters: Value| {
        let mut all = json!({"input_array": "$trigger"});
        parameters.as_object().unwrap().iter().for_each(|(name, value)| all[name] = value.clone());
        all
    };
    let numbers = |found: &[i64]| json!(found);
    let check = |kind: &str, parameters: Value, expected: &[i64]| {
        let workflow = json!({
            "nodes": [{"id": "t", "type": "trigger"}, {"id": "n", "type": kind, "parameters": list(parameters.clone())}],
            "edges": [{"id": "e", "src": "t", "dst": "n"}]
        });
        let found = run(&plan(workflow), input.clone()).remove("n").unwrap().unwrap();
        let items = found["$json"].as_array().unwrap();
        let found: Vec<i64> = items.iter().map(|item| item["n"].as_i64().unwrap_or(0)).collect();
        assert_eq!(numbers(&found), numbers(expected), "{kind} {parameters}");
    };
    check("filter", json!({"rules": [{"field": "n", "operator": ">", "value": 1}]}), &[3, 2]);
    let both = json!([{"field": "n", "operator": ">", "value": 2}, {"field": "$item.s", "operator": "==", "value": "c"}]);
    check("filter", json!({"match_mode": "any", "rules": both.clone()}), &[3, 0]);
    check("filter", json!({"match_mode": "all", "rules": both}), &[]);
    check("sort", json!({"rules": [{"field": "n"}]}), &[1, 2, 3, 0]);
    check("sort", json!({"rules": [{"field": "n", "direction": "desc"}]}), &[0, 3, 2, 1]);
    check("sort", json!({"rules": [{"field": "s"}]}), &[1, 3, 0, 2]);
    check(
        "sort",
        json!({"rules": [{"field": "$trigger[0].n", "direction": "ascending", "type": "number"}]}),
        &[1, 2, 3, 0],
    );
    let picked = json!([{"field": "$trigger[0].s", "operator": "==", "value": " 'c' "}]);
    check("filter", json!({"rules": picked}), &[0]);
    check("limit", json!({"count": 2}), &[3, 1]);
    check("limit", json!({"count": "0"}), &[]);
    check("limit", json!({"count": 99}), &[3, 1, 0, 2]);
    let missing = Err((ErrorCode::InvalidParameter, "no $json"));
    check_node("limit", json!({"count": 1}), json!(1), missing);
    let only = Ok(json!({"$json": [1], "count": 1, "original_count": 2}));
    check_node("limit", json!({"count": 1}), json!({"deep": {"list": [1, [2]]}}), only);
    let several = Err((ErrorCode::InvalidParameter, "any of 2 arrays"));
    check_node("limit", json!({"count": 1}), json!({"a": [1], "b": [2]}), several);
    check_node(
        "limit",
        json!({"count": 1.5, "input_array": "$trigger"}),
        json!([1]),
        Err((ErrorCode::InvalidParameter, "whole")),
    );
}

#[test]
fn a_sort_takes_values_for_what_its_rule_says() {
    let check = |kind: &str, values: Value, expected: Value| {
        let parameters = json!({"input_array": "$trigger", "rules": [{"field": "$item", "direction": "asc", "type": kind}]});
        let sorted = Ok(json!({"count": values.as_array().unwrap().len(), "$json": expected}));
        check_node("sort", parameters, values, sorted);
    };
    check(
        "auto",
        json!(["10", 9, "b", "A", "2024-01-01", null]),
        json!([9, "10", "2024-01-01", "A", "b", null]),
    );
    check("auto", json!([10, "1a", 2, "nan"]), json!([2, 10, "1a", "nan"]));
    check("text", json!([9, "10", "2"]), json!(["10", "2", 9]));
    check("number", json!(["10", "x", 9]), json!([9, "10", "x"]));
    let days = json!(["02 Mar 2024", "2024-03-01T00:00:00+02:00", "?", "2024-02-29"]);
    check("date", days, json!(["2024-02-29", "2024-03-01T00:00:00+02:00", "02 Mar 2024", "?"]));
    let deep = json!([{"field": "tags[1].x", "direction": "desc"}]);
    let rules = json!({"input_array": "$trigger", "rules": deep});
    let (low, high) = (json!({"tags": [0, {"x": 1}]}), json!({"tags": [0, {"x": 2}]}));
    let sorted = Ok(json!({"count": 2, "$json": [high, low]}));
    check_node("sort", rules, json!([low, high]), sorted);
}

#[test]
fn date_times() {
    let moment = |result: &str, iso: &str, unix: i64, zone: &str| {
        Ok(json!({"result": result, "iso": iso, "unix": unix, "timezone": zone}))
    };
    let epoch = "1970-01-01T00:00:00Z";
    check_node("dateTimeNow", json!({}), json!(1), moment(epoch, epoch, 0, "UTC"));
    let berlin = json!({"timezone": "Europe/Berlin", "format": "%d.%m.%Y %H:%M"});
    check_node(
        "dateTimeNow",
        berlin,
        json!(1),
        moment("01.01.1970 01:00", "1970-01-01T01:00:00+01:00", 0, "Europe/Berlin"),
    );
    let leap = json!({"date": "2024-01-31T00:00:00Z", "amount": 1, "unit": "months"});
    let february = "2024-02-29T00:00:00Z";
    check_node("dateTimeAdd", leap, json!(1), moment(february, february, 1_709_164_800, "UTC"));
    let back = json!({"date": "$trigger", "amount": "2"});
    check_node("dateTimeSubtract", back, json!(172_800), moment(epoch, epoch, 0, "UTC"));
    let plain = json!({"date": "2024-07-01T12:00:00", "timezone": "Europe/Berlin", "format": "%s"});
    check_node(
        "dateTimeFormat",
        plain,
        json!(1),
        moment("1719828000", "2024-07-01T12:00:00+02:00", 1_719_828_000, "Europe/Berlin"),
    );
    let parsed = json!({
        "unix": 1_709_164_800, "iso": february, "year": 2024, "month": 2, "day": 29, "hour": 0, "minute": 0, "second": 0,
        "weekday": "Thursday", "timezone": "UTC"
    });
    check_node("dateTimeParse", json!({"date": february}), json!(1), Ok(parsed));
    check_node(
        "dateTimeParse",
        json!({"date": "soon"}),
        json!(1),
        Err((ErrorCode::InvalidParameter, "no date")),
    );
    let go = json!({"date": "02 Jan 2006", "timezone": "Europe/Berlin", "format": "Mon, 2 January 2006 15:04 Z07:00"});
    let iso = "2006-01-02T00:00:00+01:00";
    let shown = moment("Mon, 2 January 2006 00:00 +01:00", iso, 1_136_156_400, "Europe/Berlin");
    check_node("dateTimeFormat", go, json!(1), shown);
    let blank = json!({"timezone": "", "format": "  "});
    check_node("dateTimeNow", blank, json!(1), moment(epoch, epoch, 0, "UTC"));
    let whole = json!({"date": 86_400, "amount": 1.0});
    check_node("dateTimeSubtract", whole, json!(1), moment(epoch, epoch, 0, "UTC"));
    let nowhere = json!({"timezone": "Moon/Base"});
    check_node("dateTimeNow", nowhere, json!(1), Err((ErrorCode::InvalidParameter, "not known")));
    let far = json!({"amount": 99_999, "unit": "years"});
    check_node("dateTimeAdd", far, json!(1), Err((ErrorCode::InvalidParameter, "out of the calendar")));
}

#[test]
fn split_and_wait() {
    check_node("split", json!({"input_array": "$trigger"}), json!([1, 2]), Ok(json!({"count": 2})));
    check_node("split", json!({"input_array": "$trigger"}), json!([]), Ok(json!({"count": 0})));
    let not_an_array = Err((ErrorCode::InvalidParameter, "must be an array"));
    check_node("split", json!({"input_array": "$trigger"}), json!({"a": []}), not_an_array.clone());
    check_node("split", json!({"input_array": "$trigger"}), json!(null), not_an_array);
    check_node("wait", json!({}), json!(1), Ok(json!({"due": 1_000})));
    check_node(
        "wait",
        json!({"amount": "$trigger", "unit": "days"}),
        json!(3),
        Ok(json!({"due": 259_200_000})),
    );
    let moment = json!({"resume": "date_time", "date_time": "1970-01-01T00:01:00Z"});
    check_node("wait", moment, json!(1), Ok(json!({"due": 60_000})));
    check_node("wait", json!({"amount": -1}), json!(1), Err((ErrorCode::InvalidParameter, "zero or more")));
    let nonsense = json!({"resume": "date_time", "date_time": "tomorrow"});
    check_node("wait", nonsense, json!(1), Err((ErrorCode::InvalidParameter, "must be a moment")));
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
