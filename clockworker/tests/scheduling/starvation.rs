//! Nobody waits for ever: not beside tasks that wake each other without end, not behind those that spawn without end, and
//! not for a lock that a task of the smallest share holds.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::time::Duration;

use clockworker::schedulers::{ArrivalFifo, Las, Qlas, Serpt};
use clockworker::{Executor, Queue, spawn_local, yield_now};

use crate::support::{NEVER, Signal, VirtualTime, us, yields};

/// One queue of each policy, all of which bound what a ready task waits.
fn each_policy(check: impl Fn(&VirtualTime, &Executor, &Queue)) {
    for policy in ["runnable", "arrival", "las", "qlas", "serpt"] {
        let sim = VirtualTime::new();
        let ex = sim.executor();
        let queue = match policy {
            "arrival" => ex.new_queue(policy).scheduler(ArrivalFifo::new()).create(),
            "las" => ex.new_queue(policy).scheduler(Las::new()).create(),
            "qlas" => ex.new_queue(policy).scheduler(Qlas::new()).create(),
            "serpt" => ex.new_queue(policy).scheduler(Serpt::new()).create(),
            _ => ex.new_queue(policy).create(),
        };
        check(&sim, &ex, &queue.unwrap());
    }
}

/// Two tasks that wake each other at each poll until told to stop. Counts their polls.
fn ping_pong(sim: &VirtualTime, queue: &Queue, polls: &Rc<Cell<u64>>, stop: &Rc<Cell<bool>>) {
    let signals = [Signal::new(), Signal::new()];
    for side in 0..2 {
        let (sim, polls, stop) = (sim.clone(), Rc::clone(polls), Rc::clone(stop));
        let (own, other) = (signals[side].clone(), signals[1 - side].clone());
        drop(queue.spawn(async move {
            if side == 0 {
                other.set();
            }
            while !stop.get() {
                own.wait().await;
                polls.set(polls.get() + 1);
                sim.work(us(1));
                other.set();
            }
        }));
    }
}

#[test]
fn pairs_that_wake_each_other_without_end_do_not_starve_a_third() {
    const PAIRS: u64 = 100;
    const YIELDS: u32 = 5;
    each_policy(|sim, ex, queue| {
        let (polls, stop) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(false)));
        for _ in 0..PAIRS {
            ping_pong(sim, queue, &polls, &stop);
        }
        // They are all under way before the victim comes.
        let counted = Rc::clone(&polls);
        sim.run(ex, poll_fn(move |cx| wait_until(cx.waker(), counted.get() > 10 * PAIRS)));
        let before = polls.get();
        let victim = queue.spawn(yields(YIELDS));
        sim.run(ex, victim).unwrap();
        // What the policies promise, with L tasks there: L pops in order of becoming ready, 2·32·L with fair turns.
        let tasks = 2 * PAIRS + 1;
        let promised = if queue.name() == "runnable" { tasks } else { 2 * 32 * tasks };
        let beside = polls.get() - before;
        assert!(beside <= u64::from(YIELDS + 1) * promised, "{}: {beside} polls", queue.name());
        stop.set(true);
    });
}

/// Ready once `met`; asks to be polled again until then.
fn wait_until(waker: &Waker, met: bool) -> Poll<()> {
    if met {
        return Poll::Ready(());
    }
    waker.wake_by_ref();
    Poll::Pending
}

#[test]
fn tasks_that_spawn_without_end_do_not_starve_one_that_is_there() {
    /// Spawns one like itself and ends.
    fn again(
        sim: VirtualTime,
        polls: Rc<Cell<u64>>,
        stop: Rc<Cell<bool>>,
    ) -> Pin<Box<dyn Future<Output = ()>>> {
        Box::pin(async move {
            polls.set(polls.get() + 1);
            sim.work(us(1));
            if !stop.get() {
                drop(spawn_local(again(sim, polls, stop)));
            }
        })
    }
    each_policy(|sim, ex, queue| {
        let (polls, stop) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(false)));
        for _ in 0..10 {
            drop(queue.spawn(again(sim.clone(), Rc::clone(&polls), Rc::clone(&stop))));
        }
        let (work, counted) = (sim.clone(), Rc::clone(&polls));
        let victim = queue.spawn(async move {
            for _ in 0..10 {
                // By service it is soon the one that has had most.
                work.work(us(1_000));
                yield_now().await;
            }
            counted.get()
        });
        let beside = sim.run(ex, victim).unwrap();
        // Its ten polls of 1 ms go on fair turns, which have 1/32 of the time of the policies that are told of it.
        let told = !matches!(queue.name().as_str(), "runnable" | "arrival");
        let promised = if told { 32 * 10 * 1_020 } else { 11 * 32 * 10 };
        assert!(beside <= promised, "{}: {beside} polls", queue.name());
        stop.set(true);
        sim.drain(ex);
        assert_eq!(ex.stats().live, 0);
    });
}

