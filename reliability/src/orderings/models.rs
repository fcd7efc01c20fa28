//! Building the models, and running them with an ordering weakened.

use std::fmt;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context, ensure};

use super::site::Weakening;
use crate::scratch::{run_for, succeed, test_programs, workspace};

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
    pub(super) fn build(patience: Duration) -> anyhow::Result<Self> {
        let cargo = "test -p clockworker --lib --no-run --features tokio --profile hardened \
            --message-format json --target-dir target/loom";
        let mut build = Command::new(env!("CARGO"));
        build.args(cargo.split_whitespace()).current_dir(workspace()).stderr(Stdio::inherit());
        build.env("RUSTFLAGS", "--cfg clockworker_loom").env_remove("CARGO_ENCODED_RUSTFLAGS");
        let built = succeed(&mut build).context("the models do not build")?;
        let program = test_programs(&built).pop().context("cargo named no test program")?;
        Ok(Models { program, patience })
    }

    /// Runs them as they are; all must pass. Gives the number of executions explored.
    pub(super) fn run_unchanged(&self) -> anyhow::Result<u64> {
        let (status, said) = self.run(None)?.context("the models took too long")?;
        ensure!(status.success(), "the models fail as they are:\n{said}");
        Ok(said.lines().filter_map(executions).sum())
    }

    pub(super) fn run_weakened(&self, weakening: &Weakening) -> anyhow::Result<Outcome> {
        let Weakening { file, line, column, argument, to, .. } = weakening;
        let site = format!("src/{file}:{line}:{column}:{argument}={to}");
        Ok(match self.run(Some(&site))? {
            None => Outcome::Hung,
            // Behind what the harness has printed of the test.
            Some((_, said)) if !said.contains("weakened ") => Outcome::NotReached,
            Some((status, _)) if status.success() => Outcome::Survived,
            Some(_) => Outcome::Caught,
        })
    }

    /// How they ended, and what they said. None if they took too long.
    fn run(&self, weakened: Option<&str>) -> anyhow::Result<Option<(ExitStatus, String)>> {
        let mut command = Command::new(&self.program);
        command.args(["models::", "--test-threads", "1"]).env_remove("CLOCKWORKER_WEAKEN");
        command.envs(weakened.map(|site| ("CLOCKWORKER_WEAKEN", site)));
        run_for(&mut command, self.patience)
    }
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
