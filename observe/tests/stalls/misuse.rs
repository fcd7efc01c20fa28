//! What is refused, and what is strange and goes well.

use std::panic::resume_unwind;
use std::rc::Rc;

use clockworker::yield_now;
use clockworker_observe::stalls::{StallError, StallGuard, StallStats, THRESHOLDS};
use static_assertions::{assert_impl_all, assert_not_impl_any};

use super::*;

assert_impl_all!(StallGuard: Send, Sync);
assert_impl_all!(StallDetector: Send, Sync, Clone, std::fmt::Debug);
assert_impl_all!(StallError: std::error::Error, Send, Sync);
// So nobody can watch from another thread.
assert_not_impl_any!(&Executor: Send);

#[test]
fn thresholds_out_of_range_are_errors_that_say_what_is_allowed() {
    let ex = Executor::new();
    let out_of_range = [Duration::ZERO, MS - Duration::from_nanos(1), *THRESHOLDS.end() + MS, Duration::MAX];
    for threshold in out_of_range {
        let error = StallDetector::new(threshold).watch(&ex).unwrap_err();
        assert!(error.is_threshold(), "{error}");
        let text = error.to_string();
        assert!(text.contains(&format!("{threshold:?}")) && text.contains("from 1ms to 86400s"), "{text}");
    }
    for threshold in [*THRESHOLDS.start(), *THRESHOLDS.end()] {
        drop(StallDetector::new(threshold).watch(&ex).unwrap());
    }
}

#[test]
fn a_rate_limit_of_nothing_is_an_error() {
    let ex = Executor::new();
    for (most, period) in [(0, HOURS), (1, Duration::ZERO)] {
        let error = StallDetector::new(MS).rate_limit(most, period).watch(&ex).unwrap_err();
        assert!(error.is_rate_limit() && error.to_string().contains(&format!("{most} stalls in {period:?}")));
    }
}

/// The poll in which it is called is not watched yet: what it shows began before.
#[test]
fn an_executor_may_be_watched_inside_its_own_poll() {
    let ex = Rc::new(Executor::new());
    let inside = Rc::clone(&ex);
    let task = ex.spawn(async move {
        let (guard, reports) = watch(&inside, MS);
        yield_now().await;
        (guard, Id::current(), guilty(PollKind::Task, &reports))
    });
    let (guard, id, stall) = ex.block_on(task).unwrap();
    assert_eq!((stall.holder.task, stall.holder.queue.as_deref()), (id, Some("default")));
    assert!(guard.stats().reported >= 1);
}

#[test]
fn after_a_shutdown_the_main_future_is_watched() {
    let ex = Executor::new();
    ex.block_on_shutdown(std::future::ready(()));
    let (_guard, reports) = watch(&ex, MS);
    guilty_main(&ex, &reports);
}

#[test]
fn a_main_future_that_panics_is_over() {
    let (ex, guard, _) = watched(HOURS);
    let panics = || ex.block_on(async { resume_unwind(Box::new("over")) });
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics)).unwrap_err();
    // The beacon is dark, so the next poll is one of its own.
    let (_other, reports) = watch(&ex, MS);
    guilty_main(&ex, &reports);
    assert_eq!(guard.stats(), StallStats::default());
}

#[test]
fn a_hook_that_panics_is_called_again() {
    let (ex, (sender, reports)) = (Executor::new(), channel());
    let panics = detector(MS, &sender).on_stall(|_| resume_unwind(Box::new("a hook panics")));
    let guard = panics.watch(&ex).unwrap();
    ex.block_on(async {
        guilty(PollKind::Main, &reports);
        yield_now().await;
        guilty(PollKind::Main, &reports);
    });
    drop(reports);
    let stats = guard.stats();
    assert!(stats.hook_panics >= 1 && stats.reported >= 2, "{stats:?}");
}

/// A hook is a thread like any other: it may watch an executor of its own.
#[test]
fn a_hook_may_watch() {
    let ex = Executor::new();
    let watches =
        StallDetector::new(MS).on_stall(|_| drop(StallDetector::new(HOURS).watch(&Executor::new()).unwrap()));
    let _guard = watches.watch(&ex).unwrap();
    let (_then, reports) = watch(&ex, MS);
    guilty_main(&ex, &reports);
}
