//! [`StallDetector`]: what to watch for, and what to do about it.

use std::fmt;
use std::fs;
use std::io::{Write, stderr};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::error::Kind;
use super::guard::StallGuard;
use super::limit::RateLimit;
use super::lookout;
use super::watch::Watch;
use super::{Stall, StallError};
use clockworker::Executor;

use crate::hub::Hub;
use crate::sync;

/// The thresholds that a [`StallDetector`] takes.
pub const THRESHOLDS: RangeInclusive<Duration> = Duration::from_millis(1)..=Duration::from_secs(24 * 60 * 60);

/// Reports polls that take longer than a threshold, while they run. See the [module docs](super).
///
/// It reports to nobody unless told to: [`StallGuard::stats`] counts what there was. One detector may
/// [`watch`](StallDetector::watch) several executors.
///
/// # Example
///
/// ```
/// use clockworker::Executor;
/// use clockworker_observe::stalls::StallDetector;
/// use std::sync::mpsc::channel;
/// use std::time::Duration;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (tell, told) = channel();
/// let ex = Executor::new();
/// let detector = StallDetector::new(Duration::from_millis(5))
///     .rate_limit(5, Duration::from_secs(60))
///     .on_stall(move |stall| drop(tell.send(stall.to_string())));
/// let _guard = detector.watch(&ex)?;
/// let stalls = async move { told.recv() }; // does what a task must not: it waits in its poll, here for its own report
/// let report = ex.block_on(ex.spawn(stalls))??;
/// assert!(report.starts_with("a poll has taken "), "{report}");
/// assert!(report.contains("queue 'default'"), "{report}");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use = "a detector does nothing until it watches an executor"]
pub struct StallDetector {
    threshold: Duration,
    limit: RateLimit,
    hooks: Vec<Hook>,
}

/// What is told of a stall.
pub(super) type Hook = Arc<dyn Fn(&Stall) + Send + Sync>;

impl StallDetector {
    /// Looks for polls that take longer than `threshold`, from a millisecond to a day ([`THRESHOLDS`]).
    ///
    /// Reports five in any 60 s at most.
    pub fn new(threshold: Duration) -> Self {
        let limit = RateLimit::new(5, Duration::from_secs(60));
        Self { threshold, limit, hooks: Vec::new() }
    }

    /// Reports at most so many stalls of an executor within any such period. The others are counted, and the next report says how
    /// many they were. Both must be greater than 0.
    pub fn rate_limit(mut self, most: usize, period: Duration) -> Self {
        self.limit = RateLimit::new(most, period);
        self
    }

    /// Writes each reported stall to standard error, too.
    pub fn to_stderr(self) -> Self {
        self.on_stall(|stall| {
            // In one piece, as others write there too. There is nobody to tell that it failed.
            let _ = stderr().write_all(format!("clockworker: {stall}").as_bytes());
        })
    }

    /// Calls `hook` for each reported stall, too.
    ///
    /// It is called on the lookout's thread, which looks at no executor meanwhile, and it must not wait for the thread that is
    /// stalled. A panic of it is contained and [counted](super::StallStats::hook_panics); it is called again for the next stall. It
    /// may watch other executors, and drop guards, its own included.
    pub fn on_stall(mut self, hook: impl Fn(&Stall) + Send + Sync + 'static) -> Self {
        self.hooks.push(Arc::new(hook));
        self
    }

    /// Watches the executor's polls, from the next one on, until the guard is dropped or the executor is.
    ///
    /// May be called inside a poll, and after a shutdown (the futures given to `run_until` are still watched). An executor may
    /// be watched several times, by other thresholds: each guard counts and reports by itself. Called on the executor's thread, as
    /// `&Executor` can be nowhere else.
    ///
    /// # Errors
    ///
    /// If the threshold or the rate limit is out of range; or the operating system starts no thread. Nothing is watched then.
    pub fn watch(&self, executor: &Executor) -> Result<StallGuard, StallError> {
        if !THRESHOLDS.contains(&self.threshold) {
            return Err(StallError(Kind::Threshold(self.threshold)));
        }
        let RateLimit { most, period, .. } = self.limit;
        if most == 0 || period.is_zero() {
            return Err(StallError(Kind::RateLimit { most, period }));
        }
        let mut hub = Hub::of(executor);
        let shown = Arc::clone(hub.shown.get_or_insert_default());
        let beacon = sync::Arc::clone(&shown.beacon);
        let name = thread::current().name().map(Arc::from);
        let watch =
            Watch::new((beacon, name, thread_id()), (self.threshold, self.limit.clone()), self.hooks.clone());
        let watch = Arc::new(watch);
        lookout::get().add(&watch)?;
        hub.set(executor);
        Ok(StallGuard { watch })
    }
}

impl fmt::Debug for StallDetector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StallDetector")
            .field("threshold", &self.threshold)
            .field("rate_limit", &(self.limit.most, self.limit.period))
            .field("hooks", &self.hooks.len())
            .finish()
    }
}

/// The kernel's number of the calling thread, where it has a file that tells.
fn thread_id() -> Option<u32> {
    fs::read_link("/proc/thread-self").ok()?.file_name()?.to_str()?.parse().ok()
}
