//! [`Clock`]: time that work moves on without being done.

use std::cell::Cell;
use std::time::{Duration, Instant};

use clockworker::ManualClock;

use super::spin::cpu_time;
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
    /// The thread's CPU time at the start.
    started: Duration,
}

/// Executors do not take so long between two polls. It may be that another program had the core.
const SUSPICIOUS: Duration = Duration::from_micros(20);

impl Clock {
    pub fn start(shown: ManualClock) -> Self {
        Clock { shown, counted: Cell::new(now()), real: Cell::default(), started: cpu_time() }
    }

    /// Counts the real time that has passed, and then this work. One reading of the system's clock is in that real time.
    pub fn spend(&self, work: Duration) -> Duration {
        let moment = now();
        let mut passed = moment - self.counted.replace(moment);
        if passed > SUSPICIOUS {
            let had = cpu_time().saturating_sub(self.started).saturating_sub(self.real.get());
            passed = passed.min(had);
            self.counted.set(now());
        }
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
    use crate::stopwatch::{Wait, wait_until};
    use crate::workload::spin::burn;

    #[test]
    fn work_and_waiting_are_only_on_the_clock_and_real_time_is_counted() {
        let clock = Clock::start(ManualClock::new());
        let real = now();
        let hour = Duration::from_secs(3_600);
        assert!(clock.spend(hour) >= hour);
        assert_eq!(clock.wait_until(3 * hour), 3 * hour);
        burn(Duration::from_millis(2));
        let end = clock.wait_until(hour) - 3 * hour;
        assert!(end >= Duration::from_millis(2) && end <= clock.real() && end <= now() - real, "{end:?}");
        wait_until(now() + Duration::from_millis(30), Wait::Sleep);
        let without_the_core = clock.wait_until(hour) - 3 * hour - end;
        assert!(without_the_core < Duration::from_millis(15), "{without_the_core:?}");
    }
}
