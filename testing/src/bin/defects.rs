//! Planted defects: realistic bugs, kept as patches in `clockworker/tests/defects`, each of which a test must catch.
//!
//! `cargo run -p clockworker-testing --bin defects` puts one after the other into a copy of the workspace. The copy must build,
//! and the test that the patch names must fail, or hang. The same test must pass in the copy as it was. `defects TEXT…`
//! tries those with one of the texts in their names, or in those of their tests. A patch begins with what the defect is, and the test that catches it:
//!
//! ```text
//! # A push onto the inbox of a parked host wakes nobody.
//! # promise: 1
//! # test: clockworker --test runs wake_a_sleeping_host_exactly_once
//! diff --git …
//! ```
//!
//! That is a package; which of its test programs cargo is to build, or all if that is left out; and a part of the test's name.

#![allow(clippy::print_stdout, reason = "it is a program for a terminal")]

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use clockworker_testing::trial::{self, Ended, succeed, workspace};

const FOLDER: &str = "clockworker/tests/defects";

/// A test that runs for so long hangs.
const PATIENCE: Duration = Duration::from_secs(300);

fn main() -> anyhow::Result<()> {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let mut defects = read_all()?;
    let copy = Copy::make(&defects)?;
    let has = |defect: &Defect, text| defect.name.contains(text) || defect.test.join(" ").contains(text);
    defects.retain(|defect| asked.is_empty() || asked.iter().any(|text| has(defect, text)));
    ensure!(!defects.is_empty(), "there is no such defect in {FOLDER}: {asked:?}");
    for defect in &defects {
        let (ended, said) = copy.test(defect).with_context(|| format!("without '{}'", defect.name))?;
        ensure!(ended == Ended::Passed, "{ended:?} without the defect '{}':\n{said}", defect.name);
    }
    let mut missed = Vec::new();
    for defect in &defects {
        let (ended, said) = copy.try_defect(defect).with_context(|| format!("with '{}'", defect.name))?;
        println!("{:40} promise {:2}  {ended:?}  {}", defect.name, defect.promise, first_words(&said));
        missed.extend((ended == Ended::Passed).then_some(&defect.name));
    }
    println!("{} of {} defects caught", defects.len() - missed.len(), defects.len());
    ensure!(missed.is_empty(), "not caught: {missed:?}");
    Ok(())
}

/// A patch, and what stands at its head.
struct Defect {
    name: String,
    path: PathBuf,
    promise: u8,
    /// The package, what cargo is to build of it, and a part of the test's name.
    test: Vec<String>,
}

/// All defects there are. Those with one test program come one after the other, so that it is built less often.
fn read_all() -> anyhow::Result<Vec<Defect>> {
    let mut defects = Vec::new();
    for entry in fs::read_dir(workspace().join(FOLDER))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "patch") {
            let text = fs::read_to_string(&path)?;
            defects.push(parse(&path, &text).with_context(|| format!("the head of '{}'", path.display()))?);
        }
    }
    defects.sort_by_key(|defect| (defect.test.clone(), defect.name.clone()));
    Ok(defects)
}

fn parse(path: &Path, text: &str) -> anyhow::Result<Defect> {
    let head: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("# ")).collect();
    let field = |name: &str| {
        let found = head.iter().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        found.with_context(|| format!("there is no '# {name}: …'"))
    };
    Ok(Defect {
        name: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        path: path.to_owned(),
        promise: field("promise")?.parse()?,
        test: field("test")?.split_whitespace().map(str::to_owned).collect(),
    })
}

/// A copy of the workspace, to break something in it.
struct Copy(PathBuf);

impl Copy {
    fn make(defects: &[Defect]) -> anyhow::Result<Self> {
        let root = workspace().join("target/defects");
        let patches: Vec<_> =
            defects.iter().map(|defect| fs::read_to_string(&defect.path)).collect::<Result<_, _>>()?;
        let patches = patches.concat();
        // There may be none of an earlier run.
        let _ = fs::remove_dir_all(&root);
        let list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
        let names = succeed(Command::new("git").args(list).current_dir(workspace()))?;
        for name in names.split('\0').filter(|name| workspace().join(name).is_file()) {
            let (from, to) = (workspace().join(name), root.join(name));
            fs::create_dir_all(to.parent().unwrap_or(&root))?;
            fs::copy(&from, &to).with_context(|| format!("cannot copy '{name}'"))?;
            // So that cargo sees no change where there is none. Of what an earlier run put defects into, it may have built one.
            if !patches.contains(&format!("+++ b/{name}\n")) {
                File::options().write(true).open(&to)?.set_modified(fs::metadata(&from)?.modified()?)?;
            }
        }
        Ok(Copy(root))
    }

    fn try_defect(&self, defect: &Defect) -> anyhow::Result<(Ended, String)> {
        self.apply(defect, &[])?;
        let tried = self.test(defect);
        self.apply(defect, &["--reverse"])?;
        tried
    }

    fn apply(&self, defect: &Defect, how: &[&str]) -> anyhow::Result<()> {
        let mut git = Command::new("git");
        // The copy is inside a repository that ignores it, and git would skip what it ignores.
        git.env("GIT_CEILING_DIRECTORIES", workspace().join("target"));
        succeed(git.arg("apply").args(how).arg(&defect.path).current_dir(&self.0)).map(drop)
    }

    /// Runs the defect's test in each program that was built: the worst end, and what was said.
    fn test(&self, defect: &Defect) -> anyhow::Result<(Ended, String)> {
        let [package, targets @ .., filter] = &defect.test[..] else { bail!("no test is named") };
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["test", "--locked", "--all-features", "-p", package]).args(targets);
        let target = std::env::var_os("CARGO_TARGET_DIR");
        cargo.env("CARGO_TARGET_DIR", target.unwrap_or_else(|| workspace().join("target").into()));
        // Cargo tells members of workspaces apart by their paths in these, and would build what is broken in the place of what is
        // not: a wrapper that does nothing keeps them apart.
        cargo.env("RUSTC_WORKSPACE_WRAPPER", "/usr/bin/env").env("CARGO_INCREMENTAL", "0");
        let (mut ended, mut all_said, mut is_there) = (Ended::Passed, String::new(), false);
        for program in trial::build(cargo.current_dir(&self.0))? {
            let mut program = trial::program(&program, PATIENCE);
            let folder = self.0.join(package.trim_start_matches("clockworker-"));
            let (end, said) = trial::run(program.args([filter, "--nocapture"]).current_dir(folder))?;
            is_there |= end == Ended::Hung || !said.contains("running 0 tests");
            if end != Ended::Passed {
                ended = end;
            }
            all_said += &said;
        }
        ensure!(is_there, "there is no test '{filter}'");
        Ok((ended, all_said))
    }
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

    #[test]
    fn all_have_a_head_and_apply() {
        for defect in read_all().unwrap() {
            let mut check = Command::new("git");
            check.args(["apply", "--check"]).arg(&defect.path).current_dir(workspace());
            succeed(&mut check).unwrap();
            assert!((1..=17).contains(&defect.promise), "{}", defect.name);
        }
    }
}
