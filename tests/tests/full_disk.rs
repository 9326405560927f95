//! A full disk: a clear error, and what was committed stays readable and goes on elsewhere.

use std::{fs, path::Path, process::Command, time::Duration};

use recording::{Access, Ledger, Store};
use runeglass_tests::{binary, host::Host, run, runeglass, workflows};
use serde_json::json;

/// Runs in a mount namespace of its own, where the store lies on a file system of one and a half megabytes. The store
/// is copied out afterwards.
const SCRIPT: &str = r#"
set -eu
mount -t tmpfs -o size=1536k tmpfs "$DISK"
code=0
"$RUNEGLASS" run "$WORKFLOW" --json --store "$DISK/store.db" || code=$?
cp "$DISK"/store.db* "$COPY"
exit $code
"#;

/// A web host whose store lies on such a file system.
const HOST: &str = r#"
set -eu
mount -t tmpfs -o size=1536k tmpfs "$DISK"
exec "$RUNEGLASS" serve "$WORKFLOWS" --store "$DISK/store.db"
"#;

fn in_its_own_mounts(script: &str, folder: &Path) -> Command {
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "bash", "-c", script]);
    command.env("RUNEGLASS", binary("runeglass")).env("DISK", folder.join("disk"));
    command
}

#[tokio::test]
async fn what_was_committed_stays_readable_and_goes_on_elsewhere() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let place = |name: &str| folder.path().join(name);
    fs::create_dir(place("disk")).expect("made");
    fs::create_dir(place("copy")).expect("made");
    fs::write(place("wide.json"), workflows::wide(40, 50, 1).to_string()).expect("written");
    let mut command = in_its_own_mounts(SCRIPT, folder.path());
    let ran = run(command.env("WORKFLOW", place("wide.json")).env("COPY", place("copy")));
    assert_eq!(ran.code, Some(3), "stdout: {} stderr: {}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("the disk is full") && ran.stderr.contains("hint:"), "{}", ran.stderr);
    assert!(ran.stderr.contains("events could not be kept"), "what is lost is counted: {}", ran.stderr);

    let path = place("copy").join("store.db");
    let store = Store::open(&path, Access::Read).await.expect("still a store");
    let unfinished = store.unfinished().await.expect("readable");
    assert_eq!(unfinished.len(), 1);
    let events = store.events(&unfinished[0]).await.expect("readable");
    let ledger = Ledger::replay(&events).expect("what was committed adds up");
    assert!(events.len() > 10 && !ledger.is_ended(), "{} events", events.len());

    let resumed = run(runeglass().args(["resume", "--json", "--store"]).arg(&path));
    assert_eq!(resumed.code, Some(0), "{}", resumed.stderr);
    assert_eq!(resumed.last_json()["final_context"]["$c39_49"]["n"], 39_049);
}

#[test]
fn what_could_not_be_kept_is_shown_as_a_gap() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let place = |name: &str| folder.path().join(name);
    fs::create_dir(place("disk")).expect("made");
    fs::create_dir(place("workflows")).expect("made");
    fs::write(place("workflows/wide.json"), workflows::wide(40, 50, 1).to_string()).expect("written");
    let host = Host::start(in_its_own_mounts(HOST, folder.path()).env("WORKFLOWS", place("workflows")));
    let updates = host.listen();
    let (status, started) = host.ask(&json!({"type": "run", "path": "wide.json"}));
    assert_eq!(status, 200, "{started}");
    let id = &started["data"]["execution_id"];

    let (mut gap, mut trouble) = (None, None);
    while gap.is_none() || trouble.is_none() {
        let update = updates.recv_timeout(Duration::from_secs(180)).expect("the disk fills");
        match update["type"].as_str() {
            Some("trouble") => trouble = Some(update["data"].clone()),
            Some("execution") => {
                gap = update["data"]["summary"].get("unkept").filter(|gap| gap.is_object()).cloned().or(gap);
            }
            _ => {}
        }
    }
    let (gap, trouble) = (gap.expect("a gap"), trouble.expect("trouble"));
    assert_eq!(trouble["code"], "store_full", "{trouble}");
    let lost = gap["dropped"].as_u64().expect("a number");
    let said = format!("the last {lost} events could not be kept");
    assert!(
        lost > 0 && trouble["message"].as_str().is_some_and(|text| text.contains(&said)),
        "{gap} {trouble}"
    );
    assert_eq!(gap["until"], json!(null), "it goes on until somebody resumes it: {gap}");

    // Whoever comes later sees it too, in the list and in the view; what was kept can be looked at.
    assert_eq!(host.snapshot()["executions"][0]["unkept"], gap);
    let (_, view) = host.ask(&json!({"type": "execution", "execution_id": id}));
    assert_eq!(view["data"]["summary"]["unkept"], gap);
    let (_, timeline) = host.ask(&json!({"type": "timeline", "execution_id": id}));
    let latest = timeline["data"]["latest_at"].as_i64().expect("a moment");
    assert!(gap["from"].as_i64().is_some_and(|from| from >= latest), "{gap} after {latest}");
}
