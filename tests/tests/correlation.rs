//! The conformance cases of correlation, as far as they are about what is known before a workflow runs.
//! `RUNEGLASS_CASES=FILE` runs another file of the same format and prints the cases that fail.

use std::{env, fs, path::PathBuf};

use engine::correlation::{Analysis, DataEdge, DataNode, Flow, Scope, analyse};
use regex::Regex;
use runeglass_tests::repository;
use serde_json::Value;

fn cases() -> Vec<Value> {
    let usual = repository().join("tests/cases/correlation.json");
    let path = env::var_os("RUNEGLASS_CASES").map_or(usual, PathBuf::from);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let whole: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(whole["schema"], "correlation-cases/1");
    whole["cases"].as_array().expect("cases").clone()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned()
}

fn node(value: &Value) -> DataNode {
    let descriptor = serde_json::from_value(value.clone()).unwrap_or_else(|error| panic!("{value}: {error}"));
    DataNode { id: text(&value["id"]).into(), descriptor }
}

/// `e1: src.value -> mid.value`
fn edge(value: &Value) -> DataEdge {
    let text = text(value);
    let (id, way) = text.split_once(": ").expect("an edge has an id");
    let (from, to) = way.split_once(" -> ").expect("an edge leads somewhere");
    let end = |end: &str| {
        end.rsplit_once('.').map(|(node, handle)| (node.to_owned(), handle.to_owned())).expect("node.handle")
    };
    let ((from, output), (to, input)) = (end(from), end(to));
    DataEdge { id: id.into(), from: from.into(), output, to: to.into(), input }
}

fn scope(scope: &Scope) -> Value {
    scope.0.iter().map(|root| Value::from(root.as_str())).collect()
}

/// What differs from what the case expects, in sentences.
struct Differences(Vec<String>);

impl Differences {
    fn check(&mut self, what: &str, found: Value, expected: &Value) {
        if found != *expected {
            self.0.push(format!("{what} is {found}, not {expected}"));
        }
    }

    fn flow(&mut self, what: &str, flow: &Flow, expected: &Value) {
        let roots = || flow.child_roots.iter().map(|root| root.as_str());
        for (field, expected) in expected.as_object().expect("an object") {
            match field.as_str() {
                "scope" => self.check(&format!("scope of {what}"), scope(&flow.scope), expected),
                "repeats" => self.check(&format!("repeats of {what}"), flow.repeats.into(), expected),
                "child_roots" => self.check(&format!("child roots of {what}"), roots().collect(), expected),
                "child_roots_absent" => {
                    let absent = expected.as_array().expect("a list").iter().map(text);
                    let present: Vec<String> =
                        absent.filter(|root| roots().any(|known| known == root)).collect();
                    self.check(
                        &format!("unwanted child roots of {what}"),
                        present.into(),
                        &Value::Array(Vec::new()),
                    );
                }
                "contributors" | "multi_edge" => {}
                other => self.0.push(format!("nobody knows what {other} means")),
            }
        }
    }

    fn issues(&mut self, analysis: &Analysis, expect: &Value) {
        let found: Vec<&str> = analysis.issues.iter().map(|issue| issue.message.as_str()).collect();
        let listed = |name: &str| expect[name].as_array().cloned().unwrap_or_default();
        let matches = |pattern: &Value| {
            let pattern = Regex::new(&text(pattern)).expect("a pattern");
            found.iter().any(|message| pattern.is_match(message))
        };
        for pattern in listed("issues").iter().filter(|pattern| !matches(pattern)) {
            self.0.push(format!("no issue says {pattern}: {found:?}"));
        }
        for pattern in listed("issue_absent").iter().filter(|pattern| matches(pattern)) {
            self.0.push(format!("an issue says {pattern}: {found:?}"));
        }
        if listed("issues").is_empty() && !found.is_empty() {
            self.0.push(format!("there are issues: {found:?}"));
        }
        if let Some(place) = expect["issue_at"].as_object() {
            let wanted = (place["node"].as_str(), place["handle"].as_str());
            let places = analysis
                .issues
                .iter()
                .map(|issue| (issue.node.as_ref().map(|node| node.as_str()), issue.handle.as_deref()));
            if !places.clone().any(|place| place == wanted) {
                self.0.push(format!("no issue is at {wanted:?}: {:?}", places.collect::<Vec<_>>()));
            }
        }
    }
}

fn entries<'v>(expect: &'v Value, name: &str) -> impl Iterator<Item = (&'v String, &'v Value)> {
    expect[name].as_object().into_iter().flatten()
}

fn differences(case: &Value) -> Vec<String> {
    let list = |name: &str| case[name].as_array().expect("a list").clone();
    let nodes: Vec<DataNode> = list("nodes").iter().map(node).collect();
    let edges: Vec<DataEdge> = list("edges").iter().map(edge).collect();
    let analysis = analyse(&nodes, &edges);
    let expect = &case["expect"];
    let mut differences = Differences(Vec::new());
    differences.issues(&analysis, expect);
    for (id, expected) in entries(expect, "edge") {
        differences.flow(id, &analysis.edges[id.as_str()], expected);
    }
    for (id, expected) in entries(expect, "invocation") {
        differences.check(
            &format!("invocation scope of {id}"),
            scope(&analysis.nodes[id.as_str()].invocation),
            expected,
        );
    }
    for (place, expected) in entries(expect, "in") {
        let (id, handle) = place.split_once('.').expect("node.handle");
        let input = &analysis.nodes[id].inputs[handle];
        differences.flow(place, &input.flow, expected);
        let several = expected.get("multi_edge").is_none_or(|several| *several == input.has_several_edges());
        differences.check(&format!("edges of {place}"), several.into(), &Value::Bool(true));
    }
    for (place, expected) in entries(expect, "out") {
        let (id, handle) = place.split_once('.').expect("node.handle");
        let output = &analysis.nodes[id].outputs[handle];
        differences.flow(place, &output.flow, expected);
        if let Some(expected) = expected.get("contributors") {
            let found = output.contributors.iter().map(|edge| Value::from(edge.as_str())).collect();
            differences.check(&format!("contributors of {place}"), found, expected);
        }
    }
    differences.0
}

#[test]
fn every_case_of_the_analysis() {
    let cases = cases();
    let analysis: Vec<&Value> = cases.iter().filter(|case| case["type"] == "analysis").collect();
    let failing: Vec<String> = analysis
        .iter()
        .map(|case| (case, differences(case)))
        .filter(|(_, differences)| !differences.is_empty())
        .map(|(case, differences)| {
            format!("{} {}: {}", text(&case["id"]), case["title"], differences.join("; "))
        })
        .collect();
    println!("{} of {} cases of the analysis hold", analysis.len() - failing.len(), analysis.len());
    assert!(failing.is_empty() && !analysis.is_empty(), "failing cases:\n{}", failing.join("\n"));
}
