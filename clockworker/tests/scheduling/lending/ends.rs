//! How loans end: with the borrower, with the lender, with the future, with the executor; and rings, which do not.

use std::cell::Cell;
use std::future::pending;
use std::rc::Rc;
use std::task::Poll;

use clockworker::{JoinHandle, yield_now};

use super::{Queues, lend, waiting};
use crate::support::*;

/// A lender in the high queue and its borrower from the low one, which waits for the signal.
fn loan(q: &Queues) -> (JoinHandle<()>, Signal) {
    let (borrower, done) = waiting(&q.low);
    let lender = q.high.spawn(lend(borrower));
    q.settle();
    assert_eq!(q.low.stats().live, 0);
    (lender, done)
}

#[test]
fn an_aborted_lender_sends_its_borrower_home() {
    let q = Queues::new();
    let (lender, done) = loan(&q);
    assert_eq!(q.live(), [2, 0, 0]);
    lender.abort();
    q.settle();
    assert_eq!(q.live(), [0, 0, 1]);
    done.set();
    q.settle();
    assert_eq!((q.live(), q.low.stats().completed), ([0; 3], 1));
}

#[test]
fn a_dropped_await_sends_everyone_home_along_the_chain() {
    let q = Queues::new();
    let stop = Signal::new();
    let (third, done) = waiting(&q.low);
    let second = q.middle.spawn(lend(third));
    let stopped = stop.clone();
    let first = q.high.spawn(async move {
        let mut lending = second.lending();
        assert!(futures_util::poll!(&mut lending).is_pending());
        stopped.wait().await;
        drop(lending);
    });
    q.settle();
    assert_eq!(q.live(), [3, 0, 0]);
    stop.set();
    q.settle();
    assert_eq!(q.live(), [0, 2, 0], "the third has the second's place still");
    assert!(first.is_finished());
    done.set();
    q.settle();
    assert_eq!((q.live(), q.middle.stats().completed), ([0; 3], 2));
}

#[test]
fn an_aborted_borrower_ends_in_the_lenders_queue() {
    let q = Queues::new();
    let borrower = q.low.spawn(pending::<()>());
    let abort = borrower.abort_handle();
    let lender = q.high.spawn(async move { borrower.lending().await.unwrap_err().is_cancelled() });
    q.settle();
    abort.abort();
    assert!(q.run(lender));
    assert_eq!((q.live(), q.high.stats().cancelled), ([0; 3], 1));
}

#[test]
fn a_borrower_that_is_ready_when_it_moves_is_polled_no_more_often() {
    let q = Queues::new();
    let borrower = q.low.spawn(yields(3));
    q.run(q.high.spawn(lend(borrower)));
    assert_eq!((q.high.stats().polls, q.low.stats().polls), (6, 0));
    q.settle();
    assert_eq!(q.low.stats().policy_fault, None);
}

#[test]
fn a_ring_ends_with_its_tasks() {
    let q = Queues::new();
    let [to_first, to_second] = [Signal::new(), Signal::new()];
    let handles: [Rc<Cell<Option<JoinHandle<()>>>>; 2] = Default::default();
    let waits_for = |handle: &Rc<Cell<Option<JoinHandle<()>>>>, begin: &Signal| {
        let (handle, begin) = (Rc::clone(handle), begin.clone());
        async move {
            begin.wait().await;
            let _ = handle.take().unwrap().lending().await;
        }
    };
    let first = q.high.spawn(waits_for(&handles[1], &to_first));
    let second = q.low.spawn(waits_for(&handles[0], &to_second));
    let abort_first = first.abort_handle();
    handles[0].set(Some(first));
    handles[1].set(Some(second));
    for begin in [&to_second, &to_first] {
        begin.set();
        q.settle();
    }
    assert_eq!(q.live(), [2, 0, 0]);
    abort_first.abort();
    q.settle();
    // The first has gone, and with it the second's lender: whom the second waits for is finished.
    assert_eq!(q.live(), [0; 3]);
    assert_eq!((q.high.stats().cancelled, q.low.stats().completed), (1, 1));
}

#[test]
fn a_closed_queue_whose_last_task_is_lent_to_goes_with_it() {
    let q = Queues::new();
    let (lender, done) = loan(&q);
    q.low.close();
    assert!(q.ex.new_queue("low").create().is_ok(), "its name is free");
    done.set();
    q.run(lender);
    assert!(q.low.set_share(2).unwrap_err().is_closed());
    assert_eq!(q.live(), [0; 3]);
}

#[test]
fn a_borrower_whose_queue_is_gone_stays() {
    let q = Queues::new();
    let (lender, done) = loan(&q);
    q.low.close();
    lender.abort();
    q.settle();
    assert_eq!(q.live(), [1, 0, 0]);
    done.set();
    q.settle();
    assert_eq!(q.high.stats().completed, 1);
}

#[test]
fn an_executor_is_dropped_or_shut_down_in_the_middle_of_a_loan() {
    for shuts_down in [false, true] {
        let q = Queues::new();
        let loans = [loan(&q), loan(&q)];
        assert_eq!(q.live(), [4, 0, 0]);
        if shuts_down {
            assert_eq!(q.ex.block_on_shutdown(async {}).cancelled, 4);
        }
        let queues = [q.high.clone(), q.low.clone()];
        drop(q);
        for (mut lender, _) in loans {
            let Poll::Ready(Err(error)) = poll_once(&mut lender) else { panic!("it ended") };
            assert!(error.is_cancelled());
        }
        assert!(queues.iter().all(|queue| (queue.stats().live, queue.stats().ready) == (0, 0)));
    }
}

#[test]
fn a_borrower_that_panics_says_so_and_ends_the_loan() {
    let q = Queues::new();
    let borrower = q.low.spawn(async {
        yield_now().await;
        std::panic::resume_unwind(Box::new("on purpose"));
    });
    let lender = q.high.spawn(async move { borrower.lending().await.unwrap_err().is_panic() });
    assert!(q.ex.block_on(lender).unwrap());
    assert_eq!((q.live(), q.high.stats().panicked), ([0; 3], 1));
}

#[test]
fn a_task_that_waits_for_room_at_home_gets_the_borrowers() {
    let q = Queues::new();
    q.low.set_max_live(Some(1)).unwrap();
    let (borrower, done) = waiting(&q.low);
    let mut waiter = q.low.spawn_when_room(async {});
    assert!(poll_once(&mut waiter).is_pending());
    let lender = q.high.spawn(lend(borrower));
    q.settle();
    let Poll::Ready(spawned) = poll_once(&mut waiter) else { panic!("there is room") };
    q.run(spawned.unwrap());
    done.set();
    q.run(lender);
}
