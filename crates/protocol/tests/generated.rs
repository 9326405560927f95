//! The generated files in the repository equal what the types say today.
//! `make generate` (or `RUNEGLASS_GENERATE=1` for this test) writes them anew.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::{fs, path::PathBuf};

use runeglass_protocol::{OpenedFile, RecentFile, Recording, Request, Response, Update, Workflow};
use ts_rs::TS;

fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn check(committed: &str, fresh: String) {
    let path = repository().join(committed);
    if std::env::var_os("RUNEGLASS_GENERATE").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, fresh).unwrap();
        return;
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(found == fresh, "{committed} does not match the Rust types; run `make generate` and commit it");
}

#[test]
fn typescript() {
    let folder = tempfile::tempdir().unwrap();
    let config = ts_rs::Config::new().with_large_int("number").with_out_dir(folder.path());
    Request::export_all(&config).unwrap();
    Response::export_all(&config).unwrap();
    Update::export_all(&config).unwrap();
    Recording::export_all(&config).unwrap();
    OpenedFile::export_all(&config).unwrap();
    RecentFile::export_all(&config).unwrap();
    let files: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(files, ["protocol.ts"], "every type belongs into the one generated file");
    check("ui/src/generated/protocol.ts", fs::read_to_string(folder.path().join("protocol.ts")).unwrap());
}

#[test]
fn workflow_schema() {
    let schema = schemars::schema_for!(Workflow);
    check("crates/protocol/workflow.schema.json", serde_json::to_string_pretty(&schema).unwrap() + "\n");
}
