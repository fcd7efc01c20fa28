//! [`MainFuture`]: the future given to `run_until`, polled when it was woken and the tasks have had their part.

use std::cell::Cell;
use std::sync::atomic::Ordering;

use super::timing::MAIN_PATIENCE;
use crate::sync::{Arc, AtomicBool};
use crate::task::SharedRef;

/// What the executor keeps of the future given to `run_until`.
pub(crate) struct MainFuture {
    pub(crate) flag: Arc<MainFlag>,
    /// Polls of tasks that the future waits for, because it woke itself.
    waits_for: Cell<u32>,
}

impl MainFuture {
    pub(super) fn new(shared: &SharedRef) -> Self {
        let flag = MainFlag { woken: AtomicBool::new(false), shared: shared.clone() };
        Self { flag: Arc::new(flag), waits_for: Cell::new(0) }
    }

    /// Whether the future was woken. May be seen late, see [`MainFlag::is_woken`].
    #[inline]
    pub(super) fn is_woken(&self) -> bool {
        self.flag.is_woken()
    }

    /// Polls of tasks that the future waits for.
    #[inline]
    pub(crate) fn waits_for(&self) -> u32 {
        self.waits_for.get()
    }

    /// Has the future wait for so many polls of tasks.
    #[inline]
    pub(crate) fn wait_for(&self, polls: u32) {
        self.waits_for.set(polls);
    }

    /// Notes a poll of the future. If it woke itself, to let others run, it waits for `MAIN_PATIENCE` polls of tasks.
    pub(super) fn polled(&self, woke_itself: bool) {
        self.waits_for.set(if woke_itself { MAIN_PATIENCE } else { 0 });
    }

    /// Notes so many polls of tasks.
    pub(super) fn waited(&self, polls: u32) {
        self.waits_for.set(self.waits_for.get().saturating_sub(polls));
    }
}

/// Whether the future of a run was woken, of whichever run: then the slice under way ends soon. Set by
/// [`RunWaker`](super::RunWaker), which knows of which run.
pub(crate) struct MainFlag {
    woken: AtomicBool,
    shared: SharedRef,
}

impl MainFlag {
    /// Whether it was woken. May be seen late, but not for ever: parking asks
    /// [`is_woken_by_now`](MainFlag::is_woken_by_now).
    #[inline]
    fn is_woken(&self) -> bool {
        // Ordering: Relaxed, a hint.
        self.woken.load(Ordering::Relaxed)
    }

    /// Whether it was woken. If not, a later wake sees the inbox as it is now, or later: parked.
    pub(super) fn is_woken_by_now(&self) -> bool {
        // Ordering: Release pairs with the Acquire in `wake`, for `Inbox::wake_parked_host`. A load would not do, since it
        // may miss a wake that has missed the parking.
        self.woken.fetch_or(false, Ordering::Release)
    }

    #[inline]
    pub(crate) fn take_woken(&self) -> bool {
        // Ordering: Acquire pairs with the Release in `wake`: what was written before the wake is seen by the poll that
        // follows. As a read-modify-write it does so for coalesced wakes too.
        self.is_woken() && self.woken.swap(false, Ordering::Acquire)
    }

    /// Wakes it: ends the slice under way, or wakes the host of the run that drove last.
    pub(super) fn wake(&self) {
        // Ordering: Release publishes what the waker's caller wrote to the Acquire in `take_woken`. Acquire pairs with the
        // Release in `is_woken_by_now`: if that did not see this wake, this wake sees that the host is parked.
        if !self.woken.swap(true, Ordering::AcqRel) {
            self.shared.inbox.wake_parked_host();
        }
    }
}
