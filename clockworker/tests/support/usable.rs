//! Executors that go on as ever.

use clockworker::{Executor, spawn_local, yield_now};

use super::{assert_balanced, output, settle};

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
