//! What is not `Send` is dropped on the owner's thread, on every path: the future, its captures, and the output.

use std::future::{Future, pending, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::thread;

use clockworker::{AbortHandle, JoinHandle};

use crate::support::{
    DropLog, LoggedDrop, OnDrop, Probe, Random, hold, output, panic_as_meant, settle, tick, untimed,
};

/// Something whose drop is logged and which is not `Send`.
type Local = (LoggedDrop, Rc<()>);

/// Takes something to another thread and lets it go there.
fn drop_elsewhere<T: Send + 'static>(thing: T) {
    thread::spawn(move || drop(thing)).join().unwrap();
}

#[test]
fn when_it_completes() {
    let (future, out) = (DropLog::new(), DropLog::new());
    let ex = untimed();
    let (captured, result) = (future.local(), out.local());
    let task = ex.spawn(async move {
        let _captured = captured;
        result
    });
    settle(&ex);
    future.assert_here(1);
    assert_eq!(out.count(), 0);
    drop(output(task).unwrap());
    out.assert_here(1);
}

#[test]
fn when_nobody_reads_the_output() {
    for finished in [false, true] {
        let log = DropLog::new();
        let ex = untimed();
        let (captured, output) = (log.local(), log.local());
        let task: JoinHandle<Local> = ex.spawn(async move {
            let _captured = captured;
            output
        });
        if finished {
            settle(&ex);
        }
        drop(task);
        settle(&ex);
        log.assert_here(2);
    }
}

#[test]
fn when_the_abort_and_the_last_handle_are_elsewhere() {
    for polled in [false, true] {
        let log = DropLog::new();
        let ex = untimed();
        let task = ex.spawn(hold(log.local()));
        if polled {
            settle(&ex);
        }
        thread::spawn(move || {
            task.abort();
            drop(task);
        })
        .join()
        .unwrap();
        assert_eq!(log.count(), 0, "only the owner's thread may");
        tick(&ex);
        log.assert_here(1);
    }
}

#[test]
fn when_it_panics() {
    let log = DropLog::new();
    let ex = untimed();
    let captured = log.local();
    let task = ex.spawn(async move {
        let _captured = captured;
        panic_as_meant("with a value");
    });
    settle(&ex);
    log.assert_here(1);
    drop_elsewhere::<JoinHandle<()>>(task);
    log.assert_here(1);
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
        thread::spawn(move || {
            abort.abort();
            wakers.into_iter().for_each(Waker::wake);
            assert!(output(task).unwrap_err().is_cancelled());
            drop(abort);
        })
        .join()
        .unwrap();
        log.assert_here(1);
    }
}

