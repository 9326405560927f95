//! Opens files of the workflow folder in the program that the system has for them.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use protocol::{Problem, ProblemCode};

/// The system decides which program that is. It lives on when the window is closed.
pub fn open(file: &Path) -> Result<(), Problem> {
    let started = Command::new("xdg-open").arg(file).stdin(Stdio::null()).stdout(Stdio::null()).spawn();
    let mut opener = started.map_err(|error| {
        let message = format!("the system's editor could not be opened: {error}");
        let hint = format!("install xdg-utils, or open {} by hand", file.display());
        Problem::new(ProblemCode::Infrastructure, message, hint)
    })?;
    // Somebody has to hear of its end, or it stays behind as a zombie.
    std::thread::spawn(move || drop(opener.wait()));
    Ok(())
}
