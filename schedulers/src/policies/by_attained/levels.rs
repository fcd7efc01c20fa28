//! Levels of attained service, in powers of two.

use super::half_life::HalfLife;

/// The default base: 16,384 ns. Most polls of a service are shorter, so most requests end in level 0, in order.
const DEFAULT_BASE_BITS: u32 = 14;

/// Buckets of a level that is told apart finely.
pub(crate) const OF_A_LEVEL: u32 = 64;

/// Level 0 ends at the *base*, and each level above it at twice the end of the one below.
///
/// Those from some level on are told apart *finely*, in 64 buckets of equal width. Buckets are numbered by 64 for each level, and the
/// others have the first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Levels {
    /// log2 of the base, from 1 to 63: so the highest level is 63.
    base_bits: u32,
    /// The least level that is told apart finely, 1 at least. 64 for none.
    finely_from: u32,
}

impl Levels {
    /// With the default base and half-life.
    pub(crate) const DEFAULT: Self =
        Self { base_bits: DEFAULT_BASE_BITS, finely_from: 64 }.for_half_life(&HalfLife::DEFAULT);

    /// With a base of `ns` nanoseconds, rounded down to a power of two, and up to 2, and no level told apart finely.
    pub(crate) const fn with_base_ns(ns: u64) -> Self {
        Self { base_bits: if ns < 2 { 1 } else { ns.ilog2() }, finely_from: 64 }
    }

    /// Told apart finely from the level of 1/16 of the half-life on.
    pub(crate) const fn for_half_life(self, half_life: &HalfLife) -> Self {
        let Some(half_life_ns) = half_life.ns() else { return Self { finely_from: 64, ..self } };
        let from_ns = half_life_ns / 16;
        // A bucket is a nanosecond wide or more.
        let level = self.of(if from_ns < 64 { 64 } else { from_ns });
        Self { finely_from: if level == 0 { 1 } else { level }, ..self }
    }

    pub(crate) const fn base_ns(self) -> u64 {
        1 << self.base_bits
    }

    /// The least level that is told apart finely. 64 if none is.
    #[inline]
    pub(crate) const fn finely_from(self) -> u32 {
        self.finely_from
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

    /// The bucket of a group that has attained `ns`.
    #[inline]
    pub(crate) fn bucket(self, ns: u64) -> u32 {
        let level = self.of(ns);
        if level < self.finely_from { OF_A_LEVEL * level } else { self.fine_bucket(level, ns) }
    }

    /// The same of one in a level that is told apart finely.
    #[inline]
    pub(crate) fn fine_bucket(self, level: u32, ns: u64) -> u32 {
        OF_A_LEVEL * level + (ns >> self.width_bits(level)) as u32 % OF_A_LEVEL
    }

    /// log2 of the width of such a bucket.
    #[inline]
    fn width_bits(self, level: u32) -> u32 {
        self.base_bits + level - 1 - OF_A_LEVEL.ilog2()
    }

    /// The least that takes a group out of a bucket. `u64::MAX` if nothing does.
    #[inline]
    pub(crate) fn end_ns(self, bucket: u32) -> u64 {
        let (level, place) = (bucket / OF_A_LEVEL, bucket % OF_A_LEVEL);
        let end_ns = if level < self.finely_from {
            self.start_ns(level + 1)
        } else {
            self.start_ns(level) + (u128::from(place + 1) << self.width_bits(level))
        };
        u64::try_from(end_ns).unwrap_or(u64::MAX)
    }

    /// What a bucket becomes when all that was attained is halved: that of the level below.
    pub(crate) fn halved(self, bucket: u32) -> u32 {
        let below = bucket.saturating_sub(OF_A_LEVEL);
        let is_fine = bucket >= OF_A_LEVEL && below / OF_A_LEVEL >= self.finely_from;
        if is_fine { below } else { below / OF_A_LEVEL * OF_A_LEVEL }
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

    #[test]
    fn those_of_a_part_of_the_half_life_are_told_apart_finely() {
        assert_eq!(Levels::DEFAULT.finely_from(), 12, "from 33.6 ms on");
        for (base_ns, half_life_ns) in [(2, 0), (2, 1 << 60), (u64::MAX, 0), (16_384, 1 << 30)] {
            let levels = Levels::with_base_ns(base_ns).for_half_life(&HalfLife::of_ns(half_life_ns));
            let mut bucket = 0;
            loop {
                let end_ns = levels.end_ns(bucket);
                assert_eq!(levels.bucket(end_ns - 1), bucket);
                let half = levels.bucket((end_ns - 1) / 2);
                assert_eq!(levels.halved(bucket), half, "{levels:?}: {bucket}");
                if end_ns == u64::MAX {
                    break;
                }
                let next = levels.bucket(end_ns);
                let by = if next / 64 > levels.finely_from() { 1 } else { 64 - bucket % 64 };
                assert!(next == bucket + by || next == bucket + 1, "{levels:?}: {next} behind {bucket}");
                bucket = next;
            }
        }
    }
}
