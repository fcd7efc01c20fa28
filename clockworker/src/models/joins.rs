//! Join and abort handles on other threads, against completion.

use super::wakes::{is_left, mark, mark_and_wake, waiting_task};
use super::{executor, explore, first_polls};
use crate::sync::{Arc, thread};

/// A handle is awaited on another thread while the task completes: it gets the output, whole, by poll or by wake.
#[test]
fn the_output_reaches_a_handle_on_another_thread() {
    explore("joins/value", || {
        let ex = executor();
        let task = ex.spawn(async { Box::new(7) });
        let thread = thread::spawn(move || assert_eq!(*super::block_on(task).expect("not cancelled"), 7));
        first_polls(&ex);
        drop(ex);
        drop(thread);
    });
}

/// A handle that has a waker registered registers another one, and is dropped, while the task completes.
#[test]
fn a_waiting_handle_is_dropped_while_the_task_completes() {
    explore("joins/drop_waiting", || {
        let ex = executor();
        let mut task = ex.spawn(async { Box::new(7) });
        let thread = thread::spawn(move || {
            let _ = super::poll_once(&mut task);
            drop(task);
        });
        first_polls(&ex);
        drop(ex);
        drop(thread);
    });
}

/// A handle is polled twice with different wakers while the task completes.
#[test]
fn a_handle_changes_its_waker_while_the_task_completes() {
    explore("joins/change_waker", || {
        let ex = executor();
        let mut task = ex.spawn(async { Box::new(7) });
        let thread = thread::spawn(move || {
            if super::poll_once(&mut task).is_pending() {
                assert_eq!(*super::block_on(task).expect("not cancelled"), 7);
            }
        });
        first_polls(&ex);
        drop(ex);
        drop(thread);
    });
}

/// A handle is dropped on another thread without having been polled, while the task completes.
#[test]
fn a_handle_is_dropped_while_the_task_completes() {
    explore("joins/drop", || {
        let ex = executor();
        let task = ex.spawn(async { Box::new(7) });
        let thread = thread::spawn(move || drop(task));
        first_polls(&ex);
        drop(ex);
        drop(thread);
    });
}

/// Another thread aborts and a third awaits, while the task completes. Either way the handle gives an answer.
#[test]
fn an_abort_meets_completion() {
    explore("joins/abort", || {
        let ex = executor();
        let task = ex.spawn(async { Box::new(7) });
        let abort = task.abort_handle();
        let aborter = thread::spawn(move || abort.abort());
        let joiner = thread::spawn(move || match super::block_on(task) {
            Ok(seven) => assert_eq!(*seven, 7),
            Err(error) => assert!(error.is_cancelled()),
        });
        first_polls(&ex);
        first_polls(&ex);
        drop(ex);
        drop((aborter, joiner));
    });
}

/// An abort meets a wake of the same task: the task ends, by whichever comes first.
#[test]
fn an_abort_meets_a_wake() {
    explore("joins/abort_and_wake", || {
        let ex = executor();
        let mark = mark();
        let seen = Arc::clone(&mark);
        let (task, waker) = waiting_task(&ex, move || is_left(&seen));
        let abort = task.abort_handle();
        let waking = thread::spawn(move || mark_and_wake(&mark, waker));
        let aborting = thread::spawn(move || abort.abort());
        let outcome = ex.block_on(task);
        assert!(outcome.map_or_else(|error| error.is_cancelled(), |()| true));
        drop((waking, aborting));
    });
}
