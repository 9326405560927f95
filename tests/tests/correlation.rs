//! The conformance cases of correlation: what is known before a workflow runs, and what comes of it on the embedded
//! backend and in every mode of delivery.
//! `RUNEGLASS_CASES=FILE` runs another file of the same format and prints the cases that fail.

use std::{env, fs, path::PathBuf, sync::Arc};

use engine::{
    Limits, Plan,
    correlation::{Analysis, DataEdge, DataNode, Flow, Scope, analyse},
};
use runeglass_tests::{
    cases::{says, seen, text, workflow},
    clustered::{Crew, Servers},
    local,
    model::{
        Dice,
        sabotage::Sabotage,
        trial::{KIND, UNKIND},
        world::{CrashAt, Order, World},
    },
    repository,
};
use serde_json::{Value, json};

fn cases() -> Vec<Value> {
    let usual = repository().join("tests/cases/correlation.json");
    let path = env::var_os("RUNEGLASS_CASES").map_or(usual, PathBuf::from);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let whole: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(whole["schema"], "correlation-cases/1");
    whole["cases"].as_array().expect("cases").clone()
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
        let matches = |pattern: &Value| found.iter().any(|message| says(message, &text(pattern)));
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

/// How a run is delivered, in words.
type Mode = (String, Box<dyn Fn(&mut World)>);

/// Every way of delivery but those with a crash, which depend on how many commits there are.
fn modes() -> Vec<Mode> {
    let mode = |name: &str, set: fn(&mut World)| -> Mode { (name.to_owned(), Box::new(set)) };
    vec![
        mode("in natural order", |world| world.order = Order::Natural),
        mode("in reversed order", |world| world.order = Order::Reversed),
        mode("with every message twice", |world| (world.order, world.twice) = (Order::Natural, true)),
        mode("backwards with every message twice", |world| {
            (world.order, world.twice) = (Order::Reversed, true);
        }),
    ]
}

struct Runs {
    plan: Arc<Plan>,
    expect: Value,
    count: usize,
    failing: Vec<String>,
}

impl Runs {
    /// One run; how many commits it took.
    fn run(&mut self, mode: &str, mut world: World) -> usize {
        self.count += 1;
        let differences = match world.run(&json!({})) {
            Ok(()) => seen(&self.plan, &world.events).differences(&self.expect),
            Err(failure) => vec![format!("{:?} {}", failure.kind, failure.detail)],
        };
        self.failing.extend(differences.into_iter().map(|difference| format!("{mode}: {difference}")));
        world.commits
    }

    fn in_all_modes(&mut self) {
        let world =
            |plan: &Arc<Plan>, faults, seed| World::new(plan, Dice::new(seed), faults, Sabotage::None);
        let mut commits = 0;
        for (name, set) in modes() {
            let mut world = world(&self.plan, KIND, 0);
            set(&mut world);
            commits = commits.max(self.run(&name, world));
        }
        for seed in 0..20 {
            let (kind, unkind) = (world(&self.plan, KIND, seed), world(&self.plan, UNKIND, seed));
            self.run(&format!("shuffled by seed {seed}"), kind);
            self.run(&format!("shuffled, duplicated and crashing by seed {seed}"), unkind);
        }
        for crash in (0..commits).flat_map(|commit| [CrashAt::Before(commit), CrashAt::After(commit)]) {
            let mut world = world(&self.plan, KIND, 0);
            (world.order, world.crash_at) = (Order::Natural, Some(crash));
            self.run(&format!("with a crash {crash:?}"), world);
        }
    }
}

/// The same cases on RabbitMQ and Redis, with two workers.
#[tokio::test(flavor = "multi_thread")]
async fn every_case_on_the_cluster() {
    let servers = Servers::start();
    let crew = Crew::start(&servers, "cases.").await;
    let cases = cases();
    let (mut failing, mut count) = (Vec::new(), 0);
    for case in cases.iter().filter(|case| case["type"] == "runtime") {
        // What is refused before it runs is refused on every backend; others have seen to that.
        let loaded = workflow(case)
            .map(|workflow| engine::load(workflow.to_string().as_bytes(), &Limits::default()).plan);
        let Ok(Some(plan)) = loaded else { continue };
        let id = text(&case["id"]);
        let events = crew.run(&id, Arc::clone(&plan), json!({})).await;
        let differences = seen(&plan, &events).differences(&case["expect"]);
        failing.extend(differences.into_iter().map(|difference| format!("{id}: {difference}")));
        count += 1;
    }
    crew.close().await;
    println!("{count} cases ran on the cluster");
    assert!(failing.is_empty() && count > 0, "failing cases:\n{}", failing.join("\n"));
}

/// What differs in any mode, and how many runs that took.
fn run_case(case: &Value, runtime: &tokio::runtime::Runtime) -> (Vec<String>, usize) {
    let expect = &case["expect"];
    let workflow = match workflow(case) {
        Ok(workflow) => workflow,
        Err(complaint) => return (vec![complaint], 0),
    };
    let loaded = engine::load(workflow.to_string().as_bytes(), &Limits::default());
    let Some(plan) = loaded.plan else {
        let errors = loaded.diagnostics.iter().filter(|found| found.is_error());
        let said: Vec<String> = errors.map(|found| format!("{}. {}", found.message, found.hint)).collect();
        let pattern = expect["error"].as_str().unwrap_or("");
        let matches = said.iter().any(|said| says(said, pattern));
        let refused = expect["status"] == json!("failed") && matches;
        return (if refused { Vec::new() } else { vec![format!("it is refused: {said:?}")] }, 1);
    };
    let mut runs = Runs { plan: Arc::clone(&plan), expect: expect.clone(), count: 1, failing: Vec::new() };
    let ran = runtime.block_on(local::run(Arc::clone(&plan), json!({})));
    let differences = seen(&plan, &ran.events).differences(expect);
    runs.failing.extend(differences.into_iter().map(|difference| format!("embedded: {difference}")));
    runs.in_all_modes();
    (runs.failing, runs.count)
}

#[test]
fn every_case_in_every_mode_of_delivery() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let cases = cases();
    let running: Vec<&Value> = cases.iter().filter(|case| case["type"] == "runtime").collect();
    let (mut failing, mut runs) = (Vec::new(), 0);
    for case in &running {
        let (differences, count) = run_case(case, &runtime);
        runs += count;
        if !differences.is_empty() {
            let shown: Vec<&str> = differences.iter().take(3).map(String::as_str).collect();
            let (id, more) = (text(&case["id"]), differences.len() - shown.len());
            failing.push(format!("{id} {}: {} (and {more} more)", case["title"], shown.join("; ")));
        }
    }
    println!("{} of {} cases hold, in {runs} runs", running.len() - failing.len(), running.len());
    assert!(failing.is_empty() && !running.is_empty(), "failing cases:\n{}", failing.join("\n"));
}