#[test]
fn when_the_executor_is_dropped_with_an_output_unread_it_is_the_handles_thread() {
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
fn when_it_was_spawned_elsewhere() {
    let ex = untimed();
    let log = DropLog::new();
    let (handle, own) = (ex.handle(), log.clone());
    let tasks = thread::spawn(move || {
        let spawn = |end: u8| {
            let own = own.clone();
            handle.spawn(move || {
                let captured = own.local();
                async move {
                    let _captured = captured;
                    if end == 1 {
                        pending::<()>().await;
                    }
                    if end == 2 {
                        panic_as_meant("remote");
                    }
                }
            })
        };
        [spawn(0), spawn(1), spawn(2), spawn(1)]
    })
    .join()
    .unwrap();
    settle(&ex);
    log.assert_here(2);
    tasks[1].abort();
    tick(&ex);
    log.assert_here(3);
    drop(ex);
    log.assert_here(4);
    drop_elsewhere(tasks);
    log.assert_here(4);
}

#[test]
fn when_its_closure_was_never_called() {
    let ex = untimed();
    let log = DropLog::new();
    let (handle, aborted, left) = (ex.handle(), log.item(), log.item());
    let tasks = thread::spawn(move || {
        let first = handle.spawn(move || hold(aborted));
        first.abort();
        (first, handle)
    })
    .join()
    .unwrap();
    tick(&ex);
    log.assert_here(1);
    let (first, handle) = tasks;
    let second = thread::spawn(move || handle.spawn(move || hold(left))).join().unwrap();
    drop(ex);
    log.assert_here(2);
    drop_elsewhere((first, second));
    log.assert_here(2);
}

#[test]
fn when_send_outputs_are_read_elsewhere_the_future_is_still_the_owners() {
    let ex = untimed();
    let (future, out) = (DropLog::new(), DropLog::new());
    let (captured, result) = (future.local(), out.item());
    let task = ex.spawn(async move {
        let _captured = captured;
        result
    });
    settle(&ex);
    future.assert_here(1);
    thread::spawn(move || {
        drop(output(task).unwrap());
        out.assert_here(1);
    })
    .join()
    .unwrap();
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

/// Polled to the end on one thread, by wakes from many.
struct Steps {
    left: u32,
    wakers: Arc<Mutex<Vec<Waker>>>,
    _local: Local,
}

impl Future for Steps {
    type Output = Local;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Local> {
        if self.left == 0 {
            let output = self._local.0.0.local();
            return Poll::Ready(output);
        }
        self.left -= 1;
        self.wakers.lock().unwrap().push(cx.waker().clone());
        Poll::Pending
    }
}

#[test]
fn in_any_random_scenario() {
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let log = DropLog::new();
        let wakers: Arc<Mutex<Vec<Waker>>> = Arc::default();
        let ex = untimed();
        let mut handles: Vec<JoinHandle<Local>> = Vec::new();
        let mut aborts: Vec<AbortHandle> = Vec::new();
        let mut outputs = 0;
        let mut spawned = 0;
        for _ in 0..60 {
            match random.below(8) {
                0 | 1 => {
                    spawned += 1;
                    let left = random.below(4) as u32;
                    let steps = Steps { left, wakers: Arc::clone(&wakers), _local: log.local() };
                    let task = ex.spawn(steps);
                    aborts.push(task.abort_handle());
                    handles.push(task);
                }
                2 => tick(&ex),
                3 => {
                    let taken: Vec<_> = wakers.lock().unwrap().drain(..).collect();
                    thread::spawn(move || taken.into_iter().for_each(Waker::wake)).join().unwrap();
                }
                4 => {
                    let taken: Vec<_> = wakers.lock().unwrap().drain(..).collect();
                    taken.iter().for_each(Waker::wake_by_ref);
                    drop_elsewhere(taken);
                }
                5 if !aborts.is_empty() => {
                    let abort = aborts.swap_remove(random.below(aborts.len()));
                    thread::spawn(move || abort.abort()).join().unwrap();
                }
                6 if !handles.is_empty() => {
                    drop(handles.swap_remove(random.below(handles.len())));
                }
                7 if !handles.is_empty() => {
                    let at = random.below(handles.len());
                    if handles[at].is_finished() && output(handles.swap_remove(at)).is_ok() {
                        outputs += 1;
                    }
                }
                _ => {}
            }
        }
        drop(ex);
        drop(handles);
        drop_elsewhere((aborts, std::mem::take(&mut *wakers.lock().unwrap())));
        let completed = log.count() - spawned;
        assert!(outputs <= completed, "each output is dropped beside its future");
        log.assert_here(log.count());
        assert!(log.count() >= spawned && log.count() <= 2 * spawned, "seed {seed}");
    }
}

#[test]
fn a_drop_guard_in_a_waker_slot_goes_with_the_waker_and_not_with_the_task() {
    // The waker keeps the cell, not what the future held.
    let dropped = Rc::new(std::cell::Cell::new(false));
    let ex = untimed();
    let probe = Probe::new();
    let flag = Rc::clone(&dropped);
    let (inner, guard) = (probe.future(), OnDrop::new(move || flag.set(true)));
    let task = ex.spawn(async move {
        let _guard = guard;
        inner.await
    });
    settle(&ex);
    let waker = probe.waker();
    task.abort();
    tick(&ex);
    assert!(dropped.get());
    drop((task, ex));
    drop_elsewhere(waker);
}
