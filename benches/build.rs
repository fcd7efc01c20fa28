//! Tells the program which compiler and which tokio it was built with, for the facts beside the tables.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-env=BUILT_WITH_RUSTC={}", rustc_version());
    println!("cargo:rustc-env=BUILT_WITH_TOKIO={}", locked_version("tokio"));
}

fn rustc_version() -> String {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output();
    match output {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).trim().to_owned(),
        _ => "unknown".to_owned(),
    }
}

/// The version of `package` in the workspace's lock file, which cargo has written by the time a build script
/// runs.
fn locked_version(package: &str) -> String {
    let Some(lock) = lock_file() else { return "unknown".to_owned() };
    println!("cargo:rerun-if-changed={}", lock.display());
    let text = fs::read_to_string(lock).unwrap_or_default();
    let wanted = format!("name = \"{package}\"");
    let versions: Vec<&str> = text
        .lines()
        .zip(text.lines().skip(1))
        .filter(|(name, _)| *name == wanted)
        .filter_map(|(_, version)| version.strip_prefix("version = \"")?.strip_suffix('"'))
        .collect();
    if versions.is_empty() { "unknown".to_owned() } else { versions.join(" and ") }
}

fn lock_file() -> Option<PathBuf> {
    let manifest = env::var_os("CARGO_MANIFEST_DIR")?;
    let directories = Path::new(&manifest).ancestors();
    directories.map(|directory| directory.join("Cargo.lock")).find(|lock| lock.is_file())
}
