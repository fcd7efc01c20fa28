//! [`Histogram`]: how often a time was how long, in buckets whose width grows with it.

use std::fmt;
use std::time::Duration;

use crate::nanos;

/// Each power of two has so many buckets of one width: they are 1/16 of their times or narrower.
const PER_OCTAVE: u64 = 16;
const OCTAVE_BITS: u32 = PER_OCTAVE.trailing_zeros();

/// Times from here on share the last bucket: 2^40 ns, 18 minutes.
const LONGEST_BITS: u32 = 40;

const BUCKETS: usize = ((LONGEST_BITS - OCTAVE_BITS) as usize + 1) * PER_OCTAVE as usize + 1;

/// Times, counted in buckets: log-linear, 16 to each power of two of nanoseconds, so none is wider than a sixteenth of its times.
///
/// # Example
///
/// ```
/// use clockworker_observe::Histogram;
/// use std::time::Duration;
///
/// let mut waits = Histogram::new();
/// for us in 1..=100 {
///     waits.record(Duration::from_micros(us));
/// }
/// let p99 = waits.quantile(0.99).unwrap();
/// assert!(p99 >= Duration::from_micros(99) && p99 < Duration::from_micros(106));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Histogram {
    counts: Box<[u64]>,
    count: u64,
    sum_ns: u64,
    max_ns: u64,
}

/// Times of about one length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// The shortest time in it.
    pub from: Duration,
    /// The longest.
    pub to: Duration,
    /// How many.
    pub count: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl Histogram {
    /// One without any times: some 5 KiB.
    pub fn new() -> Self {
        Self { counts: vec![0; BUCKETS].into(), count: 0, sum_ns: 0, max_ns: 0 }
    }

    /// Counts a time. One of 18 minutes or more goes into the last bucket.
    pub fn record(&mut self, time: Duration) {
        self.record_times(time, 1);
    }

    /// Counts a time that stands for so many.
    #[inline]
    pub(crate) fn record_times(&mut self, time: Duration, times: u64) {
        let ns = nanos(time);
        self.counts[bucket_of(ns)] += times;
        self.count += times;
        self.sum_ns = self.sum_ns.saturating_add(ns.saturating_mul(times));
        self.max_ns = self.max_ns.max(ns);
    }

    /// How many times were counted.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether none was.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// All of them together.
    pub fn sum(&self) -> Duration {
        Duration::from_nanos(self.sum_ns)
    }

    /// The mean, unless there is none.
    pub fn mean(&self) -> Option<Duration> {
        self.sum_ns.checked_div(self.count).map(Duration::from_nanos)
    }

    /// The longest, exactly; zero if there is none. Of a [difference](Histogram::since) it is the longest time of its last bucket.
    pub fn max(&self) -> Duration {
        Duration::from_nanos(self.max_ns)
    }

    /// The longest time of the bucket in which this part of the times has ended, counted from the shortest: the p99 for 0.99. At
    /// most [`max`](Histogram::max). None if there are no times, or `part` is not between 0 and 1.
    pub fn quantile(&self, part: f64) -> Option<Duration> {
        if self.is_empty() || !(0.0..=1.0).contains(&part) {
            return None;
        }
        let rank = ((part * self.count as f64).ceil() as u64).clamp(1, self.count);
        let mut seen = 0;
        let found = self.counts.iter().position(|count| {
            seen += count;
            seen >= rank
        });
        found.map(|index| Duration::from_nanos(last_of(index).min(self.max_ns)))
    }

    /// The buckets that have any, from the shortest times to the longest.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> + '_ {
        let counted = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        counted.map(|(index, &count)| Bucket {
            from: Duration::from_nanos(first_of(index)),
            to: Duration::from_nanos(last_of(index)),
            count,
        })
    }

    /// Adds the times of another.
    pub fn add(&mut self, other: &Histogram) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(to, from)| *to += from);
        self.count += other.count;
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// The times that were counted since `earlier`, a copy of this one. Buckets that `earlier` has more of are empty.
    pub fn since(&self, earlier: &Histogram) -> Histogram {
        let counts: Box<[u64]> = self
            .counts
            .iter()
            .zip(&earlier.counts)
            .map(|(now, before)| now.saturating_sub(*before))
            .collect();
        let last = counts.iter().rposition(|count| *count > 0);
        Histogram {
            count: counts.iter().sum(),
            counts,
            sum_ns: self.sum_ns.saturating_sub(earlier.sum_ns),
            max_ns: last.map_or(0, |index| last_of(index).min(self.max_ns)),
        }
    }
}

