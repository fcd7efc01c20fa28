//! [`Release`]: the alarm that is set while the host is parked and a throttled queue has work.

use std::cell::Cell;
use std::time::{Duration, Instant};

use super::Core;
use crate::base::{Alarm, Timer};
use crate::sync::{Arc, WakeTarget, impl_wake, waker_of};
use crate::task::SharedRef;

/// Wakes the host when the first throttled queue goes on.
#[derive(Default)]
pub(super) struct Release {
    /// Whether it was set and not cleared since. It may have rung.
    is_set: Cell<bool>,
    alarm: Alarm,
    /// In its place, where the clock is tokio's.
    timer: Cell<Option<Timer>>,
}

impl Release {
    /// Clears the alarm, as no turn follows or no queue is throttled.
    pub(super) fn silence(&self) {
        self.is_set.set(false);
        self.alarm.clear();
        self.timer.set(None);
    }
}

impl Core {
    /// Sets the alarm for the throttled queue that goes on first, or clears it if there is none. To be called when the host is
    /// parked, so that a wake by the alarm is a wake of a parked host, or of one that has looked at the clock since. False if
    /// there is no alarm to be had, so that the host must come back by itself.
    ///
    /// A [`ManualClock`](crate::ManualClock) has no alarm: a turn looks at it whenever there is one.
    #[inline]
    pub(super) fn set_alarm(&self) -> bool {
        let next = self.queues.tree.borrow().next_release();
        next == u64::MAX && !self.release.is_set.get() || self.set_alarm_for(next)
    }

    #[cold]
    fn set_alarm_for(&self, next: u64) -> bool {
        if next == u64::MAX || !self.meter.runs() {
            self.release.silence();
            return true;
        }
        self.release.is_set.set(true);
        let waker = waker_of(Arc::new(ParkedHost(self.shared.clone())));
        #[cfg(feature = "tokio")]
        if let crate::base::Clock::Tokio(clock) = self.meter.clock() {
            let timer = clock.timer(next, &waker);
            let is_set = timer.is_some();
            self.release.timer.set(timer);
            return is_set;
        }
        self.release.alarm.set(Duration::from_nanos(next.saturating_sub(self.meter.look())), waker)
    }

    /// When the throttled queue goes on that does so first. None if there is none, or if it never does.
    pub(crate) fn next_release(&self) -> Option<Instant> {
        let next = self.queues.tree.borrow().next_release();
        if next < u64::MAX { self.meter.clock().instant_at(next) } else { None }
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
