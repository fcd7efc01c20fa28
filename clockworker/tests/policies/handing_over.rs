//! Woken tasks that a policy [does not want](Scheduler::wants_woken) yet: they are handed over late, several at a time, and nothing
//! but that can be seen.

use std::cell::Cell;
use std::future::pending;
use std::pin::pin;
use std::rc::Rc;

use clockworker::schedulers::{Ready, RunnableFifo};
use clockworker::{Executor, spawn_local};

use crate::support::*;

fn in_order_of_readiness() -> Executor {
    hosted_builder().scheduler(RunnableFifo::new()).build().unwrap()
}

/// Spawns a task that waits for the signal it gives, and then notes that.
fn spawn_waiting(ex: &Executor) -> Signal {
    let signal = Signal::new();
    let waited = signal.clone();
    ex.spawn(async move {
        waited.wait().await;
        note("woken");
    });
    signal
}

#[test]
fn a_woken_task_comes_before_one_that_yields_later() {
    let ex = in_order_of_readiness();
    let woken = spawn_waiting(&ex);
    tick(&ex);
    ex.spawn(async move { woken.set() });
    ex.spawn(polls("a", 2, us(0)));
    ex.spawn(polls("b", 2, us(0)));
    tick(&ex);
    assert_eq!(trace(), "a1 b1 woken a2 b2");
}

#[test]
fn a_woken_task_comes_before_one_that_is_spawned_later() {
    let ex = in_order_of_readiness();
    let woken = spawn_waiting(&ex);
    tick(&ex);
    ex.spawn(async move { woken.set() });
    ex.spawn(async { drop(spawn_local(async { note("spawned") })) });
    ex.spawn(async {});
    tick(&ex);
    assert_eq!(trace(), "woken spawned");
}

/// A ring in which each task wakes its counterpart. The most wakes that the policy was not told of in a poll, and the wakes.
fn most_kept_back(pairs: usize, polls_in_a_turn: u32) -> (usize, usize) {
    let [told, woken, most] = [(); 3].map(|()| Rc::new(Cell::new(0)));
    let counts = Rc::clone(&told);
    let spy = Spy::<false>::fifo().keeping_woken_back().listening(move |call| {
        if let Call::Push(_, Ready::Woken) = call {
            counts.set(counts.get() + 1);
        }
    });
    let ex = hosted_builder().scheduler(spy).poll_cap(polls_in_a_turn).build().unwrap();
    let signals: Vec<_> = (0..2 * pairs).map(|_| Signal::new()).collect();
    for number in 0..2 * pairs {
        let (own, other) = (signals[number].clone(), signals[(number + pairs) % (2 * pairs)].clone());
        let (told, woken, most) = (Rc::clone(&told), Rc::clone(&woken), Rc::clone(&most));
        ex.spawn(async move {
            loop {
                own.wait().await;
                most.set(most.get().max(woken.get() - told.get()));
                woken.set(woken.get() + 1);
                other.set();
            }
        });
    }
    let mut run = pin!(ex.run_until(pending::<()>()));
    while ex.stats().polls < 2 * pairs as u64 {
        assert!(poll_once(&mut run).is_pending());
    }
    // All wait. The first half is woken from outside, and each wakes one of the other half.
    signals[..pairs].iter().for_each(Signal::set);
    woken.set(pairs);
    let before = ex.stats().polls;
    while ex.stats().polls < before + 10 * pairs as u64 {
        assert!(poll_once(&mut run).is_pending());
        assert_eq!(told.get(), woken.get(), "after a turn");
    }
    (most.get(), woken.get())
}

#[test]
fn at_most_64_are_kept_back_and_none_after_a_turn() {
    // In the poll of a task whose wake is the 65th all those before it are kept back.
    assert_eq!(most_kept_back(1_000, 3_000).0, 64);
    assert_eq!(most_kept_back(10, 3_000).0, 9);
    for polls_in_a_turn in [1, 2, 7, 64, 65, 100] {
        let (most, woken) = most_kept_back(100, polls_in_a_turn);
        assert!(most < polls_in_a_turn as usize && woken >= 1_000, "{most} kept back, {woken} wakes");
    }
}
