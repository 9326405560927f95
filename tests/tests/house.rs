//! The rules of the house that no compiler knows.

use std::{collections::BTreeSet, fs, path::PathBuf, process::Command};

use runeglass_tests::repository;

/// All crates that `package` needs to run, our own ones included.
fn needs(package: &str) -> BTreeSet<String> {
    let tree = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--locked",
            "--offline",
            "--edges",
            "normal",
            "--prefix",
            "none",
            "--format",
            "{p}",
            "-p",
            package,
        ])
        .current_dir(repository())
        .output()
        .expect("cargo tree runs");
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let text = String::from_utf8(tree.stdout).expect("names are UTF-8");
    let names: BTreeSet<String> = text
        .lines()
        .filter_map(|line| line.split(' ').next())
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect();
    assert!(names.contains(package), "cargo tree of {package} does not name it");
    names
}

fn check_absent(package: &str, forbidden: &[&str]) {
    let needed = needs(package);
    let found: Vec<&&str> = forbidden.iter().filter(|name| needed.contains(**name)).collect();
    assert!(found.is_empty(), "{package} must not pull in {found:?}");
}

#[test]
fn the_pure_rooms_do_no_input_or_output() {
    let outside = ["tokio", "sqlx", "sqlx-core", "lapin", "redis", "reqwest", "tauri", "getrandom", "rand"];
    check_absent("runeglass-protocol", &outside);
    check_absent("runeglass-engine", &outside);
}

#[test]
fn the_backends_do_not_know_each_other() {
    check_absent("runeglass-embedded", &["runeglass-cluster", "lapin", "redis"]);
    check_absent("runeglass-cluster", &["runeglass-embedded", "runeglass-recording", "sqlx"]);
    check_absent("runeglass-recording", &["runeglass-embedded", "runeglass-cluster", "runeglass-runtime"]);
    check_absent("runeglass-runtime", &["runeglass-embedded", "runeglass-cluster", "runeglass-recording"]);
}

#[test]
fn the_observer_cannot_write() {
    let writers =
        ["runeglass-cluster", "runeglass-embedded", "runeglass-runtime", "runeglass-recording", "reqwest"];
    check_absent("runeglass-observer", &writers);
}

#[test]
fn the_observer_speaks_through_two_doors() {
    let sources = || files("crates/observer/src", &[".rs"]);
    let never = [
        "basic_publish",
        "basic_get",
        "basic_ack",
        "basic_nack",
        "basic_reject",
        "queue_purge",
        "queue_delete",
        "queue_unbind",
        "exchange_declare",
        "exchange_delete",
        "exchange_bind",
        "Script",
    ];
    check_words(sources(), "nobody", &never);
    check_words(sources(), "observer/src/broker.rs", &["queue_declare", "queue_bind", "basic_consume"]);
    check_words(
        sources(),
        "observer/src/reader.rs",
        &["redis::cmd", "Cmd::", "query_async", "get_connection", "AsyncCommands"],
    );
}

#[test]
fn only_the_desktop_knows_tauri() {
    for package in ["runeglass-session", "runeglass-cli"] {
        check_absent(package, &["tauri", "wry", "tao"]);
    }
    assert!(needs("runeglass-desktop").contains("tauri"));
}

fn files(folder: &str, endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![repository().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("the folder can be read").flatten() {
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            if path.is_dir()
                && !matches!(name.as_str(), "node_modules" | "target" | "dist" | "generated" | "gen")
            {
                folders.push(path);
            } else if endings.iter().any(|ending| name.ends_with(ending)) {
                found.push(path);
            }
        }
    }
    assert!(!found.is_empty(), "{folder} holds no {endings:?}");
    found
}

fn check_words(paths: Vec<PathBuf>, allowed_in: &str, words: &[&str]) {
    for path in paths.into_iter().filter(|path| !path.to_string_lossy().contains(allowed_in)) {
        let text = fs::read_to_string(&path).expect("source is text");
        for word in words {
            assert!(!text.contains(word), "{} says {word:?}; only {allowed_in} may", path.display());
        }
    }
}

#[test]
fn only_the_bridge_leaves_the_page() {
    check_words(
        files("ui/src", &[".ts", ".tsx"]),
        "ui/src/bridge/",
        &["@tauri-apps/", "EventSource(", "WebSocket("],
    );
}

#[test]
fn only_the_clock_asks_what_time_it_is() {
    check_words(
        files("crates", &[".rs"]),
        "runtime/src/clock.rs",
        &["SystemTime::now", "std::time::Instant"],
    );
}

#[test]
fn no_file_grows_past_what_a_reader_can_hold() {
    let sources = files("crates", &[".rs"]).into_iter().chain(files("ui/src", &[".ts", ".tsx", ".css"]));
    for path in sources.chain(files("tests", &[".rs"])).chain(files("src-tauri/src", &[".rs"])) {
        let lines = fs::read_to_string(&path).expect("source is text").lines().count();
        assert!(lines <= 600, "{} has {lines} lines; redraw it", path.display());
    }
}

#[test]
fn every_sample_tells_its_story() {
    let samples = files("workflows", &[".json"]);
    assert!(samples.len() >= 3);
    for path in samples {
        let loaded = session::read_workflow(&path);
        assert!(
            loaded.plan.is_some() && loaded.diagnostics.is_empty(),
            "{}: {:?}",
            path.display(),
            loaded.diagnostics
        );
        let story = loaded.workflow.and_then(|workflow| workflow.description.clone()).unwrap_or_default();
        assert!(!story.is_empty() && !story.contains('\n'), "{} has no one-line story", path.display());
    }
}
