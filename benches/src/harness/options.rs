//! What every command can be asked for.

use std::path::PathBuf;

use clap::{Args, value_parser};

/// The options of every command.
#[derive(Args, Clone, Debug, Default)]
pub struct Options {
    /// Run for a moment: shows that everything works, and measures nothing
    #[arg(long)]
    pub quick: bool,

    /// Rounds, in each of which every arm is measured once [default: as each part needs]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=1_000))]
    pub rounds: Option<u32>,

    /// Where random choices start: the order of the arms, arrivals, sizes
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,

    /// Run these parts only, separated by commas [default: all]
    #[arg(long, value_name = "PARTS", value_delimiter = ',')]
    pub only: Vec<String>,

    /// Compare the base with these arms only, separated by commas [default: all]
    #[arg(long, value_name = "ARMS", value_delimiter = ',')]
    pub arms: Vec<String>,

    /// Write what was found, by round, and the facts of the machine
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Write the tables and the facts of the machine; in a folder, to `<machine>/<command>.md`
    #[arg(long, value_name = "FILE|DIR")]
    pub markdown: Option<PathBuf>,

    /// Take samples for the process that started this one
    #[arg(long, hide = true)]
    pub worker: bool,
}

impl Options {
    /// The arguments of a command that measures as much, and writes no files.
    pub fn line(&self, command: &str) -> Vec<String> {
        let option = |name: &str, value: String| [format!("--{name}"), value];
        let list = |name, values: &[String]| (!values.is_empty()).then(|| option(name, values.join(",")));
        [command.to_owned()]
            .into_iter()
            .chain(list("only", &self.only).into_iter().flatten())
            .chain(list("arms", &self.arms).into_iter().flatten())
            .chain(self.rounds.map(|rounds| option("rounds", rounds.to_string())).into_iter().flatten())
            .chain(option("seed", self.seed.to_string()))
            .chain(self.quick.then(|| "--quick".to_owned()))
            .collect()
    }
}
