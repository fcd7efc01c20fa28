//! [`TokioClock`]: tokio's time as an executor's, and tokio's timers as its alarm.

use std::error::Error;
use std::fmt;
use std::panic::catch_unwind;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Waker};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::task::unconstrained;
use tokio::time::{Instant, sleep_until};

use super::Timer;
use super::clock::{instant, move_on, nanos};

/// What a poll takes on a [`TokioClock`] that stands still, unless told otherwise: 10 µs.
pub const DEFAULT_POLL_CHARGE: Duration = Duration::from_micros(10);

/// The clock of a tokio runtime, which its tests may pause: with it tokio's timers, an executor's caps and its tasks' deadlines are on
/// one time.
///
/// Where tokio's time runs, the executor's is tokio's. **While it is paused** (`start_paused`, turmoil), polls would take no time, and shares
/// and caps would have no effect. So each poll of a task takes [`poll_charge`](TokioClock::poll_charge) then, and each question of
/// [`yield_if_due`](crate::yield_if_due) inside one. The executor's time is ahead of tokio's by that, until tokio's has come as far:
/// tokio's `Instant` shows when the last period of a cap began, and not what polls in it took. tokio
/// moves its paused time when it has nothing to do; an executor that always has work keeps it from that, as any task of tokio's.
///
/// An executor that waits for a cap waits on a timer of the runtime, which must be driven meanwhile; where that has been shut down, tokio
/// panics. A reading costs more than one of the default clock. With the feature `tokio`.
///
/// # Example
///
/// ```
/// use clockworker::{Cap, Executor, TokioClock, yield_now};
/// use std::time::Duration;
/// use tokio::time::Instant;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // In a test: #[tokio::test(start_paused = true)]
/// # let mut builder = tokio::runtime::Builder::new_current_thread();
/// # let rt = builder.enable_time().start_paused(true).build()?;
/// # rt.block_on(async {
/// let (began, ms) = (Instant::now(), Duration::from_millis);
/// let clock = TokioClock::new()?.poll_charge(ms(1));
/// let ex = Executor::builder().clock(clock).build()?;
/// let queue = ex.new_queue("capped").cap(Cap::new(ms(20), ms(100))?).create()?;
/// let task = queue.spawn(async {
///     for _ in 0..50 {
///         yield_now().await;
///     }
/// });
/// ex.run_until(task).await?;
/// assert_eq!(began.elapsed(), ms(200)); // its 51 polls need three periods
/// # Ok(())
/// # })
/// # }
/// ```
#[derive(Debug)]
pub struct TokioClock {
    runtime: Handle,
    start: Instant,
    poll_ns: u64,
    /// The executor's time: at least tokio's, and what was charged. Orderings are Relaxed: nothing is published with a time.
    now: AtomicU64,
}

impl TokioClock {
    /// The clock of the runtime that the calling code is in.
    ///
    /// # Errors
    ///
    /// Outside a runtime of tokio's; or in one whose builder was not told to `enable_time`. tokio says that by a panic alone, of which the
    /// program's panic hook hears, and which ends a program built with `panic = "abort"`.
    pub fn new() -> Result<Self, NoTimersError> {
        let (runtime, start) = (Handle::try_current().map_err(|_| NoTimersError)?, Instant::now());
        catch_unwind(|| drop(sleep_until(start))).map_err(|_| NoTimersError)?;
        Ok(Self { runtime, start, poll_ns: nanos(DEFAULT_POLL_CHARGE), now: AtomicU64::new(0) })
    }

    /// What a poll takes where time stands still: 2 µs at least, so that each has a reading of the clock. [`DEFAULT_POLL_CHARGE`] unless
    /// told otherwise.
    pub fn poll_charge(mut self, charge: Duration) -> Self {
        // Where polls take no less, none goes by without a reading.
        self.poll_ns = nanos(charge).max(2_000);
        self
    }

    /// Nanoseconds since it was made, after a poll of a task or not.
    #[cold] // other clocks are read in the hot loop
    #[inline(never)]
    pub(super) fn now(&self, after_poll: bool) -> u64 {
        let passed = self.passed();
        if after_poll && self.stands_still(passed) {
            move_on(&self.now, self.poll_ns);
        }
        self.now.fetch_max(passed, Ordering::Relaxed).max(passed)
    }

    /// Whether tokio's time is still the same after the next tick of the system's clock, which may be coarse.
    fn stands_still(&self, passed: u64) -> bool {
        let tick = instant();
        while instant() == tick {
            std::hint::spin_loop();
        }
        self.passed() == passed
    }

    /// Of tokio's time. 0 while the thread ends, when tokio can give none.
    fn passed(&self) -> u64 {
        if Handle::try_current().is_err_and(|error| error.is_thread_local_destroyed()) {
            return 0;
        }
        // For callers outside the runtime, to whom its time may be far from theirs.
        let _entered = self.runtime.enter();
        nanos(self.start.elapsed())
    }

    /// tokio's time when the executor's will be so many nanoseconds. None if it will never be.
    pub(super) fn instant_at(&self, ns: u64) -> Option<Instant> {
        self.start.checked_add(Duration::from_nanos(ns))
    }

    /// A timer that wakes `waker` when tokio's time is so many nanoseconds, unless it is dropped. None if that is now or never.
    pub(crate) fn timer(&self, ns: u64, waker: &Waker) -> Option<Timer> {
        let due = self.instant_at(ns)?;
        let _entered = self.runtime.enter();
        // The turn's cooperative budget may be spent.
        let mut timer: Timer = Box::pin(unconstrained(sleep_until(due)));
        timer.as_mut().poll(&mut Context::from_waker(waker)).is_pending().then_some(timer)
    }
}

/// There is no [`TokioClock`] outside a tokio runtime, nor in one without timers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NoTimersError;

impl fmt::Display for NoTimersError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no timers of tokio's here: make a `TokioClock` in a runtime, and call `enable_time` on its builder")
    }
}

impl Error for NoTimersError {}
