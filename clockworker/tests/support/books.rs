//! The counters of an executor, which must add up.

use clockworker::ExecutorStats;

/// The books balance, and say: completed, cancelled, panicked.
#[track_caller]
pub(crate) fn assert_finished(stats: &ExecutorStats, completed: u64, cancelled: u64, panicked: u64) {
    assert_eq!((stats.completed, stats.cancelled, stats.panicked), (completed, cancelled, panicked));
    assert_balanced(stats);
}

/// Every task spawned has finished in one way or is live.
#[track_caller]
pub(crate) fn assert_balanced(stats: &ExecutorStats) {
    let ExecutorStats { spawned, completed, cancelled, panicked, live, .. } = *stats;
    assert_eq!(spawned, completed + cancelled + panicked + live as u64, "{stats:?}");
}
