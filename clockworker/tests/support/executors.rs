//! Executors whose counters add up, and that go on.

use clockworker::{Executor, ExecutorStats, spawn_local, yield_now};

use super::{output, settle};

/// The counters add up, and so many tasks have completed, were cancelled and panicked.
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

/// The executor takes and runs tasks as ever.
#[track_caller]
pub(crate) fn assert_usable(ex: &Executor) {
    let task = ex.spawn(async {
        yield_now().await;
        spawn_local(async { 42 }).await.unwrap()
    });
    settle(ex);
    assert_eq!(output(task).unwrap(), 42);
    assert_eq!(ex.stats().queues[0].policy_fault, None);
    assert_balanced(&ex.stats());
    assert_eq!(ex.block_on(async { 43 }), 43);
}
