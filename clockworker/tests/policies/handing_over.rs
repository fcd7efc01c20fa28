//! Woken tasks that a policy [does not want](Scheduler::wants_woken) yet: they are handed over late, several at a time, and nothing
//! but that can be told.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::pending;
use std::pin::pin;
use std::rc::Rc;

use clockworker::schedulers::{Ready, RunnableFifo, Scheduler, Task, TaskId};
use clockworker::{Executor, ManualClock, spawn_local, yield_now};

use crate::support::{Signal, poll_once, tick};

/// Who was polled, in order.
type Order = Rc<RefCell<Vec<&'static str>>>;

fn in_order_of_readiness() -> Executor {
    Executor::builder().scheduler(RunnableFifo::new()).clock(ManualClock::new()).build().unwrap()
}

/// Spawns a task that waits for the signal it gives, and then says its name.
fn spawn_waiting(ex: &Executor, name: &'static str, order: &Order) -> Signal {
    let signal = Signal::new();
    let (waited, order) = (signal.clone(), Rc::clone(order));
    ex.spawn(async move {
        waited.wait().await;
        order.borrow_mut().push(name);
    });
    signal
}

#[test]
fn a_woken_task_comes_before_one_that_yields_later() {
    let (ex, order) = (in_order_of_readiness(), Order::default());
    let woken = spawn_waiting(&ex, "woken", &order);
    tick(&ex);
    ex.spawn(async move { woken.set() });
    for name in ["first", "second"] {
        let order = Rc::clone(&order);
        ex.spawn(async move {
            order.borrow_mut().push(name);
            yield_now().await;
            order.borrow_mut().push(name);
        });
    }
    tick(&ex);
    assert_eq!(*order.borrow(), ["first", "second", "woken", "first", "second"]);
}

#[test]
fn a_woken_task_comes_before_one_that_is_spawned_later() {
    let (ex, order) = (in_order_of_readiness(), Order::default());
    let woken = spawn_waiting(&ex, "woken", &order);
    tick(&ex);
    ex.spawn(async move { woken.set() });
    let spawned = Rc::clone(&order);
    ex.spawn(async move {
        drop(spawn_local(async move { spawned.borrow_mut().push("spawned") }));
    });
    ex.spawn(async {});
    tick(&ex);
    assert_eq!(*order.borrow(), ["woken", "spawned"]);
}

/// FIFO, which wants woken tasks only when there is no other, and counts those that it was told of.
struct Counting {
    ready: VecDeque<TaskId>,
    told: Rc<Cell<usize>>,
}

impl Scheduler for Counting {
    const NEEDS_SERVICE: bool = false;

    fn push(&mut self, task: Task, why: Ready) {
        self.told.set(self.told.get() + usize::from(why == Ready::Woken));
        self.ready.push_back(task.id);
    }

    fn pop(&mut self) -> Option<TaskId> {
        self.ready.pop_front()
    }

    fn wants_woken(&self) -> bool {
        self.ready.is_empty()
    }
}

/// A ring in which each task wakes its counterpart. The most wakes that the policy was not told of in a poll, and the wakes.
fn most_kept_back(pairs: usize, polls_in_a_turn: u32) -> (usize, usize) {
    let (told, woken, most) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
    let policy = Counting { ready: VecDeque::new(), told: Rc::clone(&told) };
    let builder = Executor::builder().scheduler(policy).clock(ManualClock::new()).poll_cap(polls_in_a_turn);
    let ex = builder.build().unwrap();
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
        let all = woken.get() == told.get();
        assert!(all, "{} of {} wakes after a turn", told.get(), woken.get());
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
