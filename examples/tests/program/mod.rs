//! Where the examples' programs are.

use std::path::{Path, PathBuf};

/// The program of that name. `cargo test -p clockworker-examples` builds them all before it runs the tests.
pub(crate) fn path(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    // This is `target/debug/deps/run_all-…`, and that `target/debug/examples/NAME`.
    let profile = test.parent().and_then(Path::parent).unwrap();
    profile.join("examples").join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}
