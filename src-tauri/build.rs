//! The window may call four commands; everything else is not compiled into its permissions.

fn main() {
    println!("cargo:rerun-if-changed=../ui/dist");
    let commands = tauri_build::AppManifest::new().commands(&["call", "subscribe", "import", "edit"]);
    if let Err(error) = tauri_build::try_build(tauri_build::Attributes::new().app_manifest(commands)) {
        println!("cargo:warning={error:#}");
        std::process::exit(1);
    }
}
