//! How soon an abort takes effect: the future is dropped before others are polled, whatever else there is to do, and nothing
//! of the task is left in a scheduler.

use std::cell::{Cell, RefCell};
use std::future::pending;
use std::rc::Rc;
use std::time::Duration;

use clockworker::schedulers::{Las, Qlas, Serpt};
use clockworker::{AbortHandle, Executor, ManualClock, Queue, yield_now};

use crate::support::{
    OnDrop, Probe, assert_finished, elsewhere, hold, never_rests, output, probed, settle, tick, untimed,
};

#[test]
fn ten_thousand_tasks_before_it_do_not_delay_the_drop() {
    for woken in [false, true] {
        let ex = Executor::builder().poll_cap(1).clock(ManualClock::new()).build().unwrap();
        let probes: Vec<_> = (0..10_000).map(|_| probed(&ex).0).collect();
        let (victim, task) = probed(&ex);
        if woken {
            settle(&ex);
            probes.iter().for_each(|probe| probe.finish());
        }
        let polls = ex.stats().polls;
        task.abort();
        tick(&ex);
        // The drop took the place of a poll. Between two polls come at most 64 of those that were woken, and what other
        // threads sent and aborts.
        assert_eq!((victim.drops.get(), ex.stats().polls), (1, polls), "woken: {woken}");
        settle(&ex);
        assert_finished(&ex.stats(), if woken { 10_000 } else { 0 }, 1, 0);
    }
}

#[test]
fn a_tiny_share_does_not_delay_the_drop() {
    let ex = Executor::builder().poll_cap(10).clock(ManualClock::new()).build().unwrap();
    let heavy = ex.new_queue("heavy").share(10_000).create().unwrap();
    let tiny = ex.new_queue("tiny").share(1).create().unwrap();
    let busy = heavy.spawn(never_rests());
    let probe = Probe::new();
    let task = tiny.spawn(probe.future());
    task.abort();
    tick(&ex);
    assert_eq!((probe.polls.get(), probe.drops.get()), (0, 1));
    assert!(!busy.is_finished());
}

#[test]
fn tasks_of_a_queue_that_is_never_picked_are_dropped_too() {
    // The other queue's only slice is under way when the abort comes: no pick in between.
    let ex = untimed();
    let starved = ex.new_queue("starved").create().unwrap();
    let probe = Probe::new();
    let task = starved.spawn(probe.future());
    let handle = task.abort_handle();
    let seen = Rc::clone(&probe);
    let aborter = ex.spawn(async move {
        handle.abort();
        yield_now().await;
        seen.drops.get()
    });
    settle(&ex);
    assert_eq!(output(aborter).unwrap(), 1);
    assert_eq!((probe.polls.get(), starved.stats().polls), (0, 0));
    assert!(output(task).unwrap_err().is_cancelled());
}

#[test]
fn an_abort_in_every_scheduler_leaves_the_rest_in_order() {
    fn check(ex: &Executor, queue: &Queue) {
        let order = Rc::new(RefCell::new(Vec::new()));
        let tasks: Vec<_> = (0..6)
            .map(|i| {
                let order = Rc::clone(&order);
                queue.spawn(async move { order.borrow_mut().push(i) })
            })
            .collect();
        [0, 3, 5].into_iter().for_each(|i: usize| tasks[i].abort());
        settle(ex);
        assert_eq!(*order.borrow(), [1, 2, 4]);
        assert_eq!(queue.stats().policy_fault, None);
        assert_eq!((queue.stats().live, queue.stats().ready), (0, 0));
        assert!(tasks.iter().all(|task| task.is_finished()));
    }
    let ex = untimed();
    check(&ex, ex.default_queue());
    check(&ex, &ex.new_queue("las").scheduler(Las::new()).create().unwrap());
    check(&ex, &ex.new_queue("qlas").scheduler(Qlas::new()).create().unwrap());
    check(&ex, &ex.new_queue("serpt").scheduler(Serpt::new()).create().unwrap());
}

