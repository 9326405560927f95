//! Files in the shape of the Rune canvas: what becomes of them, and what is said about those that are wrong.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use protocol::{DiagnosticCode as Code, Severity};
use runeglass_engine::{Limits, Loaded, load};
use serde_json::{Value, json};

fn load_text(text: &str) -> Loaded {
    load(text.as_bytes(), &Limits::default())
}

fn converted(canvas: &Value) -> Value {
    let loaded = load_text(&canvas.to_string());
    let workflow = loaded.workflow.unwrap_or_else(|| panic!("{canvas}: {:?}", loaded.diagnostics));
    serde_json::to_value(&*workflow).unwrap()
}

fn node(kind: &str, data: Value) -> Value {
    json!({"id": "n", "type": kind, "position": {"x": 1.5, "y": -2}, "data": data})
}

/// One node, without its position.
fn check_node(canvas: Value, expected: Value) {
    let mut found = converted(&json!({"nodes": [canvas]}));
    let position = found["nodes"][0].as_object_mut().unwrap().remove("position");
    assert_eq!(position, Some(json!([1.5, -2])), "positions are kept");
    assert_eq!(found["nodes"], json!([expected]), "{canvas}");
}

#[test]
fn nodes() {
    let plain = |kind: &str, name: &str, parameters: Value| json!({"id": "n", "name": name, "type": kind, "parameters": parameters});
    let labelled = |kind: &str, label: &str, name: &str, parameters: Value| json!({"id": "n", "name": name, "type": kind, "parameters": parameters, "label": label});
    let trigger = |kind: &str, name: &str, parameters: Value| json!({"id": "n", "name": name, "type": kind, "trigger": true, "parameters": parameters});
    check_node(node("trigger", json!({})), trigger("ManualTrigger", "Trigger", json!({})));
    let every = json!({"amount": 5, "unit": "minutes"});
    check_node(
        node("scheduledTrigger", every.clone()),
        trigger("ScheduledTrigger", "ScheduledTrigger", every),
    );
    check_node(node("webhookTrigger", json!(null)), trigger("webhook", "WebhookTrigger", json!({})));
    check_node(
        node("log", json!({"label": "Say (hi)!", "message": "hi", "level": "", "pinned": true})),
        labelled("log", "Say (hi)!", "Say_hi_", json!({"message": "hi"})),
    );
    check_node(
        node("split", json!({"array_field": "$trigger.a"})),
        plain("split", "Split", json!({"input_array": "$trigger.a"})),
    );
    check_node(node("merge", json!({"timeout": "60"})), plain("merge", "Merge", json!({"timeout": "60"})));
    check_node(
        node("if", json!({"label": " ", "expression": "$trigger.a > 1", "true_edge_id": "old"})),
        labelled("conditional", " ", "If", json!({"expression": "$trigger.a > 1"})),
    );
    check_node(node("switch", json!({})), plain("switch", "Switch", json!({"rules": [], "routes": [null]})));
    let mut credential = plain("http", "Http", json!({"url": "http://x"}));
    credential["credentials"] = json!({"id": "7", "name": "Key", "type": "api_key"});
    let data = json!({"url": "http://x", "credential": {"id": 7, "name": "Key", "type": "api_key"}});
    check_node(node("http", data), credential);
    check_node(
        node("http", json!({"url": "x", "credential": null})),
        plain("http", "Http", json!({"url": "x"})),
    );
    let mut policy = node("log", json!({"message": "x"}));
    policy["error"] = json!({"type": "ignore"});
    policy["selected"] = json!(true);
    policy["measured"] = json!({"width": 10, "height": 10});
    policy["webhook_guid"] = json!("w");
    let mut expected = plain("log", "Log", json!({"message": "x"}));
    expected["error"] = json!({"type": "ignore"});
    expected["webhook_guid"] = json!("w");
    check_node(policy, expected);
}

fn edge(id: &str, handle: Value, label: Value) -> Value {
    json!({"id": id, "source": "n", "target": "m", "sourceHandle": handle, "targetHandle": "in", "label": label,
           "type": "default", "animated": true})
}

