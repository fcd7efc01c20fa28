//! What is not `Send` is dropped on the owner's thread, on every path: the future, its captures, and the output. (That a
//! future is, however its task ends, is in `tasks::matrix` as well.)

use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::thread;

use crate::support::{Count, DropLog, Probe, elsewhere, hold, output, settle, tick, untimed};

#[test]
fn when_the_abort_and_the_last_handle_are_elsewhere() {
    for polled in [false, true] {
        let log = DropLog::new();
        let ex = untimed();
        let task = ex.spawn(hold(log.local()));
        if polled {
            settle(&ex);
        }
        elsewhere(move || {
            task.abort();
            drop(task);
        });
        assert_eq!(log.count(), 0, "only the owner's thread may");
        tick(&ex);
        log.assert_here(1);
    }
}

#[test]
fn when_the_executor_is_dropped_and_handles_and_wakers_are_elsewhere() {
    for polled in [false, true] {
        let log = DropLog::new();
        let ex = untimed();
        let wakers: Arc<Mutex<Vec<Waker>>> = Arc::default();
        let (captured, slot) = (log.local(), Arc::clone(&wakers));
        let task = ex.spawn(poll_fn(move |cx| {
            let _captured = &captured;
            slot.lock().unwrap().push(cx.waker().clone());
            Poll::<()>::Pending
        }));
        if polled {
            settle(&ex);
        }
        let abort = task.abort_handle();
        drop(ex);
        log.assert_here(1);
        let wakers = std::mem::take(&mut *wakers.lock().unwrap());
        elsewhere(move || {
            abort.abort();
            wakers.into_iter().for_each(Waker::wake);
            assert!(output(task).unwrap_err().is_cancelled());
            drop(abort);
        });
        log.assert_here(1);
    }
}

#[test]
fn when_the_executor_is_dropped_before_an_unread_output() {
    // Not `Send`, so the handle is on the owner's thread as well.
    let log = DropLog::new();
    let ex = untimed();
    let output = log.local();
    let task = ex.spawn(async move { output });
    settle(&ex);
    drop(ex);
    assert_eq!(log.count(), 0);
    drop(task);
    log.assert_here(1);
}

#[test]
fn when_a_wake_from_elsewhere_races_with_completion() {
    for _ in 0..200 {
        let log = DropLog::new();
        let ex = untimed();
        let probe = Probe::new();
        let (inner, captured) = (probe.future(), log.local());
        drop(ex.spawn(async move {
            let _captured = captured;
            inner.await;
        }));
        settle(&ex);
        let waker = probe.waker();
        probe.finish.set(true);
        probe.waker.take();
        let other = thread::spawn(move || waker.wake());
        while log.count() == 0 {
            tick(&ex);
            thread::yield_now();
        }
        other.join().unwrap();
        drop(ex);
        log.assert_here(1);
    }
}

#[test]
fn when_its_closure_was_never_called() {
    let ex = untimed();
    let log = DropLog::new();
    let (handle, aborted, left) = (ex.handle(), log.item(), log.item());
    let first = elsewhere(|| {
        let task = handle.spawn(move || hold(aborted));
        task.abort();
        task
    });
    assert!(!first.is_finished());
    tick(&ex);
    log.assert_here(1);
    let second = elsewhere(|| handle.spawn(move || hold(left)));
    drop(ex);
    log.assert_here(2);
    elsewhere(|| {
        let error = output(first).unwrap_err();
        assert!(error.is_cancelled() && !error.is_refused());
        drop(second);
    });
    log.assert_here(2);
}

#[test]
fn when_a_shutdown_cancels_it() {
    let ex = untimed();
    let log = DropLog::new();
    let task = ex.spawn(hold(log.local()));
    settle(&ex);
    let abort = task.abort_handle();
    let other = thread::spawn(move || abort.abort());
    ex.block_on_shutdown(async {});
    other.join().unwrap();
    log.assert_here(1);
}

/// The waker keeps the cell, not what the future held.
#[test]
fn what_a_future_holds_goes_with_the_task_and_not_with_its_waker() {
    let drops = Count::default();
    let ex = untimed();
    let probe = Probe::new();
    let (inner, guard) = (probe.future(), drops.guard());
    let task = ex.spawn(async move {
        let _guard = guard;
        inner.await
    });
    settle(&ex);
    let waker = probe.waker();
    task.abort();
    tick(&ex);
    assert_eq!(drops.get(), 1);
    drop((task, ex));
    elsewhere(move || drop(waker));
}
