//! Spawning from other threads: always answered, whatever the executor is doing, and run on its own thread.

use std::cell::Cell;
use std::future::{Future, pending, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, mpsc};
use std::task::{Context, Poll};
use std::thread;

use clockworker::{Handle, JoinError, JoinHandle, yield_now};
use futures::executor::block_on;

use crate::support::{
    CountingWaker, DropLog, OnDrop, Probe, assert_finished, hold, output, poll_once, settle, settle_run,
    tick, untimed,
};

/// Spawns on another thread, which ends before this returns.
fn from_thread<T: Send + 'static>(
    handle: &Handle,
    spawn: impl FnOnce(Handle) -> JoinHandle<T> + Send + 'static,
) -> JoinHandle<T> {
    let handle = handle.clone();
    thread::spawn(move || spawn(handle)).join().unwrap()
}

#[track_caller]
fn assert_refused(error: &JoinError, text: &str) {
    assert!(error.is_cancelled() && error.is_refused() && !error.is_panic());
    assert_eq!(error.to_string(), format!("task {} {text}", error.id()));
}

#[test]
fn a_task_spawned_while_nobody_runs_the_executor_waits_for_the_next_run() {
    let ex = untimed();
    let task = from_thread(&ex.handle(), |handle| handle.spawn(|| async { 1 }));
    assert!(!task.is_finished());
    assert_eq!(ex.block_on(task).unwrap(), 1);
    assert_finished(&ex.stats(), 1, 0, 0);
}

