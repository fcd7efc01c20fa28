//! Levels of attained service, in powers of two.

/// The default base: 16,384 ns. Most polls of a service are shorter, so most requests end in level 0, in order.
const DEFAULT_BASE_BITS: u32 = 14;

/// Level 0 ends at the *base*, and each level above it at twice the end of the one below.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Levels {
    /// log2 of the base, from 1 to 63: so the highest level is 63.
    base_bits: u32,
}

impl Levels {
    pub(crate) const DEFAULT: Self = Self { base_bits: DEFAULT_BASE_BITS };

    /// With a base of `ns` nanoseconds, rounded down to a power of two, and up to 2.
    pub(crate) const fn with_base_ns(ns: u64) -> Self {
        Self { base_bits: if ns < 2 { 1 } else { ns.ilog2() } }
    }

    pub(crate) const fn base_ns(self) -> u64 {
        1 << self.base_bits
    }

    /// The level of a group that has attained `ns`: 0 below the base, then one more per doubling.
    #[inline]
    pub(crate) const fn of(self, ns: u64) -> u32 {
        // The base is 2 or more, so that level 0 is what `| 1` makes of less than the base.
        (ns >> (self.base_bits - 1) | 1).ilog2()
    }

    /// What a group has attained when it comes to a level. Levels that nothing comes to begin at 2⁶⁴.
    pub(crate) fn start_ns(self, level: u32) -> u128 {
        if level == 0 { 0 } else { 1 << (self.base_bits + level - 1).min(u64::BITS) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn begin_at_doublings_of_the_base() {
        let levels = Levels::with_base_ns(16);
        let starts: Vec<u128> = [0, 1, 2, 60, 61, 63].map(|level| levels.start_ns(level)).to_vec();
        assert_eq!(starts, [0, 16, 32, 1 << 63, 1 << 64, 1 << 64]);
        assert_eq!([0, 15, 16, 31, 32, u64::MAX].map(|ns| levels.of(ns)), [0, 0, 1, 1, 2, 60]);
        assert_eq!(Levels::DEFAULT.base_ns(), 16_384);
    }

    #[test]
    fn the_base_is_rounded_down_to_a_power_of_two() {
        let bases = [0, 1, 2, 3, 1_000, 1_024, u64::MAX].map(|ns| Levels::with_base_ns(ns).base_ns());
        assert_eq!(bases, [2, 2, 2, 2, 512, 1_024, 1 << 63]);
        assert_eq!(Levels::with_base_ns(u64::MAX).of(u64::MAX), 1);
    }
}