#[test]
fn ways() {
    let check = |kind: &str, data: Value, edges: Value, parameters: Value, labels: Value| {
        let nodes = json!([node(kind, data), {"id": "m", "type": "log", "data": {"message": "m"}}]);
        let found = converted(&json!({"nodes": nodes, "edges": edges}));
        assert_eq!(found["nodes"][0]["parameters"], parameters, "{edges}");
        let shown = |edge: &Value| {
            assert_eq!((&edge["src"], &edge["dst"]), (&json!("n"), &json!("m")));
            assert!(!edge.as_object().unwrap().contains_key("source_handle"));
            edge["label"].clone()
        };
        let found: Vec<Value> = found["edges"].as_array().unwrap().iter().map(shown).collect();
        assert_eq!(json!(found), labels, "{edges}");
    };
    let question = json!({"expression": "true"});
    check(
        "if",
        question.clone(),
        json!([edge("a", json!("false"), json!(null)), edge("b", json!("true"), json!("yes"))]),
        json!({"expression": "true", "false_edge_id": "a", "true_edge_id": "b"}),
        json!(["false", "yes"]),
    );
    check(
        "if",
        question,
        json!([edge("a", json!(null), json!("true"))]),
        json!({"expression": "true", "true_edge_id": "a"}),
        json!(["true"]),
    );
    let rules = json!([{"value": "1", "operator": "==", "compare": "1"}, {"value": "1", "operator": "==", "compare": "2"}]);
    check(
        "switch",
        json!({"rules": rules}),
        json!([
            edge("f", json!("switch-fallback"), json!("")),
            edge("b", json!("switch-case-1"), json!(null))
        ]),
        json!({"rules": rules, "routes": [null, "b", "f"]}),
        json!(["fallback", "case 2"]),
    );
    check(
        "switch",
        json!({"rules": rules}),
        json!([edge("a", json!(null), json!("case 1")), edge("f", json!(null), json!("Fallback"))]),
        json!({"rules": rules, "routes": ["a", null, "f"]}),
        json!(["case 1", "Fallback"]),
    );
    check(
        "log",
        json!({"message": "x"}),
        json!([edge("e", json!("out"), json!(null))]),
        json!({"message": "x"}),
        json!([null]),
    );
}

#[test]
fn labels_that_repeat() {
    let nodes = |labels: &[(&str, &str)]| -> Value {
        let node = |(id, label): &(&str, &str)| json!({"id": id, "type": "log", "data": {"label": label, "message": "x"}});
        json!({"nodes": labels.iter().map(node).collect::<Vec<_>>()})
    };
    let check = |labels: &[(&str, &str)], names: &[&str]| {
        let found = converted(&nodes(labels));
        let found: Vec<&str> =
            found["nodes"].as_array().unwrap().iter().map(|node| node["name"].as_str().unwrap()).collect();
        assert_eq!(found, names, "{labels:?}");
        let warned = load_text(&nodes(labels).to_string()).diagnostics;
        let renamed = warned.iter().filter(|found| found.code == Code::AmbiguousName).count();
        let kept = |((_, label), name): (&(&str, &str), &&str)| label.replace(' ', "_") == **name;
        assert_eq!(renamed, labels.iter().zip(names).filter(|pair| !kept(*pair)).count(), "{labels:?}");
    };
    check(&[("a", "Log"), ("b", "Log"), ("c", "Log")], &["Log", "Log_2", "Log_3"]);
    check(&[("a", "A b"), ("b", "A_b"), ("c", "A_b_2")], &["A_b", "A_b_3", "A_b_2"]);
    check(&[("a", "b"), ("b", "c x"), ("c", "c")], &["b_2", "c_x", "c"]);
}

#[test]
fn references_use_the_name() {
    let canvas = json!({
        "nodes": [
            {"id": "1", "type": "trigger", "data": {"label": "Start here"}},
            {"id": "2", "type": "log", "data": {"label": "Tell", "message": "$Start_here.x and $Nobody.y"}}
        ],
        "edges": [{"id": "e", "source": "1", "target": "2"}]
    });
    let found = load_text(&canvas.to_string()).diagnostics;
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].code == Code::UnknownReference && found[0].message.contains("$Nobody"), "{found:?}");
}

#[test]
fn notes() {
    let note = json!({"id": "s", "type": "stickyNote", "position": {"x": 1, "y": 2}, "data": {"content": "look", "color": "blue"}});
    let log = json!({"id": "n", "type": "log", "data": {"message": "x"}});
    let found = converted(&json!({"nodes": [note, log], "notes": [{"id": "old"}]}));
    assert_eq!(found["nodes"].as_array().unwrap().len(), 1);
    let expected =
        json!([{"id": "old"}, {"id": "s", "position": [1, 2], "content": "look", "color": "blue"}]);
    assert_eq!(found["notes"], expected);
    let nothing = load_text(&json!({"nodes": [note]}).to_string());
    assert_eq!(nothing.diagnostics[0].code, Code::NoNodes);
}

/// The lines of a canvas on which something is found, with what it is.
fn check_bad(nodes: &[&str], edges: &[&str], expected: &[(Code, Severity, usize)]) {
    let text =
        format!("{{\n\"nodes\": [\n{}\n],\n\"edges\": [\n{}\n]\n}}", nodes.join(",\n"), edges.join(",\n"));
    let loaded = load_text(&text);
    let found: Vec<_> = loaded
        .diagnostics
        .iter()
        .map(|found| (found.code, found.severity, found.place.map_or(0, |place| place.line)))
        .collect();
    assert_eq!(found, expected, "{text}\n{:#?}", loaded.diagnostics);
    assert!(loaded.diagnostics.iter().all(|found| !found.hint.is_empty()));
}

