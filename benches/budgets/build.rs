//! Tells the program what it was built with: instruction counts hold for that only.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-env=BUILT_WITH_RUSTC={}", rustc_version());
    println!("cargo:rustc-env=BUILT_FOR={}", env::var("TARGET").unwrap_or_default());
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    println!("cargo:rustc-env=BUILT_WITH_RUSTFLAGS={}", flags.replace('\u{1f}', " "));
}

/// As in `rustc 1.95.0 (59807616e 2026-04-14)`, without the program's name.
fn rustc_version() -> String {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output();
    let printed =
        output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    printed.trim().strip_prefix("rustc ").unwrap_or("unknown").to_owned()
}
