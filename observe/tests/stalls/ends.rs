//! How a watch ends, and what it outlives.

use std::sync::{Arc, Mutex};
use std::thread;

use clockworker::yield_now;
use clockworker_observe::stalls::StallStats;

use super::*;
use crate::support::*;

#[test]
fn nothing_is_reported_after_the_guard_was_dropped() {
    let (ex, guard, reports) = watched(MS);
    guilty_main(&ex, &reports);
    drop(guard);
    reports.try_iter().for_each(drop);
    let (_other, reports_other) = watch(&ex, MS);
    guilty_main(&ex, &reports_other);
    assert!(reports.try_recv().is_err());
}

/// The guard is another thread's, and is dropped while the poll runs. The next watch finds the next poll as ever.
#[test]
fn a_guard_may_be_dropped_on_another_thread_inside_a_poll() {
    let (ex, guard, reports) = watched(MS);
    ex.block_on(async {
        guilty(PollKind::Main, &reports);
        elsewhere(move || drop(guard));
        yield_now().await;
    });
    let (_guard, reports) = watch(&ex, MS);
    guilty_main(&ex, &reports);
}

#[test]
fn a_hook_may_drop_its_own_guard() {
    let (sender, reports) = channel();
    let kept: Arc<Mutex<Option<StallGuard>>> = Arc::default();
    let drops = Arc::clone(&kept);
    let ex = Executor::new();
    let detector = detector(MS, &sender).on_stall(move |_| drop(drops.lock().unwrap().take()));
    // The lock keeps the hook from looking before there is a guard.
    let mut place = kept.lock().unwrap();
    *place = Some(detector.watch(&ex).unwrap());
    drop(place);
    guilty_main(&ex, &reports);
    // The hook that dropped it comes after the one that reports.
    while kept.lock().unwrap().is_some() {
        thread::yield_now();
    }
    assert_eq!(Arc::strong_count(&kept), 2, "the detector has the other");
    let _again = detector.watch(&ex).unwrap();
    guilty_main(&ex, &reports);
}

#[test]
fn a_guard_outlives_its_executor() {
    let (ex, guard, reports) = watched(MS);
    let (other, _) = watch(&ex, HOURS);
    guilty_main(&ex, &reports);
    drop(ex);
    assert!(guard.stats().reported >= 1);
    assert_eq!(other.stats(), StallStats::default());
    drop((other, guard));
}

/// What a hook holds goes when the last watch and detector does.
#[test]
fn hooks_are_dropped_with_the_last_guard() {
    let (ex, held) = (Executor::new(), Arc::new(()));
    let holds = Arc::clone(&held);
    let detector = StallDetector::new(HOURS).on_stall(move |_| _ = Arc::strong_count(&holds));
    let guard = detector.watch(&ex).unwrap();
    drop(detector);
    assert_eq!(Arc::strong_count(&held), 2);
    drop(guard);
    // The lookout may be about to give its copy back.
    while Arc::strong_count(&held) > 1 {
        thread::yield_now();
    }
}
