//! Several runs of one `LocalSet`, whose futures are woken by other threads.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};

use super::wakes::{is_left, mark, mark_and_wake, waits};
use super::{block_on, executor, explore};
use crate::compat::LocalSet;
use crate::sync::{Arc, AtomicBool, AtomicUsize, WakeTarget, impl_wake, thread, waker_of};

/// Two runs in one host task: one drives, the other rides. A thread for each wakes its future.
#[test]
fn wakes_reach_the_one_who_drives_and_the_one_who_rides() {
    explore("runs/two", || {
        let set = LocalSet::from(executor());
        let wake = |mark: &Arc<AtomicUsize>| {
            let mark = Arc::clone(mark);
            move |waker| drop(thread::spawn(move || mark_and_wake(&mark, waker)))
        };
        let marks = [mark(), mark()];
        let mut first = pin!(set.run_until(waits(Arc::clone(&marks[0]), wake(&marks[0]))));
        let mut second = pin!(set.run_until(waits(Arc::clone(&marks[1]), wake(&marks[1]))));
        let mut done = [false, false];
        block_on(poll_fn(|cx| {
            done[0] = done[0] || first.as_mut().poll(cx).is_ready();
            done[1] = done[1] || second.as_mut().poll(cx).is_ready();
            if done == [true, true] { Poll::Ready(()) } else { Poll::Pending }
        }));
    });
}

/// One of several tasks of a host that polls only woken ones.
struct Hosted {
    woken: AtomicBool,
    host: Waker,
}

impl WakeTarget for Hosted {
    fn wake(&self) {
        self.woken.swap(true, Ordering::AcqRel);
        self.host.wake_by_ref();
    }
}

impl_wake!(Hosted);

/// Two runs in a host task each, which drive in turn. The future of the one that did not drive last is woken by a thread.
#[test]
fn a_wake_reaches_the_one_that_did_not_drive_last() {
    explore("runs/two_hosts", || {
        let set = LocalSet::from(executor());
        let mark = mark();
        let leaves = Arc::clone(&mark);
        let wake = move |waker| drop(thread::spawn(move || mark_and_wake(&leaves, waker)));
        let mut woken = pin!(set.run_until(waits(mark, wake)));
        let mut last = pin!(set.run_until(std::future::pending::<()>()));
        let mut hosts = None;
        block_on(poll_fn(|cx| {
            let hosted = || Arc::new(Hosted { woken: AtomicBool::new(true), host: cx.waker().clone() });
            let [first, second] = hosts.get_or_insert_with(|| [hosted(), hosted()]);
            let mut polled = Poll::Pending;
            if first.woken.swap(false, Ordering::AcqRel) {
                let waker = waker_of(Arc::clone(first));
                polled = woken.as_mut().poll(&mut Context::from_waker(&waker));
            }
            if second.woken.swap(false, Ordering::AcqRel) {
                let waker = waker_of(Arc::clone(second));
                assert!(last.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
            }
            polled
        }));
    });
}

/// Two runs in one host task, of which one is given up while a thread wakes a task of the set.
#[test]
fn a_wake_reaches_the_run_that_is_left() {
    explore("runs/given_up", || {
        let set = LocalSet::from(executor());
        let mark = mark();
        let leaves = Arc::clone(&mark);
        let task = set.spawn_local(waits(mark, move |waker| {
            drop(thread::spawn(move || mark_and_wake(&leaves, waker)))
        }));
        let mut goes = Some(Box::pin(set.run_until(std::future::pending::<()>())));
        let mut stays = pin!(set.run_until(task));
        block_on(poll_fn(|cx| {
            let polled = stays.as_mut().poll(cx).map(drop);
            if let Some(mut goes) = goes.take() {
                assert!(goes.as_mut().poll(cx).is_pending());
            }
            polled
        }));
    });
}

/// One run, whose future is woken by two threads.
#[test]
fn coalesced_wakes_of_a_run_are_all_seen() {
    explore("runs/coalesced", || {
        let set = LocalSet::from(executor());
        let marks = [mark(), mark()];
        let seen = marks.clone();
        let mut marks = Some(marks);
        block_on(set.run_until(poll_fn(move |cx| {
            for mark in marks.take().into_iter().flatten() {
                let waker = cx.waker().clone();
                drop(thread::spawn(move || mark_and_wake(&mark, waker)));
            }
            if seen.iter().all(|mark| is_left(mark)) { Poll::Ready(()) } else { Poll::Pending }
        })));
    });
}
