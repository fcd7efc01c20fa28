//! [`FairTurns`]: protection against starvation.

use core::num::NonZeroU32;

/// What every policy is granted besides its bound on waiting. Polls.
const SLACK: u64 = 65_536;

/// The [patience](crate::Scheduler::patience) of a policy that gives out each ready task within so many pops.
pub(crate) const fn patience(pops: u64) -> u64 {
    SLACK.saturating_add(pops)
}

/// How often a policy pops out of its usual order, so that no task starves: every *N*th pop is a *fair turn*.
///
/// [`ArrivalFifo`](crate::ArrivalFifo), [`Las`](crate::Las), [`Qlas`](crate::Qlas) and [`Serpt`](crate::Serpt) have them.
/// Each says to which task a fair turn goes, and what bound on waiting follows.
///
/// Unless told otherwise, *N* is 32. That is three per cent of the pops, so a wrong guess costs the usual order little,
/// while a starved task of a 20 µs service gets on within a millisecond per competitor. A smaller *N* shortens the longest wait
/// and dilutes the order.
///
/// ```
/// use std::num::NonZeroU32;
/// use clockworker_schedulers::{FairTurns, Las, Scheduler};
///
/// let often = Las::new().with_fair_turns(FairTurns::every(NonZeroU32::new(8).unwrap()));
/// let strict = Las::new().with_fair_turns(FairTurns::NEVER);
/// assert!(often.patience(10) < Las::new().patience(10));
/// assert_eq!(strict.patience(10), None); // tasks may starve
/// ```
#[derive(Clone, Debug)]
pub struct FairTurns {
    /// *N*; `None` for never.
    every: Option<NonZeroU32>,
    /// Pops until the next fair turn, that one included.
    left: u32,
}

impl FairTurns {
    /// Every 32nd pop is a fair turn.
    pub const DEFAULT: Self = Self::every(NonZeroU32::new(32).unwrap());

    /// There are no fair turns: strictly the policy's order, in which tasks may starve.
    pub const NEVER: Self = Self { every: None, left: 0 };

    /// Every `pops`th pop is a fair turn.
    pub const fn every(pops: NonZeroU32) -> Self {
        Self { every: Some(pops), left: pops.get() }
    }

    /// *N*; `None` for never.
    pub(crate) const fn every_pops(&self) -> Option<NonZeroU32> {
        self.every
    }

    /// The [patience](crate::Scheduler::patience) of a policy that gives out each ready task within so many fair turns.
    pub(crate) fn patience(&self, turns: u64) -> Option<u64> {
        Some(patience(turns.saturating_mul(self.every?.get().into())))
    }

    /// Counts one pop and says whether it is a fair turn.
    #[inline]
    pub(crate) fn next_is_fair(&mut self) -> bool {
        let Some(every) = self.every else { return false };
        self.left -= 1;
        if self.left > 0 {
            return false;
        }
        self.left = every.get();
        true
    }
}

impl Default for FairTurns {
    fn default() -> Self {
        Self::DEFAULT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_third_is_fair() {
        let mut turns = FairTurns::every(NonZeroU32::new(3).unwrap());
        let fair: Vec<bool> = (0..7).map(|_| turns.next_is_fair()).collect();
        assert_eq!(fair, [false, false, true, false, false, true, false]);
    }

    #[test]
    fn every_one_is_always_fair_and_never_is_not() {
        let (mut always, mut never) = (FairTurns::every(NonZeroU32::MIN), FairTurns::NEVER);
        assert!((0..100).all(|_| always.next_is_fair()));
        assert!(!(0..100).any(|_| never.next_is_fair()));
    }
}
