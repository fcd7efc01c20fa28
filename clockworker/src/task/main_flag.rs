//! [`MainFlag`]: whether the future given to `run_until` was woken.

use std::sync::atomic::Ordering;

use super::inbox::Inbox;
use crate::sync::AtomicBool;

/// Whether the future of a run was woken, of whichever run: then the slice under way ends soon. Set by
/// [`RunWaker`](crate::run::RunWaker), which knows of which run.
pub(crate) struct MainFlag {
    woken: AtomicBool,
}

impl MainFlag {
    pub(super) fn new() -> Self {
        Self { woken: AtomicBool::new(false) }
    }

    /// Whether it was woken. May be seen late, but not for ever: parking asks
    /// [`is_woken_by_now`](MainFlag::is_woken_by_now).
    #[inline]
    pub(crate) fn is_woken(&self) -> bool {
        // Ordering: Relaxed, a hint.
        self.woken.load(Ordering::Relaxed)
    }

    /// Whether it was woken. If not, a later wake sees the inbox as it is now, or later: parked.
    pub(crate) fn is_woken_by_now(&self) -> bool {
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
    pub(crate) fn wake(&self, inbox: &Inbox) {
        // Ordering: Release publishes what the waker's caller wrote to the Acquire in `take_woken`. Acquire pairs with the
        // Release in `is_woken_by_now`: if that did not see this wake, this wake sees that the host is parked.
        if !self.woken.swap(true, Ordering::AcqRel) {
            inbox.wake_parked_host();
        }
    }
}
