//! What the tests of the whole house share: the binaries, temporary places, large workflows, private servers.

pub mod cases;
pub mod clustered;
pub mod debugged;
pub mod flood;
pub mod host;
pub mod http;
pub mod keyring;
pub mod local;
pub mod model;
pub mod outside;
pub mod proxy;
pub mod rune_cluster;
pub mod servers;
pub mod short;
pub mod story;
pub mod traces;
pub mod watched;
pub mod workflows;

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// The root of the repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A binary of the workspace, built beside the tests. `make test` builds it first.
pub fn binary(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a test knows its own path");
    let built = test.ancestors().nth(2).expect("tests lie in target/<profile>/deps").join(name);
    assert!(built.exists(), "{name} is not built; run `make build` first");
    built
}

pub fn runeglass() -> Command {
    Command::new(binary("runeglass"))
}

/// What a command printed, for assertions.
pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

pub fn run(command: &mut Command) -> Ran {
    let Output { status, stdout, stderr } = command.output().expect("the command starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is UTF-8");
    Ran { code: status.code(), stdout: text(stdout), stderr: text(stderr) }
}

impl Ran {
    /// The last line of stdout as JSON.
    pub fn last_json(&self) -> serde_json::Value {
        let line = self
            .stdout
            .lines()
            .last()
            .unwrap_or_else(|| panic!("nothing on stdout; stderr: {}", self.stderr));
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }
}