#[test]
fn the_future_being_run_is_not_starved_by_tasks_that_wake_each_other() {
    each_policy(|sim, ex, queue| {
        let (polls, stop) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(false)));
        ping_pong(sim, queue, &polls, &stop);
        let counted = Rc::clone(&polls);
        let mut left = 100;
        sim.run(
            ex,
            poll_fn(move |cx| {
                left -= 1;
                wait_until(cx.waker(), left == 0)
            }),
        );
        // It wakes itself at each of its polls, and so waits for 64 of the others'.
        assert!(counted.get() <= 100 * 64, "{}: {} polls", queue.name(), counted.get());
        stop.set(true);
    });
}

/// A lock that is held across awaits; whoever waits is woken in order.
#[derive(Clone, Default)]
struct Lock(Rc<(Cell<bool>, RefCell<VecDeque<Waker>>)>);

impl Lock {
    async fn lock(&self) {
        poll_fn(|cx| {
            if !self.0.0.replace(true) {
                return Poll::Ready(());
            }
            self.0.1.borrow_mut().push_back(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    fn unlock(&self) {
        self.0.0.set(false);
        let next = self.0.1.borrow_mut().pop_front();
        next.into_iter().for_each(Waker::wake);
    }
}

/// How long a task of a large share waits for a lock that one of share 1 holds for ten polls of 100 µs, beside a third
/// queue of that share which always works.
fn waits_for_the_holder(spinners_share: u32) -> Duration {
    let sim = VirtualTime::new();
    let ex = sim.builder().host_budget(NEVER).build().unwrap();
    let high = ex.new_queue("high").share(1_000).create().unwrap();
    let low = ex.new_queue("low").share(1).create().unwrap();
    let spinning = ex.new_queue("spinning").share(spinners_share).create().unwrap();
    let (lock, stop) = (Lock::default(), Rc::new(Cell::new(false)));
    let held = Signal::new();
    drop(low.spawn({
        let (sim, lock, held) = (sim.clone(), lock.clone(), held.clone());
        async move {
            lock.lock().await;
            held.set();
            for _ in 0..10 {
                sim.work(us(100));
                yield_now().await;
            }
            lock.unlock();
        }
    }));
    sim.run(&ex, held.wait());
    drop(spinning.spawn({
        let (sim, stop) = (sim.clone(), Rc::clone(&stop));
        async move {
            while !stop.get() {
                sim.work(us(100));
                yield_now().await;
            }
        }
    }));
    let waiter = high.spawn({
        let (sim, lock) = (sim.clone(), lock.clone());
        async move {
            let asked = sim.now();
            lock.lock().await;
            sim.now() - asked
        }
    });
    let waited = sim.run(&ex, waiter).unwrap();
    stop.set(true);
    waited
}

#[test]
fn a_lock_held_by_a_task_of_the_smallest_share_is_given_back() {
    // No share is zero, so the holder gets its millisecond, sooner or later: when its share says, give or take what a
    // queue may be ahead by, a request and a poll.
    for spinners in [1, 9, 99, 1_000] {
        let waited = waits_for_the_holder(spinners);
        let fair = us(1_000) * (spinners + 1);
        assert!(waited >= us(1_000), "{waited:?} beside a share of {spinners}");
        assert!(waited <= fair + us(600) * (spinners + 1), "{waited:?} beside a share of {spinners}");
    }
}
