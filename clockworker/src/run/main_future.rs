//! The future being run: `run_until`'s own, polled when it was woken and when the tasks have had their part.

use std::cell::Cell;
use std::sync::atomic::Ordering;
use std::task::Waker;

use super::timing::MAIN_PATIENCE;
use crate::sync::{Arc, AtomicBool, Signal, impl_wake, waker_of};
use crate::task::SharedRef;

/// What the executor keeps of it.
pub(crate) struct MainFuture {
    /// Whether it was woken.
    pub(crate) flag: Arc<MainWaker>,
    /// The same as a waker.
    pub(crate) waker: Waker,
    /// Polls of tasks that it waits for, because it woke itself.
    waits_for: Cell<u32>,
}

impl MainFuture {
    pub(super) fn new(shared: &SharedRef) -> Self {
        let flag = MainWaker::new(shared);
        Self { waker: waker_of(Arc::clone(&flag)), flag, waits_for: Cell::new(0) }
    }

    /// Whether the future was woken. May be told late, as [`MainWaker::is_woken`] is.
    #[inline]
    pub(super) fn is_woken(&self) -> bool {
        self.flag.is_woken()
    }

    /// Polls of tasks that the future waits for.
    #[inline]
    pub(crate) fn waits_for(&self) -> u32 {
        self.waits_for.get()
    }

    /// Has it wait for so many polls of tasks.
    pub(crate) fn wait_for(&self, polls: u32) {
        self.waits_for.set(polls);
    }

    /// It was polled. If it woke itself, to let others run, it is to be their turn.
    pub(super) fn polled(&self, woke_itself: bool) {
        self.waits_for.set(if woke_itself { MAIN_PATIENCE } else { 0 });
    }

    /// So many polls of tasks were done.
    pub(super) fn waited(&self, polls: u32) {
        self.waits_for.set(self.waits_for.get().saturating_sub(polls));
    }
}

/// The waker of the future being run: a flag, so that it is polled only when it was woken, and soon then.
///
/// An executor has one for all its runs. A waker kept from an earlier run costs the present one a poll, no more.
#[derive(Debug)]
pub(crate) struct MainWaker {
    woken: AtomicBool,
    shared: SharedRef,
}

impl MainWaker {
    fn new(shared: &SharedRef) -> Arc<Self> {
        Arc::new(Self { woken: AtomicBool::new(false), shared: shared.clone() })
    }

    /// Whether a host of this executor may be woken from here: not from a child process, where wakers are copies.
    #[cfg(feature = "tokio")]
    pub(crate) fn host_is_here(&self) -> bool {
        self.shared.process.is_current()
    }

    /// A new future is to be polled.
    pub(crate) fn set_woken(&self) {
        // Ordering: Relaxed, this is the thread that looks. A read-modify-write, since a store would come between a wake by
        // a waker of an earlier run and the Acquire in `take_woken`.
        self.woken.fetch_or(true, Ordering::Relaxed);
    }

    /// Whether it was woken. It may be told late, but not for ever: parking asks [once more](MainWaker::is_woken_by_now).
    #[inline]
    pub(crate) fn is_woken(&self) -> bool {
        // Ordering: Relaxed, a hint.
        self.woken.load(Ordering::Relaxed)
    }

    /// Whether it was woken; if not, whoever wakes it from now on finds the inbox as it is now, or later.
    pub(super) fn is_woken_by_now(&self) -> bool {
        // Ordering: Release pairs with the Acquire in `signal`, for `Inbox::wake_parked_host`. A load would not do, since
        // it may miss a wake that has missed the parking.
        self.woken.fetch_or(false, Ordering::Release)
    }

    pub(crate) fn take_woken(&self) -> bool {
        // Ordering: Acquire pairs with the Release in `signal`: what was written before the wake is seen by the poll that
        // follows. The read-modify-write is what makes that hold for coalesced wakes too.
        self.is_woken() && self.woken.swap(false, Ordering::Acquire)
    }
}

impl_wake!(MainWaker);

impl Signal for MainWaker {
    fn signal(&self) {
        // Ordering: Release publishes what the waker's caller wrote to the Acquire in `take_woken`. Acquire pairs with the
        // Release in `is_woken_by_now`: if that did not see this wake, then this one sees that the host is parked.
        if !self.woken.swap(true, Ordering::AcqRel) {
            self.shared.inbox.wake_parked_host();
        }
    }
}
