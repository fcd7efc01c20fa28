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

    /// Write what was found, by round, and the facts of the machine
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Write the tables and the facts of the machine; in a folder, to <machine>/<command>.md
    #[arg(long, value_name = "FILE|DIR")]
    pub markdown: Option<PathBuf>,

    /// Take samples for the process that started this one
    #[arg(long, hide = true)]
    pub worker: bool,
}

/// Options that take a value and say where results are written, and not what is measured.
const FILES: [&str; 2] = ["--json", "--markdown"];

/// A command line without its files of results.
pub fn without_files(line: &[String]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut line = line.iter();
    while let Some(argument) = line.next() {
        let (name, value) = argument.split_once('=').map_or((argument.as_str(), None), |(n, v)| (n, Some(v)));
        if !FILES.contains(&name) {
            kept.push(argument.clone());
        } else if value.is_none() {
            line.next();
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_no_part_of_what_is_measured() {
        let line = ["micro", "--json", "a.json", "--only", "poll", "--markdown=b.md"].map(str::to_owned);
        assert_eq!(without_files(&line), ["micro", "--only", "poll"]);
    }
}
