//! The places of all groups, by group index.

use super::place::Place;

/// Places by group index, up to the highest in use of each parity.
///
/// Two tables, as an executor gives the even indices to tasks without a group and the odd ones to groups: where there is but one
/// of the two, no memory lies idle between its places.
#[derive(Clone)]
pub(super) struct Places {
    /// Those of even indices, and those of odd ones.
    tables: [Vec<Place>; 2],
}

impl Places {
    pub(super) const fn new() -> Self {
        Self { tables: [Vec::new(), Vec::new()] }
    }

    #[inline]
    fn table(&self, index: u32) -> &Vec<Place> {
        &self.tables[index as usize % 2]
    }

    #[inline]
    fn table_mut(&mut self, index: u32) -> &mut Vec<Place> {
        &mut self.tables[index as usize % 2]
    }

    /// The place of a group, if there is one already.
    #[inline]
    pub(super) fn get(&self, index: u32) -> Option<&Place> {
        self.table(index).get(index as usize / 2)
    }

    /// The same, to be changed.
    #[inline]
    pub(super) fn get_mut(&mut self, index: u32) -> Option<&mut Place> {
        self.table_mut(index).get_mut(index as usize / 2)
    }

    /// The place of a group, which is made where there is none.
    #[inline]
    pub(super) fn of_mut(&mut self, index: u32) -> &mut Place {
        let (table, at) = (self.table_mut(index), index as usize / 2);
        if at >= table.len() {
            table.resize(at + 1, Place::EMPTY);
        }
        &mut table[at]
    }

    /// The highest group index that has a place, and one.
    #[inline]
    pub(super) fn len(&self) -> usize {
        let [even, odd] = &self.tables;
        (2 * odd.len()).max((2 * even.len()).saturating_sub(1))
    }

    pub(super) fn capacity(&self) -> usize {
        self.tables.iter().map(Vec::capacity).sum()
    }

    /// Gives the memory of places back behind the last open group, but that of `kept` places. No group owes anything.
    pub(super) fn forget(&mut self, kept: usize) {
        for table in &mut self.tables {
            let open = table.iter().rposition(|place| place.is_open).map_or(0, |last| last + 1);
            table.truncate(open);
            table.shrink_to(kept / 2);
        }
    }
}
