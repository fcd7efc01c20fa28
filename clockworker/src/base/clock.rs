//! Time: the only module that reads a clock.
//!
//! Times are nanoseconds of wall time since the executor was made, as `u64` (584 years). `Meter::read` clamps a reading that
//! went backwards, so no clock can make service negative.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// A clock that stands still until it is told to advance: for exact tests of scheduling.
///
/// Clones share one time. Work is simulated by advancing the clock inside a task's poll; the executor then charges
/// exactly that much.
///
/// # Example
///
/// ```
/// use clockworker::{Executor, ManualClock};
/// use std::time::Duration;
///
/// let clock = ManualClock::new();
/// let ex = Executor::builder().clock(clock.clone()).build().unwrap();
/// ex.block_on(async {
///     clockworker::spawn_local(async move { clock.advance(Duration::from_micros(70)) }).await
/// })
/// .unwrap();
/// assert_eq!(ex.stats().busy, Duration::from_micros(70));
/// ```
#[derive(Clone, Default)]
pub struct ManualClock(Arc<Times>);

/// Nanoseconds.
#[derive(Default)]
struct Times {
    /// What executors read. Never goes back: else no queue would be charged until it had caught up, and the running queue
    /// would keep the others waiting.
    passed: AtomicU64,
    /// By how much the shown time is behind `passed`, because it was set back.
    behind: AtomicU64,
}

impl ManualClock {
    /// A clock at zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// Moves the clock on. Saturates after 584 years.
    pub fn advance(&self, by: Duration) {
        move_on(&self.0.passed, nanos(by));
    }

    /// Sets the clock, also backwards. To an executor no time passes when the clock goes back; what is
    /// [advanced](ManualClock::advance) afterwards passes as ever.
    pub fn set(&self, now: Duration) {
        let now = nanos(now);
        move_on(&self.0.passed, now.saturating_sub(self.shown()));
        // Ordering: Relaxed, the time is all there is; nothing is published with it.
        self.0.behind.store(self.0.passed.load(Ordering::Relaxed).wrapping_sub(now), Ordering::Relaxed);
    }

    /// The time that the clock shows.
    pub fn now(&self) -> Duration {
        Duration::from_nanos(self.shown())
    }

    fn shown(&self) -> u64 {
        // Ordering: Relaxed, as in `set`.
        let (passed, behind) = (self.0.passed.load(Ordering::Relaxed), self.0.behind.load(Ordering::Relaxed));
        passed.wrapping_sub(behind)
    }
}

pub(super) fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

pub(super) fn move_on(time: &AtomicU64, by: u64) {
    // Ordering: Relaxed, as in `ManualClock::set`.
    let _ = time.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |now| Some(now.saturating_add(by)));
}

impl fmt::Debug for ManualClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ManualClock").field(&self.now()).finish()
    }
}

/// The operating system's monotonic time, for what waits for a time on another thread.
#[allow(clippy::disallowed_methods, reason = "this is the clock module")]
pub(crate) fn instant() -> Instant {
    Instant::now()
}

/// The clock of an executor. Clones show the same time.
#[derive(Clone, Debug)]
pub(crate) enum Clock {
    /// The CPU's time stamp counter: one instruction and a multiplication, some 8 ns on the machine this was written on.
    Tsc {
        clock: quanta::Clock,
        start: u64,
    },
    /// The operating system's monotonic clock, where the counter cannot be trusted: some 22 ns there.
    Os {
        start: Instant,
    },
    Manual(ManualClock),
    #[cfg(feature = "tokio")]
    Tokio(Arc<super::TokioClock>),
}

impl Clock {
    /// The cheapest clock that can be trusted here.
    pub(crate) fn system() -> Self {
        // Made once in a process. To make one takes 30 µs where a host answers CPUID for a virtual processor, and the first half a
        // millisecond more, to find out how fast the counter is.
        static COUNTER: OnceLock<Option<quanta::Clock>> = OnceLock::new();
        match COUNTER.get_or_init(|| tsc_is_trusted().then(quanta::Clock::new)).clone() {
            Some(clock) => Clock::Tsc { start: clock.raw(), clock },
            None => Clock::os(),
        }
    }

    fn os() -> Self {
        Clock::Os { start: instant() }
    }

    /// Whether time passes by itself.
    pub(crate) fn runs(&self) -> bool {
        !matches!(self, Clock::Manual(_))
    }

    /// Nanoseconds since the executor was made.
    #[inline]
    pub(crate) fn now(&self) -> u64 {
        self.read(false)
    }

    /// The same, after a poll of a task or not. Where time stands still, polls are all that takes any.
    #[inline]
    #[cfg_attr(not(feature = "tokio"), allow(unused_variables, reason = "for tokio's clock"))]
    pub(crate) fn read(&self, after_poll: bool) -> u64 {
        match self {
            Clock::Tsc { clock, start } => clock.delta_as_nanos(*start, clock.raw()),
            Clock::Os { start } => u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX),
            Clock::Manual(clock) => clock.0.passed.load(Ordering::Relaxed),
            #[cfg(feature = "tokio")]
            Clock::Tokio(clock) => clock.now(after_poll),
        }
    }

    /// The instant at which it shows so many nanoseconds. None if no clock comes to it.
    pub(crate) fn instant_at(&self, ns: u64) -> Option<Instant> {
        #[cfg(feature = "tokio")]
        if let Clock::Tokio(clock) = self {
            return clock.instant_at(ns).map(tokio::time::Instant::into_std);
        }
        instant().checked_add(Duration::from_nanos(ns.saturating_sub(self.now())))
    }
}

/// Whether the time stamp counter is invariant *and* the kernel itself relies on it. An available counter is not enough:
/// where the kernel has marked it unstable, cores may disagree.
fn tsc_is_trusted() -> bool {
    let source = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    cfg!(all(target_os = "linux", target_arch = "x86_64"))
        && std::fs::read_to_string(source).is_ok_and(|name| name.trim() == "tsc")
}
