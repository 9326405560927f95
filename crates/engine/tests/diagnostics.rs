//! Every complaint validation can make, each with the smallest file that earns it.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use protocol::{DiagnosticCode as Code, Place};
use runeglass_engine::{Limits, load};

fn findings(text: &str) -> Vec<(Code, String, Option<Place>)> {
    let loaded = load(text.as_bytes(), &Limits::default());
    assert_eq!(loaded.plan.is_none(), loaded.diagnostics.iter().any(|found| found.is_error()), "{text}");
    let shown = |found: &protocol::Diagnostic| {
        assert!(!found.message.is_empty() && !found.hint.is_empty(), "{found:?} says too little");
        let node = found.node_id.as_ref().map(ToString::to_string);
        (found.code, node.unwrap_or_default(), found.place)
    };
    loaded.diagnostics.iter().map(shown).collect()
}

fn check(text: &str, expected: &[(Code, &str)]) {
    let found = findings(text);
    let short: Vec<(Code, &str)> = found.iter().map(|(code, node, _)| (*code, node.as_str())).collect();
    assert_eq!(short, expected, "{text}");
}

#[test]
fn files_that_are_no_workflow() {
    check("", &[(Code::NotJson, "")]);
    check("{\"nodes\": [", &[(Code::NotJson, "")]);
    check("{\"nodes\": [],}", &[(Code::NotJson, "")]);
    let cut = load(b"{\n  \"nodes\": [\n", &Limits::default());
    assert_eq!(cut.diagnostics[0].message, "the file is not JSON: it ends in the middle of a list");
    assert_eq!(cut.diagnostics[0].place.map(|place| (place.line, place.column)), Some((3, 1)));
    check("[1, 2]", &[(Code::WrongShape, "")]);
    check("[[], []]", &[(Code::WrongShape, "")]);
    check("\"text\"", &[(Code::WrongShape, "")]);
    check("{}", &[(Code::NoNodes, "")]);
    check("{\"nodes\": []}", &[(Code::NoNodes, "")]);
    check("{\"nodes\": {}}", &[(Code::WrongShape, "")]);
    check("{\"nodes\": [{\"id\": \"a\", \"type\": \"log\"}], \"name\": 7}", &[(Code::WrongShape, "")]);
    check(&format!("{{\"nodes\": {}{}}}", "[".repeat(200), "]".repeat(200)), &[(Code::TooDeep, "")]);
    assert_eq!(load(b"\xff\xfe\x00", &Limits::default()).diagnostics[0].code, Code::NotText);
    let small = Limits { file_bytes: 10, ..Limits::default() };
    assert_eq!(load(b"{\"nodes\": []}", &small).diagnostics[0].code, Code::FileTooLarge);
}

#[test]
fn a_byte_order_mark_is_no_complaint() {
    check("\u{feff}{\"nodes\": [{\"id\": \"a\", \"type\": \"trigger\"}]}", &[]);
}

#[test]
fn every_wrong_part_is_named_with_its_place() {
    let text = "{\n \"nodes\": [\n  {\"id\": 7, \"type\": \"log\"},\n  {\"id\": \"b\"},\n  {\"id\": \"c\", \"type\": \"trigger\"}\n ],\n \
                \"edges\": [\n  {\"id\": \"e\", \"src\": \"c\"}\n ]\n}";
    let found = findings(text);
    let lines: Vec<usize> = found.iter().map(|(_, _, place)| place.unwrap().line).collect();
    assert!(found.iter().all(|(code, _, _)| *code == Code::WrongShape));
    assert_eq!(lines, [3, 4, 8]);
}

fn workflow(nodes: &str, edges: &str) -> String {
    format!("{{\"nodes\": [{nodes}], \"edges\": [{edges}]}}")
}

const LOG_A: &str = r#"{"id": "a", "type": "log", "parameters": {"message": "x"}}"#;
const LOG_B: &str = r#"{"id": "b", "type": "log", "parameters": {"message": "x"}}"#;