#[test]
fn bad_files() {
    use Severity::{Error, Warning};
    const START: &str = r#"{"id": "t", "type": "trigger", "data": {"label": "Start"}}"#;
    const LOG: &str = r#"{"id": "l", "type": "log", "data": {"message": "x"}}"#;
    const IF: &str = r#"{"id": "c", "type": "if", "data": {"label": "If", "expression": "true"}}"#;
    const SWITCH: &str = r#"{"id": "s", "type": "switch", "data": {"rules": [{"value": "1", "operator": "==", "compare": "1"}]}}"#;
    const TO_IF: &str = r#"{"id": "1", "source": "t", "target": "c"}"#;
    const TO_SWITCH: &str = r#"{"id": "1", "source": "t", "target": "s"}"#;
    let nowhere = r#"{"id": "e", "source": "t", "target": "nowhere"}"#;
    check_bad(&[START, LOG], &[nowhere], &[(Code::UnknownNode, Error, 7)]);
    let half = r#"{"id": "e", "source": "t"}"#;
    check_bad(&[START, LOG], &[half], &[(Code::WrongShape, Error, 7)]);
    let own = r#"{"id": "e", "src": "t", "dst": "l"}"#;
    let to_log = r#"{"id": "1", "source": "t", "target": "l"}"#;
    check_bad(&[START, LOG], &[to_log, own], &[(Code::WrongShape, Error, 8)]);
    let no_type = r#"{"id": "x", "data": {}}"#;
    let data = r#"{"id": "y", "type": "log", "data": []}"#;
    let position = "{\"id\": \"z\", \"type\": \"log\",\n \"position\": {\"x\": \"left\", \"y\": 1}}";
    let three = [(Code::WrongShape, Error, 3), (Code::WrongShape, Error, 4), (Code::WrongShape, Error, 6)];
    check_bad(&[no_type, data, position], &[to_log], &three);
    check_bad(&[START, r#"{"id": "l", "type": "log"}"#], &[to_log], &[(Code::InvalidParameter, Error, 4)]);

    let branch = |id: &str, from: &str, handle: &str| {
        format!(r#"{{"id": "{id}", "source": "{from}", "target": "l", "sourceHandle": "{handle}"}}"#)
    };
    let (yes, no, maybe) = (branch("y", "c", "true"), branch("n", "c", "false"), branch("m", "c", "maybe"));
    check_bad(&[START, IF, LOG], &[TO_IF, &yes, &no, &maybe], &[(Code::UnknownHandle, Warning, 11)]);
    let again = branch("z", "c", "true");
    check_bad(&[START, IF, LOG], &[TO_IF, &yes, &no, &again], &[(Code::UnknownHandle, Warning, 11)]);
    check_bad(&[START, IF, LOG], &[TO_IF, &yes], &[(Code::MissingBranch, Warning, 4)]);
    let (first, second) = (branch("a", "s", "switch-case-0"), branch("b", "s", "switch-case-1"));
    check_bad(&[START, SWITCH, LOG], &[TO_SWITCH, &first, &second], &[(Code::UnknownHandle, Warning, 10)]);
    let bare = r#"{"id": "b", "source": "s", "target": "l"}"#;
    check_bad(&[START, SWITCH, LOG], &[TO_SWITCH, &first, bare], &[(Code::UnknownHandle, Warning, 10)]);
    let policy = r#"{"id": "l", "type": "log", "error": {"type": "explode"}, "data": {"message": "x"}}"#;
    check_bad(&[START, policy], &[to_log], &[(Code::UnknownErrorPolicy, Warning, 4)]);
}

#[test]
fn kinds_that_only_rune_has() {
    for kind in ["agent", "integration.slack.chat.post_message"] {
        let canvas = json!({"nodes": [node(kind, json!({"label": "x", "text": "hi"}))]});
        let own = json!({"nodes": [{"id": "n", "type": kind, "parameters": {}}]});
        for file in [canvas, own] {
            let found = load_text(&file.to_string()).diagnostics;
            assert_eq!(found[0].code, Code::UnknownKind, "{file}");
            assert!(found[0].hint.starts_with("Rune has this type"), "{}", found[0].hint);
        }
    }
}

#[test]
fn our_own_shape_is_not_mistaken_for_a_canvas() {
    for own in [
        json!({"nodes": [{"id": "a", "type": "log", "parameters": {"message": "x"}, "data": {"kept": 1}}]}),
        json!({"nodes": [{"id": "a", "type": "trigger", "data": {"kept": 1}}, {"id": "b", "type": "simulate"}],
               "edges": [{"id": "e", "src": "a", "dst": "b"}]}),
    ] {
        let found = converted(&own);
        assert_eq!(found["nodes"][0]["data"], json!({"kept": 1}), "{own}");
    }
}
