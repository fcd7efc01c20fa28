//! [`HostDeferral`]: which tasks the host has deferred, and a deferred wake of the host itself.
//!
//! tokio's own `yield_now` *defers* a waker: tokio wakes it after it has seen to its I/O. A task that awaits it has merely
//! yielded, and its wake differs from a socket's by nothing but its time. Of the deferred wakers tokio wakes the last one first.
//! So before a visit the executor defers a waker of its own, the *mark*. What the host wakes before the mark was not deferred; what
//! it wakes after it was, if its last poll was in the turn before.
//!
//! A turn that was long enough for a visit and ends with nothing left sets a mark, too. That mark wakes the host, so that the next
//! turn begins before the host sleeps: what is woken later was not deferred. Where the host has deferred nothing it is in vain, and costs
//! a look at I/O. So after each that was in vain twice as many turns end without one, up to [`MOST_PASSED`].
//!
//! Where the executor runs in a task of tokio's, a host that is woken at once polls it again, 61 times, before tokio sees to its
//! I/O. There the host's waker is deferred too, once the mark was seen to be woken: a `block_on` of another crate inside that
//! task keeps tokio from it.
//!
//! Other hosts' `yield_now` wakes the task in its poll, which is exact anyway.

use std::cell::Cell;
use std::task::Waker;
#[cfg(feature = "tokio")]
use std::{future::Future, pin::pin, task::Context};

use crate::sync::{Arc, WakeTarget, impl_wake, waker_of};
use crate::task::{OwnerCell, SharedRef};

/// Turns in a row that end with nothing left and set no mark, at most.
const MOST_PASSED: u32 = 31;

/// See the [module docs](self).
pub(crate) struct HostDeferral {
    mark: Arc<Mark>,
    waker: Waker,
    /// Whether it was set in this turn or the last.
    is_set: Cell<bool>,
    /// Whether that turn has left nothing.
    is_at_rest: Cell<bool>,
    /// Turns that leave nothing and set no mark, after one that was in vain; and how many of them are still to come.
    passed: Cell<u32>,
    to_pass: Cell<u32>,
}

struct Mark {
    shared: SharedRef,
    state: OwnerCell<MarkState>,
}

#[derive(Default)]
struct MarkState {
    /// Whether it was deferred, and not woken since.
    is_deferred: Cell<bool>,
    /// How many tasks had come before it was woken. None if it was not.
    came_before: Cell<Option<u32>>,
    /// The address of the host's waker.
    host: Cell<usize>,
    /// Whether that host has woken a mark.
    works: Cell<bool>,
}

impl HostDeferral {
    pub(super) fn new(shared: &SharedRef) -> Self {
        let mark = Arc::new(Mark { shared: shared.clone(), state: OwnerCell::new(MarkState::default()) });
        Self {
            waker: waker_of(Arc::clone(&mark)),
            mark,
            is_set: Cell::new(false),
            is_at_rest: Cell::new(false),
            passed: Cell::new(0),
            to_pass: Cell::new(0),
        }
    }

    /// Has the host poll the executor again after a visit, in which it marks what it has deferred.
    pub(super) fn visit(&self, host: &Waker) {
        let Some(state) = self.mark.state.get() else { return };
        let address = host.data().addr();
        if state.host.replace(address) != address {
            state.works.set(false);
        }
        if state.works.get() && is_in_task() {
            defer(host);
        } else {
            host.wake_by_ref();
        }
        self.mark();
    }

    /// Marks what the host has deferred at the end of a turn that leaves nothing. tokio looks for I/O and polls the executor once more
    /// before it sleeps. Not in each such turn, where that was in vain.
    pub(super) fn mark_at_rest(&self) {
        match self.to_pass.get() {
            0 => {
                self.is_at_rest.set(true);
                self.mark();
            }
            left => self.to_pass.set(left - 1),
        }
    }

    /// Marks what the host has deferred.
    fn mark(&self) {
        let Some(state) = self.mark.state.get() else { return };
        self.is_set.set(true);
        // Where nothing is deferred, it is woken in this call.
        state.came_before.set(None);
        state.is_deferred.set(false);
        defer(&self.waker);
        state.is_deferred.set(true);
    }

    /// Ends the visit, if one was under way. Whether it woke tasks that the host had deferred.
    #[inline]
    pub(super) fn end_visit(&self) -> bool {
        self.is_set.replace(false) && self.take()
    }

    #[cold]
    fn take(&self) -> bool {
        let Some(state) = self.mark.state.get() else { return false };
        state.is_deferred.set(false);
        let came = self.mark.shared.local().map(|local| local.arrivals.came());
        let has_deferred = state.came_before.take().is_some_and(|before| Some(before) != came);
        if has_deferred {
            self.passed.set(0);
            self.to_pass.set(0);
        } else if self.is_at_rest.get() {
            self.passed.set((2 * self.passed.get() + 1).min(MOST_PASSED));
            self.to_pass.set(self.passed.get());
        }
        self.is_at_rest.set(false);
        has_deferred
    }

    /// Notes that the waker of a host is dropped: another one may have its address.
    pub(crate) fn forget_host(&self) {
        self.mark.state.get().into_iter().for_each(|state| state.works.set(false));
    }
}

impl_wake!(Mark);

impl WakeTarget for Mark {
    fn wake(&self) {
        let Some(state) = self.state.get().filter(|state| state.is_deferred.replace(false)) else { return };
        state.works.set(true);
        let Some(local) = self.shared.local() else { return };
        state.came_before.set(Some(local.arrivals.came()));
        local.arrivals.begin_deferred();
        self.shared.inbox.wake_parked_host();
    }
}

/// Whether the calling code is in a task of tokio's.
fn is_in_task() -> bool {
    #[cfg(feature = "tokio")]
    return tokio::task::try_id().is_some();
    #[cfg(not(feature = "tokio"))]
    false
}

/// Has tokio wake the waker after it has seen to its I/O, where it is the host.
fn defer(waker: &Waker) {
    #[cfg(feature = "tokio")]
    let _ = pin!(tokio::task::yield_now()).poll(&mut Context::from_waker(waker));
    #[cfg(not(feature = "tokio"))]
    let _ = waker;
}
