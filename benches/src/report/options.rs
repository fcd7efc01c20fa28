//! What `report` can be asked for.

use std::path::PathBuf;

use clap::Args;

use crate::harness::target;

/// Where the results come from, and where the report goes.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = AFTER_HELP)]
pub struct Options {
    /// Run every scenario first, one after the other: most of an hour, or seconds with --quick
    #[arg(long, conflicts_with = "from")]
    pub run: bool,

    /// With --run, runs of seconds: shows that everything works, measures nothing
    #[arg(long, requires = "run")]
    pub quick: bool,

    /// With --run, where every random choice starts
    #[arg(long, value_name = "N", default_value_t = 1, requires = "run")]
    pub seed: u64,

    /// Files of results, as scenarios write them with --json, or folders of such files [default: report in the target folder]
    #[arg(long, value_name = "PATHS", num_args = 1..)]
    pub from: Vec<PathBuf>,

    /// The page [default: report/report.html in the target folder]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,

    /// Write the numbers and tables to FILE as Markdown, too
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
}

const AFTER_HELP: &str = "\
Without --run and --from, the files that the last `report --run` left in the target folder are collected, and the newest
result that `overhead` left there if those have none.

  report --run --quick                    everything, in seconds: not a measurement
  report --from compare.json tcp.json     what was measured by hand
  report --from results/ --markdown docs.md";

impl Options {
    pub fn folder() -> PathBuf {
        target::folder("report")
    }
}