#[test]
fn a_task_spawned_while_the_executor_sleeps_wakes_it() {
    let ex = untimed();
    let handle = ex.handle();
    let mut run = pin!(ex.run_until(pending::<()>()));
    assert!(settle_run(run.as_mut()).is_none());
    let (wakes, waker) = CountingWaker::new();
    assert!(run.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    let task = from_thread(&handle, |handle| handle.spawn(|| async { 1 }));
    assert_eq!(wakes.count(), 1);
    assert!(settle_run(run.as_mut()).is_none());
    assert_eq!(output(task).unwrap(), 1);
}

#[test]
fn a_task_spawned_in_the_middle_of_a_poll_runs_in_the_same_tick() {
    // On a clock that stands still, for the host is not due then.
    let ex = untimed();
    let handle = ex.handle();
    let (give, take) = mpsc::channel();
    ex.spawn(async move {
        give.send(from_thread(&handle, |handle| handle.spawn(|| async { 1 }))).unwrap();
    });
    tick(&ex);
    assert_eq!(output(take.recv().unwrap()).unwrap(), 1);
}

#[test]
fn the_closure_and_its_future_run_on_the_executors_thread() {
    let ex = untimed();
    let here = thread::current().id();
    let task = from_thread(&ex.handle(), move |handle| {
        handle.spawn(move || {
            let made = thread::current().id();
            let not_send = Rc::new(Cell::new(0));
            async move {
                not_send.set(7);
                yield_now().await;
                (made, thread::current().id(), not_send.get())
            }
        })
    });
    settle(&ex);
    assert_eq!(output(task).unwrap(), (here, here, 7));
}

#[test]
fn a_task_goes_to_the_queue_of_that_name() {
    let ex = untimed();
    let queue = ex.new_queue("named").create().unwrap();
    let handle = ex.handle();
    assert!(handle.has_queue("named") && handle.has_queue("default") && !handle.has_queue("other"));
    let task = from_thread(&handle, |handle| {
        handle.spawn_on("named", || async { clockworker::spawn_local(async { 2 }).await.unwrap() })
    });
    settle(&ex);
    assert_eq!(output(task).unwrap(), 2);
    assert_eq!((queue.stats().spawned, ex.default_queue().stats().spawned), (2, 0));
}

#[test]
fn an_unknown_queue_is_a_refusal_and_the_closure_is_dropped_at_once() {
    let ex = untimed();
    let (log, made) = (DropLog::new(), Arc::new(AtomicUsize::new(0)));
    let (item, count) = (log.item(), Arc::clone(&made));
    let make = move || {
        count.fetch_add(1, Ordering::SeqCst);
        hold(item)
    };
    let task = ex.handle().spawn_on("nowhere", make);
    assert!(task.is_finished());
    log.assert_here(1);
    assert_refused(&output(task).unwrap_err(), "was refused: there is no queue of that name");
    assert_eq!((made.load(Ordering::SeqCst), ex.stats().spawned), (0, 0));
}

#[test]
fn a_closed_queue_is_an_unknown_one_and_its_name_may_be_given_again() {
    let ex = untimed();
    let first = ex.new_queue("q").create().unwrap();
    first.spawn(pending::<()>());
    first.close();
    let handle = ex.handle();
    assert!(!handle.has_queue("q"));
    let task = from_thread(&handle, |handle| handle.spawn_on("q", || async {}));
    assert_refused(&output(task).unwrap_err(), "was refused: there is no queue of that name");
    let second = ex.new_queue("q").create().unwrap();
    let task = from_thread(&handle, |handle| handle.spawn_on("q", || async { 2 }));
    settle(&ex);
    assert_eq!(output(task).unwrap(), 2);
    assert_eq!((first.stats().spawned, second.stats().spawned), (1, 1));
}

#[test]
fn a_queue_closed_between_spawn_and_admission_refuses() {
    for occupied in [false, true] {
        for again in [false, true] {
            let ex = untimed();
            let log = DropLog::new();
            let queue = ex.new_queue("q").create().unwrap();
            if occupied {
                queue.spawn(pending::<()>());
            }
            let item = log.item();
            let task = from_thread(&ex.handle(), |handle| handle.spawn_on("q", move || hold(item)));
            queue.close();
            let new = again.then(|| ex.new_queue("q").create().unwrap());
            settle(&ex);
            log.assert_here(1);
            assert_refused(&output(task).unwrap_err(), "was refused: its queue is closed");
            assert_finished(&ex.stats(), 0, 1, 0);
            assert!(new.is_none_or(|queue| queue.stats().spawned == 0), "it was not meant for the new one");
        }
    }
}

/// Nobody would take the closure: it goes where it came from.
#[track_caller]
fn assert_refuses_on_the_callers_thread(handle: Handle, why: &str) {
    let task = thread::spawn(move || {
        let log = DropLog::new();
        let item = log.item();
        assert!(handle.is_stopped());
        let task = handle.spawn(move || hold(item));
        log.assert_here(1);
        task
    });
    assert_refused(&output(task.join().unwrap()).unwrap_err(), why);
}

#[test]
fn a_stopped_executor_refuses_and_the_closure_is_dropped_on_the_callers_thread() {
    let ex = untimed();
    ex.block_on_shutdown(async {});
    assert_refuses_on_the_callers_thread(ex.handle(), "was refused: its executor was shut down");
}

#[test]
fn a_dropped_executor_refuses_and_the_closure_is_dropped_on_the_callers_thread() {
    let handle = untimed().handle();
    assert_refuses_on_the_callers_thread(handle, "was refused: its executor was dropped");
}

#[test]
fn a_task_that_was_not_admitted_is_dropped_with_the_executor() {
    let ex = untimed();
    let log = DropLog::new();
    let item = log.item();
    let task = from_thread(&ex.handle(), |handle| handle.spawn(move || hold(item)));
    drop(ex);
    log.assert_here(1);
    let error = output(task).unwrap_err();
    assert!(error.is_cancelled());
}

#[test]
fn a_handle_spawns_on_the_owner_thread_too() {
    let ex = untimed();
    let handle = ex.handle();
    let answer = ex.block_on(async { handle.spawn(|| async { 3 }).await.unwrap() });
    assert_eq!(answer, 3);
}

#[test]
fn a_join_handle_is_awaited_on_another_thread() {
    let ex = untimed();
    let handle = ex.handle();
    let joiner = thread::spawn(move || {
        let task = handle.spawn(|| async {
            yield_now().await;
            String::from("done")
        });
        let output = block_on(task).unwrap();
        (output, block_on(handle.spawn(|| async { 2 })).unwrap())
    });
    // Serves until the other thread has what it wanted.
    let (tell, told) = futures::channel::oneshot::channel();
    let waiter = thread::spawn(move || {
        let result = joiner.join().unwrap();
        tell.send(()).unwrap();
        result
    });
    ex.block_on(async { told.await.unwrap() });
    assert_eq!(waiter.join().unwrap(), (String::from("done"), 2));
    assert_finished(&ex.stats(), 2, 0, 0);
}

#[test]
fn a_local_tasks_handle_is_awaited_on_another_thread_and_by_several_wakers_in_turn() {
    let ex = untimed();
    let probe = Probe::new();
    let mut task = ex.spawn(probe.future());
    settle(&ex);
    let ((first, one), (second, two)) = (CountingWaker::new(), CountingWaker::new());
    assert!(pin!(&mut task).poll(&mut Context::from_waker(&one)).is_pending());
    let (mut task, two) = thread::spawn(move || {
        assert!(pin!(&mut task).poll(&mut Context::from_waker(&two)).is_pending());
        (task, two)
    })
    .join()
    .unwrap();
    drop(two);
    probe.finish();
    settle(&ex);
    assert_eq!((first.count(), second.count()), (0, 1), "the last that asked is the one that is woken");
    assert!(matches!(poll_once(&mut task), Poll::Ready(Ok(2))));
}

#[test]
fn a_handle_asked_again_with_the_same_waker_still_wakes_it() {
    let ex = untimed();
    let probe = Probe::new();
    let mut task = ex.spawn(probe.future());
    settle(&ex);
    let (wakes, waker) = CountingWaker::new();
    for _ in 0..3 {
        assert!(pin!(&mut task).poll(&mut Context::from_waker(&waker)).is_pending());
    }
    probe.finish();
    settle(&ex);
    assert_eq!(wakes.count(), 1);
    assert!(matches!(poll_once(&mut task), Poll::Ready(Ok(2))));
}

#[test]
fn handles_polled_by_another_thread_while_tasks_complete_all_resolve() {
    // The join cell: poll, complete and drop of the handle race.
    const TASKS: usize = 3_000;
    let ex = untimed();
    let handle = ex.handle();
    let outputs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&outputs);
    let joiner = thread::spawn(move || {
        for i in 0..TASKS {
            let drops = Arc::clone(&counted);
            let mut task = handle.spawn(move || async move {
                if i % 2 == 0 {
                    yield_now().await;
                }
                OnDrop::new(move || {
                    drops.fetch_add(1, Ordering::SeqCst);
                })
            });
            match i % 4 {
                0 => drop(block_on(task).unwrap()),
                1 => {
                    let _ = poll_once(&mut task);
                    drop(task);
                }
                2 => {
                    task.abort();
                    if block_on(task).is_err() {
                        counted.fetch_add(1, Ordering::SeqCst);
                    }
                }
                _ => {
                    let abort = task.abort_handle();
                    drop(task);
                    let _ = abort.is_finished();
                }
            }
        }
    });
    let (tell, told) = futures::channel::oneshot::channel();
    let waiter = thread::spawn(move || {
        joiner.join().unwrap();
        tell.send(()).unwrap();
    });
    ex.block_on(async { told.await.unwrap() });
    waiter.join().unwrap();
    settle(&ex);
    assert_eq!(outputs.load(Ordering::SeqCst), TASKS, "each output was dropped once, or there was none");
    let stats = ex.stats();
    assert_eq!((stats.spawned, stats.live, stats.panicked), (TASKS as u64, 0, 0));
}

