//! The web host carries the built user interface; a new build of it must reach the binary.

fn main() {
    println!("cargo:rerun-if-changed=../../ui/dist");
    println!("cargo:rerun-if-changed=build.rs");
}
