//! The places of all groups, by group index.

use super::place::Place;
use crate::parts::by_index;

/// Places by group index, up to the highest in use.
#[derive(Clone)]
pub(super) struct Places(Vec<Place>);

impl Places {
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }

    /// The place of a group, if there is one already.
    #[inline]
    pub(super) fn get(&self, index: u32) -> Option<&Place> {
        self.0.get(index as usize)
    }

    /// The same, to be changed.
    #[inline]
    pub(super) fn get_mut(&mut self, index: u32) -> Option<&mut Place> {
        self.0.get_mut(index as usize)
    }

    /// The place of a group, which is made where there is none.
    #[inline]
    pub(super) fn of_mut(&mut self, index: u32) -> &mut Place {
        let at = index as usize;
        if at >= self.0.len() {
            by_index::grow(&mut self.0, at, || Place::EMPTY);
        }
        &mut self.0[at]
    }

    /// How many group indices have a place: those up to the highest that had a group, and up to 64 more.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn capacity(&self) -> usize {
        self.0.capacity()
    }

    /// Gives the memory of places back behind the last open group, but that of `kept` places. No group owes anything.
    pub(super) fn forget(&mut self, kept: usize) {
        let open = self.0.iter().rposition(|place| place.is_open).map_or(0, |last| last + 1);
        self.0.truncate(open);
        self.0.shrink_to(kept);
    }
}
