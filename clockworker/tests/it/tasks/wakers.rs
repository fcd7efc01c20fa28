//! Wakers: each wake is followed by a poll, duplicates by one, and those of finished tasks by none. They may outlive a poll,
//! a task and an executor.

#![allow(clippy::waker_clone_wake, reason = "a wake that consumes a clone is what is tested")]

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;

use clockworker::Executor;

use crate::support::{
    DropLog, OnDrop, Probe, Slot, assert_finished, elsewhere, hold, on_thread, output, parked, settle, tick,
    untimed,
};

#[test]
fn a_task_is_polled_once_and_then_only_when_woken() {
    let ex = untimed();
    let (probe, _) = parked(&ex);
    settle(&ex);
    assert_eq!(probe.polls.get(), 1);
    probe.waker().wake();
    settle(&ex);
    settle(&ex);
    assert_eq!(probe.polls.get(), 2);
}

#[test]
fn wakes_before_a_poll_are_one_poll_wherever_they_come_from() {
    fn twice(waker: &Waker) {
        waker.wake_by_ref();
        waker.clone().wake();
    }
    fn on_four_threads(waker: &Waker) {
        thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(|| twice(waker)))));
    }
    let orders: [&[fn(&Waker)]; 4] =
        [&[twice], &[on_four_threads], &[twice, on_four_threads], &[on_four_threads, twice]];
    for (number, wakes) in orders.into_iter().enumerate() {
        let ex = untimed();
        let (probe, _) = parked(&ex);
        wakes.iter().for_each(|wake| wake(&probe.waker()));
        settle(&ex);
        assert_eq!(probe.polls.get(), 2, "order {number}");
        assert!(ex.stats().queues[0].policy_fault.is_none());
    }
}

#[test]
fn a_wake_of_a_task_that_was_never_polled_adds_no_poll() {
    let ex = untimed();
    let probe = Probe::new();
    let early = Slot::new();
    let slot = early.clone();
    let first = ex.spawn(poll_fn(move |cx| {
        slot.put(cx.waker().clone());
        Poll::Ready(())
    }));
    // Ready before the first task's waker is used: only its own spawn counts.
    ex.spawn(probe.future());
    settle(&ex);
    output(first).unwrap();
    early.take().wake();
    settle(&ex);
    assert_eq!(probe.polls.get(), 1);
}

#[test]
fn a_wake_during_the_own_poll_is_exactly_one_more_poll() {
    for (local, remote) in [(1, 0), (2, 0), (100, 0), (0, 1), (0, 2), (1, 1), (1, 100)] {
        let ex = untimed();
        let polls = Rc::new(Cell::new(0));
        let counted = Rc::clone(&polls);
        let task = ex.spawn(poll_fn(move |cx| {
            counted.set(counted.get() + 1);
            if counted.get() == 1 {
                let waker = cx.waker();
                for _ in 0..local {
                    waker.wake_by_ref();
                    waker.clone().wake();
                }
                elsewhere(|| (0..remote).for_each(|_| waker.wake_by_ref()));
            }
            Poll::<()>::Pending
        }));
        settle(&ex);
        assert_eq!(polls.get(), 2, "{local} wakes here, {remote} elsewhere");
        let stats = ex.stats();
        assert_eq!(stats.queues[0].policy_fault, None);
        assert_eq!((stats.ready, stats.live), (0, 1));
        task.abort();
        settle(&ex);
        assert_finished(&ex.stats(), 0, 1, 0);
    }
}

#[test]
fn a_wake_from_another_thread_during_the_own_last_poll_is_ignored() {
    let ex = untimed();
    let kept = Slot::new();
    let slot = kept.clone();
    let task = ex.spawn(poll_fn(move |cx| {
        let waker = cx.waker();
        elsewhere(|| waker.wake_by_ref());
        slot.put(waker.clone());
        Poll::Ready(7)
    }));
    settle(&ex);
    assert_eq!(output(task).unwrap(), 7);
    kept.take().wake();
    settle(&ex);
    assert_eq!(ex.stats().polls, 1);
}

/// The abort arrives while the executor is idle: whom it wakes must not wait for the next host poll.
#[test]
fn whom_an_abort_wakes_is_polled_although_nothing_else_is_ready() {
    for remote in [false, true] {
        let ex = untimed();
        let (woken, _) = parked(&ex);
        let wakes = Rc::clone(&woken);
        let victim = ex.spawn(hold(OnDrop::new(move || wakes.waker().wake())));
        let abort = victim.abort_handle();
        let joiner = ex.spawn(async move { victim.await.unwrap_err().is_cancelled() });
        settle(&ex);
        assert_eq!(woken.polls.get(), 1);
        on_thread(remote, || abort.abort());
        settle(&ex);
        assert!(abort.is_finished() && output(joiner).unwrap(), "remote: {remote}");
        assert_eq!(woken.polls.get(), 2, "remote: {remote}");
    }
}