#[test]
fn ids_and_edges() {
    let two = format!("{LOG_A}, {LOG_B}");
    check(&workflow(&format!("{LOG_A}, {LOG_A}"), ""), &[(Code::DuplicateId, "a")]);
    check(&workflow(r#"{"id": "a b", "type": "trigger"}"#, ""), &[(Code::InvalidId, "a b")]);
    check(&workflow(r#"{"id": "", "type": "trigger"}"#, ""), &[(Code::InvalidId, "")]);
    check(&workflow(r#"{"id": "json", "type": "trigger"}"#, ""), &[(Code::ReservedId, "json")]);
    check(&workflow(r#"{"id": "trigger", "type": "trigger"}"#, ""), &[]);
    check(&workflow(&two, r#"{"id": "e", "src": "a", "dst": "c"}"#), &[(Code::UnknownNode, "")]);
    check(
        &workflow(&two, r#"{"id": "e", "src": "x", "dst": "y"}"#),
        &[(Code::UnknownNode, ""), (Code::UnknownNode, "")],
    );
    check(&workflow(&two, r#"{"id": "e", "src": "a", "dst": "a"}"#), &[(Code::SelfLoop, "a")]);
    let started_twice = r#"{"id": "b", "type": "log", "trigger": true, "parameters": {"message": "x"}}"#;
    let edge = r#"{"id": "e", "src": "a", "dst": "b"}"#;
    let found = findings(&workflow(&format!("{LOG_A}, {started_twice}"), edge));
    assert!(found.iter().any(|(code, node, _)| *code == Code::TriggerWithInput && node == "b"), "{found:?}");
    let same = r#"{"id": "e", "src": "a", "dst": "b"}, {"id": "e", "src": "a", "dst": "b"}"#;
    check(&workflow(&two, same), &[(Code::DuplicateId, "")]);
}

#[test]
fn a_cycle_names_only_its_own_nodes() {
    let nodes = format!("{{\"id\": \"t\", \"type\": \"trigger\"}}, {LOG_A}, {LOG_B}");
    let edges = r#"{"id": "1", "src": "t", "dst": "a"}, {"id": "2", "src": "a", "dst": "b"}, {"id": "3", "src": "b", "dst": "a"}"#;
    let loaded = load(workflow(&nodes, edges).as_bytes(), &Limits::default());
    assert_eq!(loaded.diagnostics.len(), 1);
    assert_eq!(loaded.diagnostics[0].code, Code::Cycle);
    assert!(loaded.diagnostics[0].message.ends_with(": a, b"), "{}", loaded.diagnostics[0].message);
}

#[test]
fn kinds_and_parameters() {
    let loaded = load(workflow(r#"{"id": "a", "type": "condtional"}"#, "").as_bytes(), &Limits::default());
    assert_eq!(loaded.diagnostics[0].code, Code::UnknownKind);
    assert!(
        loaded.diagnostics[0].hint.starts_with("did you mean conditional"),
        "{}",
        loaded.diagnostics[0].hint
    );
    let strange = load(workflow(r#"{"id": "a", "type": "zzzzzzzz"}"#, "").as_bytes(), &Limits::default());
    assert!(
        strange.diagnostics[0].hint.starts_with("known types are trigger"),
        "{:?}",
        strange.diagnostics[0]
    );
    check(&workflow(r#"{"id": "a", "type": "log"}"#, ""), &[(Code::InvalidParameter, "a")]);
    check(
        &workflow(r#"{"id": "a", "type": "log", "parameters": {"message": "x", "levle": 1}}"#, ""),
        &[(Code::UnknownParameter, "a")],
    );
    check(
        &workflow(r#"{"id": "a", "type": "edit", "parameters": {"assignments": 1}}"#, ""),
        &[(Code::InvalidParameter, "a")],
    );
    let mode = r#"{"id": "a", "type": "edit", "parameters": {"assignments": [], "mode": "all"}}"#;
    check(&workflow(mode, ""), &[(Code::InvalidParameter, "a")]);
}

#[test]
fn triggers_that_start_by_themselves() {
    let schedule = |parameters: &str| {
        workflow(
            &format!("{{\"id\": \"a\", \"type\": \"ScheduledTrigger\", \"parameters\": {{{parameters}}}}}"),
            "",
        )
    };
    for fine in [
        r#""amount": 1, "unit": "seconds""#,
        r#""amount": "15", "unit": "minutes""#,
        r#""amount": 0.5, "unit": "hours""#,
        r#""amount": 36500, "unit": "days""#,
    ] {
        check(&schedule(fine), &[]);
    }
    for bad in [
        r#""amount": 0.9, "unit": "seconds""#,
        r#""amount": 0, "unit": "days""#,
        r#""amount": -1, "unit": "hours""#,
        r#""amount": 40000, "unit": "days""#,
        r#""amount": "often", "unit": "hours""#,
        r#""amount": "NaN", "unit": "hours""#,
        r#""amount": [1], "unit": "hours""#,
        r#""unit": "hours""#,
        r#""amount": 5"#,
        r#""amount": 5, "unit": "weeks""#,
        r#""amount": 5, "unit": 5"#,
    ] {
        check(&schedule(bad), &[(Code::InvalidParameter, "a")]);
        assert!(load(schedule(bad).as_bytes(), &Limits::default()).plan.is_none(), "{bad}");
    }
    let silent = load(schedule("").as_bytes(), &Limits::default());
    assert!(silent.plan.is_some() && silent.diagnostics[0].message.contains("never starts"), "{silent:?}");

    for kind in ["webhook", "webhookTrigger"] {
        let hook = |fields: &str| workflow(&format!("{{\"id\": \"a\", \"type\": {kind:?}{fields}}}"), "");
        check(&hook(""), &[]);
        check(&hook(r#", "webhook_guid": "7d0e""#), &[]);
        check(&hook(r#", "parameters": {"path": "/orders/new"}"#), &[]);
        check(&hook(r#", "webhook_guid": 7"#), &[(Code::InvalidParameter, "a")]);
        check(&hook(r#", "parameters": {"path": "/"}"#), &[(Code::InvalidParameter, "a")]);
    }
}

#[test]
fn expressions_and_references() {
    let log = |message: &str| {
        format!("{{\"id\": \"a\", \"type\": \"log\", \"parameters\": {{\"message\": {message:?}}}}}")
    };
    check(&workflow(&log("{{ 1 + }}"), ""), &[(Code::InvalidExpression, "a")]);
    check(&workflow(&log("{{ never closed"), ""), &[(Code::InvalidExpression, "a")]);
    check(&workflow(&log("{{ }}"), ""), &[(Code::InvalidExpression, "a")]);
    check(&workflow(&log("$nobody.x"), ""), &[(Code::UnknownReference, "a")]);
    check(&workflow(&log("$item.x"), ""), &[(Code::UnknownReference, "a")]);
    check(&workflow(&log("$trigger.x and $json.y cost $$5"), ""), &[]);
    let later = format!("{}, {LOG_B}", log("$b.message"));
    check(&workflow(&later, r#"{"id": "e", "src": "a", "dst": "b"}"#), &[(Code::ReferenceNotUpstream, "a")]);
    let twins =
        r#"{"id": "x", "name": "Twin", "type": "trigger"}, {"id": "y", "name": "Twin", "type": "trigger"}"#;
    let edges = r#"{"id": "1", "src": "x", "dst": "a"}, {"id": "2", "src": "y", "dst": "a"}"#;
    check(&workflow(&format!("{twins}, {}", log("$Twin.z")), edges), &[(Code::AmbiguousName, "a")]);
    check(&workflow(&format!("{twins}, {}", log("$x.z")), edges), &[]);
}

#[test]
fn branches() {
    let condition = |more: &str| {
        format!(
            "{{\"id\": \"c\", \"type\": \"conditional\", \"parameters\": {{\"expression\": \"true\"{more}}}}}, {LOG_A}"
        )
    };
    let edge = r#"{"id": "e", "src": "c", "dst": "a"}"#;
    check(&workflow(&condition(""), edge), &[(Code::MissingBranch, "c"), (Code::MissingBranch, "c")]);
    check(&workflow(&condition(r#", "true_edge_id": "e""#), edge), &[(Code::MissingBranch, "c")]);
    check(
        &workflow(&condition(r#", "true_edge_id": "zz""#), edge),
        &[(Code::InvalidParameter, "c"), (Code::MissingBranch, "c")],
    );
    let labelled = r#"{"id": "e", "src": "c", "dst": "a", "source_handle": "true"}, {"id": "f", "src": "c", "dst": "a", "label": "false"}"#;
    check(&workflow(&condition(""), labelled), &[]);
    let branch = r#"{"id": "s", "type": "simulate", "error": {"type": "branch", "error_edge": "zz"}}"#;
    check(&workflow(branch, ""), &[(Code::MissingErrorEdge, "s")]);
    let unreachable = format!("{{\"id\": \"t\", \"type\": \"trigger\"}}, {LOG_A}");
    check(&workflow(&unreachable, ""), &[(Code::Unreachable, "a")]);
}

#[test]
fn ten_thousand_nodes_are_checked() {
    let nodes: Vec<String> = (0..10_000)
        .map(|n| {
            format!("{{\"id\": \"n{n}\", \"type\": \"log\", \"parameters\": {{\"message\": \"$trigger\"}}}}")
        })
        .collect();
    let edges: Vec<String> = (1..10_000)
        .map(|n| format!("{{\"id\": \"e{n}\", \"src\": \"n{}\", \"dst\": \"n{n}\"}}", n - 1))
        .collect();
    check(&workflow(&nodes.join(","), &edges.join(",")), &[]);
    let one_more = format!("{},{}", nodes.join(","), LOG_A);
    check(&workflow(&one_more, ""), &[(Code::TooManyNodes, "")]);
}

#[test]
fn secrets_in_a_workflow() {
    let http = |rest: &str| {
        let node = format!(r#"{{"id": "a", "type": "http", {rest}}}"#);
        workflow(
            &format!(r#"{{"id": "t", "type": "trigger"}}, {node}"#),
            r#"{"id": "e", "src": "t", "dst": "a"}"#,
        )
    };
    let url = r#""parameters": {"url": "http://x.example/"}"#;
    for refused in [
        r#""parameters": {"url": "https://ada:hunter2@x.example/"}"#,
        r#""parameters": {"url": "http://x.example/", "headers": {"AUTHORIZATION": "Bearer hunter2"}}"#,
        r#""parameters": {"url": "http://x.example/", "headers": {"X-Api-Key": "hunter2"}}"#,
        &format!(
            r#"{url}, "credentials": {{"id": "7", "name": "shop", "type": "token", "values": {{"token": "hunter2"}}}}"#
        ),
        &format!(r#"{url}, "credentials": {{"ref": "shop", "password": "hunter2"}}"#),
        r#""parameters": {"url": "http://x.example/", "body": {"password": "hunter2"}}"#,
        r#""parameters": {"url": "http://x.example/", "query": {"api_key": "hunter2"}}"#,
        r#""parameters": {"url": "http://hunter2@x.example/"}"#,
        r#""parameters": {"url": "http://x.example/?a=1&access_token=hunter2"}"#,
        r#""parameters": {"url": "http://x.example/", "headers": {"X-Api-Token": "hunter2"}}"#,
    ] {
        let text = http(refused);
        check(&text, &[(Code::InlineSecret, "a")]);
        let said = format!("{:?}", load(text.as_bytes(), &Limits::default()).diagnostics);
        assert!(!said.contains("hunter2"), "the secret is quoted: {said}");
    }
    for fine in [
        r#""parameters": {"url": "https://x.example/a@b:c"}"#,
        r#""parameters": {"url": "http://x.example/", "headers": {"Authorization": null}}"#,
        r#""parameters": {"url": "http://x.example/", "body": {"values": "1, 2"}}"#,
        r#""parameters": {"url": "http://x.example/", "headers": {"Authorization": "$trigger.header"}}"#,
        r#""parameters": {"url": "http://x.example/", "body": {"password": "{{ $trigger.word }}"}}"#,
        &format!(r#"{url}, "credentials": {{"ref": "shop"}}"#),
        &format!(r#"{url}, "credentials": {{"id": 7, "name": "shop", "type": "token", "values": null}}"#),
    ] {
        check(&http(fine), &[]);
    }
    check(&http(&format!(r#"{url}, "credentials": {{}}"#)), &[(Code::InvalidParameter, "a")]);
}

#[test]
fn nodes_that_ask_outside() {
    check(&workflow(r#"{"id": "a", "type": "http"}"#, ""), &[(Code::InvalidParameter, "a")]);
    let raise = r#"{"id": "a", "type": "http", "parameters": {"url": "http://x.example/", "raise_on_status": "6xx"}}"#;
    check(&workflow(raise, ""), &[(Code::InvalidParameter, "a")]);
    let mail = r#"{"id": "a", "type": "smtp", "parameters": {"from": "a@x.example", "to": "b@x.example"}}"#;
    check(&workflow(mail, ""), &[(Code::InvalidParameter, "a")]);
    for window in ["0", "-1", "1.5", "\"many\""] {
        let split = format!(
            r#"{{"id": "a", "type": "split", "parameters": {{"input_array": [], "max_in_flight": {window}}}}}"#
        );
        check(&workflow(&split, ""), &[(Code::InvalidParameter, "a")]);
    }
}

#[test]
fn a_second_edge_of_one_way() {
    let nodes = format!(
        r#"{{"id": "c", "type": "conditional", "parameters": {{"expression": "true"}}}}, {LOG_A}, {LOG_B}, {{"id": "n", "type": "log", "parameters": {{"message": "x"}}}}"#
    );
    let edges = r#"{"id": "1", "src": "c", "dst": "a", "source_handle": "true"}, {"id": "2", "src": "c", "dst": "b", "source_handle": "true"},
        {"id": "3", "src": "c", "dst": "n", "source_handle": "false"}"#;
    check(&workflow(&nodes, edges), &[(Code::NeverFollowed, "c")]);
}
