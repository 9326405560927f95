//! The command line is a contract: flags, lines, exit codes.

use std::{fs, io::Write, process::Stdio};

use runeglass_tests::{Ran, repository, run, runeglass};
use serde_json::{Value, json};

fn sample(name: &str) -> String {
    repository().join("workflows").join(name).display().to_string()
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

#[test]
fn json_is_the_completion_on_the_last_line() {
    let ran = run(runeglass().args(["run", &sample("hello.json"), "--json", "--virtual-time"]));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let completion = ran.last_json();
    assert_eq!(completion["status"], "completed");
    assert_eq!(completion["workflow_id"], "hello");
    assert_eq!(completion["final_context"]["$compose"]["$json"]["sentence"], "Good morning, Ada!");
    assert_eq!(completion["final_context"]["$trigger"]["name"], "Ada");
    assert!(completion["total_duration_ms"].as_i64().is_some_and(|millis| millis >= 700));
}

#[test]
fn events_are_status_messages_and_one_completion() {
    let ran = run(runeglass().args(["run", &sample("review.json"), "--events", "-", "--virtual-time"]));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let lines: Vec<Value> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let (last, statuses) = lines.split_last().expect("lines");
    assert_eq!(last["status"], "completed");
    assert!(last.get("final_context").is_some());
    let (mut running, mut skipped) = (Vec::new(), Vec::new());
    for status in statuses {
        for field in [
            "workflow_id",
            "execution_id",
            "node_id",
            "status",
            "executed_at",
            "duration_ms",
            "output",
            "error",
        ] {
            assert!(status.get(field).is_some(), "{field} is missing in {status}");
        }
        let node = status["node_id"].as_str().expect("an id").to_owned();
        match status["status"].as_str() {
            Some("running") => running.push(node),
            Some("success") => assert!(running.contains(&node), "{node} succeeded before it ran"),
            Some("skipped") => skipped.push(node),
            other => panic!("unexpected {other:?}"),
        }
    }
    assert_eq!(skipped, ["ask", "escalate"]);
    assert_eq!(running, ["received", "price", "score", "risky", "ship", "confirm"]);
}

#[test]
fn events_go_to_a_file_while_json_goes_to_stdout() {
    let folder = folder();
    let events = folder.path().join("events.jsonl");
    let mut command = runeglass();
    command.args(["run", &sample("resilient.json"), "--json", "--virtual-time", "--events"]).arg(&events);
    let ran = run(&mut command);
    assert_eq!((ran.code, ran.stdout.lines().count()), (Some(0), 1), "{}", ran.stderr);
    let lines = fs::read_to_string(&events).expect("the events were written");
    assert_eq!(lines.lines().last(), ran.stdout.lines().last(), "both end with the same completion");
    assert!(lines.contains("\"status\":\"failed\"") && lines.contains("SIMULATED_FAILURE"));
}

#[test]
fn input_comes_from_the_argument_a_file_or_stdin() {
    let folder = folder();
    let file = folder.path().join("input.json");
    fs::write(&file, "{\"name\": \"Grace\"}").expect("written");
    let argument = |input: &str| {
        run(runeglass().args(["run", &sample("hello.json"), "--json", "--virtual-time", "--input", input]))
    };
    let sentence = |ran: &Ran| ran.last_json()["final_context"]["$compose"]["$json"]["sentence"].clone();
    assert_eq!(sentence(&argument("{\"name\": \"Linus\"}")), "Good morning, Linus!");
    assert_eq!(sentence(&argument(&format!("@{}", file.display()))), "Good morning, Grace!");

    let mut child = runeglass()
        .args(["run", &sample("hello.json"), "--json", "--virtual-time", "--input", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    child.stdin.take().expect("stdin").write_all(b"{\"name\": \"Edsger\"}").expect("written");
    let output = child.wait_with_output().expect("ends");
    assert!(String::from_utf8_lossy(&output.stdout).contains("Good morning, Edsger!"));

    for bad in ["{", "@/does/not/exist"] {
        let ran = argument(bad);
        assert_eq!(ran.code, Some(2), "{bad}");
        assert!(ran.stderr.contains("hint:"), "{}", ran.stderr);
    }
}

#[test]
fn a_failing_node_halts_with_code_1() {
    let folder = folder();
    let file = folder.path().join("fails.json");
    let workflow = json!({"nodes": [{"id": "boom", "type": "simulate", "parameters": {"failure_rate": 1}}]});
    fs::write(&file, workflow.to_string()).expect("written");
    let ran = run(runeglass().arg("run").arg(&file).arg("--json"));
    assert_eq!(ran.code, Some(1));
    let completion = ran.last_json();
    assert_eq!(completion["status"], "halted");
    assert_eq!(completion["error"]["code"], "SIMULATED_FAILURE");
    assert_eq!(completion["error"]["node_id"], "boom");
}

#[test]
fn bad_files_end_with_code_2_a_place_and_a_hint_and_leave_no_store() {
    let folder = folder();
    let write = |name: &str, bytes: &[u8]| {
        fs::write(folder.path().join(name), bytes).expect("written");
    };
    write("not-json.json", b"{\"nodes\": [}");
    write("types.json", b"{\"nodes\": [{\"id\": 1, \"type\": \"log\"}]}");
    write(
        "twice.json",
        b"{\"nodes\": [{\"id\": \"a\", \"type\": \"trigger\"}, {\"id\": \"a\", \"type\": \"trigger\"}]}",
    );
    write("nowhere.json", b"{\"nodes\": [{\"id\": \"a\", \"type\": \"trigger\"}], \"edges\": [{\"id\": \"e\", \"src\": \"a\", \"dst\": \"b\"}]}");
    let ring = json!({
        "nodes": [{"id": "a", "type": "simulate"}, {"id": "b", "type": "simulate"}],
        "edges": [{"id": "1", "src": "a", "dst": "b"}, {"id": "2", "src": "b", "dst": "a"}]
    });
    write("cycle.json", ring.to_string().as_bytes());
    write("empty.json", b"{\"nodes\": []}");
    write("deep.json", format!("{{\"nodes\": {}{}}}", "[".repeat(200), "]".repeat(200)).as_bytes());
    write("huge.json", format!("{{\"nodes\": [\"{}\"]}}", "x".repeat(50 * 1024 * 1024)).as_bytes());
    write("binary.json", &[0x7f, b'E', b'L', b'F', 0xff, 0xfe, 0, 1]);
    let store = folder.path().join("store.db");
    for (name, code) in [
        ("not-json.json", "NOT_JSON"),
        ("types.json", "WRONG_SHAPE"),
        ("twice.json", "DUPLICATE_ID"),
        ("nowhere.json", "UNKNOWN_NODE"),
        ("cycle.json", "CYCLE"),
        ("empty.json", "NO_NODES"),
        ("deep.json", "TOO_DEEP"),
        ("huge.json", "FILE_TOO_LARGE"),
        ("binary.json", "NOT_TEXT"),
        ("missing.json", "UNREADABLE_FILE"),
    ] {
        let ran = run(runeglass().arg("run").arg(folder.path().join(name)).arg("--store").arg(&store));
        assert_eq!(ran.code, Some(2), "{name}: {}", ran.stderr);
        assert!(ran.stderr.contains(code) && ran.stderr.contains("hint:"), "{name}: {}", ran.stderr);
        assert!(ran.stdout.is_empty(), "{name}: {}", ran.stdout);
        assert!(!store.exists(), "{name} wrote a store");
    }
}

#[test]
fn validate_says_everything_at_once() {
    let folder = folder();
    let file = folder.path().join("bad.json");
    let workflow = json!({
        "nodes": [
            {"id": "a", "type": "lgo"},
            {"id": "b", "type": "log", "parameters": {"message": "\u{1b}[2J"}}
        ],
        "edges": [{"id": "e", "src": "a", "dst": "\u{1b}[2J"}]
    });
    fs::write(&file, serde_json::to_string_pretty(&workflow).expect("JSON")).expect("written");
    let ran = run(runeglass().arg("validate").arg(&file).arg(sample("hello.json")));
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("UNKNOWN_KIND") && ran.stderr.contains("UNKNOWN_NODE"), "{}", ran.stderr);
    assert!(!ran.stderr.contains('\u{1b}'), "what a file says must not move the cursor");
    assert!(ran.stdout.contains("hello.json: valid"));

    let ran = run(runeglass().arg("validate").arg(&file).arg(sample("hello.json")).arg("--json"));
    let report: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!((ran.code, &report[0]["valid"], &report[1]["valid"]), (Some(2), &json!(false), &json!(true)));
    assert_eq!(report[0]["diagnostics"].as_array().map(Vec::len), Some(2));
    assert!(report[0]["diagnostics"][0]["place"]["line"].is_u64());
}

#[test]
fn foreign_and_newer_stores_are_refused_and_left_alone() {
    let folder = folder();
    let check = |name: &str, bytes: &[u8], words: &str| {
        let store = folder.path().join(name);
        fs::write(&store, bytes).expect("written");
        let ran =
            run(runeglass().args(["run", &sample("hello.json"), "--virtual-time", "--store"]).arg(&store));
        assert_eq!(ran.code, Some(3), "{name}: {}", ran.stderr);
        assert!(ran.stderr.contains(words) && ran.stderr.contains("hint:"), "{name}: {}", ran.stderr);
        assert_eq!(fs::read(&store).expect("still there"), bytes, "{name} was touched");
        assert!(!folder.path().join(format!("{name}-wal")).exists());
    };
    check("notes.txt", b"shopping list", "not a Runeglass store");
    check("empty.db", b"", "not a Runeglass store");
    let mut header = [0u8; 4096];
    header[..16].copy_from_slice(b"SQLite format 3\0");
    check("other.db", &header, "another program");
    header[60..64].copy_from_slice(&99i32.to_be_bytes());
    header[68..72].copy_from_slice(&0x5247_4c53i32.to_be_bytes());
    check("newer.db", &header, "newer Runeglass");
}

#[test]
fn a_store_serves_one_engine_at_a_time() {
    let folder = folder();
    let store = folder.path().join("runs.db");
    let slow = folder.path().join("slow.json");
    let workflow = json!({"nodes": [{"id": "s", "type": "simulate", "parameters": {"latency_ms": 60_000}}]});
    fs::write(&slow, workflow.to_string()).expect("written");
    let mut first = runeglass()
        .arg("run")
        .arg(&slow)
        .args(["--events", "-", "--store"])
        .arg(&store)
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut line = String::new();
    let stdout = first.stdout.take().expect("stdout");
    std::io::BufRead::read_line(&mut std::io::BufReader::new(stdout), &mut line).expect("a line");
    assert!(line.contains("running"));
    let ran = run(runeglass().args(["run", &sample("hello.json"), "--virtual-time", "--store"]).arg(&store));
    first.kill().expect("killed");
    first.wait().expect("gone");
    assert_eq!(ran.code, Some(3));
    assert!(ran.stderr.contains("in use"), "{}", ran.stderr);
}

#[test]
fn help_has_an_example_everywhere() {
    for command in [
        &["--help"][..],
        &["run", "--help"],
        &["validate", "--help"],
        &["serve", "--help"],
        &["resume", "--help"],
        &["export", "--help"],
        &["store", "--help"],
    ] {
        let ran = run(runeglass().args(command));
        assert_eq!(ran.code, Some(0));
        assert!(ran.stdout.contains("Example"), "{command:?}");
    }
    assert_eq!(run(runeglass().arg("dance")).code, Some(2));
}

#[test]
fn an_execution_is_exported_as_a_document() {
    let folder = folder();
    let store = folder.path().join("runs.db");
    let case = folder.path().join("case.json");
    let ran = run(runeglass()
        .args(["run", &sample("review.json"), "--json", "--virtual-time", "--store"])
        .arg(&store));
    let id = ran.last_json()["execution_id"].as_str().expect("an id").to_owned();
    let ran = run(runeglass().args(["export", &id, "--store"]).arg(&store).arg("-o").arg(&case));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let text = fs::read(&case).expect("written");
    let recording: protocol::Recording = serde_json::from_slice(&text).expect("a recording");
    assert_eq!(recording.details.len(), 6, "six nodes ran");
    let last = &recording.patches.last().expect("patches").patch;
    assert_eq!(last.summary.phase, protocol::ExecutionPhase::Completed);
    assert_eq!(
        run(runeglass().args(["export", "nobody", "--store"]).arg(&store).arg("-o").arg(&case)).code,
        Some(3)
    );
}

#[test]
fn a_store_is_checked_and_pruned() {
    let folder = folder();
    let path = folder.path().join("runs.db");
    let store = |arguments: &[&str]| run(runeglass().arg("store").args(arguments).arg("--store").arg(&path));
    let ran = store(&["check"]);
    assert_eq!(ran.code, Some(3), "{}", ran.stdout);
    assert!(ran.stderr.contains("no store") && !path.exists(), "{}", ran.stderr);
    for _ in 0..2 {
        run(runeglass().args(["run", &sample("review.json"), "--virtual-time", "--store"]).arg(&path));
    }
    let checked = store(&["check", "--json"]).last_json();
    assert_eq!((&checked["executions"], &checked["complaint_count"]), (&json!(2), &json!(0)));
    assert_eq!(store(&["prune"]).code, Some(2), "nothing says what may go");
    let kept = store(&["prune", "--keep", "1d", "--json"]).last_json();
    assert_eq!(kept["removed"], json!([]));
    let pruned = store(&["prune", "--max-size", "1B", "--json"]).last_json();
    assert_eq!(pruned["removed"].as_array().map(Vec::len), Some(2));
    assert_eq!(store(&["compact"]).code, Some(0));
    assert_eq!(store(&["check", "--json"]).last_json()["executions"], 0);
}

#[test]
fn what_was_counted_is_written_for_prometheus() {
    let folder = folder();
    let path = folder.path().join("metrics.txt").display().to_string();
    let ran =
        run(runeglass().args(["run", &sample("hello.json"), "--json", "--virtual-time", "--metrics", &path]));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let text = fs::read_to_string(&path).expect("the file");
    let nodes =
        text.lines().find_map(|line| line.strip_prefix("runeglass_firings_total{outcome=\"success\"} "));
    assert_eq!(nodes, Some("4"), "{text}");
    assert!(text.contains("runeglass_queue_depth 0") && text.ends_with("# EOF\n"), "{text}");
}