#[test]
fn no_wake_of_eight_threads_is_lost() {
    const THREADS: usize = 8;
    const ROUNDS: usize = 2_000;
    let ex = untimed();
    let polls = Rc::new(Cell::new(0));
    // One task for each thread, and what the thread has written for it.
    let tasks: Vec<_> = (0..THREADS)
        .map(|_| {
            let (sent, waker) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(None::<Waker>)));
            let (seen, slot, polls) = (Arc::clone(&sent), Arc::clone(&waker), Rc::clone(&polls));
            let task = ex.spawn(poll_fn(move |cx| {
                polls.set(polls.get() + 1);
                slot.lock().unwrap().get_or_insert_with(|| cx.waker().clone());
                if seen.load(Ordering::Relaxed) == ROUNDS { Poll::Ready(()) } else { Poll::Pending }
            }));
            (task, sent, waker)
        })
        .collect();
    settle(&ex);
    thread::scope(|scope| {
        let mut handles = Vec::new();
        for (task, sent, waker) in tasks {
            handles.push(task);
            let waker = waker.lock().unwrap().clone().expect("it was polled");
            scope.spawn(move || {
                for round in 1..=ROUNDS {
                    // Relaxed: it is the wake that publishes it, also where it is coalesced.
                    sent.store(round, Ordering::Relaxed);
                    waker.wake_by_ref();
                }
            });
        }
        ex.block_on(async {
            for handle in handles {
                handle.await.unwrap();
            }
        });
    });
    assert!(polls.get() <= THREADS * (ROUNDS + 1), "more polls than wakes");
}

#[test]
fn what_was_written_before_a_coalesced_wake_is_seen_by_the_poll() {
    // Two threads wake one task at the same time, again and again. Each round the task may go on only when both writes
    // are there; the later wake is often coalesced into the earlier one, and must bring its write with it.
    const ROUNDS: usize = 2_000;
    let ex = untimed();
    let data = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
    let waker: Arc<Mutex<Option<Waker>>> = Arc::default();
    let go = Arc::new(Barrier::new(3));
    thread::scope(|scope| {
        for side in 0..2 {
            let (data, waker, go) = (Arc::clone(&data), Arc::clone(&waker), Arc::clone(&go));
            scope.spawn(move || {
                for round in 1..=ROUNDS {
                    go.wait();
                    let waker = waker.lock().unwrap().clone().expect("set before the barrier");
                    data[side].store(round, Ordering::Relaxed);
                    waker.wake_by_ref();
                }
            });
        }
        ex.block_on(async {
            clockworker::spawn_local(async move {
                for round in 1..=ROUNDS {
                    let mut started = false;
                    poll_fn(|cx| {
                        if !started {
                            started = true;
                            *waker.lock().unwrap() = Some(cx.waker().clone());
                            go.wait();
                        }
                        let seen = |side: usize| data[side].load(Ordering::Relaxed) == round;
                        if seen(0) && seen(1) { Poll::Ready(()) } else { Poll::Pending }
                    })
                    .await;
                }
            })
            .await
            .unwrap();
        });
    });
}

#[test]
fn wakers_of_one_task_will_wake_the_same_and_those_of_two_do_not() {
    let ex = untimed();
    let ((a, _), (b, _)) = (parked(&ex), parked(&ex));
    let first = a.waker();
    first.wake_by_ref();
    settle(&ex);
    assert!(first.will_wake(&a.waker()), "it changes from poll to poll");
    assert!(first.will_wake(&first.clone()));
    assert!(!first.will_wake(&b.waker()));
    assert!(!first.will_wake(Waker::noop()));
    // Also the one that is lent to a poll.
    let lent = ex.spawn(poll_fn(|cx| {
        let clone = cx.waker().clone();
        Poll::Ready(cx.waker().will_wake(&clone) && clone.will_wake(cx.waker()))
    }));
    settle(&ex);
    assert!(output(lent).unwrap());
}

#[test]
fn waking_runs_no_user_code_so_locks_may_be_held() {
    let ex = untimed();
    let cell = Rc::new(RefCell::new(0));
    let mutex = Arc::new(Mutex::new(0));
    let probe = Probe::new();
    let guard = OnDrop::new({
        let (cell, mutex) = (Rc::clone(&cell), Arc::clone(&mutex));
        move || {
            *cell.borrow_mut() += 1;
            *mutex.lock().unwrap() += 1;
        }
    });
    let future = probe.future();
    let task = ex.spawn(async move {
        let _guard = guard;
        future.await
    });
    settle(&ex);
    let waker = probe.waker();
    {
        let held = cell.borrow_mut();
        let locked = mutex.lock().unwrap();
        waker.wake_by_ref();
        elsewhere(|| waker.wake_by_ref());
        task.abort();
        waker.wake_by_ref();
        elsewhere(|| waker.clone().wake());
        waker.wake();
        drop(task);
        assert_eq!((*held, *locked), (0, 0));
    }
    tick(&ex);
    assert_eq!((*cell.borrow(), *mutex.lock().unwrap()), (1, 1));
}

