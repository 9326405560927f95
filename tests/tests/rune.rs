//! Workflows made for Rune run here: as its canvas exports them, and as its workers get them.

use std::fs;

use engine::{Limits, Loaded};
use protocol::{DiagnosticCode, ExecutionStatus, Workflow};
use runeglass_tests::{local, repository};
use serde_json::{Value, json};

fn load(path: &str) -> Loaded {
    session::read_workflow(&repository().join(path))
}

fn load_value(workflow: &Value) -> Loaded {
    engine::load(workflow.to_string().as_bytes(), &Limits::default())
}

#[tokio::test]
async fn a_canvas_runs() {
    let plan = load("workflows/parcel-desk.json").plan.expect("valid");
    let input = plan.workflow.sample_input.clone().expect("a sample");
    let ran = local::run(plan, input).await;
    assert_eq!(ran.completion.status, ExecutionStatus::Completed);
    let carried = |to: &str, kilos: Value, note: &str, by: &str| json!([{"to": to, "kilos": kilos, "note": note, "carried": by}]);
    let packed = json!([
        carried("Grace", json!(24.5), "printer", "trolley"),
        carried("Barbara", json!(12), "books", "bag"),
        carried("Ada", json!(3), "", "bag"),
        carried("Edsger", json!(1), "fragile", "trolley"),
    ]);
    assert_eq!(ran.output("n9"), packed);
    assert_eq!(ran.output("n11")["output_index"], 2);
    assert_eq!(ran.output("n13")["message"], "2 on the trolley, Grace is first");
    assert_eq!((ran.firings("n12"), ran.firings("n14")), (0, 0));
    assert_eq!(ran.ended_at(), 2_000, "the trolley is fetched for both at once");
}

#[tokio::test]
async fn what_a_worker_gets_runs() {
    let loaded = load("tests/fixtures/rune-worker.json");
    let found: Vec<_> =
        loaded.diagnostics.iter().map(|found| (found.code, found.place.map(|place| place.line))).collect();
    let unknown = (DiagnosticCode::UnknownErrorPolicy, Some(29));
    assert_eq!(found, [unknown], "only the policy that is not known is remarked on");
    let workflow = loaded.workflow.expect("readable");
    assert_eq!(workflow.workflow_id, None, "an empty id is none");
    let credentials = workflow.nodes[3].credentials.as_ref().expect("they are kept");
    assert_eq!((credentials.label(), credentials.id.as_deref()), (Some("Scale"), Some("7")));

    let crates = json!([
        {"fruit": "plum", "days": 3, "rotten": false, "kilos": "8"},
        {"fruit": "pear", "days": 5, "rotten": false, "kilos": 12.5},
        {"fruit": "fig", "days": 9, "rotten": true, "kilos": 2}
    ]);
    let ran = local::run(loaded.plan.expect("valid"), json!({"crates": crates, "day": "Monday"})).await;
    assert_eq!(ran.completion.status, ExecutionStatus::Completed);
    let kept = json!([{"fruit": "plum", "kilos": 8}, {"fruit": "pear", "kilos": 12.5}, null]);
    assert_eq!(ran.output("a1"), kept);
    assert_eq!(ran.output("m1")["message"], "pear for the market");
}

/// Whatever is written around the graph, the workflow is the same.
#[test]
fn a_graph_may_stand_inside_a_row_or_a_message() {
    for path in ["workflows/parcel-desk.json", "tests/fixtures/rune-worker.json"] {
        let text = fs::read_to_string(repository().join(path)).expect("a file");
        let written: Value = serde_json::from_str(&text).expect("JSON");
        let plain = load_value(&written);
        let graph = json!({"nodes": written["nodes"], "edges": written["edges"]});
        let description = plain.workflow.as_ref().and_then(|workflow| workflow.description.clone());
        let around = |name: &str| {
            json!({
                "id": 12, "name": written["name"], "description": description, "sample_input": written["sample_input"],
                "is_active": true, "created_at": "2026-01-01T00:00:00Z", name: graph
            })
        };
        for wrapped in [around("workflow_data"), around("workflow_definition")] {
            let loaded = load_value(&wrapped);
            assert!(loaded.plan.is_some(), "{path}: {:?}", loaded.diagnostics);
            let strip = |loaded: &Loaded| {
                let workflow = loaded.workflow.as_deref().cloned().expect("readable");
                let other = workflow.other.into_iter().filter(|(name, _)| name == "notes").collect();
                Workflow { other, ..workflow }
            };
            assert_eq!(strip(&loaded), strip(&plain), "{path}");
        }
        assert!(load_value(&graph).plan.is_some(), "{path}: a graph alone");
    }
}

/// What the loader makes of a canvas is a workflow like any other: written down and read again it is the same.
#[test]
fn a_converted_canvas_reads_as_itself() {
    let first = load("workflows/parcel-desk.json");
    let written = serde_json::to_value(first.workflow.as_deref().expect("readable")).expect("JSON");
    assert_eq!(written["nodes"][3]["position"], json!([660, 0]));
    assert_eq!(written["notes"][0]["content"], "Fragile parcels ride, whatever they weigh.");
    let second = load_value(&written);
    assert_eq!(first.workflow, second.workflow);
    assert_eq!(first.hash, second.hash);
    assert!(second.plan.is_some());
}
