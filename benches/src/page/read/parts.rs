//! What readers share: parts of files, and how numbers are written.

use serde::Deserialize;

use crate::numbers::{grouped, with_interval};
use crate::page::axis::{Axis, Scale, Unit};
use crate::random::{Purpose, Random};
use crate::stats::{self, Estimate};

/// What stands where there is nothing.
pub const NOTHING: &str = "–";

/// The topic of the first screen that `compare` and `overhead` share.
pub const TIME_PER_POLL: &str = "Time per poll ÷ LocalSet’s";

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

/// A command line of this program, or of the simulator.
pub fn command(arguments: &str) -> String {
    match arguments.strip_prefix("simulate") {
        Some(arguments) => format!("cargo run --release -p clockworker-simulate --{arguments}"),
        None => format!("cargo run --release -p clockworker-benches -- {arguments}"),
    }
}

/// The median of the ratios of what was measured together, with its 95 % interval; `None` where there is none.
pub fn paired(samples: &[f64], base: &[f64], seed: u64) -> Option<Estimate> {
    if samples.is_empty() || samples.len() != base.len() {
        return None;
    }
    let ratios = stats::paired_ratios(samples, base);
    let finite = ratios.iter().all(|ratio| ratio.is_finite());
    finite
        .then(|| stats::bootstrap_median(&ratios, &mut Random::new(seed, Purpose::Resampling, u64::MAX - 1)))
}

/// A ratio with its interval, if there is one.
pub fn compared(estimate: Option<&Estimate>) -> String {
    estimate.map_or_else(|| NOTHING.to_owned(), with_interval)
}

/// Three digits that count, and all before the point.
pub fn number(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size if size < 0.9995 => format!("{value:.3}"),
        size if size < 9.995 => format!("{value:.2}"),
        size if size < 99.95 => format!("{value:.1}"),
        _ => grouped(value.round() as u64),
    }
}

/// Percentiles one after the other, in `unit`.
pub fn tail(spread: &Spread, unit: f64) -> String {
    [spread.p50, spread.p99, spread.p999].map(|value| number(value / unit)).join(" / ")
}

/// The axes of a percentile plot of times.
pub fn time_by_percentile(what: &str) -> (Axis, Axis) {
    (Axis::new("percentile", Scale::Nines, Unit::Percent), Axis::new(what, Scale::Log, Unit::Nanos))
}

/// The axes of a percentile plot of numbers.
pub fn number_by_percentile(what: &str) -> (Axis, Axis) {
    (Axis::new("percentile", Scale::Nines, Unit::Percent), Axis::new(what, Scale::Log, Unit::Plain))
}

/// The axes of a cumulative distribution of times.
pub fn distribution(what: &str) -> (Axis, Axis) {
    (
        Axis::new(what, Scale::Log, Unit::Nanos),
        Axis::new("part that took no longer", Scale::Linear, Unit::Percent),
    )
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
    fn numbers_have_three_digits_that_count() {
        let texts = [0.0, 0.0123, 1.234, 56.78, 99.96, 12_345.6].map(number);
        assert_eq!(texts, ["0", "0.012", "1.23", "56.8", "100", "12,346"]);
    }

    #[test]
    fn a_curve_goes_as_far_as_there_are_samples() {
        let curve = curve((1..=8).map(f64::from).collect());
        assert_eq!(curve.first(), Some(&(0.0, 1.0)));
        assert_eq!(curve.last(), Some(&(0.875, 7.0)));
        assert!(curve.contains(&(0.5, 4.0)));
    }

    #[test]
    fn ratios_need_pairs() {
        assert_eq!(paired(&[1.0], &[], 1), None);
        assert_eq!(paired(&[1.0], &[0.0], 1), None);
        let equal = paired(&[1.0, 3.0], &[2.0, 6.0], 1).unwrap();
        assert_eq!((equal.low, equal.median, equal.high), (0.5, 0.5, 0.5));
    }
}
