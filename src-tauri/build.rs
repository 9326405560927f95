//! The window may call these commands; everything else is not compiled into its permissions.

const COMMANDS: &[&str] = &["call", "subscribe", "import", "edit", "asked", "recent", "reopen", "forget"];

fn main() {
    println!("cargo:rerun-if-changed=../ui/dist");
    let commands = tauri_build::AppManifest::new().commands(COMMANDS);
    if let Err(error) = tauri_build::try_build(tauri_build::Attributes::new().app_manifest(commands)) {
        println!("cargo:warning={error:#}");
        std::process::exit(1);
    }
}