#[test]
fn slots_of_aborted_tasks_are_used_again() {
    // If they leaked, the ids would grow; the scheduler sees them.
    use clockworker::schedulers::{Ready, Scheduler, Task, TaskId};
    struct Highest(std::collections::VecDeque<TaskId>, Rc<Cell<usize>>);
    impl Scheduler for Highest {
        fn push(&mut self, task: Task, _why: Ready) {
            self.1.set(self.1.get().max(task.id.slot()));
            self.0.push_back(task.id);
        }
        fn pop(&mut self) -> Option<TaskId> {
            self.0.pop_front()
        }
    }
    let highest = Rc::new(Cell::new(0));
    let ex = Executor::builder().scheduler(Highest(Default::default(), Rc::clone(&highest))).build().unwrap();
    for round in 0..1_000 {
        let ready = ex.spawn(pending::<()>());
        let parked = ex.spawn(pending::<()>());
        if round % 2 == 0 {
            settle(&ex);
        }
        ready.abort();
        parked.abort();
        settle(&ex);
        // Those that were aborted while ready go when the scheduler gives them out.
        drop(ex.spawn(async {}));
        settle(&ex);
    }
    assert!(highest.get() <= 4, "slot {} was used", highest.get());
    assert_eq!(ex.stats().live, 0);
}

/// Found by the fuzz target `hostile_scheduler`: the spawn took the wake in, and the scheduler was handed a task whose record
/// was then removed.
#[test]
fn a_task_woken_while_it_is_dropped_is_not_handed_to_its_scheduler() {
    for woken_before in [false, true] {
        let ex = untimed();
        let probe = Probe::new();
        let drop_spawns = {
            let (probe, queue) = (Rc::clone(&probe), ex.default_queue().clone());
            OnDrop::new(move || {
                probe.waker().wake();
                drop(queue.spawn(async {}));
            })
        };
        let future = probe.future();
        let task = ex.spawn(async move {
            let _drop_spawns = drop_spawns;
            future.await
        });
        settle(&ex);
        task.abort();
        if woken_before {
            probe.waker().wake();
        }
        settle(&ex);
        assert!(output(task).unwrap_err().is_cancelled());
        settle(&ex);
        let stats = ex.default_queue().stats();
        assert_eq!((probe.polls.get(), stats.ready, stats.policy_fault), (1, 0, None));
        assert_finished(&ex.stats(), 1, 1, 0);
    }
}

#[test]
fn tasks_that_abort_one_another_in_their_drops_leave_the_host_its_turns() {
    const TASKS: usize = 1_000;
    let clock = ManualClock::new();
    let ex = Executor::builder().clock(clock.clone()).build().unwrap();
    let mut next: Option<AbortHandle> = None;
    for _ in 0..TASKS {
        let (clock, aborts) = (clock.clone(), next.take());
        let drop_takes_long = OnDrop::new(move || {
            clock.advance(Duration::from_millis(1));
            aborts.iter().for_each(AbortHandle::abort);
        });
        next = Some(ex.spawn(hold(drop_takes_long)).abort_handle());
    }
    settle(&ex);
    let before = ex.stats();
    next.unwrap().abort();
    settle(&ex);
    let after = ex.stats();
    assert_eq!(after.host_yields - before.host_yields, TASKS as u64 - 1, "one after each but the last");
    assert_finished(&after, 0, TASKS as u64, 0);
}

/// An abort is behind what came from other threads and is still to be admitted, as an admission before it took long.
#[test]
fn a_task_that_is_woken_and_aborted_behind_a_slow_admission_is_not_polled() {
    let clock = ManualClock::new();
    let ex = Executor::builder().clock(clock.clone()).build().unwrap();
    let [aborted, woken] = [Probe::new(), Probe::new()];
    let task = ex.spawn(aborted.future());
    drop(ex.spawn(woken.future()));
    settle(&ex);
    let takes_long = SlowDrop(clock);
    let handle = ex.handle();
    elsewhere(move || {
        // It is dropped when it is admitted.
        handle.spawn(move || async move { drop(takes_long) }).abort();
    });
    let waker = woken.waker();
    elsewhere(|| waker.wake());
    let (wakes, abort) = (aborted.waker(), task.abort_handle());
    drop(ex.spawn(async move {
        wakes.wake();
        abort.abort();
    }));
    settle(&ex);
    assert!(output(task).unwrap_err().is_cancelled());
    assert_eq!((aborted.polls.get(), woken.polls.get()), (1, 2));
}

/// Takes a millisecond to drop.
struct SlowDrop(ManualClock);

impl Drop for SlowDrop {
    fn drop(&mut self) {
        self.0.advance(Duration::from_millis(1));
    }
}
