//! What readers share: parts of files, and how numbers are written.

use serde::Deserialize;

pub use crate::harness::heading::command;
pub use crate::numbers::{NOTHING, compared, number};
pub use crate::page::plot::{distribution, number_by_percentile, time_by_percentile};
pub use crate::stats::paired_by_seed as paired;

pub use crate::page::headline::TIME_PER_POLL;

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

/// Points of a distribution, turned around for [`distribution`].
pub fn cumulative(curve: &[(f64, f64)]) -> Vec<(f64, f64)> {
    curve.iter().map(|&(part, value)| (value, part)).collect()
}

/// Points of the distribution of `samples`, (part, value), closer together towards 1: half, three quarters, and so on
/// as far as there are samples.
pub fn curve(mut samples: Vec<f64>) -> Vec<(f64, f64)> {
    samples.sort_by(f64::total_cmp);
    let count = samples.len() as f64;
    let steps = (0..=28).map(|step| 1.0 - 0.5_f64.powf(f64::from(step) / 2.0));
    let enough = steps.take_while(|part| (1.0 - part) * count >= 1.0);
    enough.map(|part| (part, samples[((part * count).ceil() as usize).max(1) - 1])).collect()
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

    #[test]
    fn a_curve_goes_as_far_as_there_are_samples() {
        let curve = curve((1..=8).map(f64::from).collect());
        assert_eq!(curve.first(), Some(&(0.0, 1.0)));
        assert_eq!(curve.last(), Some(&(0.875, 7.0)));
        assert!(curve.contains(&(0.5, 4.0)));
    }
}
