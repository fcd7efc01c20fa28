//! [`ThrottledQueues`]: those that have work and have used up their caps, and the alarm that is set for them.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::time::Duration;

use super::Core;
use crate::base::Alarm;
use crate::sync::{Arc, WakeTarget, impl_wake, waker_of};
use crate::task::SharedRef;

/// The throttled queues of an executor, by the time at which each goes on.
pub(super) struct ThrottledQueues {
    /// A clock reading, and a number in the table of queues.
    by_release: RefCell<BTreeSet<(u64, u32)>>,
    /// When the first goes on. `u64::MAX` if there is none.
    next: Cell<u64>,
    alarm: Alarm,
}

impl ThrottledQueues {
    pub(super) fn new() -> Self {
        Self { by_release: RefCell::default(), next: Cell::new(u64::MAX), alarm: Alarm::new() }
    }

    /// When the first goes on. `u64::MAX` if there is none.
    pub(super) fn next(&self) -> u64 {
        self.next.get()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.next.get() == u64::MAX
    }

    /// The first of those that go on by `now`.
    pub(super) fn due(&self, now: u64) -> Option<u32> {
        let first = self.by_release.borrow().first().copied()?;
        (first.0 <= now).then_some(first.1)
    }

    pub(super) fn add(&self, release: u64, index: u32) {
        self.by_release.borrow_mut().insert((release, index));
        self.note_next();
    }

    pub(super) fn remove(&self, release: u64, index: u32) {
        self.by_release.borrow_mut().remove(&(release, index));
        self.note_next();
    }

    /// Clears the alarm, as no turn follows.
    pub(super) fn silence(&self) {
        self.alarm.clear();
    }

    fn note_next(&self) {
        self.next.set(self.by_release.borrow().first().map_or(u64::MAX, |first| first.0));
    }
}

impl Core {
    /// Sets the alarm for the throttled queue that goes on first, or clears it if there is none. To be called when the host is
    /// parked, so that a wake by the alarm is a wake of a parked host, or of one that has looked at the clock since. False if
    /// there is no alarm to be had, so that the host must come back by itself.
    ///
    /// A [`ManualClock`](crate::ManualClock) has no alarm: a turn looks at it whenever there is one.
    #[cold]
    pub(super) fn set_alarm(&self) -> bool {
        let throttled = &self.aside.throttled;
        if throttled.is_empty() {
            throttled.alarm.clear();
            return true;
        }
        let after = Duration::from_nanos(throttled.next().saturating_sub(self.meter.look()));
        !self.meter.runs() || throttled.alarm.set(after, waker_of(Arc::new(ParkedHost(self.shared.clone()))))
    }
}

/// Wakes an executor's host, if it is parked.
struct ParkedHost(SharedRef);

impl_wake!(ParkedHost);

impl WakeTarget for ParkedHost {
    fn wake(&self) {
        self.0.inbox.wake_parked_host();
    }
}
