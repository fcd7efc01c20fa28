//! Random choices that a seed repeats.

use std::time::Duration;

use fastrand::Rng;

/// What a sequence of random numbers is for: each purpose has its own, so that none shifts another.
#[derive(Clone, Copy, Debug)]
pub enum Purpose {
    Order = 1,
    Arrivals = 2,
    Work = 3,
}

/// The random numbers of a purpose. `part` tells those of a round or a cell from others.
pub fn random(seed: u64, purpose: Purpose, part: u64) -> Rng {
    // Each step mixes all bits, so that seeds and parts which are close together have nothing in common.
    let purpose = Rng::with_seed(seed).u64(..) ^ purpose as u64;
    Rng::with_seed(Rng::with_seed(purpose).u64(..) ^ part)
}

/// A duration from `shortest` to `longest`, to the nanosecond, both included.
pub fn between(random: &mut Rng, shortest: Duration, longest: Duration) -> Duration {
    Duration::from_nanos(random.u64(shortest.as_nanos() as u64..=longest.as_nanos() as u64))
}

/// The gap to the next event of a Poisson process with one event per `mean`.
pub fn gap(random: &mut Rng, mean: Duration) -> Duration {
    mean.mul_f64(-(1.0 - random.f64()).ln())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_a_purpose_and_a_part_have_numbers_of_their_own() {
        let numbers = |seed, purpose, part| {
            let mut random = random(seed, purpose, part);
            [(); 4].map(|()| random.u64(..))
        };
        let usual = numbers(1, Purpose::Order, 0);
        assert_eq!(usual, numbers(1, Purpose::Order, 0));
        for other in
            [numbers(2, Purpose::Order, 0), numbers(1, Purpose::Work, 0), numbers(1, Purpose::Order, 1)]
        {
            assert_ne!(usual, other);
        }
    }

    #[test]
    fn ranges_include_both_ends_and_nothing_else() {
        let mut random = random(3, Purpose::Work, 0);
        let [shortest, longest] = [5, 7].map(Duration::from_nanos);
        let mut seen = [0; 8];
        (0..1_000).for_each(|_| seen[between(&mut random, shortest, longest).as_nanos() as usize] += 1);
        assert_eq!(seen[..5], [0; 5]);
        assert!(seen[5..].iter().all(|&count| count > 250));
    }

    #[test]
    fn gaps_have_the_mean_and_the_spread_of_a_poisson_process() {
        let mut random = random(4, Purpose::Arrivals, 0);
        let gaps: Vec<f64> =
            (0..100_000).map(|_| gap(&mut random, Duration::from_secs(1)).as_secs_f64()).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((mean - 1.0).abs() < 0.02, "mean {mean}");
        assert!((variance - 1.0).abs() < 0.05, "variance {variance}");
    }
}
