//! Random choices that a seed repeats: the same on every machine and with every version of every library.
//!
//! Only the generator comes from a crate (ChaCha, a published cipher). How its numbers become ranges, exponential gaps
//! and orders is written out here, because the distributions of the `rand` crates may change between their versions.

use std::time::Duration;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// What a sequence of random numbers is for: each purpose has its own, so that none shifts another.
#[derive(Clone, Copy, Debug)]
pub enum Purpose {
    Order = 1,
    Arrivals = 2,
    Resampling = 3,
    Groups = 4,
    Work = 5,
}

#[derive(Debug)]
pub struct Random(ChaCha8Rng);

impl Random {
    pub fn new(seed: u64, purpose: Purpose, part: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8..16].copy_from_slice(&(purpose as u64).to_le_bytes());
        key[16..24].copy_from_slice(&part.to_le_bytes());
        Random(ChaCha8Rng::from_seed(key))
    }

    /// A number below `bound`, each equally likely (to within `bound / 2^64`).
    pub fn below(&mut self, bound: u64) -> u64 {
        let scaled = u128::from(self.0.next_u64()) * u128::from(bound);
        (scaled >> 64) as u64
    }

    /// A duration from `shortest` to `longest`, to the nanosecond, both included.
    pub fn between(&mut self, shortest: Duration, longest: Duration) -> Duration {
        let span = (longest - shortest).as_nanos() as u64;
        shortest + Duration::from_nanos(self.below(span + 1))
    }

    /// A number from 0 to 1, 1 not included.
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// The gap to the next event of a Poisson process with one event per `mean`.
    pub fn gap(&mut self, mean: Duration) -> Duration {
        mean.mul_f64(-(1.0 - self.unit()).ln())
    }

    /// Puts `items` in a random order, every order equally likely.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.below(last as u64 + 1) as usize;
            items.swap(last, other);
        }
    }
}

/// Zipf's distribution with exponent 1: number `n`, counted from 1, is drawn in proportion to `1 / n`.
#[derive(Debug)]
pub struct Zipf {
    sums: Vec<f64>,
}

impl Zipf {
    /// Over `0..numbers`; 0 is the most frequent.
    pub fn new(numbers: usize) -> Self {
        let sums = (1..=numbers).scan(0.0, |sum, number| {
            *sum += 1.0 / number as f64;
            Some(*sum)
        });
        Zipf { sums: sums.collect() }
    }

    pub fn draw(&self, random: &mut Random) -> u64 {
        let all = self.sums.last().expect("there are numbers");
        let point = random.unit() * all;
        self.sums.partition_point(|&sum| sum <= point) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(seed: u64) -> Random {
        Random::new(seed, Purpose::Order, 0)
    }

    #[test]
    fn a_seed_a_purpose_and_a_part_mean_these_numbers_for_ever() {
        let numbers = |mut random: Random| [(); 4].map(|()| random.below(1_000));
        assert_eq!(numbers(random(1)), [235, 829, 492, 351]);
        let others = [random(2), Random::new(1, Purpose::Arrivals, 0), Random::new(1, Purpose::Order, 1)];
        assert_eq!(others.map(numbers), [[479, 440, 582, 294], [329, 276, 477, 239], [393, 450, 660, 688]]);
    }

    #[test]
    fn ranges_include_both_ends_and_nothing_else() {
        let mut random = random(3);
        let [shortest, longest] = [5, 7].map(Duration::from_nanos);
        let mut seen = [0; 8];
        (0..1_000).for_each(|_| seen[random.between(shortest, longest).as_nanos() as usize] += 1);
        assert_eq!(seen[..5], [0; 5]);
        assert!(seen[5..].iter().all(|&count| count > 250));
    }

    #[test]
    fn gaps_have_the_mean_and_the_spread_of_a_poisson_process() {
        let mut random = random(4);
        let gap = |_| random.gap(Duration::from_secs(1)).as_secs_f64();
        let gaps: Vec<f64> = (0..100_000).map(gap).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((mean - 1.0).abs() < 0.02, "mean {mean}");
        assert!((variance - 1.0).abs() < 0.05, "variance {variance}");
    }

    #[test]
    fn shuffling_keeps_everything_and_reaches_every_order() {
        let mut random = random(5);
        let mut orders = std::collections::BTreeMap::new();
        for _ in 0..6_000 {
            let mut items = [1, 2, 3];
            random.shuffle(&mut items);
            *orders.entry(items).or_insert(0) += 1;
        }
        assert_eq!(orders.len(), 6);
        assert!(orders.values().all(|&count| (850..1_150).contains(&count)), "{orders:?}");
    }

    #[test]
    fn frequencies_fall_as_one_over_n() {
        let (zipf, mut random) = (Zipf::new(100), Random::new(1, Purpose::Groups, 0));
        let mut seen = [0_u32; 100];
        for _ in 0..100_000 {
            seen[zipf.draw(&mut random) as usize] += 1;
        }
        for (number, part) in [(1, 2.0), (9, 10.0)] {
            let found = f64::from(seen[0]) / f64::from(seen[number]);
            assert!((found / part - 1.0).abs() < 0.1, "{number}: {found}");
        }
    }
}
