//! Join and abort handles on other threads, against completion.

use std::sync::atomic::Ordering;
use std::task::{Context, Waker};

use super::wakes::{is_left, mark, mark_and_wake, waiting_task};
use super::{executor, explore, first_polls};
use crate::JoinSet;
use crate::sync::{Arc, AtomicUsize, thread};

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

/// What was written before an abort is seen by the drop of the future, also if a wake of another thread delivers the abort.
#[test]
fn an_abort_happens_before_the_drop_that_it_causes() {
    explore("joins/abort_before_drop", || {
        let ex = executor();
        let mark = mark();
        let seen = SeenInDrop(Arc::clone(&mark));
        let (task, waker) =
            waiting_task(&ex, move || std::convert::identity(&seen).0.load(Ordering::Relaxed) > 1);
        let abort = task.abort_handle();
        let waking = thread::spawn(move || waker.wake());
        let aborting = thread::spawn(move || {
            mark.store(1, Ordering::Relaxed);
            abort.abort();
        });
        assert!(ex.block_on(task).expect_err("it never ends").is_cancelled());
        drop((waking, aborting));
    });
}

/// Its drop finds the mark left.
struct SeenInDrop(Arc<AtomicUsize>);

impl Drop for SeenInDrop {
    fn drop(&mut self) {
        assert!(is_left(&self.0));
    }
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

/// A set is awaited on another thread while its tasks complete: it gives each output once.
#[test]
fn a_set_on_another_thread_gives_each_output_once() {
    explore("joins/set", || {
        let ex = executor();
        let tasks = [ex.spawn(async { Box::new(1) }), ex.spawn(async { Box::new(2) })];
        let thread = thread::spawn(move || {
            let mut set: JoinSet<Box<i32>> = tasks.into_iter().collect();
            super::block_on(async {
                let (first, second) = (set.join_next().await, set.join_next().await);
                let sum: i32 =
                    [first, second].into_iter().flatten().map(|one| *one.expect("not cancelled")).sum();
                assert_eq!(sum, 3);
                assert!(set.join_next().await.is_none());
            });
        });
        first_polls(&ex);
        drop(ex);
        drop(thread);
    });
}

/// A set that waits is dropped on another thread while its task completes.
#[test]
fn a_waiting_set_is_dropped_while_its_task_completes() {
    explore("joins/drop_set", || {
        let ex = executor();
        let task = ex.spawn(async { Box::new(7) });
        let thread = thread::spawn(move || {
            let mut set: JoinSet<Box<i32>> = [task].into_iter().collect();
            let _ = set.poll_join_next(&mut Context::from_waker(Waker::noop()));
            drop(set);
        });
        first_polls(&ex);
        drop(ex);
        drop(thread);
    });
}
