//! Mutation testing: cargo-mutants changes one operator or function at a time, and some test must notice.
//!
//! It works in a scratch copy. What is mutated, and which mutants are left out because no test could tell them from the
//! original, is in `.cargo/mutants.toml`, each with its reason.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};
use clap::Args;
use serde::Deserialize;

use crate::BadRequest;
use crate::figure::{Figure, none, told};
use crate::scratch;

#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// Only one mutant in forty of EEVDF.
    #[arg(long, conflicts_with = "shard")]
    quick: bool,
    /// Only the mutants of this part.
    #[arg(long, value_parser = AREAS.map(|area| area.name))]
    area: Option<String>,
    /// Only the K-th part of N, as 0/8.
    #[arg(long, value_name = "K/N")]
    shard: Option<String>,
    /// Take a mutant whose tests run for so many seconds for one that makes them hang.
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..))]
    hang: u64,
}

/// What is mutated together, since the same tests look at it.
struct Area {
    name: &'static str,
    title: &'static str,
    promise: u8,
    package: &'static str,
    features: &'static str,
    /// The package's test programs that look at it.
    tests: &'static [&'static str],
}

/// `eevdf/` and `parts/tournament.rs` of the schedulers, whose arithmetic is the promise of bounded lag; and the task module
/// and the inbox of the executor, which promise that everything happens once.
const AREAS: [Area; 2] = [
    Area {
        name: "eevdf",
        title: "EEVDF",
        promise: 6,
        package: "clockworker-schedulers",
        features: "clockworker-schedulers/laws",
        tests: &["eevdf"],
    },
    Area {
        name: "task",
        title: "task and inbox",
        promise: 4,
        package: "clockworker",
        features: "clockworker/tokio",
        tests: &["executor", "memory", "runs", "scheduling", "tasks", "with_tokio"],
    },
];

pub(crate) fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for area in AREAS {
        let is_asked_for = options.area.as_ref().is_none_or(|only| only == area.name);
        if is_asked_for && (area.name == "eevdf" || !options.quick) {
            let counts = mutate(&area, options)?;
            let Area { promise, title, .. } = area;
            figures.extend([
                told(promise, format!("{title}: mutants made"), counts.total_mutants),
                told(promise, format!("{title}: mutants that do not compile"), counts.unviable),
                told(promise, format!("{title}: mutants caught by a failing test"), counts.caught),
                told(promise, format!("{title}: mutants caught by a hang"), counts.timeout),
                none(promise, format!("{title}: unexplained mutants that survive"), counts.missed),
            ]);
        }
    }
    Ok(figures)
}

#[derive(Clone, Copy, Debug, Deserialize)]
struct Counts {
    total_mutants: u32,
    caught: u32,
    missed: u32,
    timeout: u32,
    unviable: u32,
}

fn mutate(area: &Area, options: &Options) -> anyhow::Result<Counts> {
    let root = scratch::copy("mutants")?;
    let out = root.join("target").join(area.name);
    fs::create_dir_all(&out).with_context(|| format!("cannot make '{}'", out.display()))?;
    let status = command(area, options, &root, &out).status().context("cannot run cargo")?;
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

fn command(area: &Area, options: &Options, root: &Path, out: &Path) -> Command {
    let mut command = Command::new(env!("CARGO"));
    command.args(["mutants", "--in-place", "--no-shuffle", "--cap-lints=true", "--build-timeout=600"]);
    command.arg(format!("--timeout={}", options.hang)).arg("-o").arg(out);
    command.args(["-p", area.package]).arg(format!("--features={}", area.features));
    // For the build and the run: what is for the run alone leaves the build with all tests of the package.
    command.arg("--cargo-arg=--lib");
    command.args(area.tests.iter().map(|test| format!("--cargo-arg=--test={test}")));
    let shard = if options.quick { Some("0/40") } else { options.shard.as_deref() };
    command.args(shard.map(|shard| format!("--shard={shard}")));
    command.current_dir(root).env("CARGO_TARGET_DIR", root.join("target")).env("CARGO_INCREMENTAL", "0");
    // Most of the time goes into building.
    command.env("CARGO_PROFILE_DEV_DEBUG", "none");
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tests_are_there() {
        for (area, folder) in AREAS.iter().zip(["schedulers/tests", "clockworker/tests"]) {
            for test in area.tests {
                let program = scratch::workspace().join(folder).join(test);
                assert!(
                    program.join("main.rs").is_file() || program.with_extension("rs").is_file(),
                    "{test}"
                );
            }
        }
    }
}
