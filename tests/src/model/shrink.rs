//! A case that fails is made smaller while it fails in the same way, and written down as a recording that the app can
//! open, beside its workflow.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{
    Case, Failure,
    sabotage::Sabotage,
    trial::{Outcome, Trial},
    world::Faults,
};

/// How many runs a case may take to become small.
const MOST_RUNS: usize = 4_000;

/// A smaller case changes the order of everything behind it, so each is tried in a few orders.
const ORDERS: u64 = 6;

/// The smallest case found that fails as this one does.
pub fn shrink(trial: &Trial, failure: &Failure, sabotage: Sabotage) -> Trial {
    let mut smallest = trial.clone();
    let mut runs = 0;
    while runs < MOST_RUNS {
        let fails = |candidate: Trial| {
            let orders = (0..ORDERS).map(|order| Trial { chance: trial.chance + order, ..candidate.clone() });
            orders.inspect(|_| runs += 1).find(|candidate| match candidate.run(sabotage).verdict {
                Err(found) => found.kind == failure.kind,
                Ok(_) => false,
            })
        };
        let legal = candidates(&smallest).into_iter().filter(|candidate| candidate.case.plan.is_ok());
        match legal.filter_map(fails).next() {
            Some(smaller) => smallest = smaller,
            None => break,
        }
    }
    smallest
}

/// Everything that is a little smaller: first without a node, then with less input, then with fewer faults.
fn candidates(trial: &Trial) -> Vec<Trial> {
    let with_case = |case: Case| Trial { case, ..trial.clone() };
    let nodes = (0..trial.case.node_count()).rev();
    let without = nodes.flat_map(|node| [cut_out(&trial.case, node), bridge_over(&trial.case, node)]);
    let mut found: Vec<Trial> = without.flatten().map(with_case).collect();
    let inputs = smaller_values(&trial.case.input).into_iter();
    found.extend(inputs.map(|input| with_case(Case { input, ..trial.case.clone() })));
    let faults = trial.faults;
    let kinder = [
        Faults { duplicate: 0, ..faults },
        Faults { crash: 0, ..faults },
        Faults { delay: 0, ..faults },
        Faults { retry: 0, ..faults },
    ];
    let kinder = kinder.into_iter().filter(|faults| *faults != trial.faults);
    found.extend(kinder.map(|faults| Trial { faults, ..trial.clone() }));
    found
}

/// Without a node and its edges.
fn cut_out(case: &Case, at: usize) -> Option<Case> {
    without(case, at, |_, _| Vec::new())
}

/// Without a node; what led to it leads to what was behind it.
fn bridge_over(case: &Case, at: usize) -> Option<Case> {
    without(case, at, |before, behind| {
        let bridge = |mut edge: Value, to: &Value| {
            edge["id"] = json!(format!("{}{}", text(&edge, "id"), text(to, "id")));
            edge["dst"] = to["dst"].clone();
            edge["target_handle"] = to["target_handle"].clone();
            edge
        };
        before.iter().flat_map(|edge| behind.iter().map(|to| bridge(edge.clone(), to))).collect()
    })
}

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap_or_default()
}

fn without(case: &Case, at: usize, bridges: impl FnOnce(&[Value], &[Value]) -> Vec<Value>) -> Option<Case> {
    let mut nodes = case.workflow["nodes"].as_array()?.clone();
    let edges = case.workflow["edges"].as_array()?;
    if nodes[at]["type"] == "trigger" {
        return None;
    }
    let removed = nodes.remove(at)["id"].clone();
    let led = |end: &str| edges.iter().filter(|edge| edge[end] == removed).cloned().collect::<Vec<Value>>();
    let (before, behind) = (led("dst"), led("src"));
    let mut left: Vec<Value> =
        edges.iter().filter(|edge| edge["src"] != removed && edge["dst"] != removed).cloned().collect();
    left.extend(bridges(&before, &behind));
    for node in &mut nodes {
        // An error edge may have gone over a bridge, or be gone.
        if node["error"]["type"] == "branch" {
            let id = text(&node["error"], "error_edge").to_owned();
            match left.iter().find(|edge| edge["src"] == node["id"] && text(edge, "id").starts_with(&id)) {
                Some(edge) => node["error"]["error_edge"] = edge["id"].clone(),
                None => node["error"] = json!({"type": "ignore"}),
            }
        }
        if node["parameters"]["output"]["saw"] == json!(format!("${}", removed.as_str()?)) {
            node["parameters"]["output"]["saw"] = json!("$trigger.k");
        }
    }
    Some(Case::new(case.model, json!({"nodes": nodes, "edges": left}), case.input.clone()))
}

/// Every value that is this one with one array, somewhere inside, one shorter.
fn smaller_values(value: &Value) -> Vec<Value> {
    match value {
        Value::Array(items) => {
            let shorter = (0..items.len()).map(|at| {
                Value::Array(
                    items
                        .iter()
                        .enumerate()
                        .filter(|(other, _)| *other != at)
                        .map(|(_, item)| item.clone())
                        .collect(),
                )
            });
            let inside = items
                .iter()
                .enumerate()
                .flat_map(|(at, item)| smaller_values(item).into_iter().map(move |item| (at, item)));
            let inside = inside.map(|(at, item)| {
                let mut items = items.clone();
                items[at] = item;
                Value::Array(items)
            });
            shorter.chain(inside).collect()
        }
        Value::Object(fields) => {
            let inside = fields
                .iter()
                .flat_map(|(name, field)| smaller_values(field).into_iter().map(move |field| (name, field)));
            let changed = inside.map(|(name, field)| {
                let mut fields = fields.clone();
                fields[name] = field;
                Value::Object(fields)
            });
            changed.collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

/// Where failing cases are written.
pub fn folder() -> PathBuf {
    let test = std::env::current_exe().expect("a test knows its own path");
    test.ancestors().nth(3).expect("tests lie in target/<profile>/deps").join("storm")
}

/// Writes the recording and the workflow of a run, and says where.
pub fn write(folder: &Path, seed: u64, trial: &Trial, outcome: &Outcome) -> Result<[PathBuf; 2], String> {
    let explain = |error: &dyn std::fmt::Display| error.to_string();
    std::fs::create_dir_all(folder).map_err(|error| explain(&error))?;
    // A log that was damaged on purpose does not fold to its end; what folds is written.
    let lengths = (1..=outcome.events.len()).rev();
    let recording =
        lengths.filter_map(|length| recording::record(&outcome.events[..length]).ok()).flatten().next();
    let recording = recording.ok_or("nothing was recorded")?;
    let mut workflow = trial.case.workflow.clone();
    workflow["name"] = json!(format!("Storm, seed {seed}"));
    workflow["sample_input"] = trial.case.input.clone();
    let paths = [folder.join(format!("seed-{seed}.json")), folder.join(format!("seed-{seed}.workflow.json"))];
    let texts = [serde_json::to_string(&recording), serde_json::to_string_pretty(&workflow)];
    for (path, text) in paths.iter().zip(texts) {
        std::fs::write(path, text.map_err(|error| explain(&error))?).map_err(|error| explain(&error))?;
    }
    Ok(paths)
}
