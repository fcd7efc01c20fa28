//! [`Sample`]: what measuring an arm once has found.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What a wait without an end counts as: longer than any that has ended can have taken.
pub const WORST: Duration = Duration::from_secs(60);

/// Figures, by key. What an arm does not have is left out.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Sample(BTreeMap<String, f64>);

impl Sample {
    /// Adds a number, unless there is none: NaN or infinite.
    pub fn number(mut self, key: &str, number: f64) -> Self {
        if number.is_finite() {
            self.0.insert(key.to_owned(), number);
        }
        self
    }

    /// Adds the statistics of values. Those of `latency` are `latency.p99`, `latency.mean` and so on; all are 0 of no values.
    pub fn distribution(self, key: &str, values: impl IntoIterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_unstable_by(f64::total_cmp);
        let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
        let at = |part| quantile(&values, part);
        [("mean", mean), ("p50", at(0.5)), ("p99", at(0.99)), ("p999", at(0.999))]
            .into_iter()
            .fold(self, |sample, (name, value)| sample.number(&format!("{key}.{name}"), value))
    }

    /// Adds the statistics of waits, in nanoseconds. `None` is a wait without an end, and counts as [`WORST`].
    pub fn waits(self, key: &str, waits: impl IntoIterator<Item = Option<Duration>>) -> Self {
        self.distribution(key, waits.into_iter().map(|wait| wait.unwrap_or(WORST).as_nanos() as f64))
    }

    /// A figure; NaN if there is none.
    pub fn figure(&self, key: &str) -> f64 {
        self.0.get(key).copied().unwrap_or(f64::NAN)
    }

    /// Adds the figures of another sample of the arm.
    pub fn with(mut self, other: Sample) -> Self {
        self.0.extend(other.0);
        self
    }

    pub fn into_figures(self) -> BTreeMap<String, f64> {
        self.0
    }
}

/// The value that this part of the sorted values does not exceed; 0 of none.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let rank = (part * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_of_known_data_and_waits_without_an_end() {
        let waits = (0..100_u64).rev().map(|wait| (wait >= 2).then_some(Duration::from_nanos(wait)));
        let sample = Sample::default().distribution("size", (1..=1_000).map(f64::from)).waits("wait", waits);
        let figures = sample.distribution("nothing", []).number("none", f64::NAN).into_figures();
        let found = |key: &str| ["mean", "p50", "p99", "p999"].map(|name| figures[&format!("{key}.{name}")]);
        assert_eq!(found("size"), [500.5, 500.0, 990.0, 999.0]);
        assert_eq!((found("wait")[1], found("wait")[2]), (51.0, 60e9));
        assert_eq!(found("nothing"), [0.0; 4]);
        assert!(!figures.contains_key("none"));
    }
}
