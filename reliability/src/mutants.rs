//! Mutation testing: cargo-mutants changes one operator or function at a time, and some test must notice.
//!
//! It works in a scratch copy. What is mutated, and which mutants are left out because no test could tell them from the
//! original, is in `.cargo/mutants.toml`, each with its reason.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use serde::Deserialize;

use crate::BadRequest;
use crate::figure::{Figure, none, told};
use crate::scratch::Scratch;

/// Mutates EEVDF, the task cell and the inbox, and requires that a test notices each mutant.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Only one mutant in forty of EEVDF.
    #[arg(long, conflicts_with = "shard")]
    quick: bool,
    /// Only the mutants of this part.
    #[arg(long, value_enum)]
    area: Option<Area>,
    /// Only the K-th part of N, as 0/8.
    #[arg(long, value_name = "K/N")]
    shard: Option<String>,
    /// Take a mutant whose tests run for so many seconds for one that makes them hang.
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..))]
    hang: u64,
}

/// What is mutated together, since the same tests look at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Area {
    /// `eevdf/` and `parts/tournament.rs` of the schedulers.
    Eevdf,
    /// The task module and the inbox of the executor.
    Task,
}

/// The executor's test programs that look at tasks and the inbox.
const TASK_TESTS: [&str; 6] = ["executor", "memory", "runs", "scheduling", "tasks", "with_tokio"];

impl Area {
    const ALL: [Area; 2] = [Area::Eevdf, Area::Task];

    fn name(self) -> &'static str {
        match self {
            Area::Eevdf => "eevdf",
            Area::Task => "task",
        }
    }

    fn package(self) -> &'static str {
        match self {
            Area::Eevdf => "clockworker-schedulers",
            Area::Task => "clockworker",
        }
    }

    /// What its tests need.
    fn features(self) -> &'static str {
        match self {
            Area::Eevdf => "clockworker-schedulers/laws",
            Area::Task => "clockworker/tokio",
        }
    }

    fn tests(self) -> &'static [&'static str] {
        match self {
            Area::Eevdf => &["eevdf"],
            Area::Task => &TASK_TESTS,
        }
    }
}

/// See the [module docs](self).
pub fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for area in Area::ALL {
        let is_asked_for = options.area.is_none_or(|only| only == area);
        if is_asked_for && (area == Area::Eevdf || !options.quick) {
            figures.extend(figures_of(area, &mutate(area, options)?));
        }
    }
    Ok(figures)
}

/// What cargo-mutants counted.
#[derive(Clone, Copy, Debug, Deserialize)]
struct Counts {
    total_mutants: u32,
    caught: u32,
    missed: u32,
    timeout: u32,
    unviable: u32,
}

fn mutate(area: Area, options: &Options) -> anyhow::Result<Counts> {
    let scratch = Scratch::copy("mutants")?;
    let out = scratch.root().join("target").join(area.name());
    fs::create_dir_all(&out).with_context(|| format!("cannot make '{}'", out.display()))?;
    let status = command(area, options, scratch.root(), &out).status().context("cannot run cargo")?;
    // Its statuses: 0 all caught, 2 some missed, 3 some timed out.
    match status.code() {
        Some(0 | 2 | 3) => {}
        Some(101) => bail!(BadRequest("no cargo-mutants: cargo install cargo-mutants --locked".to_owned())),
        _ => bail!("cargo mutants stopped: {status}"),
    }
    let outcomes = out.join("mutants.out/outcomes.json");
    let text =
        fs::read_to_string(&outcomes).with_context(|| format!("cannot read '{}'", outcomes.display()))?;
    Ok(serde_json::from_str(&text)?)
}

fn command(area: Area, options: &Options, root: &Path, out: &Path) -> Command {
    let mut command = Command::new(env!("CARGO"));
    command.args(["mutants", "--in-place", "--no-shuffle", "--cap-lints=true", "--build-timeout=600"]);
    command.arg(format!("--timeout={}", options.hang)).arg("-o").arg(out);
    command.args(["-p", area.package()]);
    command.arg(format!("--features={}", area.features()));
    // For the build and the run: what is for the run alone leaves the build with all tests of the package.
    command.arg("--cargo-arg=--lib");
    for test in area.tests() {
        command.arg(format!("--cargo-arg=--test={test}"));
    }
    let shard = if options.quick { Some("0/40") } else { options.shard.as_deref() };
    command.args(shard.map(|shard| format!("--shard={shard}")));
    command.current_dir(root).env("CARGO_TARGET_DIR", root.join("target")).env("CARGO_INCREMENTAL", "0");
    // Most of the time goes into building.
    command.env("CARGO_PROFILE_DEV_DEBUG", "none");
    command
}

fn figures_of(area: Area, counts: &Counts) -> Vec<Figure> {
    // EEVDF's arithmetic is the promise of bounded lag, the task cell's that everything happens once.
    let (promise, area) = match area {
        Area::Eevdf => (6, "EEVDF"),
        Area::Task => (4, "task and inbox"),
    };
    vec![
        told(promise, format!("{area}: mutants made"), counts.total_mutants),
        told(promise, format!("{area}: mutants that do not compile"), counts.unviable),
        told(promise, format!("{area}: mutants caught by a failing test"), counts.caught),
        told(promise, format!("{area}: mutants caught by a hang"), counts.timeout),
        none(promise, format!("{area}: unexplained mutants that survive"), counts.missed),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::workspace;

    #[test]
    fn a_survivor_breaks_the_figure() {
        let text =
            r#"{"outcomes":[],"total_mutants":9,"missed":1,"caught":5,"timeout":1,"unviable":2,"success":0}"#;
        let counts: Counts = serde_json::from_str(text).unwrap();
        let figures = figures_of(Area::Task, &counts);
        assert_eq!(figures.iter().map(|figure| figure.value).collect::<Vec<_>>(), [9.0, 2.0, 5.0, 1.0, 1.0]);
        assert_eq!(figures.iter().filter(|figure| !figure.is_kept()).count(), 1);
    }

    #[test]
    fn the_tests_are_there() {
        let root = workspace();
        for (area, folder) in [(Area::Eevdf, "schedulers/tests"), (Area::Task, "clockworker/tests")] {
            for test in area.tests() {
                let program = root.join(folder).join(test);
                assert!(
                    program.join("main.rs").is_file() || program.with_extension("rs").is_file(),
                    "{test}"
                );
            }
        }
    }
}
