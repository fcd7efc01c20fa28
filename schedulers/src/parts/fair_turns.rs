//! The counter behind every policy's protection against starvation.

use core::num::NonZeroU32;

use crate::scheduler::DEFAULT_PATIENCE;

/// How often a policy pops out of its usual order unless told otherwise: one pop in 32.
///
/// Three per cent of the pops, so a wrong guess costs the usual order little, while a starved task of a 20 µs service
/// gets on within a millisecond per competitor.
pub(crate) const DEFAULT_EVERY: NonZeroU32 = NonZeroU32::new(32).unwrap();

/// Says which pops are fair turns: every Nth, or none.
#[derive(Clone, Debug)]
pub(crate) struct Turn {
    /// N; `None` for never.
    every: Option<NonZeroU32>,
    /// Pops until the next fair turn, that one included.
    left: u32,
}

impl Turn {
    pub(crate) const fn every(every: NonZeroU32) -> Self {
        Self { every: Some(every), left: every.get() }
    }

    pub(crate) const fn never() -> Self {
        Self { every: None, left: 0 }
    }

    /// The [patience](crate::Scheduler::patience) of a policy that gives out each ready task within so many fair turns, or
    /// earlier.
    pub(crate) fn patience(&self, turns: u64) -> Option<u64> {
        let every = self.every?;
        Some(DEFAULT_PATIENCE.saturating_add(turns.saturating_mul(every.get().into())))
    }

    /// Counts one pop and says whether it is a fair turn.
    #[inline]
    pub(crate) fn is_fair(&mut self) -> bool {
        let Some(every) = self.every else { return false };
        self.left -= 1;
        if self.left > 0 {
            return false;
        }
        self.left = every.get();
        true
    }
}

impl Default for Turn {
    fn default() -> Self {
        Self::every(DEFAULT_EVERY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_third_is_fair() {
        let mut turn = Turn::every(NonZeroU32::new(3).unwrap());
        let fair: Vec<bool> = (0..7).map(|_| turn.is_fair()).collect();
        assert_eq!(fair, [false, false, true, false, false, true, false]);
    }

    #[test]
    fn every_one_is_always_fair_and_never_is_not() {
        let (mut always, mut never) = (Turn::every(NonZeroU32::MIN), Turn::never());
        assert!((0..100).all(|_| always.is_fair()));
        assert!(!(0..100).any(|_| never.is_fair()));
    }
}
