//! Who is told when a task has finished.

use std::mem::{ManuallyDrop, replace};
use std::ptr;
use std::task::{RawWakerVTable, Waker};

use super::finished::FinishedList;
use crate::base::drop_quietly;

/// Who is told when a task has finished. Takes no more memory than a waker, as each task has one.
pub(super) struct Joiner {
    /// A waker's data, or the list of a set. Or, while the task is in that list, the address of the next one.
    data: *const (),
    /// A waker's vtable. Or, with the lowest bit set, the task's place in the set, which is no address. Or null: nobody is
    /// told.
    kind: *const (),
}

/// What a [`Joiner`] is, unpacked.
pub(super) enum Unpacked {
    Nobody,
    /// Who awaits the join handle.
    Waker(Waker),
    /// The list of the set that has the join handle, and the handle's place there. The list is not counted: see
    /// [`finished`](super::finished).
    Set(*const FinishedList, usize),
}

impl Joiner {
    pub(super) const NOBODY: Self = Self { data: ptr::null(), kind: ptr::null() };

    /// Who awaits the join handle.
    pub(super) fn waker(waker: Waker) -> Self {
        let waker = ManuallyDrop::new(waker);
        Self { data: waker.data(), kind: ptr::from_ref(waker.vtable()).cast() }
    }

    /// The list of the set that has the join handle, at that place.
    pub(super) fn set(list: *const FinishedList, place: usize) -> Self {
        Self { data: list.cast(), kind: ptr::without_provenance(place << 1 | 1) }
    }

    /// A link of that list, to the task at the address `next`.
    pub(super) fn link(next: usize, place: usize) -> Self {
        Self { data: ptr::without_provenance(next), kind: ptr::without_provenance(place << 1 | 1) }
    }

    /// The place of a [link](Self::link).
    pub(super) fn place(&self) -> usize {
        self.kind.addr() >> 1
    }

    /// Has a [link](Self::link) lead to the task at the address `next`. Returns the one to which it led.
    pub(super) fn exchange_next(&mut self, next: usize) -> usize {
        replace(&mut self.data, ptr::without_provenance(next)).addr()
    }

    /// Whether it is a waker that does the same as `waker`.
    pub(super) fn will_wake(&self, waker: &Waker) -> bool {
        self.data == waker.data() && self.kind == ptr::from_ref(waker.vtable()).cast()
    }

    /// Makes it nobody. Drops what it was, which may be foreign code; a panic in that is swallowed.
    #[inline]
    pub(super) fn clear(&mut self) {
        if !self.kind.is_null() {
            drop_quietly(replace(self, Self::NOBODY));
        }
    }

    pub(super) fn unpack(self) -> Unpacked {
        let Self { data, kind } = *ManuallyDrop::new(self);
        if kind.is_null() {
            return Unpacked::Nobody;
        }
        if kind.addr() & 1 == 1 {
            return Unpacked::Set(data.cast(), kind.addr() >> 1);
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
    use std::sync::Arc;
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
        let Unpacked::Waker(unpacked) = joiner.unpack() else { panic!("it is a waker") };
        unpacked.wake();
        drop(Joiner::waker(waker));
        assert_eq!((wakes.0.load(Ordering::Relaxed), Arc::strong_count(&wakes)), (1, 1));

        let list = ptr::without_provenance(8);
        for place in [0, 1, usize::MAX >> 1] {
            let joiner = Joiner::set(list, place);
            assert!(!joiner.will_wake(Waker::noop()));
            assert!(matches!(joiner.unpack(), Unpacked::Set(of, at) if of == list && at == place));
            let mut link = Joiner::link(16, place);
            assert_eq!((link.exchange_next(0), link.exchange_next(24), link.place()), (16, 0, place));
        }

        assert!(!Joiner::NOBODY.will_wake(Waker::noop()));
        assert!(matches!(Joiner::NOBODY.unpack(), Unpacked::Nobody));
    }
}
