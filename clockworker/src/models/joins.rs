//! Join and abort handles on other threads, against completion.

#![allow(unsafe_code, reason = "a waker that is lent to a poll is lent to another thread")]

use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};

use super::wakes::{is_left, mark, mark_and_wake, waiting_task};
use super::{executor, explore, first_polls};
use crate::sync::{Arc, AtomicUsize, Mutex, thread};
use crate::{JoinHandle, JoinSet};

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

/// A set that is not awaited lets a task go on another thread while it completes. Another task takes its place, and is not taken for it.
#[test]
fn a_set_lets_a_task_go_while_it_completes() {
    explore("joins/detach_set", || {
        let ex = executor();
        let [first, second] = [1, 2].map(|number| ex.spawn(async move { Box::new(number) }));
        // The threads yield, so that one forced switch, in the middle of the first task's completion, is enough.
        let thread = thread::spawn(move || {
            let mut set: JoinSet<Box<i32>> = [first].into_iter().collect();
            thread::yield_now();
            set.detach_all();
            set.insert(second);
            thread::yield_now();
            for joined in [set.try_join_next(), set.try_join_next()].into_iter().flatten() {
                assert_eq!(*joined.expect("not cancelled"), 2);
            }
        });
        thread::yield_now();
        first_polls(&ex);
        drop(ex);
        drop(thread);
    });
}

/// A set is woken on another thread, waits again, and is dropped, while its tasks complete.
#[test]
fn a_set_waits_again_while_its_tasks_complete() {
    explore("joins/wait_again", || {
        let ex = executor();
        let tasks = [ex.spawn(async {}), ex.spawn(async {})];
        let thread = thread::spawn(move || {
            let mut set: JoinSet<()> = tasks.into_iter().collect();
            super::block_on(set.join_next());
            let _ = set.poll_join_next(&mut Context::from_waker(Waker::noop()));
        });
        first_polls(&ex);
        drop(ex);
        drop(thread);
    });
}

/// The record lends references to two handles. One is given up here and the other on another thread, while the task completes.
#[test]
fn what_a_record_has_lent_is_given_up_on_another_thread() {
    explore("joins/lent", || {
        let ex = executor();
        let task = ex.spawn(async { Box::new(7) });
        let (here, there) = (task.abort_handle(), task.abort_handle());
        let thread = thread::spawn(move || {
            let another = there.clone();
            drop((there, task));
            drop(another);
        });
        drop(here.clone());
        first_polls(&ex);
        drop(here);
        drop(ex);
        drop(thread);
    });
}

/// A waker is cloned on another thread, the clone comes back here, and the waker is dropped there. Its last use is before the cell is
/// freed here, though the task is held as it was when it was spawned.
#[test]
fn a_task_is_as_it_was_spawned_once_more() {
    explore("joins/as_spawned", || {
        let ex = executor();
        let (task, waker) = waiting_task(&ex, || true);
        let comes_back = Arc::new(Mutex::new(None::<Waker>));
        let slot = Arc::clone(&comes_back);
        let thread = thread::spawn(move || {
            let clone = waker.clone();
            *slot.lock().expect("nothing panics there") = Some(clone);
            drop(waker);
        });
        let back = comes_back.lock().expect("nothing panics there").take();
        drop((back, task));
        drop(ex);
        drop(thread);
    });
}

/// A task lends its poll's waker to another thread, which clones and wakes it while the poll goes on and drops the task's own handle, or
/// polls it.
#[test]
fn a_waker_lent_to_a_poll_is_used_on_another_thread_meanwhile() {
    for polls in [false, true] {
        explore(if polls { "joins/lent_waker_polled" } else { "joins/lent_waker" }, move || {
            let ex = executor();
            let own = Rc::new(RefCell::new(None::<JoinHandle<()>>));
            let (filled, mut is_first) = (Rc::clone(&own), true);
            let kept = Arc::new(Mutex::new(None::<Waker>));
            let keeps = Arc::clone(&kept);
            let task = ex.spawn(poll_fn(move |cx| {
                if !std::mem::replace(&mut is_first, false) {
                    return Poll::Ready(());
                }
                let (waker, keeps) = (Lent(std::ptr::from_ref(cx.waker())), Arc::clone(&keeps));
                let thread = thread::spawn(move || {
                    // SAFETY: the poll lasts until this thread is joined.
                    let waker = unsafe { &*{ waker }.0 };
                    waker.wake_by_ref();
                    *keeps.lock().expect("nothing panics there") = Some(waker.clone());
                });
                let mut handle = filled.borrow_mut().take().expect("it was put there");
                if polls {
                    let _ = super::poll_once(&mut handle);
                }
                drop(handle);
                thread.join().expect("it does not panic");
                Poll::Pending
            }));
            *own.borrow_mut() = Some(task);
            first_polls(&ex);
            first_polls(&ex);
            assert_eq!(ex.stats().live, 0, "the wake was not lost");
            drop(ex);
            drop(kept);
        });
    }
}

/// The address of a waker lent to a poll.
struct Lent(*const Waker);

// SAFETY: a waker may be used on any thread.
unsafe impl Send for Lent {}

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
