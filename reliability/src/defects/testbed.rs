//! Where a defect is tried: build, run the one test, undo.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};
use std::time::Duration;

use anyhow::{Context, bail, ensure};

use crate::scratch::{Scratch, run_for, succeed, test_programs, workspace};

use super::seeded::{Defect, LIBRARIES, TestName};

/// See the [module docs](self).
pub(super) struct Testbed {
    pub(super) scratch: Scratch,
    /// What runs for so long hangs.
    pub(super) hang: Duration,
}

/// How a test ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Passed,
    /// As tests fail. `words` is the line that says why.
    Failed {
        words: String,
    },
    /// In another way: by a signal, or by an exit.
    Crashed {
        how: String,
        words: String,
    },
    Hung,
}

impl Ended {
    pub(super) fn is_caught(&self) -> bool {
        *self != Ended::Passed
    }
}

/// The status with which a test program says that a test failed.
const TEST_FAILED: i32 = 101;

impl Testbed {
    /// Requires that each defect's test exists, and passes where there is no defect.
    pub(super) fn check_unbroken(&self, defects: &[Defect]) -> anyhow::Result<()> {
        for library in LIBRARIES {
            let tests =
                || defects.iter().map(|defect| &defect.caught_by).filter(|test| test.library == library);
            let targets: BTreeSet<Vec<&str>> = tests().map(TestName::target).collect();
            if !targets.is_empty() {
                let targets: Vec<&str> = targets.into_iter().flatten().collect();
                self.build(library, &targets)?;
            }
        }
        for test in defects.iter().map(|defect| &defect.caught_by) {
            let ended = self.run(test)?;
            ensure!(ended == Ended::Passed, "'{test}' does not pass without a defect: {ended:?}");
        }
        Ok(())
    }

    /// Puts the defect in, runs its test, and takes it out again.
    pub(super) fn try_defect(&self, defect: &Defect) -> anyhow::Result<Ended> {
        self.apply(defect, &[])?;
        let ended = self.run(&defect.caught_by);
        self.apply(defect, &["--reverse"])?;
        ended.with_context(|| format!("'{}'", defect.name))
    }

    fn apply(&self, defect: &Defect, how: &[&str]) -> anyhow::Result<()> {
        let root = self.scratch.root();
        let mut git = Command::new("git");
        git.arg("apply").args(how).arg(&defect.path).current_dir(root);
        // The copy is inside a repository that ignores it, and git would skip what it ignores.
        git.env("GIT_CEILING_DIRECTORIES", root.parent().unwrap_or(root));
        let stale = || format!("the patch '{}' does not apply any more; make it anew", defect.path.display());
        succeed(&mut git).map(drop).with_context(stale)
    }

    /// Builds the test programs, and says where they are.
    fn build(&self, library: &str, targets: &[&str]) -> anyhow::Result<Vec<PathBuf>> {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["test", "--locked", "--no-run", "--message-format=json-render-diagnostics"]);
        // The kit of laws is a feature, which some test files need.
        cargo.arg("--features=clockworker-schedulers/laws").args(targets);
        cargo.current_dir(self.scratch.root().join(library)).env("CARGO_INCREMENTAL", "0");
        // The workspace's own, for the dependencies that are there already. What is broken is at another path, and is
        // kept apart by it.
        cargo.env("CARGO_TARGET_DIR", workspace().join("target"));
        Ok(test_programs(&succeed(&mut cargo).context("it does not build")?))
    }

    fn run(&self, test: &TestName) -> anyhow::Result<Ended> {
        let programs = self.build(test.library, &test.target())?;
        let [program] = &programs[..] else { bail!("'{test}' is in {} test programs", programs.len()) };
        let mut run = Command::new(program);
        run.args(["--exact", &test.test, "--nocapture"]);
        run.current_dir(self.scratch.root().join(test.library));
        match run_for(&mut run, self.hang)? {
            None => Ok(Ended::Hung),
            Some((status, said)) => judge(test, status, &said),
        }
    }
}

fn judge(test: &TestName, status: ExitStatus, said: &str) -> anyhow::Result<Ended> {
    ensure!(said.contains("running 1 test"), "there is no test '{test}'");
    let words = first_words(said);
    Ok(match status.code() {
        Some(0) => Ended::Passed,
        Some(TEST_FAILED) => Ended::Failed { words },
        _ => Ended::Crashed { how: status.to_string(), words },
    })
}

/// The line after the first panic's place.
fn first_words(said: &str) -> String {
    const LONGEST: usize = 60;
    let mut lines = said.lines().skip_while(|line| !line.contains("panicked at")).skip(1);
    lines.next().unwrap_or_default().chars().take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(script: &str) -> ExitStatus {
        Command::new("sh").args(["-c", script]).status().unwrap()
    }

    #[test]
    fn ends_are_told_apart() {
        let test: TestName = "wakers::a".parse().unwrap();
        let judge = |script, said| judge(&test, status(script), said);
        assert_eq!(judge("exit 0", "running 1 test").unwrap(), Ended::Passed);
        let said = "running 1 test\nthread 'a' panicked at a.rs:1:\nleft and right\nmore";
        assert_eq!(judge("exit 101", said).unwrap(), Ended::Failed { words: "left and right".to_owned() });
        assert!(matches!(judge("kill -SEGV $$", "running 1 test").unwrap(), Ended::Crashed { how, .. }
            if how.contains("signal")));
        assert!(judge("exit 0", "running 0 tests").unwrap_err().to_string().contains("no test 'wakers::a'"));
    }
}
