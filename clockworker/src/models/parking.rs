//! Parking, against whatever is to end it.

use std::future::poll_fn;
use std::task::Poll;

use super::wakes::{is_left, mark, mark_and_wake};
use super::{executor, explore};
use crate::sync::{Arc, thread};

/// The future being run is woken by another thread while the host parks.
#[test]
fn a_wake_of_the_main_future_reaches_a_host_that_parks() {
    explore("parking/main", || {
        let ex = executor();
        let mark = mark();
        let seen = Arc::clone(&mark);
        let waker = super::main_waker(&ex);
        let thread = thread::spawn(move || mark_and_wake(&mark, waker));
        ex.block_on(poll_fn(|_| if is_left(&seen) { Poll::Ready(()) } else { Poll::Pending }));
        drop(thread);
    });
}

/// The same by two threads: the second wake may find the first one's.
#[test]
fn coalesced_wakes_of_the_main_future_are_all_seen() {
    explore("parking/main_twice", || {
        let ex = executor();
        let marks = [mark(), mark()];
        let seen = marks.clone();
        let threads = marks.map(|mark| {
            let waker = super::main_waker(&ex);
            thread::spawn(move || mark_and_wake(&mark, waker))
        });
        ex.block_on(poll_fn(|_| {
            if seen.iter().all(|mark| is_left(mark)) { Poll::Ready(()) } else { Poll::Pending }
        }));
        drop(threads);
    });
}

/// A thread without executor sleeps until it is woken.
#[test]
fn a_parked_thread_is_woken() {
    explore("parking/thread", || {
        let marks = [mark(), mark()];
        let seen = marks.clone();
        let slot = std::cell::RefCell::new(Some(marks));
        let mut threads = None;
        super::block_on(poll_fn(|cx| {
            if let Some(marks) = slot.borrow_mut().take() {
                threads = Some(marks.map(|mark| {
                    let waker = cx.waker().clone();
                    thread::spawn(move || mark_and_wake(&mark, waker))
                }));
            }
            if seen.iter().all(|mark| is_left(mark)) { Poll::Ready(()) } else { Poll::Pending }
        }));
        drop(threads);
    });
}
