//! How loans end: with the borrower, with the lender, with the future, with the executor; and rings, which do not.

use std::future::pending;
use std::task::Poll;

use clockworker::{JoinHandle, yield_now};

use super::{World, lend};
use crate::support::{Signal, poll_once, yields};

/// A lender in the high queue and its borrower from the low one, which waits for the signal.
fn loan(world: &World) -> (JoinHandle<()>, Signal) {
    let done = Signal::new();
    let borrower = world.low.spawn({
        let done = done.clone();
        async move { done.wait().await }
    });
    let lender = world.high.spawn(lend(borrower));
    world.settle();
    assert_eq!(world.live(), [2, 0, 0]);
    (lender, done)
}

#[test]
fn an_aborted_lender_sends_its_borrower_home() {
    let world = World::new();
    let (lender, done) = loan(&world);
    lender.abort();
    world.settle();
    assert_eq!(world.live(), [0, 0, 1]);
    done.set();
    world.settle();
    assert_eq!((world.live(), world.low.stats().completed), ([0; 3], 1));
}

#[test]
fn a_dropped_await_sends_everyone_home_along_the_chain() {
    let world = World::new();
    let [done, stop] = [Signal::new(), Signal::new()];
    let third = world.low.spawn({
        let done = done.clone();
        async move { done.wait().await }
    });
    let second = world.middle.spawn(lend(third));
    let first = world.high.spawn({
        let stop = stop.clone();
        async move {
            let mut lending = second.lending();
            assert!(futures_util::poll!(&mut lending).is_pending());
            stop.wait().await;
            drop(lending);
        }
    });
    world.settle();
    assert_eq!(world.live(), [3, 0, 0]);
    stop.set();
    world.settle();
    assert_eq!(world.live(), [0, 2, 0], "the third has the second's place still");
    assert!(first.is_finished());
    done.set();
    world.settle();
    assert_eq!((world.live(), world.middle.stats().completed), ([0; 3], 2));
}

#[test]
fn an_aborted_borrower_ends_in_the_lenders_queue() {
    let world = World::new();
    let borrower = world.low.spawn(pending::<()>());
    let abort = borrower.abort_handle();
    let lender = world.high.spawn(async move { borrower.lending().await.unwrap_err().is_cancelled() });
    world.settle();
    abort.abort();
    assert!(world.sim.run(&world.ex, lender).unwrap());
    assert_eq!((world.live(), world.high.stats().cancelled), ([0; 3], 1));
}

#[test]
fn a_borrower_that_is_ready_when_it_moves_is_polled_no_more_often() {
    let world = World::new();
    let borrower = world.low.spawn(yields(3));
    let lender = world.high.spawn(lend(borrower));
    world.sim.run(&world.ex, lender).unwrap();
    assert_eq!((world.high.stats().polls, world.low.stats().polls), (6, 0));
    world.settle();
    assert_eq!(world.low.stats().policy_fault, None);
}

#[test]
fn a_ring_ends_with_its_tasks() {
    let world = World::new();
    let [to_first, to_second] = [Signal::new(), Signal::new()];
    let handles: [std::rc::Rc<std::cell::Cell<Option<JoinHandle<()>>>>; 2] = Default::default();
    let waits_for = |handle: &std::rc::Rc<std::cell::Cell<Option<JoinHandle<()>>>>, begin: &Signal| {
        let (handle, begin) = (handle.clone(), begin.clone());
        async move {
            begin.wait().await;
            let _ = handle.take().unwrap().lending().await;
        }
    };
    let first = world.high.spawn(waits_for(&handles[1], &to_first));
    let second = world.low.spawn(waits_for(&handles[0], &to_second));
    let aborts = [first.abort_handle(), second.abort_handle()];
    handles[0].set(Some(first));
    handles[1].set(Some(second));
    for begin in [&to_second, &to_first] {
        begin.set();
        world.settle();
    }
    assert_eq!(world.live(), [2, 0, 0]);
    aborts[0].abort();
    world.settle();
    // The first has gone, and with it the second's lender: whom the second waits for is finished.
    assert_eq!(world.live(), [0; 3]);
    assert_eq!((world.high.stats().cancelled, world.low.stats().completed), (1, 1));
    drop(aborts);
}

#[test]
fn a_closed_queue_whose_last_task_is_lent_to_is_gone_when_that_has_finished() {
    let world = World::new();
    let (lender, done) = loan(&world);
    world.low.close();
    assert!(world.ex.new_queue("low").create().is_ok(), "its name is free");
    done.set();
    world.sim.run(&world.ex, lender).unwrap();
    assert!(world.low.set_share(2).unwrap_err().is_closed());
    assert_eq!(world.live(), [0; 3]);
}

#[test]
fn a_borrower_whose_queue_is_gone_stays() {
    let world = World::new();
    let (lender, done) = loan(&world);
    world.low.close();
    lender.abort();
    world.settle();
    assert_eq!(world.live(), [1, 0, 0]);
    done.set();
    world.settle();
    assert_eq!(world.high.stats().completed, 1);
}

#[test]
fn an_executor_is_dropped_or_shut_down_in_the_middle_of_a_loan() {
    for shuts_down in [false, true] {
        let world = World::new();
        let (mut lender, _done) = loan(&world);
        let (mut second, _) = loan_of(&world);
        if shuts_down {
            let report = world.ex.block_on_shutdown(async {});
            assert_eq!(report.cancelled, 4);
        }
        let queues = [world.high.clone(), world.low.clone()];
        drop(world);
        for task in [&mut lender, &mut second] {
            let Poll::Ready(Err(error)) = poll_once(task) else { panic!("it ended") };
            assert!(error.is_cancelled());
        }
        for queue in queues {
            assert_eq!((queue.stats().live, queue.stats().ready), (0, 0));
        }
    }
}

/// As [`loan`], beside another.
fn loan_of(world: &World) -> (JoinHandle<()>, Signal) {
    let done = Signal::new();
    let borrower = world.low.spawn({
        let done = done.clone();
        async move { done.wait().await }
    });
    let lender = world.high.spawn(lend(borrower));
    world.settle();
    (lender, done)
}

#[test]
fn a_borrower_that_panics_says_so_and_ends_the_loan() {
    let world = World::new();
    let borrower = world.low.spawn(async {
        yield_now().await;
        std::panic::resume_unwind(Box::new("on purpose"));
    });
    let lender = world.high.spawn(async move { borrower.lending().await.unwrap_err().is_panic() });
    assert!(world.ex.block_on(lender).unwrap());
    assert_eq!((world.live(), world.high.stats().panicked), ([0; 3], 1));
}

#[test]
fn a_task_that_waits_for_room_at_home_gets_the_borrowers() {
    let world = World::new();
    world.low.set_max_live(Some(1)).unwrap();
    let done = Signal::new();
    let borrower = world.low.spawn({
        let done = done.clone();
        async move { done.wait().await }
    });
    let mut waiter = world.low.spawn_when_room(async {});
    assert!(poll_once(&mut waiter).is_pending());
    let lender = world.high.spawn(lend(borrower));
    world.settle();
    let Poll::Ready(spawned) = poll_once(&mut waiter) else { panic!("there is room") };
    world.sim.run(&world.ex, spawned.unwrap()).unwrap();
    done.set();
    world.sim.run(&world.ex, lender).unwrap();
}
