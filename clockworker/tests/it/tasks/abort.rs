//! Abort: the future is dropped within one tick, on the owner thread, whatever state its task is in.

use std::cell::{Cell, RefCell};
use std::future::{Future, pending, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::task::{Context, Poll};
use std::thread;

use clockworker::{AbortHandle, Executor, ManualClock};

use crate::support::{
    CountingWaker, DropLog, OnDrop, Probe, assert_finished, hold, never_rests, output, settle, settle_run,
    tick, untimed,
};

/// Aborts here or on another thread.
fn abort(task: &AbortHandle, remote: bool) {
    if remote {
        thread::scope(|scope| scope.spawn(|| task.abort()).join().unwrap());
    } else {
        task.abort();
    }
}

#[test]
fn a_task_aborted_before_its_first_poll_is_never_polled() {
    for remote in [false, true] {
        let ex = untimed();
        let probe = Probe::new();
        let task = ex.spawn(probe.future());
        abort(&task.abort_handle(), remote);
        assert_eq!(probe.drops.get(), 0, "not on the caller's stack");
        assert!(!task.is_finished());
        tick(&ex);
        assert!(task.is_finished());
        assert_eq!((probe.polls.get(), probe.drops.get()), (0, 1));
        assert!(output(task).unwrap_err().is_cancelled());
        settle(&ex);
        assert_finished(&ex.stats(), 0, 1, 0);
        assert_eq!(ex.stats().ready, 0);
    }
}

#[test]
fn a_parked_task_is_dropped_in_the_next_tick() {
    for remote in [false, true] {
        let ex = untimed();
        let probe = Probe::new();
        let task = ex.spawn(probe.future());
        settle(&ex);
        abort(&task.abort_handle(), remote);
        assert_eq!(probe.drops.get(), 0);
        tick(&ex);
        assert_eq!((probe.polls.get(), probe.drops.get()), (1, 1));
        assert!(output(task).unwrap_err().is_cancelled());
        assert_finished(&ex.stats(), 0, 1, 0);
    }
}

#[test]
fn a_woken_task_is_not_polled_but_dropped() {
    for remote in [false, true] {
        for remote_wake in [false, true] {
            for abort_first in [false, true] {
                let ex = untimed();
                let probe = Probe::new();
                let task = ex.spawn(probe.future());
                settle(&ex);
                let waker = probe.waker();
                let wake = || {
                    if remote_wake {
                        thread::scope(|scope| scope.spawn(|| waker.wake_by_ref()).join().unwrap());
                    } else {
                        waker.wake_by_ref();
                    }
                };
                if !abort_first {
                    wake();
                }
                abort(&task.abort_handle(), remote);
                if abort_first {
                    wake();
                }
                tick(&ex);
                assert_eq!((probe.polls.get(), probe.drops.get()), (1, 1));
                assert!(output(task).unwrap_err().is_cancelled());
                settle(&ex);
                assert_finished(&ex.stats(), 0, 1, 0);
            }
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
            let probe = Probe::new();
            let own: Rc<RefCell<Option<AbortHandle>>> = Rc::default();
            let (slot, seen) = (Rc::clone(&own), Rc::clone(&probe));
            let mut inner = probe.future();
            let task = ex.spawn(poll_fn(move |cx| {
                abort(slot.borrow().as_ref().unwrap(), remote);
                assert_eq!(seen.drops.get(), 0, "not inside its own poll");
                if self_wake {
                    cx.waker().wake_by_ref();
                }
                Pin::new(&mut inner).poll(cx)
            }));
            own.replace(Some(task.abort_handle()));
            tick(&ex);
            assert_eq!(
                (probe.polls.get(), probe.drops.get()),
                (1, 1),
                "remote: {remote}, woken: {self_wake}"
            );
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
    let own: Rc<RefCell<Option<AbortHandle>>> = Rc::default();
    let slot = Rc::clone(&own);
    let task = ex.spawn(async move { slot.borrow().as_ref().unwrap().abort() });
    own.replace(Some(task.abort_handle()));
    settle(&ex);
    output(task).unwrap();
    assert_finished(&ex.stats(), 1, 0, 0);
}

#[test]
fn a_task_aborted_by_another_thread_in_the_middle_of_its_poll_is_dropped_after_it() {
    let ex = untimed();
    let log = DropLog::new();
    let guard = log.local();
    let (polled, in_poll) = mpsc::channel::<()>();
    let (aborted, is_aborted) = mpsc::channel::<()>();
    let counted = log.clone();
    let task = ex.spawn(poll_fn(move |_| {
        let _guard = &guard;
        polled.send(()).unwrap();
        is_aborted.recv().unwrap();
        assert_eq!(counted.count(), 0);
        Poll::<()>::Pending
    }));
    let abort = task.abort_handle();
    let other = thread::spawn(move || {
        in_poll.recv().unwrap();
        abort.abort();
        aborted.send(()).unwrap();
    });
    tick(&ex);
    other.join().unwrap();
    log.assert_here(1);
    assert!(output(task).unwrap_err().is_cancelled());
    assert_finished(&ex.stats(), 0, 1, 0);
}

#[test]
fn a_task_that_another_task_aborts_is_dropped_before_the_third_is_polled() {
    let ex = untimed();
    let victim = Probe::new();
    let parked = ex.spawn(victim.future());
    settle(&ex);
    let abort = parked.abort_handle();
    ex.spawn(async move { abort.abort() });
    let seen = Rc::clone(&victim);
    let third = ex.spawn(async move { seen.drops.get() });
    settle(&ex);
    assert_eq!(output(third).unwrap(), 1);
}

#[test]
fn aborting_a_finished_task_keeps_its_output() {
    for remote in [false, true] {
        let ex = untimed();
        let task = ex.spawn(async { 7 });
        settle(&ex);
        abort(&task.abort_handle(), remote);
        settle(&ex);
        assert_eq!(output(task).unwrap(), 7);
        assert_finished(&ex.stats(), 1, 0, 0);
    }
}

#[test]
fn aborting_twice_or_by_several_handles_cancels_once() {
    let ex = untimed();
    let probe = Probe::new();
    let task = ex.spawn(probe.future());
    settle(&ex);
    let handle = task.abort_handle();
    let clone = handle.clone();
    task.abort();
    task.abort();
    handle.abort();
    thread::spawn(move || clone.abort()).join().unwrap();
    tick(&ex);
    handle.abort();
    task.abort();
    settle(&ex);
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
    assert!(handle.is_finished());
    assert_eq!(handle.id(), id);
    handle.abort();
    thread::spawn(move || {
        handle.clone().abort();
        handle.abort();
        assert!(handle.is_finished());
    })
    .join()
    .unwrap();
}

#[test]
fn a_detached_task_can_still_be_aborted() {
    let ex = untimed();
    let probe = Probe::new();
    let task = ex.spawn(probe.future());
    let handle = task.abort_handle();
    drop(task);
    settle(&ex);
    handle.abort();
    tick(&ex);
    assert!(handle.is_finished());
    assert_eq!(probe.drops.get(), 1);
    assert_finished(&ex.stats(), 0, 1, 0);
}

#[test]
fn is_finished_turns_true_when_the_future_has_been_dropped_and_not_before() {
    let ex = untimed();
    let during = Rc::new(Cell::new(None));
    let handle: Rc<RefCell<Option<AbortHandle>>> = Rc::default();
    let (seen, own) = (Rc::clone(&during), Rc::clone(&handle));
    let task = ex.spawn(hold(OnDrop::new(move || {
        seen.set(Some(own.borrow().as_ref().unwrap().is_finished()));
    })));
    handle.replace(Some(task.abort_handle()));
    assert!(!task.is_finished());
    settle(&ex);
    assert!(!task.is_finished());
    task.abort();
    assert!(!task.is_finished());
    tick(&ex);
    assert_eq!(during.get(), Some(false));
    assert!(task.is_finished() && task.abort_handle().is_finished());
    handle.take();
}

#[test]
fn an_abort_wakes_a_sleeping_host_once() {
    for remote in [false, true] {
        let ex = untimed();
        let task = ex.spawn(pending::<()>());
        let mut run = pin!(ex.run_until(pending::<()>()));
        assert!(settle_run(run.as_mut()).is_none());
        let (wakes, waker) = CountingWaker::new();
        assert!(run.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        assert_eq!(wakes.count(), 0);
        abort(&task.abort_handle(), remote);
        abort(&task.abort_handle(), remote);
        assert_eq!(wakes.count(), 1);
        assert!(run.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        assert!(task.is_finished());
        assert_eq!(wakes.count(), 1);
    }
}

#[test]
fn a_task_from_another_thread_aborted_before_admission_is_dropped_on_the_owner_thread() {
    let ex = untimed();
    let log = DropLog::new();
    let (handle, item) = (ex.handle(), log.item());
    let made = Arc::new(AtomicBool::new(false));
    let was_made = Arc::clone(&made);
    let task = thread::spawn(move || {
        let task = handle.spawn(move || {
            was_made.store(true, Ordering::SeqCst);
            hold(item)
        });
        task.abort();
        task
    })
    .join()
    .unwrap();
    assert!(!task.is_finished());
    tick(&ex);
    assert!(!made.load(Ordering::SeqCst));
    log.assert_here(1);
    let error = output(task).unwrap_err();
    assert!(error.is_cancelled() && !error.is_refused());
    assert_finished(&ex.stats(), 0, 1, 0);
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

#[test]
fn a_joiner_on_another_thread_is_told_of_an_abort() {
    let ex = untimed();
    let task = ex.spawn(pending::<()>());
    let abort = task.abort_handle();
    let (joining, joined) = mpsc::channel::<()>();
    let other = thread::spawn(move || {
        let mut task = pin!(task);
        futures::executor::block_on(poll_fn(|cx| {
            let polled = task.as_mut().poll(cx);
            let _ = joining.send(());
            polled
        }))
    });
    joined.recv().unwrap();
    abort.abort();
    tick(&ex);
    assert!(other.join().unwrap().unwrap_err().is_cancelled());
}

#[test]
fn an_aborted_task_can_be_awaited_later_or_never() {
    let ex = untimed();
    let (awaited, never) = (ex.spawn(pending::<()>()), ex.spawn(pending::<()>()));
    let detached = ex.spawn(pending::<()>());
    awaited.abort();
    never.abort();
    detached.abort();
    drop(detached);
    settle(&ex);
    drop(never);
    assert!(ex.block_on(awaited).unwrap_err().is_cancelled());
    assert_finished(&ex.stats(), 0, 3, 0);
}
