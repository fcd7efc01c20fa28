//! [`StallGuard`]: watches an executor until it is dropped; [`StallStats`]: how many stalls there were.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::lookout;
use super::watch::Watch;

/// Watches an executor until it is dropped. From [`StallDetector::watch`](super::StallDetector::watch).
///
/// **Dropping it**, on any thread, ends the watch: when it returns, no hook of it runs any more and none is called again. So it
/// waits for a hook under way, and must not be dropped while holding what a hook waits for. Dropped inside a hook it does
/// not wait. The last guard of the process ends the lookout's thread.
///
/// It may outlive the executor: then nothing is watched, and [`stats`](StallGuard::stats) stays as it was.
#[must_use = "dropping the guard at once ends the watch"]
pub struct StallGuard {
    pub(super) watch: Arc<Watch>,
}

impl StallGuard {
    /// How many stalls there were so far, and what became of them.
    pub fn stats(&self) -> StallStats {
        *self.watch.stats()
    }
}

impl Drop for StallGuard {
    fn drop(&mut self) {
        self.watch.end();
        lookout::get().remove(&self.watch);
    }
}

impl fmt::Debug for StallGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StallGuard").field("stats", &self.stats()).finish_non_exhaustive()
    }
}

/// How many stalls a [guard](super::StallGuard) has seen. From [`StallGuard::stats`](super::StallGuard::stats).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StallStats {
    /// Polls that were found running for longer than the threshold.
    pub seen: u64,
    /// How long the longest of them has run, at least: up to the last look at it.
    pub longest: Duration,
    /// Those that were reported. All of `seen` are here or in `suppressed`, unless the detector reports to nobody.
    pub reported: u64,
    /// Those that were not, because of the [rate limit](super::StallDetector::rate_limit).
    pub suppressed: u64,
    /// Calls of [`on_stall`](super::StallDetector::on_stall)'s function that panicked.
    pub hook_panics: u64,
}

impl StallStats {
    /// One of those seen has run for so long.
    pub(super) fn lasts(&mut self, so_far: Duration) {
        self.longest = self.longest.max(so_far);
    }
}
