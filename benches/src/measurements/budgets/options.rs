//! What `budgets` can be asked for.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

pub use super::scenarios::Scenario;
use crate::harness::{Asked, chosen};

pub type Options = Asked<Own>;

#[derive(Args, Clone, Debug, Serialize, Deserialize)]
#[command(mut_arg("rounds", |arg| arg.help("Rounds of each scenario [default: 9, half a minute in all]")))]
pub struct Own {
    /// Run these scenarios only, separated by commas [default: all]
    #[arg(long, value_name = "SCENARIOS", value_enum, value_delimiter = ',')]
    pub only: Vec<Scenario>,

    /// Make what is found the baselines; with --golden, the hashes
    #[arg(long)]
    pub update: bool,

    /// Measure nothing: check the hashes of what an optimisation may not change
    #[arg(long, conflicts_with_all = ["only", "quick", "rounds", "json", "seed"])]
    pub golden: bool,

    /// The file of baselines, or with --golden of hashes [default: latency_budgets.toml, or golden.sha256, in benches]
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    file: Option<PathBuf>,

    /// The folder in which a run gets one of its own, for its artefacts [default: budgets in the target folder]
    #[arg(long, value_name = "DIR")]
    #[serde(skip)]
    pub artefacts: Option<PathBuf>,
}

impl Options {
    pub(super) fn file(&self) -> PathBuf {
        let usual = if self.golden { "golden.sha256" } else { "latency_budgets.toml" };
        self.file.clone().unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join(usual))
    }

    pub(super) fn scenarios(&self) -> impl Iterator<Item = Scenario> {
        chosen(&self.only, Scenario::value_variants())
    }
}
