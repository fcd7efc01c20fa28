//! What [`Buckets`](super::buckets::Buckets) keep for an id.

use core::ops::{Deref, DerefMut};

use super::attained::Attained;
use super::task_lists::TaskList;

/// Says in a list that there is no neighbour.
pub(super) const END: u32 = u32::MAX;

/// Says in an entry that it is in no bucket.
pub(super) const NOWHERE: u32 = u32::MAX;

/// Buckets of an octave: from 128 on, those of values from one power of two to the next.
pub(super) const OCTAVE: u32 = 64;

// An entry whose value takes 8 bytes is half a cache line, and never astride two.
const _: () = assert!(size_of::<Entry<TaskList>>() == 32 && align_of::<Entry<TaskList>>() == 32);

/// What is kept for an id.
#[derive(Clone, Debug)]
#[repr(align(32))]
pub(crate) struct Entry<T> {
    pub(super) value: T,
    attained: Attained,
    /// The bucket that it was in when it had been through as many halvings as `attained`, or `NOWHERE`; then `prev` and
    /// `next` mean nothing.
    pub(super) bucket: u32,
    pub(super) prev: u32,
    pub(super) next: u32,
}

impl<T: Default> Default for Entry<T> {
    fn default() -> Self {
        Self { value: T::default(), attained: Attained::default(), bucket: NOWHERE, prev: END, next: END }
    }
}

impl<T> Deref for Entry<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Entry<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

impl<T> Entry<T> {
    /// What it has attained, as it has been through all halvings.
    #[inline]
    pub(crate) fn attained_ns(&self) -> u64 {
        self.attained.ns_if_current()
    }

    /// Adds service, in nanoseconds.
    #[inline]
    pub(crate) fn add(&mut self, service_ns: u64) {
        self.attained.add(service_ns, self.attained.halvings());
    }

    /// The bucket that it is in.
    #[inline]
    pub(crate) fn bucket(&self) -> Option<u32> {
        (self.bucket != NOWHERE).then_some(self.bucket)
    }

    /// Sets what it has attained, to as much as of now.
    pub(crate) fn set_attained(&mut self, ns: u64) {
        self.attained = Attained::new(ns, self.attained.halvings());
    }

    /// How many halvings it has been through.
    #[inline]
    pub(super) fn halvings(&self) -> u32 {
        self.attained.halvings()
    }

    /// What is left after so many halvings of what it has attained.
    pub(super) fn ns_after(&self, halvings: u32) -> u64 {
        self.attained.ns(halvings)
    }

    /// Goes through the halvings that it has not been through.
    #[cold]
    #[inline(never)]
    pub(super) fn catch_up(&mut self, halvings: u32) {
        if self.bucket != NOWHERE {
            self.bucket = halved(self.bucket, halvings.wrapping_sub(self.attained.halvings()));
        }
        self.attained.catch_up(halvings);
    }
}

/// The bucket that a bucket has become after so many halvings.
fn halved(bucket: u32, times: u32) -> u32 {
    // In the first two octaves units are halved; above, buckets go down by one octave each time.
    let octaves = (bucket / OCTAVE).saturating_sub(1).min(times);
    (bucket - OCTAVE * octaves).checked_shr(times - octaves).unwrap_or(0)
}
