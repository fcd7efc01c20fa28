//! The statistics of the report: medians of paired ratios, and how sure of them one can be. Beside
//! them, how values are [spread](spread::Values) and what [follows](conclusion::Conclusion) from numbers.

pub mod conclusion;
pub mod spread;

pub use conclusion::{Bar, Conclusion, Interval, Verdict};
use serde::{Deserialize, Serialize};

use crate::random::{Purpose, Random};

/// Resamples per interval: enough that the ends of the interval do not move in the digits printed.
pub const RESAMPLES: usize = 5_000;

/// A value with the interval in which it lies, either by a confidence level or as the range of what was seen.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
pub struct Estimate {
    pub median: f64,
    pub low: f64,
    pub high: f64,
}

/// The middle value, or the mean of the two in the middle.
pub fn median(samples: &[f64]) -> f64 {
    median_of(&mut samples.to_vec())
}

/// The median with its 95 % percentile bootstrap interval.
///
/// Samples are drawn with replacement, as many as there are, [`RESAMPLES`] times; the interval holds the
/// middle 95 % of the medians of those draws. It says how far the median would move if the same rounds had
/// fallen differently; it says nothing about what changes from one build or machine to the next.
///
/// Where several `processes` have taken the samples in turn, processes are drawn, and then samples of each: so the interval has
/// what differs between them.
pub fn bootstrap_median(samples: &[f64], processes: usize, random: &mut Random) -> Estimate {
    let processes = processes.clamp(1, samples.len());
    let mut draw = Vec::with_capacity(samples.len());
    let mut one_of = |number: usize| random.below(number as u64) as usize;
    let mut medians: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            draw.clear();
            for _ in 0..processes {
                let process = if processes == 1 { 0 } else { one_of(processes) };
                let taken = (samples.len() - process).div_ceil(processes);
                draw.extend((0..taken).map(|_| samples[process + processes * one_of(taken)]));
            }
            median_of(&mut draw)
        })
        .collect();
    medians.sort_by(f64::total_cmp);
    Estimate { median: median(samples), low: quantile(&medians, 0.025), high: quantile(&medians, 0.975) }
}

/// The median with the smallest and the largest sample: for a handful of repetitions, where a bootstrap would
/// only dress up the same two ends.
pub fn median_and_range(samples: &[f64]) -> Estimate {
    let low = samples.iter().copied().fold(f64::INFINITY, f64::min);
    let high = samples.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Estimate { median: median(samples), low, high }
}

/// Each sample over the one at the same place in `base`, if each has one and all ratios are numbers.
pub fn finite_ratios(samples: &[f64], base: &[f64]) -> Option<Vec<f64>> {
    let are_pairs = !samples.is_empty() && samples.len() == base.len();
    let ratios: Vec<f64> = samples.iter().zip(base).map(|(sample, pair)| sample / pair).collect();
    (are_pairs && ratios.iter().all(|ratio| ratio.is_finite())).then_some(ratios)
}

/// The median of the ratios of what was measured together, with its 95 % interval; `None` where there is none.
pub fn paired(samples: &[f64], base: &[f64], processes: usize, random: &mut Random) -> Option<Estimate> {
    finite_ratios(samples, base).map(|ratios| bootstrap_median(&ratios, processes, random))
}

/// The median of samples with its 95 % interval, resampled as `seed` says; `None` of none.
pub fn estimated_by_seed(samples: &[f64], seed: u64) -> Option<Estimate> {
    let mut resampling = Random::new(seed, Purpose::Resampling, u64::MAX - 1);
    (!samples.is_empty()).then(|| bootstrap_median(samples, 1, &mut resampling))
}

/// [`paired`], resampled as `seed` says.
pub fn paired_by_seed(samples: &[f64], base: &[f64], seed: u64) -> Option<Estimate> {
    paired(samples, base, 1, &mut Random::new(seed, Purpose::Resampling, u64::MAX - 1))
}

fn median_of(samples: &mut [f64]) -> f64 {
    assert!(!samples.is_empty(), "a median needs a sample");
    samples.sort_by(f64::total_cmp);
    let middle = samples.len() / 2;
    if samples.len() % 2 == 1 { samples[middle] } else { f64::midpoint(samples[middle - 1], samples[middle]) }
}

