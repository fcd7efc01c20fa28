//! Random numbers that cover their range evenly.

use crate::random::Random;

/// Rounds of the permutation.
const ROUNDS: usize = 4;

/// `count` random parts of 1, one from each of `count` equal slices of the range, in random order: Latin hypercube
/// sampling (McKay, Beckman and Conover, *Technometrics* 21, 1979).
///
/// Sizes drawn with them have the mean, and the variance, of their distribution almost exactly, so that two runs do not
/// differ in how much work they were given, but only in the order of it. With heavy tails that is most of the noise.
#[derive(Clone, Debug)]
pub(super) struct Strata {
    count: u64,
    next: u64,
    /// The permutation works on numbers of so many bits.
    bits: u32,
    keys: [(u64, u64); ROUNDS],
    random: Random,
}

impl Strata {
    pub(super) fn new(count: u64, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let bits = (u64::BITS - count.saturating_sub(1).leading_zeros()).max(2);
        let keys = [(); ROUNDS].map(|()| (random.next() | 1, random.next()));
        Self { count, next: 0, bits, keys, random }
    }

    /// Which slice comes at place `index`. Every slice comes once.
    ///
    /// The permutation is one of all numbers of `bits` bits; what falls outside is permuted again until it is inside.
    fn slice(&self, index: u64) -> u64 {
        let mut slice = self.permuted(index);
        while slice >= self.count {
            slice = self.permuted(slice);
        }
        slice
    }

    /// Each step can be undone: a product with an odd number, a sum, and an exclusive-or with higher bits.
    fn permuted(&self, number: u64) -> u64 {
        let mask = u64::MAX >> (u64::BITS - self.bits);
        self.keys.iter().fold(number, |number, (odd, key)| {
            let mixed = number.wrapping_mul(*odd).wrapping_add(*key) & mask;
            mixed ^ (mixed >> self.bits.div_ceil(2))
        })
    }
}

impl Iterator for Strata {
    type Item = f64;

    fn next(&mut self) -> Option<f64> {
        if self.next == self.count {
            return None;
        }
        let slice = self.slice(self.next);
        self.next += 1;
        // (Below 1, also where that is rounded.)
        Some(((slice as f64 + self.random.part()) / self.count as f64).min(1.0 - f64::EPSILON / 2.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slice_comes_once() {
        for count in [1, 2, 3, 5, 64, 100, 1_000, 4_097] {
            let strata = Strata::new(count, 7);
            let mut slices: Vec<u64> = (0..count).map(|index| strata.slice(index)).collect();
            assert!(count < 64 || !slices.is_sorted());
            slices.sort_unstable();
            assert_eq!(slices, (0..count).collect::<Vec<_>>());
            assert_eq!(strata.count(), count as usize);
        }
    }

    #[test]
    fn neighbours_are_not_alike() {
        // The correlation of neighbours in a random order of n is 0 to within some 1/√n.
        let parts: Vec<f64> = Strata::new(100_000, 3).map(|part| part - 0.5).collect();
        for distance in [1, 2, 3, 64, 1_024] {
            let products = parts.iter().zip(&parts[distance..]).map(|(a, b)| a * b);
            let correlation = 12.0 * products.sum::<f64>() / parts.len() as f64;
            assert!(correlation.abs() < 0.01, "{correlation} at {distance}");
        }
    }
}
