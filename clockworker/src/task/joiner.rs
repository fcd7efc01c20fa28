//! Who is told when a task has finished.

use std::mem::{ManuallyDrop, replace};
use std::ptr;
use std::task::{RawWakerVTable, Waker};

use super::FinishedList;
use crate::base::wake_quietly;
use crate::sync::Arc;

/// Who is told when a task has finished. Takes no more memory than a waker, as each task has one.
pub(super) struct Joiner {
    /// A waker's data, or the list of a set, from [`Arc::into_raw`].
    data: *const (),
    /// A waker's vtable. Or, with the lowest bit set, the task's place in the set, which is no address. Or null: nobody is
    /// told.
    kind: *const (),
}

/// What a [`Joiner`] is, unpacked.
enum Unpacked {
    Nobody,
    /// Who awaits the join handle.
    Waker(Waker),
    /// The set that has the join handle, and its place there.
    Set(Arc<FinishedList>, usize),
}

impl Joiner {
    pub(super) const NOBODY: Self = Self { data: ptr::null(), kind: ptr::null() };

    /// Who awaits the join handle.
    pub(super) fn waker(waker: Waker) -> Self {
        let waker = ManuallyDrop::new(waker);
        Self { data: waker.data(), kind: ptr::from_ref(waker.vtable()).cast() }
    }

    /// The set that has the join handle, at that place.
    pub(super) fn set(list: Arc<FinishedList>, place: usize) -> Self {
        Self { data: Arc::into_raw(list).cast(), kind: ptr::without_provenance(place << 1 | 1) }
    }

    /// Whether it is a waker that does the same as `waker`.
    pub(super) fn will_wake(&self, waker: &Waker) -> bool {
        self.data == waker.data() && self.kind == ptr::from_ref(waker.vtable()).cast()
    }

    /// Tells it that the task has finished.
    pub(super) fn tell(self) {
        match self.unpack() {
            Unpacked::Nobody => {}
            Unpacked::Waker(waker) => wake_quietly(waker),
            Unpacked::Set(list, place) => list.push(place),
        }
    }

    fn unpack(self) -> Unpacked {
        let Self { data, kind } = *ManuallyDrop::new(self);
        if kind.is_null() {
            return Unpacked::Nobody;
        }
        if kind.addr() & 1 == 1 {
            // SAFETY: an odd `kind` is a place, so `data` is a list's, and `self`, which counted it, is forgotten.
            let list = unsafe { Arc::from_raw(data.cast::<FinishedList>()) };
            return Unpacked::Set(list, kind.addr() >> 1);
        }
        // SAFETY: it was a reference to a waker's vtable, which is static, and aligned, so its address is even.
        let vtable: &'static RawWakerVTable = unsafe { &*kind.cast() };
        // SAFETY: both are parts of one waker that was never dropped; nor will they be, as `self` is forgotten.
        Unpacked::Waker(unsafe { Waker::new(data, vtable) })
    }
}

impl Drop for Joiner {
    fn drop(&mut self) {
        if !self.kind.is_null() {
            drop(replace(self, Self::NOBODY).unpack());
        }
    }
}

#[cfg(all(test, not(any(clockworker_loom, clockworker_shuttle))))]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::task::Wake;

    use super::*;

    #[derive(Default)]
    struct Wakes(AtomicU32);

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn it_fits_in_a_waker() {
        assert_eq!(size_of::<Joiner>(), size_of::<Waker>());
    }

    #[test]
    fn what_is_packed_is_unpacked_and_dropped_once() {
        let wakes = Arc::new(Wakes::default());
        let waker = Waker::from(Arc::clone(&wakes));
        let joiner = Joiner::waker(waker.clone());
        assert!(joiner.will_wake(&waker) && !joiner.will_wake(Waker::noop()));
        joiner.tell();
        drop(Joiner::waker(waker));
        assert_eq!((wakes.0.load(Ordering::Relaxed), Arc::strong_count(&wakes)), (1, 1));

        let list = FinishedList::new();
        for place in [0, 1, usize::MAX >> 1] {
            let joiner = Joiner::set(Arc::clone(&list), place);
            assert!(!joiner.will_wake(Waker::noop()));
            joiner.tell();
            drop(Joiner::set(Arc::clone(&list), place));
        }
        let mut places = Vec::new();
        list.exchange(&mut places);
        assert_eq!((places, Arc::strong_count(&list)), (vec![0, 1, usize::MAX >> 1], 1));

        assert!(!Joiner::NOBODY.will_wake(Waker::noop()));
        Joiner::NOBODY.tell();
    }
}
