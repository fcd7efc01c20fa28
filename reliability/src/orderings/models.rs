//! Building the models, and running them with an ordering weakened.

use std::fmt;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::site::Weakening;
use crate::failure::Failure;
use crate::scratch::workspace;

/// The models' test program.
#[derive(Debug)]
pub(super) struct Models {
    program: PathBuf,
    patience: Duration,
}

/// What the models said to a weakening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// One failed.
    Caught,
    /// All passed.
    Survived,
    /// No model comes to that operation.
    NotReached,
    /// They did not end.
    Hung,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Outcome::Caught => "a model failed",
            Outcome::Survived => "no model failed",
            Outcome::NotReached => "no model comes to it",
            Outcome::Hung => "the models took too long",
        })
    }
}

impl Models {
    /// Builds them beside the other builds, in `target/loom`.
    pub(super) fn build(patience: Duration) -> Result<Self, Failure> {
        let output = Command::new(env!("CARGO"))
            .args([
                "test",
                "-p",
                "clockworker",
                "--lib",
                "--no-run",
                "--features",
                "tokio",
                "--profile",
                "hardened",
            ])
            .args(["--message-format", "json", "--target-dir", "target/loom"])
            .current_dir(workspace())
            .env("RUSTFLAGS", "--cfg clockworker_loom")
            .env_remove("CARGO_ENCODED_RUSTFLAGS")
            .stderr(Stdio::inherit())
            .output()
            .map_err(|error| Failure::run(format!("cannot run cargo: {error}")))?;
        if !output.status.success() {
            return Err(Failure::run("the models do not build"));
        }
        let program = String::from_utf8_lossy(&output.stdout).lines().find_map(test_program);
        let program = program.ok_or_else(|| Failure::run("cargo named no test program"))?;
        Ok(Models { program, patience })
    }

    /// Runs them as they are; all must pass. Gives the number of executions explored.
    pub(super) fn run_unchanged(&self) -> Result<u64, Failure> {
        let (passed, said) = self.run(None)?.ok_or_else(|| Failure::run("the models took too long"))?;
        match passed {
            true => Ok(said.lines().filter_map(executions).sum()),
            false => Err(Failure::run(format!("the models fail as they are:\n{said}"))),
        }
    }

    pub(super) fn run_weakened(&self, weakening: &Weakening) -> Result<Outcome, Failure> {
        let Weakening { file, line, column, argument, to, .. } = weakening;
        let site = format!("src/{file}:{line}:{column}:{argument}={to}");
        Ok(match self.run(Some(&site))? {
            None => Outcome::Hung,
            // Behind what the harness has printed of the test.
            Some((_, said)) if !said.contains("weakened ") => Outcome::NotReached,
            Some((true, _)) => Outcome::Survived,
            Some((false, _)) => Outcome::Caught,
        })
    }

    /// Whether they passed, and what they said. None if they took too long.
    fn run(&self, weakened: Option<&str>) -> Result<Option<(bool, String)>, Failure> {
        let wrong = |error: std::io::Error| Failure::run(format!("cannot run the models: {error}"));
        let mut command = Command::new(&self.program);
        command.args(["models::", "--test-threads", "1"]).env("RUST_BACKTRACE", "0");
        command
            .env_remove("CLOCKWORKER_WEAKEN")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        if let Some(site) = weakened {
            command.env("CLOCKWORKER_WEAKEN", site);
        }
        let mut child = command.spawn().map_err(wrong)?;
        let (give, said) = mpsc::channel();
        let mut stdout = child.stdout.take();
        thread::spawn(move || {
            let mut said = Vec::new();
            // What is killed ends what it says.
            let _ = stdout.as_mut().map(|stdout| stdout.read_to_end(&mut said));
            let _ = give.send(String::from_utf8_lossy(&said).into_owned());
        });
        let Ok(said) = said.recv_timeout(self.patience) else {
            child.kill().map_err(wrong)?;
            child.wait().map_err(wrong)?;
            return Ok(None);
        };
        let passed = child.wait().map_err(wrong)?.success();
        Ok(Some((passed, said)))
    }
}

/// The test program that a line of cargo's JSON names.
fn test_program(line: &str) -> Option<PathBuf> {
    let message: serde_json::Value = serde_json::from_str(line).ok()?;
    let is_test = message["profile"]["test"].as_bool()? && message["target"]["name"] == "clockworker";
    is_test.then(|| message["executable"].as_str().map(PathBuf::from)).flatten()
}

/// The number in a line as "model wakes/twice: 1852 executions".
fn executions(line: &str) -> Option<u64> {
    let (_, rest) = line.split_once("model ")?.1.split_once(": ")?;
    rest.strip_suffix(" executions")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executions_are_read_also_behind_what_the_harness_prints() {
        assert_eq!(executions("model wakes/twice: 1852 executions"), Some(1852));
        assert_eq!(executions("test models::a ... model joins/drop: 18 executions"), Some(18));
        assert_eq!(executions("test models::a ... ok"), None);
    }
}
