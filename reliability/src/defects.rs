//! Seeded defects: realistic bugs, kept as patches, each of which a test must catch.
//!
//! One patch after the other is put into a scratch copy of the workspace. The copy must build, and the test that the patch
//! names must fail, or hang for as long as is said. The same tests must pass in the copy as it was. At the head of a patch is
//! what the defect is and which test must notice:
//!
//! ```text
//! # A push onto the inbox of a parked host wakes nobody.
//! # promise: 1
//! # caught-by: runs::host_wakes::wakes_and_spawns_from_other_threads_wake_a_sleeping_host_exactly_once_per_park
//! # quick
//! diff --git …
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use clap::Args;

use crate::BadRequest;
use crate::cases::bar;
use crate::figure::{Figure, exactly, table_of};
use crate::scratch::{self, workspace};
use crate::trial::{self, Ended, succeed};

#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// Only the defects marked as quick: one of each kind that the project began with.
    #[arg(long)]
    quick: bool,
    /// Only the defects whose names contain TEXT.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// List the defects and do nothing.
    #[arg(long)]
    list: bool,
    /// Take a test that runs for so many seconds for one that hangs.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    hang: u64,
}

const FOLDER: &str = "clockworker/tests/defects";

/// A patch, and what stands at its head.
#[derive(Clone, Debug)]
struct Defect {
    name: String,
    what: String,
    promise: u8,
    /// A test, as [`locate`] has it.
    caught_by: String,
    /// Whether it is among the few that are tried on each commit.
    quick: bool,
    path: PathBuf,
}

/// Where a test is: the folder of its library in the workspace, what cargo is to be told to build, and the test's path in
/// that. Its name begins with the program: `program::module::test`, `schedulers/program::module::test`; and `lib::path::test`
/// or `schedulers/lib::path::test` for one beside the code.
fn locate(name: &str) -> anyhow::Result<(&'static str, String, &str)> {
    let (library, rest) = match name.strip_prefix("schedulers/") {
        Some(rest) => ("schedulers", rest),
        None => ("clockworker", name),
    };
    let (program, path) =
        rest.split_once("::").with_context(|| format!("'{name}' is not 'program::test'"))?;
    let target = if program == "lib" { "--lib".to_owned() } else { format!("--test={program}") };
    Ok((library, target, path))
}

/// All defects there are, in order of their tests and names.
fn read_all() -> anyhow::Result<Vec<Defect>> {
    let folder = workspace().join(FOLDER);
    let mut defects = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("cannot read '{}'", folder.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "patch") {
            let read = fs::read_to_string(&path).map_err(anyhow::Error::from);
            let defect = read.and_then(|text| parse(&path, &text));
            defects.push(defect.with_context(|| format!("'{}'", path.display()))?);
        }
    }
    defects.sort_by_key(|defect| (defect.caught_by.clone(), defect.name.clone()));
    Ok(defects)
}

fn parse(path: &Path, text: &str) -> anyhow::Result<Defect> {
    let (mut what, mut promise, mut caught_by, mut quick) = (Vec::new(), None, None, false);
    for line in text.lines().map_while(|line| line.strip_prefix('#')).map(str::trim) {
        match line.split_once(": ") {
            Some(("promise", number)) => {
                promise = Some(number.parse().with_context(|| format!("no promise is '{number}'"))?);
            }
            Some(("caught-by", test)) => caught_by = Some(locate(test).map(|_| test.to_owned())?),
            _ if line == "quick" => quick = true,
            _ => what.push(line),
        }
    }
    let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(Defect {
        name,
        what: what.join(" "),
        promise: promise.context("no line '# promise: …' at its head")?,
        caught_by: caught_by.context("no line '# caught-by: …' at its head")?,
        quick,
        path: path.to_owned(),
    })
}

