//! The places of all groups, by group index.

use super::place::Place;
use crate::parts::by_index;

/// Places by group index.
#[derive(Clone)]
pub(super) struct Places {
    /// Those up to the highest that was used, and some that are ready for the next.
    table: Vec<Place>,
    /// How many of them were used: all before the highest, and that.
    used: usize,
}

impl Places {
    pub(super) const fn new() -> Self {
        Self { table: Vec::new(), used: 0 }
    }

    /// The place of a group, if there is one already.
    #[inline]
    pub(super) fn get(&self, index: u32) -> Option<&Place> {
        self.table.get(index as usize)
    }

    /// The same, to be changed.
    #[inline]
    pub(super) fn get_mut(&mut self, index: u32) -> Option<&mut Place> {
        self.table.get_mut(index as usize)
    }

    /// The place of a group, which is made where there is none.
    #[inline]
    pub(super) fn of_mut(&mut self, index: u32) -> &mut Place {
        let at = index as usize;
        if at >= self.used {
            self.used = at + 1;
            if at >= self.table.len() {
                by_index::grow(&mut self.table, at, || Place::EMPTY);
            }
        }
        &mut self.table[at]
    }

    /// The highest group index that was used, and one.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.used
    }

    pub(super) fn capacity(&self) -> usize {
        self.table.capacity()
    }

    /// Gives the memory of places back behind the last open group, but that of `kept` places. No group owes anything.
    pub(super) fn forget(&mut self, kept: usize) {
        let open = self.table.iter().rposition(|place| place.is_open).map_or(0, |last| last + 1);
        self.table.truncate(open);
        self.table.shrink_to(kept);
        self.used = open;
    }
}