#[test]
fn tasks_of_two_executors_on_one_thread_wake_each_other() {
    let (left, right) = (untimed(), untimed());
    let ((ping, _), (pong, _)) = (parked(&left), parked(&right));
    let (wakes_ping, wakes_pong) = (ping.waker(), pong.waker());
    right.spawn(async move { wakes_ping.wake() });
    settle(&right);
    assert_eq!(ping.polls.get(), 1, "it is not its executor that ran");
    left.spawn(async move { wakes_pong.wake() });
    settle(&left);
    settle(&right);
    assert_eq!((ping.polls.get(), pong.polls.get()), (2, 2));
}

#[test]
fn wakers_of_finished_tasks_do_nothing() {
    let ex = untimed();
    let (probe, task) = parked(&ex);
    let waker = probe.waker();
    probe.finish();
    settle(&ex);
    assert_eq!(output(task).unwrap(), 2);
    waker.wake_by_ref();
    elsewhere(|| waker.wake_by_ref());
    settle(&ex);
    waker.wake();
    settle(&ex);
    assert_eq!((probe.polls.get(), probe.drops.get()), (2, 1));
    assert_eq!(ex.stats().polls, 2);
}

#[test]
fn an_old_waker_neither_polls_nor_charges_the_new_task_of_its_slot() {
    let ex = untimed();
    let other = ex.new_queue("other").create().unwrap();
    let (old, first) = parked(&ex);
    let waker = old.waker();
    old.finish();
    settle(&ex);
    output(first).unwrap();

    let (new, _) = parked(&ex);
    let elsewhere_new = Probe::new();
    other.spawn(elsewhere_new.future());
    settle(&ex);
    let before = ex.stats();
    for _ in 0..3 {
        waker.wake_by_ref();
        elsewhere(|| waker.wake_by_ref());
        settle(&ex);
    }
    assert_eq!((new.polls.get(), elsewhere_new.polls.get()), (1, 1));
    let after = ex.stats();
    assert_eq!((after.polls, after.busy, after.slices), (before.polls, before.busy, before.slices));
    assert_eq!(after.queues[0].policy_fault, None);
}

#[test]
fn an_old_waker_used_while_the_slots_new_task_runs_does_not_touch_it() {
    let ex = untimed();
    let (old, _) = parked(&ex);
    let waker = old.waker();
    old.finish();
    settle(&ex);
    let polls = Rc::new(Cell::new(0));
    let counted = Rc::clone(&polls);
    ex.spawn(poll_fn(move |_| {
        counted.set(counted.get() + 1);
        waker.wake_by_ref();
        elsewhere(|| waker.wake_by_ref());
        Poll::<()>::Pending
    }));
    settle(&ex);
    assert_eq!(polls.get(), 1);
}

#[test]
fn wakers_are_used_on_eight_threads_while_the_executor_is_dropped() {
    const THREADS: usize = 8;
    const TASKS: usize = 64;
    for _ in 0..20 {
        let log = DropLog::new();
        let ex = untimed();
        let wakers: Arc<Mutex<Vec<Waker>>> = Arc::default();
        for _ in 0..TASKS {
            let (wakers, guard) = (Arc::clone(&wakers), log.local());
            ex.spawn(poll_fn(move |cx| {
                let _guard = &guard;
                let mut wakers = wakers.lock().unwrap();
                if wakers.len() < TASKS {
                    wakers.push(cx.waker().clone());
                }
                Poll::<()>::Pending
            }));
        }
        settle(&ex);
        let wakers = std::mem::take(&mut *wakers.lock().unwrap());
        assert_eq!(wakers.len(), TASKS);
        let start = Barrier::new(THREADS + 1);
        thread::scope(|scope| {
            for shift in 0..THREADS {
                let (start, mut own) = (&start, wakers.clone());
                scope.spawn(move || {
                    own.rotate_left(shift * TASKS / THREADS);
                    start.wait();
                    for waker in own {
                        waker.wake_by_ref();
                        waker.wake();
                    }
                });
            }
            start.wait();
            tick(&ex);
            drop(ex);
        });
        drop(wakers);
        log.assert_here(TASKS);
    }
}

/// The turn ends with the drop of an aborted task, which stays linked. A wake of another one is news all the same.
#[test]
fn a_wake_behind_an_aborted_task_is_not_lost() {
    let ex = Executor::builder().host_budget(Duration::ZERO).build().unwrap();
    let (probe, task) = parked(&ex);
    let aborted = ex.spawn(async {});
    aborted.abort();
    settle(&ex);
    assert!(aborted.is_finished());
    probe.waker().wake();
    settle(&ex);
    assert_eq!((probe.polls.get(), ex.stats().ready), (2, 0));
    drop(task);
}
