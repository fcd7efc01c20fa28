//! Promise 2, "a wake happens before the poll that it causes", and with it all that rests on memory orderings: each
//! ordering in the executor's source is weakened, one at a time, and one of its models must fail.
//!
//! The models are run by loom, see `clockworker/src/models/README.md`. What is weakened is what they hand to loom, so they
//! are built once.

mod site;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, anyhow, ensure};
use clap::Args;

use self::site::Weakening;
use crate::cases::in_parallel;
use crate::figure::{Figure, exactly, told};
use crate::scratch::{sources, workspace};
use crate::trial::{self, Ended};

/// The folder whose orderings are weakened, and what in it is none of the executor's.
const SOURCE: &str = "clockworker/src";
const NOT_SOURCE: [&str; 2] = ["sync", "models"];

/// Weakens each memory ordering of the executor in turn, and asks for a model that fails.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Weaken one ordering per file only.
    #[arg(long)]
    quick: bool,
    /// How long the models may take with one ordering weakened, in seconds. One that takes longer is not caught.
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    patience: u64,
    /// Weaken only what has TEXT in its name, as in `inbox.rs` or `park`.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
}

pub(crate) fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let mut chosen = find()?;
    chosen.retain(|found| options.only.as_ref().is_none_or(|text| found.name.contains(text.as_str())));
    if options.quick {
        chosen.dedup_by(|next, first| next.file == first.file);
    }
    let models = Models { program: build()?, patience: Duration::from_secs(options.patience) };
    let executions = models.run_unchanged()?;
    let misses = Mutex::new(Vec::new());
    in_parallel(chosen.iter(), |Weakening { name, site, .. }| {
        if let Some(why) = models.miss(site) {
            misses.lock().unwrap_or_else(PoisonError::into_inner).push(format!("{name} ({site}): {why}"));
        }
    });
    let mut missed = misses.into_inner().unwrap_or_else(PoisonError::into_inner);
    missed.sort();
    ensure!(missed.is_empty(), "{} of {} weakenings:\n  {}", missed.len(), chosen.len(), missed.join("\n  "));
    Ok(vec![
        told(1, "loom executions explored", executions),
        told(2, "orderings weakened, one at a time", chosen.len()),
        exactly(2, "of these caught by a model", chosen.len() - missed.len(), chosen.len()),
    ])
}

/// All there is to weaken in the executor's source.
fn find() -> anyhow::Result<Vec<Weakening>> {
    let root = workspace();
    let mut found = Vec::new();
    for path in sources(&root)? {
        let Ok(name) = path.strip_prefix(SOURCE) else { continue };
        let is_source = !NOT_SOURCE.iter().any(|folder| name.starts_with(folder));
        if is_source && name.extension().is_some_and(|extension| extension == "rs") {
            let (shown, text) = (path.display(), fs::read_to_string(root.join(&path)));
            let text = text.with_context(|| format!("cannot read '{shown}'"))?;
            let weakenings = site::weakenings(&name.to_string_lossy(), &text);
            found.extend(weakenings.map_err(|error| anyhow!("'{shown}': {error}"))?);
        }
    }
    ensure!(!found.is_empty(), "no ordering found in {SOURCE}");
    Ok(found)
}

/// Builds the models beside the other builds, in `target/loom`, and gives their test program.
fn build() -> anyhow::Result<PathBuf> {
    let cargo = "test -p clockworker --lib --features tokio --profile hardened --target-dir target/loom";
    let mut build = Command::new(env!("CARGO"));
    build.args(cargo.split_whitespace()).current_dir(workspace()).stderr(Stdio::inherit());
    build.env("RUSTFLAGS", "--cfg clockworker_loom").env_remove("CARGO_ENCODED_RUSTFLAGS");
    trial::build(&mut build)?.pop().context("cargo named no test program")
}

struct Models {
    program: PathBuf,
    patience: Duration,
}

impl Models {
    /// Runs them as they are; all must pass. Gives the number of executions explored.
    fn run_unchanged(&self) -> anyhow::Result<u64> {
        let (ended, said) = self.run(None)?;
        ensure!(ended != Ended::Hung, "the models took too long");
        ensure!(ended == Ended::Passed, "the models fail as they are:\n{said}");
        Ok(said.lines().filter_map(executions).sum())
    }

    /// Runs them with an ordering weakened. None if one fails, or else why not.
    fn miss(&self, site: &str) -> Option<String> {
        let why = match self.run(Some(site)) {
            Err(error) => return Some(format!("{error:#}")),
            Ok((Ended::Hung, _)) => "the models took too long",
            // Behind what the harness has printed of the test.
            Ok((_, said)) if !said.contains("weakened ") => "no model comes to it",
            Ok((Ended::Passed, _)) => "no model failed",
            Ok((Ended::Failed | Ended::Crashed(_), _)) => return None,
        };
        Some(why.to_owned())
    }

    fn run(&self, weakened: Option<&str>) -> anyhow::Result<(Ended, String)> {
        let mut command = Command::new(&self.program);
        command.args(["models::", "--test-threads", "1"]).env_remove("CLOCKWORKER_WEAKEN");
        command.envs(weakened.map(|site| ("CLOCKWORKER_WEAKEN", site)));
        trial::run(&mut command, self.patience)
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
