//! Parking, against the wakes that are to end it.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::{Context, Poll};

use super::wakes::{is_left, mark, mark_and_wake, waits};
use super::{executor, explore};
use crate::sync::{Arc, WakeTarget, impl_wake, thread, waker_of};

/// The future given to `run_until` is woken by another thread while the host parks.
#[test]
fn a_wake_of_the_main_future_reaches_a_host_that_parks() {
    explore("parking/main", || {
        let mark = mark();
        let leaves = Arc::clone(&mark);
        executor().block_on(waits(mark, |waker| drop(thread::spawn(move || mark_and_wake(&leaves, waker)))));
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
        let leaves = Arc::clone(&mark);
        let wake = move |waker| drop(thread::spawn(move || mark_and_wake(&leaves, waker)));
        let task = ex.spawn(waits(mark, wake));
        let host = waker_of(Arc::new(Host));
        let _ = pin!(ex.run_until(std::future::pending::<()>())).poll(&mut Context::from_waker(&host));
        drop(host);
        let _ = ex.block_on(task);
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