#[test]
fn spawns_of_eight_threads_all_run_once() {
    const THREADS: usize = 8;
    const SPAWNS: usize = 1_000;
    let ex = untimed();
    let other = ex.new_queue("other").create().unwrap();
    let ran = Arc::new(AtomicUsize::new(0));
    let (handle, start) = (ex.handle(), Barrier::new(THREADS));
    thread::scope(|scope| {
        let spawners: Vec<_> = (0..THREADS)
            .map(|side| {
                let (handle, ran, start) = (handle.clone(), &ran, &start);
                scope.spawn(move || {
                    start.wait();
                    let name = if side % 2 == 0 { "default" } else { "other" };
                    let spawn = |i| {
                        let ran = Arc::clone(ran);
                        handle.spawn_on(name, move || async move {
                            ran.fetch_add(1, Ordering::SeqCst);
                            i
                        })
                    };
                    (0..SPAWNS).map(spawn).collect::<Vec<_>>()
                })
            })
            .collect();
        for spawner in spawners {
            let tasks = spawner.join().unwrap();
            ex.block_on(async {
                for (i, task) in tasks.into_iter().enumerate() {
                    assert_eq!(task.await.unwrap(), i);
                }
            });
        }
    });
    assert_eq!(ran.load(Ordering::SeqCst), THREADS * SPAWNS);
    assert_eq!(other.stats().completed as usize, THREADS * SPAWNS / 2);
    assert_finished(&ex.stats(), (THREADS * SPAWNS) as u64, 0, 0);
}

