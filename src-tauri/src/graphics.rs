//! How the web view draws.

use std::{os::unix::process::CommandExt, path::Path, process::Command};

/// On a machine without a graphics card these make the web view several times faster.
const WITHOUT_GPU: [&str; 2] = ["WEBKIT_DISABLE_DMABUF_RENDERER", "WEBKIT_SKIA_ENABLE_CPU_RENDERING"];

/// The web view reads these from the environment of the process, so the process starts itself once more with them.
/// What the user has set stays.
pub fn suit_the_machine() -> anyhow::Result<()> {
    let unset: Vec<&str> = WITHOUT_GPU.into_iter().filter(|name| std::env::var_os(name).is_none()).collect();
    if unset.is_empty() || Path::new("/dev/dri").exists() {
        return Ok(());
    }
    let again = Command::new(std::env::current_exe()?)
        .args(std::env::args_os().skip(1))
        .envs(unset.into_iter().map(|name| (name, "1")))
        .exec();
    Err(again.into())
}
