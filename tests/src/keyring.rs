//! A desktop's keyring of our own: a private bus, and the daemon that keeps secrets on it.

use std::{path::Path, process::Command};

use crate::{Ran, binary, run};

/// Runs a script beside it. Everything that is kept is kept in the folder.
pub fn with_keyring(folder: &Path, script: &str) -> Ran {
    let unlock = "printf pass | gnome-keyring-daemon --unlock --components=secrets > /dev/null 2>&1";
    let mut command = Command::new("dbus-run-session");
    command.args(["--", "sh", "-ec", &format!("{unlock}\n{script}")]);
    for variable in ["HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"] {
        command.env(variable, folder);
    }
    run(command.env("RUNEGLASS", binary("runeglass")).current_dir(folder))
}
