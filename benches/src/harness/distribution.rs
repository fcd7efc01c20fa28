//! How values are distributed: percentiles, the mean and the largest.

use std::time::Duration;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// What a wait without an end counts as: longer than any that has ended can have taken.
pub const WORST: Duration = Duration::from_secs(60);

/// Significant digits of a value.
const DIGITS: u8 = 3;

/// Values in an HDR histogram, of one sample or of many.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Distribution {
    /// What the histogram counts in.
    unit: f64,
    #[serde(with = "counts")]
    histogram: Histogram<u64>,
    sum: f64,
    missing: u64,
    largest: f64,
}

impl Default for Distribution {
    /// Of whole numbers, as nanoseconds are.
    fn default() -> Self {
        Distribution::in_units_of(1.0)
    }
}

impl Distribution {
    /// Of numbers that are no nearer to each other than `unit`.
    pub fn in_units_of(unit: f64) -> Self {
        Distribution { unit, histogram: empty(), sum: 0.0, missing: 0, largest: 0.0 }
    }

    /// Of nanoseconds. `None` is a wait without an end.
    pub fn of_nanos(nanos: impl IntoIterator<Item = Option<u64>>) -> Self {
        let mut distribution = Distribution::default();
        nanos.into_iter().for_each(|nanos| distribution.add_nanos(nanos));
        distribution
    }

    pub fn add(&mut self, value: f64) {
        self.histogram.saturating_record((value / self.unit).round() as u64);
        self.sum += value;
        self.largest = self.largest.max(value);
    }

    /// Adds nanoseconds. `None` is a wait without an end, and counts as [`WORST`].
    pub fn add_nanos(&mut self, nanos: Option<u64>) {
        self.missing += u64::from(nanos.is_none());
        self.add(nanos.unwrap_or(WORST.as_nanos() as u64) as f64);
    }

    pub fn merge(&mut self, others: &Distribution) {
        self.histogram.add(&others.histogram).expect("all have the same bounds");
        self.sum += others.sum;
        self.missing += others.missing;
        self.largest = self.largest.max(others.largest);
    }

    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// Waits without an end.
    pub fn missing(&self) -> u64 {
        self.missing
    }

    /// The mean; zero of no values.
    pub fn mean(&self) -> f64 {
        self.sum / self.count().max(1) as f64
    }

    /// The value that this part of them does not exceed.
    pub fn at(&self, part: f64) -> f64 {
        self.histogram.value_at_quantile(part) as f64 * self.unit
    }

    /// The statistics that are figures, by name; all zero of no values.
    pub fn statistics(&self) -> [(&'static str, f64); 6] {
        [
            ("mean", self.mean()),
            ("p50", self.at(0.5)),
            ("p90", self.at(0.9)),
            ("p99", self.at(0.99)),
            ("p999", self.at(0.999)),
            ("max", self.largest),
        ]
    }
}

fn empty() -> Histogram<u64> {
    Histogram::new_with_bounds(1, WORST.as_nanos() as u64, DIGITS).expect("the bounds are in order")
}

/// A histogram as its values, and how often each was recorded.
mod counts {
    use hdrhistogram::Histogram;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(histogram: &Histogram<u64>, out: S) -> Result<S::Ok, S::Error> {
        let recorded = histogram.iter_recorded();
        out.collect_seq(recorded.map(|one| (one.value_iterated_to(), one.count_at_value())))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Histogram<u64>, D::Error> {
        let mut histogram = super::empty();
        for (value, count) in Vec::<(u64, u64)>::deserialize(from)? {
            histogram.saturating_record_n(value, count);
        }
        Ok(histogram)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(range: std::ops::RangeInclusive<u32>) -> Distribution {
        let mut values = Distribution::default();
        range.for_each(|value| values.add(f64::from(value)));
        values
    }

    #[test]
    fn statistics_of_known_data() {
        let found = values(1..=1_000).statistics().map(|(_, value)| value);
        assert_eq!(found, [500.5, 500.0, 900.0, 990.0, 999.0, 1_000.0]);
        assert!(Distribution::default().statistics().iter().all(|(_, value)| *value == 0.0));
    }

    #[test]
    fn a_small_unit_keeps_what_is_behind_the_point() {
        let mut values = Distribution::in_units_of(0.25);
        values.add(1.26);
        assert_eq!((values.at(0.5), values.statistics()[5]), (1.25, ("max", 1.26)));
    }

    #[test]
    fn percentiles_are_right_to_three_digits() {
        let latencies = Distribution::of_nanos((1..=1_000).map(|micros| Some(micros * 1_000)));
        for (part, exact) in [(0.5, 500_000.0), (0.9, 900_000.0), (0.99, 990_000.0)] {
            let found = latencies.at(part);
            assert!((found / exact - 1.0).abs() < 0.001, "{found} for {exact}");
        }
    }

    #[test]
    fn waits_without_an_end_are_the_worst_and_never_left_out() {
        let latencies = Distribution::of_nanos((0..100).map(|task| (task >= 2).then_some(1_000)));
        assert!(latencies.at(0.9) < 1_010.0);
        assert!(latencies.at(0.99) >= WORST.as_nanos() as f64);
        assert_eq!((latencies.count(), latencies.missing()), (100, 2));
    }

    #[test]
    fn merging_is_as_if_all_had_been_added_at_once() {
        let mut merged = values(1..=400);
        merged.merge(&values(401..=1_000));
        assert_eq!(merged.statistics(), values(1..=1_000).statistics());
        assert_eq!(merged.count(), 1_000);
    }
}
