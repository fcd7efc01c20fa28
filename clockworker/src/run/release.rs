//! [`Release`]: the alarm that is set while the host is parked and a throttled queue has work.

use std::time::Duration;

use super::Core;
use crate::base::Alarm;
use crate::sync::{Arc, WakeTarget, impl_wake, waker_of};
use crate::task::SharedRef;

/// Wakes the host when the first throttled queue goes on.
pub(super) struct Release {
    alarm: Alarm,
}

impl Release {
    pub(super) fn new() -> Self {
        Self { alarm: Alarm::new() }
    }

    /// Clears the alarm, as no turn follows.
    pub(super) fn silence(&self) {
        self.alarm.clear();
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
        next == u64::MAX && !self.release.alarm.is_set() || self.set_alarm_for(next)
    }

    /// How long the throttled queue waits that goes on first. None if there is none.
    pub(crate) fn next_release(&self) -> Option<Duration> {
        let next = self.queues.tree.borrow().next_release();
        (next < u64::MAX).then(|| Duration::from_nanos(next.saturating_sub(self.meter.look())))
    }

    #[cold]
    fn set_alarm_for(&self, next: u64) -> bool {
        if next == u64::MAX {
            self.release.alarm.clear();
            return true;
        }
        let after = Duration::from_nanos(next.saturating_sub(self.meter.look()));
        !self.meter.runs()
            || self.release.alarm.set(after, waker_of(Arc::new(ParkedHost(self.shared.clone()))))
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
