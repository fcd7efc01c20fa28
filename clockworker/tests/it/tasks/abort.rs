//! Abort: the future is dropped within one tick, on the owner thread, whatever state its task is in. (What its handle gives
//! then is in `matrix`.)

use std::cell::{Cell, RefCell};
use std::future::{Future, pending, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;

use clockworker::{AbortHandle, Cap, Executor, ManualClock, Queue};

use crate::support::{
    CountingWaker, DropLog, OnDrop, Probe, Slot, assert_finished, elsewhere, hold, never_rests, on_thread,
    output, parked, poll_with, probed, settle, settle_run, tick, untimed,
};

/// A wake of the task, by whether it is another thread's and comes after the abort.
type Wake = (bool, bool);

/// Aborts a task that is new, or waits and is perhaps woken.
fn check_dropped_in_the_next_tick(is_new: bool, wake: Option<Wake>, remote: bool) {
    let ex = untimed();
    let (probe, task) = if is_new { probed(&ex) } else { parked(&ex) };
    let polls = probe.polls.get();
    let wakes = |after: bool| {
        if let Some((remote, _)) = wake.filter(|&(_, wakes_after)| wakes_after == after) {
            let waker = probe.waker();
            on_thread(remote, || waker.wake());
        }
    };
    wakes(false);
    on_thread(remote, || task.abort_handle().abort());
    wakes(true);
    assert_eq!(probe.drops.get(), 0, "not on the caller's stack");
    assert!(!task.is_finished());
    tick(&ex);
    assert!(task.is_finished());
    assert_eq!((probe.polls.get(), probe.drops.get()), (polls, 1));
    assert!(output(task).unwrap_err().is_cancelled());
    settle(&ex);
    assert_finished(&ex.stats(), 0, 1, 0);
    assert_eq!(ex.stats().ready, 0);
}

#[test]
fn a_task_is_dropped_in_the_next_tick_and_not_polled() {
    for remote in [false, true] {
        check_dropped_in_the_next_tick(true, None, remote);
        check_dropped_in_the_next_tick(false, None, remote);
        for wake in [(false, false), (false, true), (true, false), (true, true)] {
            check_dropped_in_the_next_tick(false, Some(wake), remote);
        }
    }
}

#[test]
fn a_task_that_yields_for_ever_can_be_aborted() {
    let ex = Executor::builder().poll_cap(100).clock(ManualClock::new()).build().unwrap();
    let task = ex.spawn(never_rests());
    tick(&ex);
    assert_eq!(ex.stats().polls, 100);
    task.abort();
    tick(&ex);
    assert!(task.is_finished());
    assert_eq!(ex.stats().polls, 100);
    assert_finished(&ex.stats(), 0, 1, 0);
}

#[test]
fn a_task_that_aborts_itself_and_is_pending_is_dropped_after_that_poll() {
    for remote in [false, true] {
        for self_wake in [false, true] {
            // To the host the poll takes no time, so that the drop comes in the same turn.
            let ex = untimed();
            let (probe, own) = (Probe::new(), Slot::<AbortHandle>::new());
            let (abort, seen, mut inner) = (own.clone(), Rc::clone(&probe), probe.future());
            let task = ex.spawn(poll_fn(move |cx| {
                let abort = abort.take();
                on_thread(remote, || abort.abort());
                assert_eq!(seen.drops.get(), 0, "not inside its own poll");
                if self_wake {
                    cx.waker().wake_by_ref();
                }
                Pin::new(&mut inner).poll(cx)
            }));
            own.put(task.abort_handle());
            tick(&ex);
            assert_eq!((probe.polls.get(), probe.drops.get()), (1, 1), "woken: {self_wake}");
            assert!(output(task).unwrap_err().is_cancelled());
            settle(&ex);
            assert_finished(&ex.stats(), 0, 1, 0);
            assert_eq!(ex.stats().queues[0].policy_fault, None);
        }
    }
}

#[test]
fn a_task_that_aborts_itself_in_its_last_poll_completes() {
    let ex = untimed();
    let own = Slot::<AbortHandle>::new();
    let abort = own.clone();
    let task = ex.spawn(async move { abort.take().abort() });
    own.put(task.abort_handle());
    settle(&ex);
    output(task).unwrap();
    assert_finished(&ex.stats(), 1, 0, 0);
}

#[test]
fn a_task_that_another_task_aborts_is_dropped_before_the_third_is_polled() {
    let ex = untimed();
    let (victim, task) = parked(&ex);
    ex.spawn(async move { task.abort() });
    let seen = Rc::clone(&victim);
    let third = ex.spawn(async move { seen.drops.get() });
    settle(&ex);
    assert_eq!(output(third).unwrap(), 1);
}

#[test]
fn aborting_twice_or_by_several_handles_cancels_once() {
    let ex = untimed();
    let (probe, task) = parked(&ex);
    let handle = task.abort_handle();
    for _ in 0..2 {
        task.abort();
        handle.abort();
        elsewhere(|| handle.clone().abort());
        tick(&ex);
    }
    assert_eq!(probe.drops.get(), 1);
    assert!(output(task).unwrap_err().is_cancelled());
    assert_finished(&ex.stats(), 0, 1, 0);
}

#[test]
fn an_abort_handle_may_outlive_the_task_the_join_handle_and_the_executor() {
    let ex = untimed();
    let task = ex.spawn(pending::<()>());
    let (handle, id) = (task.abort_handle(), task.id());
    drop(task);
    settle(&ex);
    assert!(!handle.is_finished());
    drop(ex);
    for remote in [false, true] {
        let handle = handle.clone();
        on_thread(remote, move || {
            handle.abort();
            assert!(handle.is_finished());
            assert_eq!(handle.id(), id);
        });
    }
}

#[test]
fn is_finished_turns_true_when_the_future_has_been_dropped_and_not_before() {
    let ex = untimed();
    let (during, handle) = (Rc::new(Cell::new(None)), Slot::<AbortHandle>::new());
    let (seen, own) = (Rc::clone(&during), handle.clone());
    let task = ex.spawn(hold(OnDrop::new(move || seen.set(Some(own.take().is_finished())))));
    handle.put(task.abort_handle());
    assert!(!task.is_finished());
    settle(&ex);
    assert!(!task.is_finished());
    task.abort();
    assert!(!task.is_finished());
    tick(&ex);
    assert_eq!(during.get(), Some(false));
    assert!(task.is_finished() && task.abort_handle().is_finished());
}

#[test]
fn an_abort_wakes_a_sleeping_host_once() {
    for remote in [false, true] {
        let ex = untimed();
        let task = ex.spawn(pending::<()>());
        let mut run = pin!(ex.run_until(pending::<()>()));
        assert!(settle_run(run.as_mut()).is_none());
        let (wakes, waker) = CountingWaker::new();
        assert!(poll_with(&mut run, &waker).is_pending());
        assert_eq!(wakes.count(), 0);
        let abort = task.abort_handle();
        for _ in 0..2 {
            on_thread(remote, || abort.abort());
            assert_eq!(wakes.count(), 1);
        }
        assert!(poll_with(&mut run, &waker).is_pending());
        assert!(task.is_finished());
        assert_eq!(wakes.count(), 1);
    }
}

#[test]
fn aborts_from_eight_threads_during_a_run_cancel_each_task_once() {
    const THREADS: usize = 8;
    const TASKS: usize = 500;
    let ex = untimed();
    let log = DropLog::new();
    let tasks: Vec<_> = (0..TASKS).map(|_| ex.spawn(hold(log.local()))).collect();
    let handles: Vec<_> = tasks.iter().map(|task| task.abort_handle()).collect();
    thread::scope(|scope| {
        for shift in 0..THREADS {
            let mut handles = handles.clone();
            scope.spawn(move || {
                handles.rotate_left(shift * TASKS / THREADS);
                handles.iter().for_each(AbortHandle::abort);
            });
        }
        ex.block_on(async {
            for task in tasks {
                assert!(task.await.unwrap_err().is_cancelled());
            }
        });
    });
    log.assert_here(TASKS);
    assert_finished(&ex.stats(), 0, TASKS as u64, 0);
}

/// A task that another thread spawned is refused, and its drop aborts one that is new.
#[test]
fn aborted_by_the_drop_of_a_refused_task_it_is_not_polled() {
    let ex = untimed();
    let closing = ex.new_queue("closing").create().unwrap();
    let (probe, task) = probed(&ex);
    let (handle, abort) = (ex.handle(), task.abort_handle());
    elsewhere(move || {
        let abort = OnDrop::new(move || abort.abort());
        drop(handle.spawn_on("closing", move || async move { drop(abort) }));
    });
    closing.close();
    settle(&ex);
    assert!(output(task).unwrap_err().is_cancelled());
    assert_eq!(probe.polls.get(), 0);
}

/// The first turn ends before all queues are woken, so the next one begins with a slice.
#[test]
fn aborted_before_a_turn_that_owes_a_slice_it_is_not_polled() {
    let ex = Executor::builder().clock(ManualClock::new()).host_budget(Duration::ZERO).build().unwrap();
    let queues: Vec<_> =
        (0..200).map(|number| ex.new_queue(&format!("{number}")).create().unwrap()).collect();
    let polls = Rc::new(Cell::new(0));
    let spawn = |queue: &Queue| {
        let polls = Rc::clone(&polls);
        queue.spawn(async move { polls.set(polls.get() + 1) })
    };
    let tasks: Vec<_> = queues.iter().map(spawn).collect();
    let mut run = pin!(ex.run_until(pending::<()>()));
    let _ = poll_with(&mut run, Waker::noop());
    let before = polls.get();
    tasks.iter().for_each(|task| task.abort());
    while ex.stats().live > 0 {
        let _ = poll_with(&mut run, Waker::noop());
    }
    assert_eq!(polls.get(), before);
}

#[test]
fn a_task_whose_future_is_being_dropped_is_not_ready() {
    let ex = Rc::new(untimed());
    let seen = Rc::new(Cell::new(None));
    let (of, saw) = (Rc::downgrade(&ex), Rc::clone(&seen));
    let looks = move || {
        let stats = of.upgrade().unwrap().stats();
        saw.set(Some((stats.ready, stats.live)));
    };
    ex.spawn(hold(OnDrop::new(looks.clone()))).abort();
    settle(&ex);
    assert_eq!(seen.take(), Some((0, 1)));
    drop(ex.spawn(hold(OnDrop::new(looks))));
    let _ = ex.block_on_shutdown(async {});
    assert_eq!(seen.take(), Some((0, 1)), "at shutdown");
}

/// Its queue is throttled, so that only futures are dropped there.
#[test]
fn an_aborted_task_that_its_own_drop_wakes_is_not_ready() {
    let clock = ManualClock::new();
    let ex = Executor::builder().clock(clock.clone()).build().unwrap();
    let hour = Duration::from_secs(3600);
    let queue =
        ex.new_queue("capped").cap(Cap::new(Duration::from_millis(1), hour).unwrap()).create().unwrap();
    let waker = Rc::new(RefCell::new(None::<Waker>));
    let (kept, woken) = (Rc::clone(&waker), Rc::clone(&waker));
    let wakes = OnDrop::new(move || woken.borrow().iter().for_each(Waker::wake_by_ref));
    let task = queue.spawn(poll_fn(move |cx| {
        let _in_the_future = &wakes;
        kept.replace(Some(cx.waker().clone()));
        Poll::<()>::Pending
    }));
    drop(queue.spawn(async move { clock.advance(Duration::from_millis(3)) }));
    settle(&ex);
    task.abort();
    settle(&ex);
    assert!(task.is_finished());
    assert_eq!((queue.stats().live, queue.stats().ready), (0, 0));
}
