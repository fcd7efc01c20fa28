//! A small random number generator, so that a seed means the same loads everywhere and for ever.

/// SplitMix64: Steele, Lea and Flood, *Fast splittable pseudorandom number generators*, OOPSLA 2014.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to 1, 1 not included, in steps of 2⁻⁵³.
    #[cfg(feature = "simulate")]
    pub(crate) fn part(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// What the laws draw.
#[cfg(any(test, feature = "laws"))]
impl Random {
    /// A number below `end`; 0 if `end` is 0. Its bias, of `end` in 2⁶⁴, is nothing to a test.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.next()) * end as u128) >> 64) as usize
    }

    /// True once in `n` times.
    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// A number of nanoseconds between `least` and 2·`least`.
    pub(crate) fn around(&mut self, least: u64) -> u64 {
        least + self.below(least as usize) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_splitmix64() {
        // The first outputs for seed 1234567, as published with the reference implementation.
        let mut random = Random::new(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| random.next()).collect();
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }
}