/// The value below which the fraction `part` of `sorted` lies, linear between neighbours.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let position = part * (sorted.len() - 1) as f64;
    let below = sorted[position.floor() as usize];
    let above = sorted[position.ceil() as usize];
    below + (above - below) * position.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(seed: u64) -> Random {
        Random::new(seed, Purpose::Resampling, 0)
    }

    #[test]
    fn medians_of_known_data() {
        assert_eq!(median(&[3.0]), 3.0);
        assert_eq!(median(&[9.0, 1.0, 5.0]), 5.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 100.0]), 3.0);
    }

    #[test]
    #[should_panic(expected = "a median needs a sample")]
    fn there_is_no_median_of_nothing() {
        median(&[]);
    }

    #[test]
    fn quantiles_of_known_data() {
        let sorted = [0.0, 10.0, 20.0, 30.0, 40.0];
        assert_eq!(quantile(&sorted, 0.0), 0.0);
        assert_eq!(quantile(&sorted, 0.5), 20.0);
        assert_eq!(quantile(&sorted, 0.625), 25.0);
        assert_eq!(quantile(&sorted, 1.0), 40.0);
    }

    #[test]
    fn ratios_are_taken_pair_by_pair() {
        assert_eq!(finite_ratios(&[1.0, 6.0], &[2.0, 3.0]), Some(vec![0.5, 2.0]));
        assert_eq!(paired(&[1.0], &[], 1, &mut random(1)), None);
        assert_eq!(paired(&[1.0], &[0.0], 1, &mut random(1)), None);
        assert_eq!(paired(&[1.0, 3.0], &[2.0, 6.0], 1, &mut random(1)).map(|found| found.low), Some(0.5));
    }

    #[test]
    fn the_interval_contains_the_median_and_stays_within_the_data() {
        let samples: Vec<f64> = (1..=31).map(f64::from).collect();
        let estimate = bootstrap_median(&samples, 1, &mut random(1));
        assert_eq!(estimate.median, 16.0);
        assert!(estimate.low < 16.0 && 16.0 < estimate.high, "{estimate:?}");
        // The exact sign-test interval of 31 ordered samples is the 10th to the 22nd.
        assert!((8.0..=12.0).contains(&estimate.low), "{estimate:?}");
        assert!((20.0..=24.0).contains(&estimate.high), "{estimate:?}");
    }

    #[test]
    fn equal_samples_leave_no_doubt_with_a_wild_one_among_them() {
        let mut samples = vec![1.0; 19];
        samples.push(1_000.0);
        let estimate = bootstrap_median(&samples, 1, &mut random(1));
        assert_eq!(estimate, Estimate { median: 1.0, low: 1.0, high: 1.0 });
    }

    #[test]
    fn a_seed_repeats_the_interval() {
        let samples: Vec<f64> = (0..20).map(|n| f64::from(n * n)).collect();
        assert_eq!(
            bootstrap_median(&samples, 1, &mut random(7)),
            bootstrap_median(&samples, 1, &mut random(7))
        );
    }

    #[test]
    fn about_95_of_100_intervals_contain_the_true_median() {
        let mut data = random(11);
        let hits = (0..20)
            .filter(|&trial| {
                let samples: Vec<f64> = (0..30).map(|_| data.below(1_000_001) as f64).collect();
                let estimate = bootstrap_median(&samples, 1, &mut random(trial));
                (estimate.low..=estimate.high).contains(&500_000.0)
            })
            .count();
        assert!((16..=20).contains(&hits), "{hits} of 20");
    }

    /// Four processes, each of which finds the same again and again, differ by a quarter: resampled as if they were one, 40 samples
    /// would say to within less.
    #[test]
    fn what_differs_between_processes_is_in_the_interval() {
        let samples: Vec<f64> = (0..40).map(|round| [1.0, 1.08, 1.17, 1.25][round % 4]).collect();
        let together = bootstrap_median(&samples, 1, &mut random(1));
        let apart = bootstrap_median(&samples, 4, &mut random(1));
        assert_eq!((together.median, apart.median), (1.125, 1.125));
        assert!(apart.low <= 1.04 && 1.2 <= apart.high, "{apart:?}");
        assert!(together.low > apart.low && together.high < apart.high, "{together:?}");
    }

    #[test]
    fn a_handful_of_repetitions_is_shown_as_its_range() {
        let estimate = median_and_range(&[1.2, 0.9, 1.0]);
        assert_eq!(estimate, Estimate { median: 1.0, low: 0.9, high: 1.2 });
    }
}