impl fmt::Debug for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Histogram")
            .field("count", &self.count)
            .field("p50", &self.quantile(0.5))
            .field("p99", &self.quantile(0.99))
            .field("max", &self.max())
            .finish()
    }
}

/// The bucket of a time.
#[inline]
fn bucket_of(ns: u64) -> usize {
    let shift = 63 - OCTAVE_BITS - (ns | PER_OCTAVE).leading_zeros();
    // In all octaves but the first the top bit is set, which counts as one octave more.
    let index = u64::from(shift) * PER_OCTAVE + (ns >> shift);
    (index as usize).min(BUCKETS - 1)
}

/// The shortest time of a bucket. Nanoseconds.
fn first_of(index: usize) -> u64 {
    let index = index as u64;
    match (index / PER_OCTAVE).checked_sub(1) {
        None => index,
        Some(shift) => (PER_OCTAVE + index % PER_OCTAVE) << shift,
    }
}

/// The longest.
fn last_of(index: usize) -> u64 {
    if index + 1 == BUCKETS { u64::MAX } else { first_of(index + 1) - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_time_is_in_the_bucket_that_says_so() {
        let edges = (0..LONGEST_BITS).flat_map(|bit| [(1u64 << bit) - 1, 1 << bit, (1 << bit) + 1]);
        for ns in edges.chain(0..5_000).chain([u64::MAX, 1 << LONGEST_BITS]) {
            let index = bucket_of(ns);
            assert!(first_of(index) <= ns && ns <= last_of(index), "{ns} is in {index}");
        }
        assert_eq!(bucket_of((1 << LONGEST_BITS) - 1) + 1, bucket_of(1 << LONGEST_BITS));
        assert_eq!(bucket_of(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn buckets_follow_each_other_and_are_narrow() {
        for index in 0..BUCKETS - 1 {
            let (first, last) = (first_of(index), last_of(index));
            assert_eq!(first_of(index + 1), last + 1);
            assert!((last - first) * PER_OCTAVE <= first, "{index}: {first} to {last}");
        }
    }

    #[test]
    fn quantiles_are_the_ends_of_buckets_and_never_beyond_the_longest() {
        let mut times = Histogram::new();
        assert_eq!(times.quantile(0.5), None);
        [10, 1_000, 1_000, 1_000_003].into_iter().for_each(|ns| times.record(Duration::from_nanos(ns)));
        let at = |part| times.quantile(part).unwrap().as_nanos() as u64;
        assert_eq!((at(0.0), at(0.25)), (10, 10));
        assert_eq!((at(0.5), at(0.75)), (last_of(bucket_of(1_000)), last_of(bucket_of(1_000))));
        assert_eq!((at(0.76), at(1.0)), (1_000_003, 1_000_003));
        assert_eq!((times.quantile(1.1), times.quantile(f64::NAN)), (None, None));
    }

    #[test]
    fn a_difference_has_what_came_in_between() {
        let mut times = Histogram::new();
        times.record_times(Duration::from_nanos(50_000), 3);
        let earlier = times.clone();
        times.record_times(Duration::from_nanos(7), 2);
        let between = times.since(&earlier);
        assert_eq!((between.count(), between.sum().as_nanos(), between.max().as_nanos()), (2, 14, 7));
        let mut sum = earlier.clone();
        sum.add(&between);
        assert_eq!(sum, times);
    }
}
