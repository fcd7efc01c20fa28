//! Tells the program which compiler it was built with, for the facts beside the tables.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output().expect("cargo runs the compiler");
    println!("cargo:rustc-env=BUILT_WITH_RUSTC={}", String::from_utf8_lossy(&output.stdout).trim());
}
