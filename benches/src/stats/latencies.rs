//! Latencies, gathered in an HDR histogram of three digits.

use std::time::Duration;

use hdrhistogram::Histogram;

/// What a task without an end counts as: longer than any task that has ended can have taken.
pub const WORST: Duration = Duration::from_secs(60);

/// A generator later than this had to share its core: a tenth of the shortest piece of work is lost in the
/// latencies.
pub const TOLERABLE_LATENESS_NS: u64 = 10_000;

/// A collection of latencies.
#[derive(Clone, Debug)]
pub struct Latencies(Histogram<u64>);

impl Latencies {
    /// Adds all of `others`.
    pub fn merge(&mut self, others: &Latencies) {
        self.0.add(&others.0).expect("all have the same bounds");
    }

    /// Adds one.
    pub fn record(&mut self, nanos: u64) {
        self.0.saturating_record(nanos);
    }

    /// What the fraction `part` of them takes no longer than, in nanoseconds; zero if there are none.
    pub fn at(&self, part: f64) -> u64 {
        self.0.value_at_quantile(part)
    }
}

impl Default for Latencies {
    fn default() -> Self {
        let longest = WORST.as_nanos() as u64;
        Latencies(Histogram::new_with_bounds(1, longest, 3).expect("the bounds are in order"))
    }
}

impl Extend<Option<u64>> for Latencies {
    fn extend<I: IntoIterator<Item = Option<u64>>>(&mut self, nanos: I) {
        let worst = WORST.as_nanos() as u64;
        for nanos in nanos {
            self.0.saturating_record(nanos.unwrap_or(worst));
        }
    }
}

/// Whether a percentile is a task that never ended, and not a time that was measured.
pub fn is_worst(nanos: u64) -> bool {
    nanos >= WORST.as_nanos() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gathered(nanos: impl IntoIterator<Item = Option<u64>>) -> Latencies {
        let mut latencies = Latencies::default();
        latencies.extend(nanos);
        latencies
    }

    fn percentiles(latencies: &Latencies) -> [u64; 3] {
        [0.5, 0.9, 0.99].map(|part| latencies.at(part))
    }

    #[test]
    fn percentiles_of_known_data_to_three_digits() {
        let latencies = gathered((1..=1_000).map(|micros| Some(micros * 1_000)));
        for (found, exact) in percentiles(&latencies).into_iter().zip([500_000.0, 900_000.0, 990_000.0]) {
            assert!((found as f64 / exact - 1.0).abs() < 0.001, "{found} for {exact}");
        }
    }

    #[test]
    fn tasks_without_an_end_are_the_worst_and_never_left_out() {
        let [p50, p90, p99] = percentiles(&gathered((0..100).map(|task| (task >= 2).then_some(1_000))));
        assert!(p50 < 1_010 && p90 < 1_010);
        assert!(is_worst(p99), "{p99}");
        assert!(!is_worst(p50));
    }

    #[test]
    fn merging_is_as_if_all_had_been_gathered_at_once() {
        let mut first = gathered((1..500).map(Some));
        first.merge(&gathered((500..1_000).map(Some)));
        assert_eq!(percentiles(&first), percentiles(&gathered((1..1_000).map(Some))));
    }

    #[test]
    fn nothing_gathered_is_no_reason_to_stop() {
        assert_eq!(Latencies::default().at(0.5), 0);
    }
}