#[allow(clippy::print_stdout, reason = "the table is for a terminal")]
pub(crate) fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let mut defects = read_all()?;
    defects.retain(|defect| {
        let is_asked_for = options.only.as_ref().is_none_or(|text| defect.name.contains(text.as_str()));
        is_asked_for && (defect.quick || !options.quick)
    });
    let none = "there is no such defect; --list shows those there are";
    ensure!(!defects.is_empty(), BadRequest(none.to_owned()));
    if options.list {
        println!("{}", listed(&defects));
        return Ok(Vec::new());
    }
    let testbed = Testbed { root: scratch::copy("defects")?, hang: Duration::from_secs(options.hang) };
    testbed.check_unbroken(&defects)?;
    // In order of their tests, so that few programs are built twice.
    let bar = bar(defects.len() as u64);
    let tried = defects.iter().map(|defect| {
        bar.set_message(defect.name.clone());
        testbed.try_defect(defect)
    });
    let ends = bar.wrap_iter(tried).collect::<anyhow::Result<Vec<_>>>()?;
    println!("{}", told(&defects, &ends, options.hang));
    Ok(figures(&defects, &ends))
}

fn listed(defects: &[Defect]) -> String {
    let rows = defects.iter().map(|defect| {
        let quick = if defect.quick { "yes" } else { "" };
        [defect.name.clone(), defect.what.clone(), defect.promise.to_string(), quick.to_owned()]
    });
    table_of(["defect", "what it is", "promise", "quick"], rows)
}

/// A table of how the defects' tests ended, and what they said.
fn told(defects: &[Defect], ends: &[(Ended, String)], hang: u64) -> String {
    let rows = defects.iter().zip(ends).map(|(defect, (ended, said))| {
        let (how, words) = match ended {
            Ended::Passed => ("PASSED, so the defect was not caught".to_owned(), String::new()),
            Ended::Failed => ("failed".to_owned(), first_words(said)),
            Ended::Crashed(how) => (format!("crashed: {how}"), first_words(said)),
            Ended::Hung => (format!("hung for {hang} s"), String::new()),
        };
        [defect.name.clone(), defect.caught_by.clone(), how, words]
    });
    table_of(["defect", "test that is to catch it", "the test", "first words"], rows)
}

/// The line after the first panic's place.
fn first_words(said: &str) -> String {
    const LONGEST: usize = 60;
    let mut lines = said.lines().skip_while(|line| !line.contains("panicked at")).skip(1);
    lines.next().unwrap_or_default().chars().take(LONGEST).collect()
}

/// How many of each promise's defects were caught: all of them, or the figure is broken.
fn figures(defects: &[Defect], ends: &[(Ended, String)]) -> Vec<Figure> {
    let promises: BTreeSet<u8> = defects.iter().map(|defect| defect.promise).collect();
    let figure = |promise| {
        let of_it = || defects.iter().zip(ends).filter(|(defect, _)| defect.promise == promise);
        let caught = of_it().filter(|(_, (ended, _))| *ended != Ended::Passed).count();
        let all = of_it().count();
        exactly(promise, format!("seeded defects caught, of {all}"), caught, all)
    };
    promises.into_iter().map(figure).collect()
}

/// A copy of the workspace, in which a defect is tried: build, run the one test, undo.
struct Testbed {
    root: PathBuf,
    hang: Duration,
}

impl Testbed {
    /// Requires that each defect's test exists, and passes where there is no defect.
    fn check_unbroken(&self, defects: &[Defect]) -> anyhow::Result<()> {
        let mut targets = BTreeMap::<_, BTreeSet<String>>::new();
        for defect in defects {
            let (library, target, _) = locate(&defect.caught_by)?;
            targets.entry(library).or_default().insert(target);
        }
        // All at once: on several processors it takes less time.
        targets.into_iter().try_for_each(|(library, targets)| self.build(library, targets).map(drop))?;
        for Defect { caught_by, .. } in defects {
            let (ended, said) = self.run(caught_by)?;
            ensure!(
                ended == Ended::Passed,
                "'{caught_by}' does not pass without a defect: {ended:?}\n{said}"
            );
        }
        Ok(())
    }

    fn try_defect(&self, defect: &Defect) -> anyhow::Result<(Ended, String)> {
        self.apply(&defect.path, &[])?;
        let tried = self.run(&defect.caught_by);
        self.apply(&defect.path, &["--reverse"])?;
        tried.with_context(|| format!("'{}'", defect.name))
    }

    fn apply(&self, patch: &Path, how: &[&str]) -> anyhow::Result<()> {
        let mut git = Command::new("git");
        git.arg("apply").args(how).arg(patch).current_dir(&self.root);
        // The copy is inside a repository that ignores it, and git would skip what it ignores.
        git.env("GIT_CEILING_DIRECTORIES", self.root.parent().unwrap_or(&self.root));
        let stale = || format!("the patch '{}' does not apply any more; make it anew", patch.display());
        succeed(&mut git).map(drop).with_context(stale)
    }

