//! Wakes from other threads, against each other, against polls and against completion.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::task::{Poll, Waker};

use super::{executor, explore, first_polls};
use crate::sync::{Arc, AtomicUsize, thread};
use crate::{Executor, JoinHandle};

/// A task that is pending until `done`, after its first poll, and a waker of it.
pub(super) fn waiting_task(
    ex: &Executor,
    mut done: impl FnMut() -> bool + 'static,
) -> (JoinHandle<()>, Waker) {
    let slot = Rc::new(RefCell::new(None));
    let filled = Rc::clone(&slot);
    let mut polled = false;
    let task = ex.spawn(poll_fn(move |cx| {
        if !std::mem::replace(&mut polled, true) {
            *filled.borrow_mut() = Some(cx.waker().clone());
            return Poll::Pending;
        }
        if done() { Poll::Ready(()) } else { Poll::Pending }
    }));
    first_polls(ex);
    let waker = slot.borrow_mut().take().expect("polled once");
    (task, waker)
}

/// Leaves a mark that only the wake makes visible, and wakes.
pub(super) fn mark_and_wake(mark: &AtomicUsize, waker: Waker) {
    mark.store(1, Ordering::Relaxed);
    waker.wake();
}

/// A mark not left yet.
pub(super) fn mark() -> Arc<AtomicUsize> {
    Arc::new(AtomicUsize::new(0))
}

pub(super) fn is_left(mark: &AtomicUsize) -> bool {
    mark.load(Ordering::Relaxed) == 1
}

/// Ready once the mark is left. Gives its waker away in its first poll.
pub(super) fn waits(mark: Arc<AtomicUsize>, give: impl FnOnce(Waker)) -> impl Future<Output = ()> {
    let mut give = Some(give);
    poll_fn(move |cx| {
        if let Some(give) = give.take() {
            give(cx.waker().clone());
        }
        if is_left(&mark) { Poll::Ready(()) } else { Poll::Pending }
    })
}

/// Two threads each leave a mark and wake; one wake may be coalesced with the other's. The task sees both marks, and ends.
#[test]
fn no_wake_is_lost_and_what_was_written_before_it_is_seen() {
    explore("wakes/two_wakers", || {
        let ex = executor();
        let marks = [mark(), mark()];
        let seen = marks.clone();
        let (task, waker) = waiting_task(&ex, move || seen.iter().all(|mark| is_left(mark)));
        let threads = marks.map(|mark| {
            let waker = waker.clone();
            thread::spawn(move || mark_and_wake(&mark, waker))
        });
        drop(waker);
        ex.block_on(task).expect("it was not cancelled");
        for thread in threads {
            thread.join().expect("no panic");
        }
    });
}

/// Two tasks are woken by a thread each: both stand in the inbox's stack together, and both come out of it.
#[test]
fn tasks_pushed_side_by_side_all_come_out() {
    explore("wakes/two_tasks", || {
        let ex = executor();
        let tasks = [mark(), mark()].map(|mark| {
            let seen = Arc::clone(&mark);
            let (task, waker) = waiting_task(&ex, move || is_left(&seen));
            (task, thread::spawn(move || mark_and_wake(&mark, waker)))
        });
        ex.block_on(async {
            for (task, thread) in tasks {
                task.await.expect("it was not cancelled");
                drop(thread);
            }
        });
    });
}

/// A task is woken twice by one thread, between which it may be polled, pushed again, and complete.
#[test]
fn a_task_is_pushed_again_after_it_was_taken() {
    explore("wakes/twice", || {
        let ex = executor();
        let marks = [mark(), mark()];
        let seen = marks.clone();
        let (task, waker) = waiting_task(&ex, move || seen.iter().all(|mark| is_left(mark)));
        let thread = thread::spawn(move || {
            let [first, second] = marks;
            mark_and_wake(&first, waker.clone());
            mark_and_wake(&second, waker);
        });
        ex.block_on(task).expect("it was not cancelled");
        drop(thread);
    });
}

/// A task completes, as its owner thread woke it, while another thread wakes it too, and drops the last waker.
#[test]
fn a_wake_may_come_when_the_task_is_complete_and_freed() {
    explore("wakes/completion", || {
        let ex = executor();
        let (task, waker) = waiting_task(&ex, || true);
        let other = waker.clone();
        let thread = thread::spawn(move || {
            other.wake_by_ref();
            drop(other);
        });
        waker.wake();
        drop(task);
        first_polls(&ex);
        drop(ex);
        drop(thread);
    });
}
