//! Time: the only place in this crate that reads a clock or sleeps.

#![allow(
    clippy::disallowed_methods,
    reason = "a program that measures reads the clock and paces its load by it"
)]

use std::hint;
use std::thread;
use std::time::{Duration, Instant};

/// How long before its time a waiting thread stops sleeping and spins, to be on time to the microsecond.
///
/// Linux wakes a sleeper about 60 µs late (50 µs of timer slack and a context switch); this leaves it twice that.
const SPIN_FOR_LAST: Duration = Duration::from_micros(150);

/// The time on the monotonic clock, which is one clock for all threads.
pub fn now() -> Instant {
    Instant::now()
}

#[derive(Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    pub fn start() -> Self {
        Stopwatch(now())
    }

    pub fn elapsed(&self) -> Duration {
        now() - self.0
    }

    pub fn nanos(&self) -> f64 {
        self.elapsed().as_nanos() as f64
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Sleeps until shortly before, then spins: exact, and right only for a thread with a core to itself.
    SleepThenSpin,
    /// Sleeps only: some tens of microseconds late, and leaves the core to others.
    Sleep,
}

/// Blocks this thread until `moment`; returns at once if it has passed.
pub fn wait_until(moment: Instant, how: Wait) {
    let spin_for = if how == Wait::SleepThenSpin { SPIN_FOR_LAST } else { Duration::ZERO };
    let left = moment.saturating_duration_since(now());
    if left > spin_for {
        thread::sleep(left - spin_for);
    }
    while now() < moment {
        hint::spin_loop();
    }
}
