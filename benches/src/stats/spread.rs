//! How values are spread: percentiles, the largest and the mean, and enough points to draw their distribution.

use std::time::Duration;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// What a task without an end counts as: longer than any task that has ended can have taken.
pub const WORST: Duration = Duration::from_secs(60);

/// A generator later than this had to share its core: a tenth of the shortest piece of work is lost in the
/// latencies.
pub const TOLERABLE_LATENESS_NS: u64 = 10_000;

/// Points of a distribution that are kept for drawing it: this many for each power of two towards 1.
const POINTS_PER_HALVING: u32 = 2;
const HALVINGS: u32 = 14;

/// Whether a percentile is a task that never ended, and not a time that was measured.
pub fn is_worst(nanos: u64) -> bool {
    nanos >= WORST.as_nanos() as u64
}

/// Values gathered in an HDR histogram, of one window or of many.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Values {
    unit: f64,
    #[serde(with = "in_counts")]
    histogram: Histogram<u64>,
    sum: f64,
    missing: u64,
    largest: f64,
}

impl Default for Values {
    /// None yet; whole numbers, to three digits.
    fn default() -> Self {
        Values::to_the(1.0)
    }
}

fn empty() -> Histogram<u64> {
    Histogram::new_with_bounds(1, WORST.as_nanos() as u64, 3).expect("the bounds are in order")
}

/// From one process to another, a histogram goes as its values and how often each was recorded.
mod in_counts {
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

impl Values {
    /// None yet; kept to three digits, or to `unit` where that is more.
    pub fn to_the(unit: f64) -> Self {
        Values { unit, histogram: empty(), sum: 0.0, missing: 0, largest: 0.0 }
    }

    pub fn add(&mut self, value: f64) {
        self.histogram.saturating_record((value / self.unit).round() as u64);
        self.sum += value;
        self.largest = self.largest.max(value);
    }

    /// Adds nanoseconds; `None` is a wait without an end, and counts as [`WORST`].
    pub fn add_nanos(&mut self, nanos: Option<u64>) {
        self.missing += u64::from(nanos.is_none());
        self.add(nanos.unwrap_or(WORST.as_nanos() as u64) as f64);
    }

    /// Nanoseconds; `None` is a wait without an end.
    pub fn of_nanos(nanos: impl IntoIterator<Item = Option<u64>>) -> Self {
        let mut values = Values::default();
        nanos.into_iter().for_each(|nanos| values.add_nanos(nanos));
        values
    }

    pub fn merge(&mut self, others: &Values) {
        self.histogram.add(&others.histogram).expect("all have the same bounds");
        self.sum += others.sum;
        self.missing += others.missing;
        self.largest = self.largest.max(others.largest);
    }

    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    pub fn missing(&self) -> u64 {
        self.missing
    }

    /// The mean; zero if there are none.
    pub fn mean(&self) -> f64 {
        self.sum / self.count().max(1) as f64
    }

    /// How they are spread, by name; all zero if there are none.
    pub fn statistics(&self) -> [(&'static str, f64); 6] {
        let [p50, p90, p99, p999] = [0.5, 0.9, 0.99, 0.999].map(|part| self.at(part));
        [
            ("mean", self.mean()),
            ("p50", p50),
            ("p90", p90),
            ("p99", p99),
            ("p999", p999),
            ("max", self.largest),
        ]
    }

    /// Points of their distribution, (part, value): that part of them is no larger than the value. Closer together
    /// towards 1, where the tail is.
    pub fn curve(&self) -> Vec<(f64, f64)> {
        let halving = |step: u32| 1.0 - 0.5_f64.powf(f64::from(step) / f64::from(POINTS_PER_HALVING));
        (0..=HALVINGS * POINTS_PER_HALVING).map(halving).map(|part| (part, self.at(part))).collect()
    }

    pub fn at(&self, part: f64) -> f64 {
        self.histogram.value_at_quantile(part) as f64 * self.unit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(range: std::ops::RangeInclusive<u32>) -> Values {
        let mut values = Values::to_the(1.0);
        range.for_each(|value| values.add(f64::from(value)));
        values
    }

    #[test]
    fn the_spread_of_known_data() {
        let found = values(1..=1_000).statistics().map(|(_, value)| value);
        assert_eq!(found, [500.5, 500.0, 900.0, 990.0, 999.0, 1_000.0]);
        assert!(Values::default().statistics().iter().all(|(_, value)| *value == 0.0));
    }

    #[test]
    fn a_small_unit_keeps_what_is_behind_the_point() {
        let mut values = Values::to_the(0.25);
        values.add(1.26);
        assert_eq!((values.at(0.5), values.statistics()[5]), (1.25, ("max", 1.26)));
    }

    #[test]
    fn percentiles_are_right_to_three_digits() {
        let latencies = Values::of_nanos((1..=1_000).map(|micros| Some(micros * 1_000)));
        for (part, exact) in [(0.5, 500_000.0), (0.9, 900_000.0), (0.99, 990_000.0)] {
            let found = latencies.at(part);
            assert!((found / exact - 1.0).abs() < 0.001, "{found} for {exact}");
        }
    }

    #[test]
    fn tasks_without_an_end_are_the_worst_and_never_left_out() {
        let latencies = Values::of_nanos((0..100).map(|task| (task >= 2).then_some(1_000)));
        assert!(latencies.at(0.9) < 1_010.0);
        assert!(is_worst(latencies.at(0.99) as u64));
        assert_eq!((latencies.count(), latencies.missing()), (100, 2));
    }

    #[test]
    fn merging_is_as_if_all_had_been_added_at_once() {
        let mut merged = values(1..=400);
        merged.merge(&values(401..=1_000));
        assert_eq!(merged.statistics(), values(1..=1_000).statistics());
        assert_eq!(merged.count(), 1_000);
    }

    #[test]
    fn the_curve_rises_towards_the_tail() {
        let curve = values(1..=100_000).curve();
        assert_eq!(curve[0].0, 0.0);
        assert!(curve.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1));
        assert!(curve.last().is_some_and(|&(part, value)| part > 0.9999 && value > 99_800.0));
    }
}
