//! An execution travels as one file; a hostile one is refused.

use std::{fs, path::Path, process::Command};

use protocol::{Event, Note};
use recording::{Access, Case, Store, StoreError, ViewFold, read_case, write_case};
use runeglass_tests::{local, model::Dice, repository, run, runeglass, workflows};
use serde_json::json;

async fn events() -> Vec<Event> {
    let (mut workflow, input) = workflows::nested(3, 4);
    workflow["nodes"][4]["parameters"]["output"] = json!({"n": "$item", "text": "x".repeat(3_000)});
    local::run(local::plan(&workflow), input).await.events
}

fn note(position: u64, text: &str) -> Note {
    Note { execution_id: "local".into(), position, node_id: None, at: 5, text: text.to_owned() }
}

async fn written(path: &Path) -> Case {
    let case = Case { events: events().await, notes: vec![note(3, "look here"), note(9, "")] };
    write_case(path, &case).await.expect("written");
    case
}

#[tokio::test]
async fn what_was_exported_is_imported_and_looks_the_same() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("case.runeglass");
    let case = written(&path).await;
    let names: Vec<_> =
        fs::read_dir(folder.path()).expect("read").flatten().map(|file| file.file_name()).collect();
    assert_eq!(names, ["case.runeglass"], "one file and nothing beside it");
    let read = read_case(&path).await.expect("read");
    assert!(read.events == case.events && read.notes == case.notes);

    let store = Store::open(&folder.path().join("other.db"), Access::Write).await.expect("a store");
    store.import(&read).await.expect("imported");
    let view = store.view_at(&"local".into(), u64::MAX).await.expect("read").expect("known");
    assert_eq!(view, *ViewFold::replay(&case.events).expect("a start").view());
    assert_eq!(store.notes(&"local".into()).await.expect("read"), case.notes);
    let twice = store.import(&read).await.expect_err("it is there");
    assert!(twice.to_string().contains("already"), "{twice}");
}

#[tokio::test]
async fn an_execution_that_goes_on_is_not_imported() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("case.runeglass");
    let mut events = events().await;
    events.truncate(20);
    write_case(&path, &Case { events, notes: Vec::new() }).await.expect("written");
    let case = read_case(&path).await.expect("it can be looked at");
    let store = Store::open(&folder.path().join("other.db"), Access::Write).await.expect("a store");
    assert!(matches!(store.import(&case).await, Err(StoreError::NotImported { .. })));
    assert!(store.unfinished().await.expect("read").is_empty());
}

/// Changes a file with the words of SQL.
fn sabotage(path: &Path, sql: &str) {
    let script =
        "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.executescript(sys.argv[2]); db.close()";
    let done =
        Command::new("python3").args(["-c", script]).arg(path).arg(sql).output().expect("python3 runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

#[tokio::test]
async fn hostile_files_are_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let good = folder.path().join("good.runeglass");
    written(&good).await;
    let event = "UPDATE events SET body =";
    for (name, sql) in [
        ("trigger", "CREATE TRIGGER t AFTER INSERT ON events BEGIN DELETE FROM events; END"),
        (
            "view",
            "DROP TABLE notes; CREATE VIEW notes AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x AS id, 1 AS execution, x AS position, '' AS node_id, 1 AS at, '' AS text FROM n",
        ),
        ("table", "CREATE TABLE more (x)"),
        ("index", "CREATE INDEX more ON events (at)"),
        ("lacks a table", "DROP TABLE notes"),
        (
            "generated",
            "DROP TABLE notes; CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT GENERATED ALWAYS AS (hex(zeroblob(1000000000))))",
        ),
        ("two", "INSERT INTO executions SELECT 99, 'other', 1, 1, summary FROM executions"),
        ("nobody", "DELETE FROM executions"),
        ("no events", "DELETE FROM events"),
        ("gap", "DELETE FROM events WHERE seq = (SELECT min(seq) FROM events WHERE seq >= 4)"),
        ("not JSON", &format!("{event} '{{' WHERE seq = 3")),
        ("unknown event", &format!("{event} '{{\"node_danced\":{{}}}}' WHERE seq = 3")),
        ("deep", &format!("{event} '{}' WHERE seq = 3", "[".repeat(100_000))),
        ("another message", &format!("{event} replace(body, 'message_id', 'message') WHERE seq = 3")),
        ("lost payload", "DELETE FROM payloads"),
        ("a lie about length", "UPDATE payloads SET packed = x'ffffffff0000' WHERE packed IS NOT NULL"),
        ("a path as id", "UPDATE executions SET execution_id = '../../etc/passwd'"),
        ("an older format", "PRAGMA user_version = 1"),
        ("a newer format", "PRAGMA user_version = 9"),
        ("another program", "PRAGMA application_id = 1"),
    ] {
        let path = folder.path().join("bad.runeglass");
        fs::copy(&good, &path).expect("copied");
        sabotage(&path, sql);
        let before = fs::read(&path).expect("read");
        let refused = read_case(&path).await.err();
        assert!(refused.is_some(), "{name} is believed");
        assert_eq!(fs::read(&path).expect("read"), before, "{name} was touched");
    }
    // Small on the disk, and a claim to become far too large.
    let path = folder.path().join("swells.runeglass");
    fs::copy(&good, &path).expect("copied");
    sabotage(
        &path,
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 5) \
         INSERT INTO payloads (hash, body, packed) SELECT 'swells' || x, '', x'00000040' FROM n",
    );
    let refused = read_case(&path).await.expect_err("five gigabytes");
    assert!(refused.to_string().contains("claim to be"), "{refused}");
    let path = folder.path().join("large.runeglass");
    fs::copy(&good, &path).expect("copied");
    fs::File::options()
        .write(true)
        .open(&path)
        .expect("opened")
        .set_len(5 << 30)
        .expect("a file full of holes");
    let refused = read_case(&path).await.expect_err("nobody exports five gigabytes");
    assert!(refused.to_string().contains("bytes"), "{refused}");
    fs::write(folder.path().join("text.runeglass"), "hello").expect("written");
    for name in ["text.runeglass", "missing.runeglass", "."] {
        assert!(read_case(&folder.path().join(name)).await.is_err(), "{name}");
    }
}

