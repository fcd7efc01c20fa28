//! [`SoFar`]: the records that are being written.

use crate::entry::Entry;
use crate::layout::{Seats, TIERS};
use crate::mapped::Mapped;

/// What was last written for a seat, by tier: the period, and what happened in it so far.
#[derive(Clone, Debug)]
pub(crate) struct SoFar<E>([Option<(u64, E)>; TIERS.len()]);

impl<E> Default for SoFar<E> {
    fn default() -> Self {
        Self([const { None }; TIERS.len()])
    }
}

impl<E: Entry> SoFar<E> {
    /// Adds what happened to the periods of `now`, and writes them.
    pub(crate) fn add(&mut self, entry: &E, now: u64, file: &Mapped, seats: &Seats, seat: usize, owner: u64) {
        for (tier, current) in self.0.iter_mut().enumerate() {
            let period = now / 1_000_000_000 / TIERS[tier].seconds;
            let so_far = match current.take() {
                Some((same, mut so_far)) if same == period => {
                    so_far.add_later(entry);
                    so_far
                }
                _ => *entry,
            };
            *current = Some((period, so_far));
            let at = seats.record_at(seat, tier, period);
            file.set_checked(at, [&[owner, period], so_far.words().as_ref()]);
        }
    }
}