    fn build(
        &self,
        library: &str,
        targets: impl IntoIterator<Item = String>,
    ) -> anyhow::Result<Vec<PathBuf>> {
        let mut cargo = Command::new(env!("CARGO"));
        // Some test files need features, as what they test is one.
        cargo.args(["test", "--locked", "--all-features"]).args(targets);
        cargo.current_dir(self.root.join(library)).env("CARGO_INCREMENTAL", "0");
        // The workspace's own, for the dependencies that are there already. cargo tells members of workspaces apart by their paths
        // in these, and so would build what is broken in the place of what is not: a wrapper that does nothing keeps them apart.
        cargo
            .env("CARGO_TARGET_DIR", workspace().join("target"))
            .env("RUSTC_WORKSPACE_WRAPPER", "/usr/bin/env");
        trial::build(&mut cargo)
    }

    fn run(&self, test: &str) -> anyhow::Result<(Ended, String)> {
        let (library, target, path) = locate(test)?;
        let programs = self.build(library, [target])?;
        let [program] = &programs[..] else { bail!("'{test}' is in {} test programs", programs.len()) };
        let mut run = Command::new(program);
        run.args(["--exact", path, "--nocapture"]).current_dir(self.root.join(library));
        let (ended, said) = trial::run(&mut run, self.hang)?;
        ensure!(ended == Ended::Hung || said.contains("running 1 test"), "there is no test '{test}'");
        Ok((ended, said))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_defect_that_was_not_caught_breaks_its_figure() {
        let mut defects = read_all().unwrap();
        defects.truncate(3);
        defects.iter_mut().zip([4, 4, 9]).for_each(|(defect, promise)| defect.promise = promise);
        let failed = "thread 'a' panicked at a.rs:1:\nleft and right\nmore";
        let ends = [(Ended::Hung, ""), (Ended::Passed, ""), (Ended::Failed, failed)];
        let ends = ends.map(|(ended, said)| (ended, said.to_owned()));
        let figures = figures(&defects, &ends);
        assert_eq!(figures.iter().map(|figure| figure.promise).collect::<Vec<_>>(), [4, 9]);
        assert_eq!(figures.iter().map(Figure::is_kept).collect::<Vec<_>>(), [false, true]);
        let told = told(&defects, &ends, 7);
        assert!(told.contains("hung for 7 s") && told.contains(" left and right "), "{told}");
    }

    #[test]
    fn the_head_says_what_it_is_and_the_rest_is_not_read() {
        let text = "# It is\n# wrong.\n# promise: 4\n# caught-by: schedulers/lib::a::b\n# quick\ndiff --git\n# promise: 5\n";
        let defect = parse(Path::new("some/defect.patch"), text).unwrap();
        assert_eq!((defect.name.as_str(), defect.what.as_str()), ("defect", "It is wrong."));
        assert_eq!((defect.promise, defect.quick), (4, true));
        assert_eq!(locate(&defect.caught_by).unwrap(), ("schedulers", "--lib".to_owned(), "a::b"));
    }

    #[test]
    fn a_head_that_leaves_something_out_is_an_error() {
        let parse = |text| format!("{:#}", parse(Path::new("a.patch"), text).unwrap_err());
        assert!(parse("# promise: 1\n").contains("caught-by"));
        assert!(parse("# caught-by: a::b\n").contains("promise"));
        assert!(parse("# promise: one\n").contains("'one'"));
        assert!(parse("# caught-by: wakers\n").contains("'wakers'"));
    }

    #[test]
    fn all_there_are_apply_and_five_are_quick() {
        let defects = read_all().unwrap();
        for defect in &defects {
            assert!((1..=17).contains(&defect.promise) && !defect.what.is_empty(), "{}", defect.name);
            let mut check = Command::new("git");
            check.args(["apply", "--check"]).arg(&defect.path).current_dir(workspace());
            succeed(&mut check).unwrap();
        }
        assert_eq!(defects.iter().filter(|defect| defect.quick).count(), 5);
    }
}
