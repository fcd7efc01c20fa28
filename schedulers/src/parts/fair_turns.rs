//! [`FairTurns`]: protection against starvation.
//!
//! Why *m* of them come in time. Let b be what may yet be spent in order. A fair turn comes when b < 256 ns, so
//! b ≤ (N − 1)·c + 256 ns after one of cost c. The polls in order that follow cost at most that and one poll more, by which b falls below
//! 0, and the next turn has so much less after it. Over m turns of costs c_i: Σ c_i + (N − 1)·Σ c_i + the first b + a poll ≤
//! N·(m + 1)·(S + 256 ns). Polls of no time cost 256 ns each, and 67 ms are 2¹⁸ of these.

use core::num::NonZeroU32;

/// A pop counts for so much besides the service of its poll. So polls of no time fund fair turns, too.
pub(crate) const PER_POP_NS: i64 = 256;

/// A poll of a fair turn counts for so much at most, and so much service is owed to fair turns at most, times N − 1.
pub(crate) const LONGEST_NS: i64 = 1 << 26;

/// How often a policy pops out of its usual order, so that no task starves: these pops are *fair turns*, and have one part in
/// *N* of the queue's time.
///
/// [`Las`](crate::Las), [`Qlas`](crate::Qlas) and [`Serpt`](crate::Serpt) have them.
/// Each says to which task a fair turn goes, and what bound on waiting follows.
///
/// Unless told otherwise, *N* is 32. That is three per cent, so a wrong guess costs the usual order little,
/// while a starved task of a 20 µs service gets on within a millisecond per competitor. A smaller *N* shortens the longest wait
/// and dilutes the order.
///
/// # When the next one comes
///
/// After a fair turn of the *cost* c, other polls of the cost (*N* − 1)·c come before the next. So where all polls take
/// equally long, every *N*th pop is a fair turn. After a fair turn of 10 ms beside polls of 10 µs it takes 310 ms. After
/// another poll of 10 ms, some thirty fair turns of 10 µs come in a row. The cost of a poll is its service and 256 ns, so polls
/// of no time fund fair turns as well; the first pop of all counts as one; and 67 ms (2²⁶ ns) of a fair turn's count at most. A queue that has not had its fair turns, since
/// one poll was long, catches up on at most 67/(*N* − 1) ms of them.
///
/// So with polls of at most *S*, any stretch of *N*·(*m* + 1)·(*S* + 256 ns), in which a pop counts as 256 ns besides its service,
/// has *m* fair turns; and so has any of 2¹⁸·*N*·(*m* + 1) pops.
///
/// ```
/// use std::num::NonZeroU32;
/// use clockworker_schedulers::{FairTurns, Las};
///
/// let often = Las::new().with_fair_turns(FairTurns::every(NonZeroU32::new(8).unwrap()));
/// let strict = Las::new().with_fair_turns(FairTurns::NEVER); // tasks may starve
/// ```
#[derive(Clone, Debug)]
pub struct FairTurns {
    /// *N*; `None` for never.
    every: Option<NonZeroU32>,
}

impl FairTurns {
    /// Fair turns have 1/32 of the time.
    pub const DEFAULT: Self = Self::every(NonZeroU32::new(32).unwrap());

    /// There are no fair turns: strictly the policy's order, in which tasks may starve.
    pub const NEVER: Self = Self { every: None };

    /// Fair turns have one part in `pops` of the time: every so many pops where polls take equally long.
    pub const fn every(pops: NonZeroU32) -> Self {
        Self { every: Some(pops) }
    }

    /// *N*; `None` for never.
    pub(crate) const fn every_pops(&self) -> Option<NonZeroU32> {
        self.every
    }

    /// Whether there are any.
    #[inline]
    pub(crate) const fn exist(&self) -> bool {
        self.every.is_some()
    }

    /// What others may spend after a fair turn of this cost. 0 where there are none.
    pub(crate) const fn earns(&self, cost_ns: i64) -> i64 {
        let others = match self.every {
            Some(every) => every.get() as i64 - 1,
            None => 0,
        };
        others * if cost_ns < LONGEST_NS { cost_ns } else { LONGEST_NS }
    }
}

impl Default for FairTurns {
    fn default() -> Self {
        Self::DEFAULT
    }
}
