//! [`StallGuard`]: watches an executor until it is dropped.

use std::fmt;
use std::sync::Arc;

use super::StallStats;
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
    watch: Arc<Watch>,
}

impl StallGuard {
    pub(super) fn new(watch: Arc<Watch>) -> Self {
        Self { watch }
    }

    /// How many stalls there were so far, and what became of them.
    pub fn stats(&self) -> StallStats {
        self.watch.stats()
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