#[tokio::test]
async fn damaged_files_are_refused_or_read_but_never_break_anything() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let good = folder.path().join("good.runeglass");
    written(&good).await;
    let bytes = fs::read(&good).expect("read");
    let (mut dice, mut refused) = (Dice::new(11), 0);
    for _ in 0..250 {
        let mut damaged = bytes.clone();
        for _ in 0..=dice.roll(20) {
            let at = dice.roll(damaged.len());
            damaged[at] = dice.roll(256) as u8;
        }
        if dice.one_in(5) {
            damaged.truncate(dice.roll(bytes.len()));
        }
        let path = folder.path().join("damaged.runeglass");
        fs::write(&path, damaged).expect("written");
        refused += usize::from(read_case(&path).await.is_err());
    }
    assert!(refused > 100, "{refused} of 250");
}

#[test]
fn the_command_line_exports_imports_replays_and_compares() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (store, other, case) = (path("runs.db"), path("other.db"), path("case.runeglass"));
    let sample = repository().join("workflows/review.json").display().to_string();
    let ran = run(runeglass().args(["run", &sample, "--json", "--virtual-time", "--store", &store]));
    let id = ran.last_json()["execution_id"].as_str().expect("an id").to_owned();
    let good = |arguments: &[&str]| {
        let ran = run(runeglass().args(arguments));
        assert_eq!(ran.code, Some(0), "{arguments:?}: {} {}", ran.stdout, ran.stderr);
        ran
    };
    good(&["export", &id, "--store", &store, "-o", &case]);
    assert_eq!(run(runeglass().args(["export", "nobody", "--store", &store, "-o", &case])).code, Some(3));
    good(&["import", &case, "--store", &other]);
    let from_store = good(&["replay", &id, "--store", &store, "--at", "5", "--json"]).last_json();
    for arguments in [["replay", &id, "--store", &other], ["replay", &case, "--store", &other]] {
        let seen = good(&[&arguments[..], &["--at", "5", "--json"]].concat()).last_json();
        assert_eq!(seen, from_store, "{arguments:?}");
    }
    assert_eq!(from_store["position"], 5);
    assert!(good(&["replay", &case]).stdout.contains("completed"));
    assert_eq!(good(&["replay", &case, "--verify", "--json"]).last_json()["difference"], json!(null));
    assert_eq!(
        good(&["replay", &case, "--workflow", &sample, "--json"]).last_json()["comparison"]["first"],
        json!(null)
    );
    assert!(good(&["compare", &case, &id, "--store", &store]).stdout.contains("0 changed"));
    let second = run(runeglass().args([
        "run",
        &sample,
        "--json",
        "--virtual-time",
        "--store",
        &store,
        "--input",
        "{\"total\": 99999}",
    ]));
    let second = second.last_json()["execution_id"].as_str().expect("an id").to_owned();
    let differs = run(runeglass().args(["compare", &id, &second, "--store", &store, "--json"]));
    assert_eq!(differs.code, Some(1));
    assert!(differs.last_json()["first"]["node_id"].is_string());
    for (at, said) in [
        ("tomorrow", "is no place"),
        ("0", "events count from 1"),
        ("100000", "there is no event 100000"),
        ("2001-01-01T00:00:00Z", "nothing had happened by then"),
    ] {
        for recording in [&id, &case] {
            let ran = run(runeglass().args(["replay", recording, "--store", &store, "--at", at]));
            assert_eq!(ran.code, Some(2), "{at}: {}", ran.stdout);
            assert!(ran.stderr.contains(said), "{at}: {}", ran.stderr);
        }
    }
    let twice = run(runeglass().args(["import", &case, "--store", &other]));
    assert!(
        twice.stderr.contains("in this store already") && twice.stderr.contains("replay"),
        "{}",
        twice.stderr
    );
    assert_eq!(run(runeglass().args(["import", &sample, "--store", &other])).code, Some(3));
    assert!(good(&["find", "--store", &store]).stdout.contains(&second));
    let found = good(&["find", "--store", &store, "--path", "$.total == 99999", "--json"]).last_json();
    assert_eq!(found["hits"][0]["execution_id"], json!(second));
    for command in ["find", "replay", "compare", "import"] {
        assert!(good(&[command, "--help"]).stdout.contains("Example"), "{command}");
    }
}