#[test]
fn tasks_of_one_thread_begin_in_the_order_in_which_it_spawned_them() {
    let ex = untimed();
    let order = Arc::new(std::sync::Mutex::new(Vec::new()));
    let (handle, log) = (ex.handle(), Arc::clone(&order));
    thread::spawn(move || {
        for i in 0..1_000 {
            let log = Arc::clone(&log);
            drop(handle.spawn(move || async move { log.lock().unwrap().push(i) }));
        }
    })
    .join()
    .unwrap();
    settle(&ex);
    assert_eq!(*order.lock().unwrap(), Vec::from_iter(0..1_000));
}

#[test]
fn an_executor_dropped_while_threads_spawn_answers_them_all() {
    const THREADS: usize = 4;
    for _ in 0..20 {
        let ex = untimed();
        let (handle, start) = (ex.handle(), Barrier::new(THREADS + 1));
        let drops = DropLog::new();
        thread::scope(|scope| {
            let spawners: Vec<_> = (0..THREADS)
                .map(|_| {
                    let (handle, start, drops) = (handle.clone(), &start, drops.clone());
                    scope.spawn(move || {
                        start.wait();
                        (0..200)
                            .map(|_| {
                                let item = drops.item();
                                handle.spawn(move || hold(item))
                            })
                            .collect::<Vec<_>>()
                    })
                })
                .collect();
            start.wait();
            tick(&ex);
            drop(ex);
            for spawner in spawners {
                for task in spawner.join().unwrap() {
                    assert!(output(task).unwrap_err().is_cancelled());
                }
            }
        });
        assert_eq!(drops.count(), THREADS * 200);
    }
}

#[test]
fn a_handle_is_for_every_thread() {
    static_assertions::assert_impl_all!(Handle: Send, Sync, Clone);
    let ex = untimed();
    let handle = ex.handle();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| drop(handle.spawn(|| async {})));
        }
    });
    settle(&ex);
    assert_finished(&ex.stats(), 4, 0, 0);
    assert_eq!(format!("{handle:?}"), "Handle { stopped: false }");
    drop(ex);
    assert_eq!(format!("{handle:?}"), "Handle { stopped: true }");
}

#[test]
fn a_waker_registered_before_executor_drop_is_told() {
    let ex = untimed();
    let task = from_thread(&ex.handle(), |handle| handle.spawn(pending::<()>));
    settle(&ex);
    let (registered, is_registered) = mpsc::channel();
    let joiner = thread::spawn(move || {
        let mut task = pin!(task);
        block_on(poll_fn(|cx| {
            let polled = task.as_mut().poll(cx);
            let _ = registered.send(());
            polled
        }))
    });
    is_registered.recv().unwrap();
    drop(ex);
    assert!(joiner.join().unwrap().unwrap_err().is_cancelled());
}
