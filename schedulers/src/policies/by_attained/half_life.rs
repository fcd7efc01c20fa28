//! When half of what groups have attained is forgotten.
//!
//! Why two groups of equal weight that always have work differ by at most (t/2H + 5/2)·(H/64 + S) in any stretch of t, where
//! H is the half-life and S the longest poll. Write d for the difference of what they have attained. If their service differs
//! by δ between two halvings, d becomes (d + δ)/2. Let d₀ be the difference at the beginning of the stretch, x_k that before
//! its kth halving, of which there are at most t/H + 1, and d₁ that at its end. Then the δ add up to d₁ − d₀ + ½·Σ x_k. A
//! policy that always serves the one that has less, to within a resolution q, keeps d below q + S once it has caught up. It
//! catches up within one half-life: no group has attained more than 2·H + S, and half of that is forgotten while the other
//! works. q is H/64 for `Las`, and for `Qlas` and `Serpt` among groups that have attained H/16, as up to sixteen have that
//! always have work.
//!
//! Levels alone would not do: a level of `Qlas` ends at twice its beginning, so one of two groups might get 1/3 for ever. So
//! levels from H/16 on are in 64 parts.

/// The half-life unless another is set: 1 s.
const DEFAULT_NS: u64 = 1_000_000_000;

/// The shortest: about a millisecond. The number of halvings is a `u32`, which lasts for 52 days at it.
const SHORTEST_NS: u64 = 1 << 20;

/// The longest, which is 36 years: so sums of two do not overflow.
const LONGEST_NS: u64 = 1 << 60;

/// Counts the service of a queue, and its half-lives.
#[derive(Clone, Debug)]
pub(super) struct HalfLife {
    /// 0 for never.
    ns: u64,
    /// What is left of the half-life under way. More than 0.
    left_ns: i64,
    /// How many have passed.
    halvings: u32,
}

impl HalfLife {
    pub(super) const DEFAULT: Self = Self::of_ns(DEFAULT_NS);

    /// Nothing is ever forgotten.
    pub(super) const NEVER: Self = Self { ns: 0, left_ns: i64::MAX, halvings: 0 };

    /// Of so many nanoseconds of service, from 2²⁰ to 2⁶⁰.
    pub(super) const fn of_ns(ns: u64) -> Self {
        let ns = if ns < SHORTEST_NS { SHORTEST_NS } else { ns };
        let ns = if ns > LONGEST_NS { LONGEST_NS } else { ns };
        Self { ns, left_ns: ns as i64, halvings: 0 }
    }

    /// The same, after so many halvings.
    pub(super) fn after(self, halvings: u32) -> Self {
        Self { halvings, ..self }
    }

    /// Its length; `None` for never.
    pub(super) const fn ns(&self) -> Option<u64> {
        if self.ns == 0 { None } else { Some(self.ns) }
    }

    /// How many half-lives have passed.
    #[inline]
    pub(super) const fn halvings(&self) -> u32 {
        self.halvings
    }

    /// What is left of the half-life under way.
    pub(super) const fn left_ns(&self) -> i64 {
        self.left_ns
    }

    /// Counts service, and says whether a half-life has ended. At most one ends at a time: a poll that is longer than a half-life
    /// is not half forgotten before the next.
    pub(super) fn passes(&mut self, service_ns: i64) -> bool {
        if self.ns == 0 || self.halvings == u32::MAX {
            return false;
        }
        let left_ns = self.left_ns.saturating_sub(service_ns);
        if left_ns > 0 {
            self.left_ns = left_ns;
            return false;
        }
        let length_ns = self.ns as i64;
        let next_ns = left_ns.saturating_add(length_ns);
        self.left_ns = if next_ns > 0 { next_ns } else { length_ns };
        self.halvings += 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_half_life_ends_when_so_much_service_has_passed() {
        let mut half_life = HalfLife::of_ns(1 << 20);
        let step = (1 << 20) / 4 + 1;
        let ends: Vec<u32> = (1..=13).filter(|_| half_life.passes(step)).collect();
        assert_eq!(ends, [4, 8, 12]);
        assert_eq!((half_life.halvings(), half_life.left_ns()), (3, (4 << 20) - 13 * step));
    }

    #[test]
    fn a_long_poll_ends_one_only() {
        let mut half_life = HalfLife::of_ns(1 << 20);
        assert!(half_life.passes(1 << 50));
        assert_eq!((half_life.halvings(), half_life.left_ns()), (1, 1 << 20));
        assert!(!half_life.passes(1));
    }

    #[test]
    fn lengths_are_kept_within_limits() {
        let lengths = [0, 1, 1 << 30, u64::MAX].map(|ns| HalfLife::of_ns(ns).ns());
        assert_eq!(lengths, [1 << 20, 1 << 20, 1 << 30, 1 << 60].map(Some));
        assert_eq!(HalfLife::NEVER.ns(), None);
        let mut never = HalfLife::NEVER;
        assert!(!never.passes(i64::MAX));
    }
}
