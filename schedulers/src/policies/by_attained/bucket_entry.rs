//! What [`Buckets`](super::buckets::Buckets) keep for a group.

use super::attained::Attained;
use crate::parts::task_lists::TaskList;

/// Is part of a link that goes to no neighbour: the rest is the number of the bucket. Group indices are below it.
pub(super) const EDGE: u32 = 1 << 31;

/// Says in `prev` that the group is in no bucket.
const NOWHERE: u32 = u32::MAX;

// An entry is half a cache line, and never astride two.
const _: () = assert!(size_of::<Entry>() == 32 && align_of::<Entry>() == 32);

/// What is kept for a group.
#[derive(Clone, Debug)]
#[repr(align(32))]
pub(super) struct Entry {
    /// Its ready tasks.
    pub(super) tasks: TaskList,
    pub(super) attained: Attained,
    /// The neighbour in its bucket, or `EDGE` and the number of the bucket; `NOWHERE` if it is in none, and `next` means nothing.
    pub(super) prev: u32,
    pub(super) next: u32,
}

impl Entry {
    pub(super) fn new() -> Self {
        Self { tasks: TaskList::EMPTY, attained: Attained::default(), prev: NOWHERE, next: NOWHERE }
    }

    /// What it has attained, as it has been through all halvings.
    #[inline]
    pub(super) fn attained_ns(&self) -> u64 {
        self.attained.ns_if_current()
    }

    /// Whether it is in a bucket.
    #[inline]
    pub(super) fn is_linked(&self) -> bool {
        self.prev != NOWHERE
    }

    /// Says that it is in no bucket.
    #[inline]
    pub(super) fn leave(&mut self) {
        self.prev = NOWHERE;
    }
}
