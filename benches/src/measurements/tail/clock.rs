//! [`Clock`]: time that work moves on without being done.

use std::cell::Cell;
use std::time::{Duration, Instant};

use clockworker::ManualClock;

use crate::stopwatch::now;

/// The time of a thread on which work is not done: the clock is moved on by its length. What executors do is done, and the
/// clock is moved on by the time that it took.
///
/// So a window of many seconds takes as long as the executor is busy in it. Executors that go by time have this clock.
#[derive(Debug)]
pub struct Clock {
    shown: ManualClock,
    /// Up to when real time is on the clock.
    counted: Cell<Instant>,
    /// The real time that is on the clock.
    real: Cell<Duration>,
}

/// Executors do not take so long between two polls: what took longer was another program, the kernel or the hypervisor, and counts
/// no more than this. The thread's CPU time would not do, since a hypervisor's share is in it.
pub const LONGEST: Duration = Duration::from_micros(20);

impl Clock {
    pub fn start(shown: ManualClock) -> Self {
        Clock { shown, counted: Cell::new(now()), real: Cell::default() }
    }

    /// Counts the real time that has passed, and then this work. One reading of the system's clock is in that real time.
    pub fn spend(&self, work: Duration) -> Duration {
        let moment = now();
        let passed = (moment - self.counted.replace(moment)).min(LONGEST);
        self.real.set(self.real.get() + passed);
        self.shown.advance(passed + work);
        self.shown.now()
    }

    /// Waits, which takes no real time; what it shows then.
    pub fn wait_until(&self, moment: Duration) -> Duration {
        let idle = moment.saturating_sub(self.spend(Duration::ZERO));
        self.shown.advance(idle);
        self.shown.now()
    }

    /// The real time that is on it: what executors took.
    pub fn real(&self) -> Duration {
        self.real.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::spin::burn;

    #[test]
    fn work_and_waiting_are_only_on_the_clock_and_real_time_is_counted_as_far_as_it_may_be_an_executors() {
        let clock = Clock::start(ManualClock::new());
        let hour = Duration::from_secs(3_600);
        assert!(clock.spend(hour) >= hour);
        assert_eq!(clock.wait_until(3 * hour), 3 * hour);
        let before = clock.real();
        burn(Duration::from_micros(5));
        let end = clock.wait_until(hour);
        let counted = clock.real() - before;
        assert!(counted >= Duration::from_micros(5) && end == 3 * hour + counted, "{counted:?}");
        burn(2 * LONGEST);
        assert_eq!(clock.spend(Duration::ZERO), end + LONGEST);
    }
}
