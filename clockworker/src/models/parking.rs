//! Parking, against the wakes that are to end it.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::{Context, Poll};

use super::wakes::{is_left, mark, mark_and_wake};
use super::{executor, explore};
use crate::sync::{Arc, WakeTarget, impl_wake, thread, waker_of};

/// The future given to `run_until` is woken by another thread while the host parks.
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

/// A run is dropped, which drops its host's waker, while another thread wakes that host. The next run sees the wake.
#[test]
fn a_host_is_let_go_while_it_is_woken() {
    struct Host;
    impl WakeTarget for Host {
        fn wake(&self) {}
    }
    impl_wake!(Host);
    explore("parking/given_up", || {
        let ex = executor();
        let mark = mark();
        let seen = Arc::clone(&mark);
        let waker = super::main_waker(&ex);
        let thread = thread::spawn(move || mark_and_wake(&mark, waker));
        let waits = || poll_fn(|_| if is_left(&seen) { Poll::Ready(()) } else { Poll::Pending });
        let host = waker_of(Arc::new(Host));
        let _ = pin!(ex.run_until(waits())).poll(&mut Context::from_waker(&host));
        drop(host);
        ex.block_on(waits());
        drop(thread);
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
