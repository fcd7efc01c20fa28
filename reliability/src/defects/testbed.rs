//! Where a defect is tried: build, run the one test, undo.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::failure::Failure;
use crate::scratch::{Scratch, workspace};

use super::seeded::{Defect, Package, TestName};

/// See the [module docs](self).
pub(super) struct Testbed {
    scratch: Scratch,
    /// What runs for so long hangs.
    hang: Duration,
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

/// How often a test under way is looked at.
const LOOK: Duration = Duration::from_millis(5);

impl Testbed {
    pub(super) fn new(scratch: Scratch, hang: Duration) -> Self {
        Testbed { scratch, hang }
    }

    /// Requires that each defect's test exists, and passes where there is no defect.
    pub(super) fn check_unbroken(&self, defects: &[Defect]) -> Result<(), Failure> {
        for package in Package::ALL {
            let tests =
                || defects.iter().map(|defect| &defect.caught_by).filter(|test| test.package == package);
            let targets: BTreeSet<Vec<&str>> = tests().map(TestName::target).collect();
            if !targets.is_empty() {
                let targets: Vec<&str> = targets.into_iter().flatten().collect();
                self.build(package, &targets)?;
            }
        }
        for test in defects.iter().map(|defect| &defect.caught_by) {
            let ended = self.run(test)?;
            if ended != Ended::Passed {
                return Err(Failure::run(format!("'{test}' does not pass without a defect: {ended:?}")));
            }
        }
        Ok(())
    }

    /// Puts the defect in, runs its test, and takes it out again.
    pub(super) fn try_defect(&self, defect: &Defect) -> Result<Ended, Failure> {
        self.apply(defect, &[])?;
        let ended = self.run(&defect.caught_by);
        self.apply(defect, &["--reverse"])?;
        ended.map_err(|failure| Failure::run(format!("'{}': {failure}", defect.name)))
    }

    fn apply(&self, defect: &Defect, how: &[&str]) -> Result<(), Failure> {
        let root = self.scratch.root();
        let applied = Command::new("git")
            .arg("apply")
            .args(how)
            .arg(&defect.path)
            .current_dir(root)
            // The copy is inside a repository that ignores it, and git would skip what it ignores.
            .env("GIT_CEILING_DIRECTORIES", root.parent().unwrap_or(root))
            .output()
            .map_err(|error| Failure::run(format!("cannot run git: {error}")))?;
        if applied.status.success() {
            return Ok(());
        }
        Err(Failure::run(format!(
            "the patch '{}' does not apply any more; make it anew: {}",
            defect.path.display(),
            String::from_utf8_lossy(&applied.stderr).trim()
        )))
    }

    /// Builds the test programs, and says where they are.
    fn build(&self, package: Package, targets: &[&str]) -> Result<Vec<PathBuf>, Failure> {
        let mut args = vec!["test", "--locked", "--no-run", "--message-format=json-render-diagnostics"];
        // The kit of laws is a feature, which some test files need.
        args.extend(["-p", package.name(), "--features=clockworker-schedulers/laws"]);
        args.extend(targets);
        // The workspace's own, for the dependencies that are there already. What is broken is at another path, and is
        // kept apart by it.
        let target = workspace().join("target");
        let built = self.scratch.cargo(&args, &[("CARGO_TARGET_DIR", &target.to_string_lossy())])?;
        if !built.status.success() {
            return Err(Failure::run(format!(
                "it does not build:\n{}",
                String::from_utf8_lossy(&built.stderr).trim()
            )));
        }
        let messages = String::from_utf8_lossy(&built.stdout).into_owned();
        Ok(messages.lines().filter_map(executable).collect())
    }

    fn run(&self, test: &TestName) -> Result<Ended, Failure> {
        let programs = self.build(test.package, &test.target())?;
        let [program] = &programs[..] else {
            return Err(Failure::run(format!("'{test}' is in {} test programs", programs.len())));
        };
        let output = self.scratch.root().join("output.txt");
        let wrong = |error: std::io::Error| Failure::run(format!("cannot run '{test}': {error}"));
        let file = File::create(&output).map_err(wrong)?;
        let child = Command::new(program)
            .args(["--exact", &test.test, "--nocapture"])
            .current_dir(self.scratch.root().join(test.package.folder()))
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::null())
            .stdout(file.try_clone().map_err(wrong)?)
            .stderr(file)
            .spawn()
            .map_err(wrong)?;
        let status = wait(child, self.hang).map_err(wrong)?;
        let said = fs::read(&output).map_err(wrong)?;
        judge(test, status, &String::from_utf8_lossy(&said))
    }
}

/// The program that a message of cargo's is about, if it is about a test program.
fn executable(message: &str) -> Option<PathBuf> {
    let message: serde_json::Value = serde_json::from_str(message).ok()?;
    message.get("executable")?.as_str().map(PathBuf::from)
}

/// None if it hangs; then it is ended.
#[allow(
    clippy::disallowed_methods,
    reason = "the patience with another process, which cannot be waited for in any other way"
)]
fn wait(mut child: Child, hang: Duration) -> std::io::Result<Option<ExitStatus>> {
    let end = Instant::now() + hang;
    while Instant::now() < end {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        thread::sleep(LOOK);
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}

fn judge(test: &TestName, status: Option<ExitStatus>, said: &str) -> Result<Ended, Failure> {
    if !said.contains("running 1 test") {
        return Err(Failure::run(format!("there is no test '{test}'")));
    }
    let Some(status) = status else { return Ok(Ended::Hung) };
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

    fn status(script: &str) -> Option<ExitStatus> {
        let child = Command::new("sh").args(["-c", script]).spawn().unwrap();
        wait(child, Duration::from_secs(60)).unwrap()
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

    #[test]
    fn what_hangs_is_ended() {
        let child = Command::new("sleep").arg("1000").spawn().unwrap();
        assert_eq!(wait(child, Duration::from_millis(20)).unwrap(), None);
    }

    #[test]
    fn only_programs_are_taken_from_cargos_messages() {
        assert_eq!(executable(r#"{"executable":"/a/b"}"#), Some(PathBuf::from("/a/b")));
        assert_eq!(executable(r#"{"executable":null}"#), None);
        assert_eq!(executable("Compiling"), None);
    }
}
