//! The median of samples and its interval by the sign test.
//!
//! Of independent samples each is below the true median with a probability of one half, whatever their distribution. So the
//! number of those below is binomial, and two order statistics enclose the median with a probability that is known exactly.

/// The probability that an interval does not contain the true median, at the most.
const ERROR: f64 = 0.05;

/// The middle value, or the mean of the two in the middle. There has to be a sample.
pub fn median(samples: &[f64]) -> f64 {
    let sorted = sorted(samples);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { f64::midpoint(sorted[middle - 1], sorted[middle]) }
}

/// The narrowest interval of order statistics that contains the true median with a probability of 95 % or more. Fewer
/// than six samples have none.
pub fn interval(samples: &[f64]) -> Option<[f64; 2]> {
    let rank = rank(samples.len())?;
    let sorted = sorted(samples);
    Some([sorted[rank - 1], sorted[samples.len() - rank]])
}

/// How far from either end the ends of the interval are: 1 for the smallest and the largest sample.
fn rank(samples: usize) -> Option<usize> {
    // The probability that exactly `rank` samples are below the median.
    let mut exactly = 0.5_f64.powi(i32::try_from(samples).ok()?);
    let mut at_most = exactly;
    let mut rank = 0;
    while 2.0 * at_most <= ERROR {
        rank += 1;
        exactly *= (samples - rank + 1) as f64 / rank as f64;
        at_most += exactly;
    }
    (rank > 0).then_some(rank)
}

fn sorted(samples: &[f64]) -> Vec<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ranks that textbooks print for two-sided intervals of at least 95 %.
    #[test]
    fn ranks_are_those_of_the_binomial_distribution() {
        let known = [
            (6, 1),
            (8, 1),
            (9, 2),
            (11, 2),
            (12, 3),
            (20, 6),
            (25, 8),
            (30, 10),
            (31, 10),
            (50, 18),
            (100, 40),
        ];
        for (samples, wanted) in known {
            assert_eq!(rank(samples), Some(wanted), "{samples} samples");
        }
    }

    #[test]
    fn the_ends_are_order_statistics() {
        assert_eq!((median(&[9.0, 1.0, 5.0]), median(&[4.0, 1.0, 2.0, 100.0])), (5.0, 3.0));
        let samples: Vec<f64> = (1..=31).rev().map(f64::from).collect();
        assert_eq!(interval(&samples), Some([10.0, 22.0]));
        assert_eq!(interval(&samples[..6]), Some([26.0, 31.0]));
        assert_eq!(interval(&samples[..5]), None);
        assert_eq!(interval(&[]), None);
    }
}
