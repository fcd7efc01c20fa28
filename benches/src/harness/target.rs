//! The folder in which runs leave files that the command line gave no path for.

use std::env;
use std::path::PathBuf;

/// A folder in cargo's target folder, or in `target` where the program is run.
pub fn folder(name: &str) -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from).join(name)
}
