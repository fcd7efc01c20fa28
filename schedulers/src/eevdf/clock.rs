//! Virtual time: where a server that could divide itself without limit would have every queue.

use super::vtime::div_floor;

/// The greatest distance of w·v from w·zero.
pub(super) const REACH: i128 = 1 << 101;

/// Distances of v from zero below this are multiplied without a check.
pub(super) const NEAR: i128 = 1 << 80;

/// V, and the sums that it is made of.
///
/// V is (S − Λ)/W, but never falls: where that falls, since a queue that is ahead fell asleep, V stays until service has
/// lifted it again. Credits that sleeping queues take along, Λ, count as if their queues were still there: so V does not move
/// when one of them falls asleep or wakes up.
#[derive(Clone, Default)]
pub(super) struct VirtualClock {
    /// W: the shares of the queues that count, runnable or drained.
    shares: u64,
    /// S: Σ w·v over the same.
    sum: i128,
    /// Λ: the credits of the sleeping queues, in service.
    reserved: i128,
    /// A point that V has reached.
    reached: i128,
}

#[inline]
pub(super) fn is_near(v: i128) -> bool {
    (-NEAR..NEAR).contains(&v)
}

/// Whether V may stay there: all that is placed relative to it is near, too.
#[inline]
pub(super) fn is_near_zero(v: i128) -> bool {
    v.abs() < NEAR / 2
}

impl VirtualClock {
    /// A clock at `v`, with no queue runnable.
    pub(super) fn at(v: i128) -> Self {
        Self { reached: v, ..Self::default() }
    }

    /// W.
    pub(super) fn shares(&self) -> u64 {
        self.shares
    }

    /// Λ.
    pub(super) fn reserved(&self) -> i128 {
        self.reserved
    }

    /// S.
    #[cfg(test)]
    pub(super) fn sum(&self) -> i128 {
        self.sum
    }

    /// A point that V has reached: V itself, while nothing is runnable.
    #[inline]
    pub(super) fn reached(&self) -> i128 {
        self.reached
    }

    /// V, rounded down.
    pub(super) fn now(&self) -> i128 {
        let shares = i128::from(self.shares);
        // S less its part up to `reached`, which is a whole multiple of W.
        match self.sum - self.reached * shares - self.reserved {
            ahead if ahead > 0 => self.reached + div_floor(ahead, shares),
            _ => self.reached,
        }
    }

    /// V, and remembers it: to be called before (S − Λ)/W may fall.
    pub(super) fn note(&mut self) -> i128 {
        self.reached = self.now();
        self.reached
    }

    /// Whether V has reached `v`, or the mean S/W of those that are runnable has: exact, and without a division.
    #[inline]
    pub(super) fn has_reached(&self, v: i128) -> bool {
        v <= self.reached || self.mean_has_reached(v)
    }

    /// Whether v·W ≤ S.
    #[inline]
    fn mean_has_reached(&self, v: i128) -> bool {
        if is_near(v) { v * i128::from(self.shares) <= self.sum } else { self.mean_has_reached_far(v) }
    }

    #[cold]
    fn mean_has_reached_far(&self, v: i128) -> bool {
        // A product that overflows is beyond any S.
        v.checked_mul(i128::from(self.shares)).map_or(v < 0, |product| product <= self.sum)
    }

    /// A runnable queue of share `w` moved by `moved`.
    #[inline]
    pub(super) fn advance(&mut self, w: i128, moved: i128) {
        self.sum += moved * w;
    }

    /// Counts a queue of that share in, at `v`.
    pub(super) fn join(&mut self, share: u32, v: i128) {
        self.sum += v * i128::from(share);
        self.shares += u64::from(share);
    }

    /// Counts a queue of that share out, which is at `v`.
    pub(super) fn leave(&mut self, share: u32, v: i128) {
        self.sum -= v * i128::from(share);
        self.shares -= u64::from(share);
    }

    /// Keeps a credit for a queue that fell asleep.
    pub(super) fn reserve(&mut self, credit: i128) {
        self.reserved += credit;
    }

    /// Gives up a credit: its queue wakes up, or is gone.
    pub(super) fn release(&mut self, credit: i128) {
        self.reserved -= credit;
    }

    /// Nothing is runnable any more: V goes on to `furthest`, if that is later, and all credits are void.
    pub(super) fn rest(&mut self, furthest: i128) {
        self.reached = self.reached.max(furthest);
        self.reserved = 0;
    }

    /// Makes `zero` the new zero point. The sum is for the caller to make anew, by [`advance`](Self::advance).
    pub(super) fn rebase(&mut self, zero: i128) {
        self.sum = 0;
        self.reached -= zero;
    }
}
