//! What readers share: parts of files, and how numbers are written.

use serde::Deserialize;

pub use crate::harness::heading::command;
pub use crate::numbers::{NOTHING, compared, number};
pub use crate::page::plot::{number_by_percentile, time_by_percentile};
pub use crate::stats::paired_by_seed as paired;

/// What is kept of many values.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// Half are no larger.
    pub p50: f64,
    /// 99 of 100 are no larger.
    pub p99: f64,
    /// 999 of 1,000 are no larger.
    pub p999: f64,
    /// The largest.
    pub max: f64,
}

/// The part of a command line that all files keep.
#[derive(Clone, Debug, Deserialize)]
pub struct Arguments {
    /// Whether the run was a quick one.
    #[serde(default)]
    pub quick: bool,
    /// The seed of every random choice.
    pub seed: u64,
}

impl Arguments {
    /// The command line: the scenario, and what was different from the usual.
    pub fn command(&self, scenario: &str) -> String {
        let quick = if self.quick { " --quick" } else { "" };
        let seed = if self.seed == 1 { String::new() } else { format!(" --seed {}", self.seed) };
        command(&format!("{scenario}{quick}{seed}"))
    }
}

/// Percentiles one after the other, in `unit`.
pub fn tail(spread: &Spread, unit: f64) -> String {
    [spread.p50, spread.p99, spread.p999].map(|value| number(value / unit)).join(" / ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_says_what_was_not_usual() {
        let command = |quick, seed| Arguments { quick, seed }.command("compare");
        assert_eq!(command(false, 1), "cargo run --release -p clockworker-benches -- compare");
        assert!(command(true, 7).ends_with("-- compare --quick --seed 7"));
        assert_eq!(
            super::command("simulate --theory"),
            "cargo run --release -p clockworker-simulate -- --theory"
        );
    }
}
