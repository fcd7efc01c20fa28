//! Promise 2, "a wake happens before the poll that it causes", and with it all that rests on memory orderings: each
//! ordering in the executor's source is weakened, one at a time, and one of its models must fail.
//!
//! The models are run by loom, see `clockworker/src/models/README.md`. What is weakened is what they hand to loom, so they
//! are built once.

mod models;
mod site;

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

use anyhow::{Context, anyhow, ensure};
use clap::Args;

use self::models::{Models, Outcome};
use self::site::Weakening;
use crate::cases::in_parallel;
use crate::figure::{Figure, exactly, told};
use crate::scratch::workspace;

/// The folder whose orderings are weakened, and what in it is none of the executor's.
const SOURCE: &str = "clockworker/src";
const NOT_SOURCE: [&str; 2] = ["sync", "models"];

/// Weakens each memory ordering of the executor in turn, and asks for a model that fails.
#[derive(Debug, Args)]
pub struct Options {
    /// Weaken one ordering per file only.
    #[arg(long)]
    quick: bool,
    /// How many models to run at once. As many as there are processors, if not given.
    #[arg(long, value_name = "N")]
    jobs: Option<NonZero<usize>>,
    /// How long the models may take with one ordering weakened, in seconds. One that takes longer is not caught.
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    patience: u64,
    /// Weaken only what has TEXT in its name, as in `inbox.rs` or `park`.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
}

/// Builds the models, and runs them with each ordering weakened.
pub fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let chosen = choose(find()?, options);
    let models = Models::build(Duration::from_secs(options.patience))?;
    let executions = models.run_unchanged()?;
    let mut missed = Vec::new();
    let jobs = options.jobs.map(NonZero::get);
    let outcomes = in_parallel(chosen.iter(), jobs, |weakening| models.run_weakened(weakening));
    for (weakening, outcome) in chosen.iter().zip(outcomes) {
        let outcome = outcome?;
        if outcome != Outcome::Caught {
            missed.push(format!("{weakening}: {outcome}"));
        }
    }
    ensure!(missed.is_empty(), "{} of {} weakenings:\n  {}", missed.len(), chosen.len(), missed.join("\n  "));
    Ok(vec![
        told(1, "loom executions explored", executions),
        told(2, "orderings weakened, one at a time", chosen.len()),
        exactly(2, "of these caught by a model", chosen.len() - missed.len(), chosen.len()),
    ])
}

/// All there is to weaken in the executor's source.
fn find() -> anyhow::Result<Vec<Weakening>> {
    let root = workspace().join(SOURCE);
    let mut found = Vec::new();
    for file in sources(&root).with_context(|| format!("cannot list '{}'", root.display()))? {
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read '{}'", file.display()))?;
        let name = file.strip_prefix(&root).unwrap_or(&file).to_string_lossy().into_owned();
        found.extend(site::weakenings(&name, &text).map_err(|error| anyhow!("'{name}': {error}"))?);
    }
    ensure!(!found.is_empty(), "no ordering found in {SOURCE}");
    Ok(found)
}

/// The Rust files below `root`, in order.
fn sources(root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                if !NOT_SOURCE.iter().any(|name| path == root.join(name)) {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

fn choose(found: Vec<Weakening>, options: &Options) -> Vec<Weakening> {
    let is_wanted = |weakening: &Weakening| match &options.only {
        Some(text) => weakening.to_string().contains(text.as_str()),
        None => true,
    };
    let mut chosen: Vec<Weakening> = found.into_iter().filter(is_wanted).collect();
    if options.quick {
        chosen.dedup_by(|next, first| next.file == first.file);
    }
    chosen
}
