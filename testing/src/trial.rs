//! Test programs that are run on code in which something was broken, to see whether a test notices.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, ensure};

/// How a test program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All tests passed.
    Passed,
    /// A test failed, or the program crashed.
    Failed,
    /// It ran for as long as it was given, and was killed.
    Hung,
}

/// The root of the workspace.
pub fn workspace() -> &'static Path {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    folder.parent().unwrap_or(folder)
}

/// A command for a test program, which is killed after so long. (By `timeout` of the GNU coreutils.)
pub fn program(program: &Path, patience: Duration) -> Command {
    let mut command = Command::new("timeout");
    command.arg(patience.as_secs().to_string()).arg(program).env("RUST_BACKTRACE", "0").stdin(Stdio::null());
    command
}

/// Runs such a command: how it ended, and what it wrote to standard output and error.
///
/// # Errors
///
/// If it cannot be started.
pub fn run(program: &mut Command) -> anyhow::Result<(Ended, String)> {
    const TIMED_OUT: i32 = 124;
    let output = program.output().with_context(|| format!("cannot run {program:?}"))?;
    let ended = match output.status.code() {
        Some(0) => Ended::Passed,
        Some(TIMED_OUT) => Ended::Hung,
        _ => Ended::Failed,
    };
    let said = [output.stdout, output.stderr].concat();
    Ok((ended, String::from_utf8_lossy(&said).into_owned()))
}

/// Has `cargo test …` build test programs, and gives their paths.
///
/// # Errors
///
/// If they do not build.
pub fn build(cargo: &mut Command) -> anyhow::Result<Vec<PathBuf>> {
    let messages = succeed(cargo.args(["--no-run", "--message-format=json-render-diagnostics"]))?;
    Ok(messages.lines().filter_map(test_program).collect())
}

/// The program that a message of cargo tells of, if it was built for its tests.
fn test_program(message: &str) -> Option<PathBuf> {
    let (_, profile) = message.split_once(r#""profile":{"#)?;
    let is_test = profile.split_once('}')?.0.contains(r#""test":true"#);
    let path = message.split_once(r#""executable":""#)?.1.split_once('"')?.0;
    is_test.then(|| path.into())
}

/// Runs a command that must succeed, and gives its standard output.
///
/// # Errors
///
/// If it fails, with what it wrote to standard error.
pub fn succeed(command: &mut Command) -> anyhow::Result<String> {
    let output = command.output().with_context(|| format!("cannot run {command:?}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?} failed:\n{}", said.trim());
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
