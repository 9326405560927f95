//! Secrets are hidden before they are written, and nothing goes on with the marks that stand in their place.

use std::fs;

use runeglass_tests::{Ran, run, runeglass};
use serde_json::{Value, json};

const SECRET: &str = "hunter2-hunter2-hunter2";

/// A login whose token is used by the next node.
fn login() -> Value {
    json!({
        "nodes": [
            {"id": "start", "type": "trigger"},
            {"id": "login", "type": "simulate", "parameters": {"output": {"password": "$trigger.password", "user": "ada"}}},
            {"id": "use", "type": "simulate", "parameters": {"output": "{{ $login.password.length }}"}}
        ],
        "edges": [{"id": "1", "src": "start", "dst": "login"}, {"id": "2", "src": "login", "dst": "use"}]
    })
}

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().expect("a temporary folder"));
        fs::write(place.path("login.json"), login().to_string()).expect("written");
        place
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    fn run(&self, more: &[&str]) -> Ran {
        let input = json!({"password": SECRET}).to_string();
        let (workflow, store) = (self.path("login.json"), self.path("runs.db"));
        let mut command = runeglass();
        command.args(["run", &workflow, "--json", "--store", &store, "--input", &input]).args(more);
        run(&mut command)
    }

    /// How often the secret stands in what was written.
    fn leaks(&self) -> usize {
        let found = |ending: &str| {
            let bytes = fs::read(self.path(&format!("runs.db{ending}"))).unwrap_or_default();
            bytes.windows(SECRET.len()).filter(|window| *window == SECRET.as_bytes()).count()
        };
        found("") + found("-wal")
    }
}

#[test]
fn parameters_are_hidden_without_asking() {
    let place = Place::new();
    let ran = place.run(&[]);
    assert_eq!(
        (ran.code, &ran.last_json()["final_context"]["$use"]),
        (Some(0), &json!(23)),
        "{}",
        ran.stderr
    );
    let id = ran.last_json()["execution_id"].as_str().expect("an id").to_owned();
    let (store, case) = (place.path("runs.db"), place.path("case.json"));
    assert_eq!(run(runeglass().args(["export", &id, "--store", &store, "-o", &case])).code, Some(0));
    let document: Value = serde_json::from_slice(&fs::read(&case).expect("read")).expect("JSON");
    let parameters = &document["details"]["login"]["firings"][0]["parameters"]["data"]["json"];
    assert_eq!(parameters["output"], json!({"password": "███ string(23)", "user": "ada"}));
    let verified = run(runeglass().args(["replay", &id, "--store", &store, "--verify", "--json"]));
    assert_eq!(
        verified.last_json()["difference"],
        json!(null),
        "what is hidden agrees with what it stands for"
    );
}

#[test]
fn everything_is_hidden_where_that_is_asked_for() {
    let place = Place::new();
    let rules = place.path("rules.json");
    fs::write(&rules, json!({"names": ["user"], "everywhere": true}).to_string()).expect("written");
    let ran = place.run(&["--redact", &rules]);
    assert_eq!(
        (ran.code, &ran.last_json()["final_context"]["$use"]),
        (Some(0), &json!(23)),
        "it runs as ever"
    );
    assert_eq!(place.leaks(), 0);
    let id = ran.last_json()["execution_id"].as_str().expect("an id").to_owned();
    let store = place.path("runs.db");
    let found =
        run(runeglass().args(["find", "--store", &store, "--path", "$.user", "--node", "login", "--json"]));
    assert_eq!(found.last_json()["hits"][0]["excerpt"], "\"███ string(3)\"");
    assert_eq!(found.last_json()["hits"][0]["execution_id"], json!(id));
    fs::write(&rules, "{\"nmaes\": []}").expect("written");
    let ran = place.run(&["--redact", &rules]);
    assert!(ran.code == Some(3) && ran.stderr.contains("holds no rules"), "{}", ran.stderr);
}

#[tokio::test]
async fn an_execution_that_lost_values_is_not_taken_up() {
    use recording::{Access, Store};
    let place = Place::new();
    let rules = place.path("rules.json");
    fs::write(&rules, json!({"everywhere": true}).to_string()).expect("written");
    let id = place.run(&["--redact", &rules]).last_json()["execution_id"].as_str().expect("an id").into();
    let reader = Store::open(place.path("runs.db").as_ref(), Access::Read).await.expect("a store");
    let events = reader.events(&id).await.expect("events");
    // As if the power had failed after the login.
    let store = place.path("interrupted.db");
    let writer = Store::open(store.as_ref(), Access::Write).await.expect("a store");
    writer.append(&events[..5]).await.expect("written");
    drop(writer);
    let resumed = run(runeglass().args(["resume", "--store", &store]));
    assert_eq!(resumed.code, Some(0), "{}", resumed.stderr);
    let reader = Store::open(store.as_ref(), Access::Read).await.expect("a store");
    let listed = reader.executions(1).await.expect("read");
    assert_eq!(listed[0].phase, protocol::ExecutionPhase::Halted);
    assert!(listed[0].error.as_ref().expect("an error").message.contains("hidden"));
}
