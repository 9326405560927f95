//! A full disk: a clear error, and what was committed stays readable and goes on elsewhere.

use std::{fs, process::Command};

use recording::{Access, Ledger, Store};
use runeglass_tests::{binary, run, runeglass, workflows};

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

#[tokio::test]
async fn what_was_committed_stays_readable_and_goes_on_elsewhere() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let place = |name: &str| folder.path().join(name);
    fs::create_dir(place("disk")).expect("made");
    fs::create_dir(place("copy")).expect("made");
    fs::write(place("wide.json"), workflows::wide(40, 50, 1).to_string()).expect("written");
    let ran = run(Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "bash", "-c", SCRIPT])
        .env("RUNEGLASS", binary("runeglass"))
        .env("WORKFLOW", place("wide.json"))
        .env("DISK", place("disk"))
        .env("COPY", place("copy")));
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
