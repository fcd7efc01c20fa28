//! Who waits for a `JoinSet`, and is polled for it.

use std::cell::{Cell, RefCell};
use std::future::pending;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use clockworker::{Executor, JoinSet, ManualClock, yield_now};

use crate::support::{output, settle, untimed, yields};

/// One task awaits, another inserts, each member is awaited in turn: nothing is lost and nobody polled for nothing.
#[test]
fn two_tasks_share_a_set() {
    const MEMBERS: u32 = 100;
    let ex = untimed();
    let set: Rc<RefCell<JoinSet<u32>>> = Rc::default();
    let sum = Rc::new(Cell::new(0));
    set.borrow_mut().spawn_local_on(pending(), &ex);
    let waits = ex.spawn({
        let (set, sum) = (Rc::clone(&set), Rc::clone(&sum));
        std::future::poll_fn(move |cx| {
            while let Poll::Ready(Some(output)) = set.borrow_mut().poll_join_next(cx) {
                sum.set(sum.get() + output.unwrap());
            }
            if sum.get() == MEMBERS { Poll::Ready(()) } else { Poll::Pending }
        })
    });
    ex.spawn({
        let set = Rc::clone(&set);
        async move {
            for i in 0..MEMBERS {
                // Some end at once, some later.
                set.borrow_mut().spawn_local(async move {
                    yields(i % 3).await;
                    1
                });
                if i % 5 == 0 {
                    yield_now().await;
                }
            }
        }
    });
    settle(&ex);
    assert!(waits.is_finished(), "it stopped at {}", sum.get());
}

#[test]
fn whoever_waits_for_a_set_is_told_when_it_is_detached() {
    let ex = untimed();
    let set: Rc<RefCell<JoinSet<()>>> = Rc::default();
    set.borrow_mut().spawn_local_on(pending(), &ex);
    let waits = Rc::clone(&set);
    let waiter = ex.spawn(std::future::poll_fn(move |cx| waits.borrow_mut().poll_join_next(cx)));
    settle(&ex);
    assert!(!waiter.is_finished());
    set.borrow_mut().detach_all();
    settle(&ex);
    assert!(output(waiter).unwrap().is_none());
    assert_eq!(ex.stats().live, 1);
}

/// The future given to `run_until` waits for 64 polls where it wakes itself. Here nothing makes it: it is polled when the task
/// that it awaits is over.
#[test]
fn a_main_future_that_spawns_into_a_set_and_awaits_it_does_not_yield_by_that() {
    const ROUNDS: u32 = 10;
    let clock = ManualClock::new();
    let ex = Executor::builder().clock(clock.clone()).host_budget(Duration::MAX).build().unwrap();
    let polls = Rc::new(Cell::new(0));
    let counted = Rc::clone(&polls);
    // All polls are so long that whoever is woken does not wait for another.
    let works = move || clock.advance(Duration::from_micros(10));
    ex.spawn({
        let works = works.clone();
        async move {
            loop {
                counted.set(counted.get() + 1);
                works();
                yield_now().await;
            }
        }
    });
    ex.block_on(async {
        let mut set = JoinSet::new();
        let mut other = JoinSet::new();
        other.spawn_local(pending::<()>());
        for i in 0..ROUNDS {
            let [works, works_too] = [works.clone(), works.clone()];
            set.spawn_local(async move {
                works();
                i
            });
            // Beside something else, and given up.
            assert!(futures::poll!(pin!(other.join_next())).is_pending());
            other.spawn_local(async move {
                works_too();
                pending().await
            });
            assert_eq!(set.join_next().await.unwrap().unwrap(), i);
        }
    });
    assert!(polls.get() < 64, "{} polls beside {ROUNDS} rounds", polls.get());
}
