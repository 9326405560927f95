//! The window may call two commands; everything else is not compiled into its permissions.

fn main() {
    println!("cargo:rerun-if-changed=../ui/dist");
    let commands = tauri_build::AppManifest::new().commands(&["call", "subscribe"]);
    if let Err(error) = tauri_build::try_build(tauri_build::Attributes::new().app_manifest(commands)) {
        println!("cargo:warning={error:#}");
        std::process::exit(1);
    }
}
