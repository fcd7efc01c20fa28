//! The end of an executor, against wakes, aborts and spawns from other threads.

use super::wakes::waiting_task;
use super::{executor, explore};
use crate::JoinError;
use crate::sync::thread;

fn must_be_cancelled(outcome: Result<(), JoinError>) {
    assert!(outcome.expect_err("it never ends").is_cancelled());
}

/// The executor goes while another thread wakes one of its tasks, and then drops the last waker.
#[test]
fn a_wake_in_flight_outlives_the_executor() {
    explore("drops/wake", || {
        let ex = executor();
        let (task, waker) = waiting_task(&ex, || false);
        let thread = thread::spawn(move || waker.wake());
        drop(ex);
        must_be_cancelled(super::block_on(task));
        drop(thread);
    });
}

/// The same with two threads and no join handle: the last of the three frees the task, once.
#[test]
fn of_two_wakes_in_flight_one_frees_the_task() {
    explore("drops/two_wakes", || {
        let ex = executor();
        let (task, waker) = waiting_task(&ex, || false);
        drop(task);
        let threads = [waker.clone(), waker].map(|waker| thread::spawn(move || waker.wake()));
        drop(ex);
        drop(threads);
    });
}

/// The executor goes while another thread aborts one of its tasks and drops its handles.
#[test]
fn an_abort_in_flight_outlives_the_executor() {
    explore("drops/abort", || {
        let ex = executor();
        let (task, waker) = waiting_task(&ex, || false);
        drop(waker);
        let thread = thread::spawn(move || {
            task.abort();
            drop(task);
        });
        drop(ex);
        drop(thread);
    });
}

/// The executor runs once and goes while another thread spawns. The handle always gives an answer.
#[test]
fn a_spawn_that_meets_the_end_is_answered() {
    explore("drops/spawn", || {
        let ex = executor();
        let handle = ex.handle();
        let thread = thread::spawn(move || match super::block_on(handle.spawn(|| async { 7 })) {
            Ok(seven) => assert_eq!(seven, 7),
            Err(error) => assert!(error.is_cancelled()),
        });
        super::first_polls(&ex);
        drop(ex);
        drop(thread);
    });
}

/// The executor goes while another thread spawns a task, aborts it and drops its handle.
#[test]
fn an_abort_of_a_spawn_that_meets_the_end_frees_the_task_once() {
    explore("drops/spawn_abort", || {
        let ex = executor();
        let handle = ex.handle();
        let thread = thread::spawn(move || {
            let yields = YieldsWhenDropped;
            let task = handle.spawn(|| async move { drop(yields) });
            // So that this thread comes once more after the owner has taken the task in, with one forced switch.
            thread::yield_now();
            task.abort();
            drop(task);
        });
        drop(ex);
        drop(thread);
    });
}

/// Lets another thread run while its task is cancelled.
struct YieldsWhenDropped;

impl Drop for YieldsWhenDropped {
    fn drop(&mut self) {
        thread::yield_now();
    }
}

/// The executor is shut down while another thread spawns, and then dropped.
#[test]
fn a_spawn_that_meets_a_shutdown_is_answered() {
    explore("drops/shutdown", || {
        let ex = executor();
        let handle = ex.handle();
        let thread = thread::spawn(move || match super::block_on(handle.spawn(|| async { 7 })) {
            Ok(seven) => assert_eq!(seven, 7),
            Err(error) => assert!(error.is_cancelled()),
        });
        let report = ex.block_on_shutdown(std::future::pending::<()>());
        assert!(report.drained);
        drop(ex);
        drop(thread);
    });
}
