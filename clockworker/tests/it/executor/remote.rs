//! Spawning from other threads: always answered, whatever the executor is doing, and run on its own thread.

use std::cell::Cell;
use std::future::{Future, pending, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, mpsc};
use std::task::Poll;
use std::thread;

use clockworker::{Group, JoinError, Queue, yield_now};
use futures::executor::block_on;

use crate::support::{
    CountingWaker, DropLog, OnDrop, Slot, assert_finished, elsewhere, hold, output, parked, poll_once,
    poll_with, serve, settle, settle_run, tick, untimed,
};

#[track_caller]
fn assert_refused(error: &JoinError, text: &str) {
    assert!(error.is_cancelled() && error.is_refused() && !error.is_panic());
    assert_eq!(error.to_string(), format!("task {} {text}", error.id()));
}

#[test]
fn a_task_spawned_while_nobody_runs_the_executor_waits_for_the_next_run() {
    let ex = untimed();
    let handle = ex.handle();
    let task = elsewhere(|| handle.spawn(|| async { 1 }));
    assert!(!task.is_finished());
    assert_eq!(ex.block_on(task).unwrap(), 1);
    assert_finished(&ex.stats(), 1, 0, 0);
}

#[test]
fn a_queues_handle_spawns_on_it_whatever_its_name_until_it_is_closed() {
    let ex = untimed();
    let queue = ex.new_queue("queue").create().unwrap();
    let handle = queue.handle();
    let place = || async { Queue::current().map(|queue| queue.name()) };
    let spawn = || elsewhere(|| handle.spawn(place));
    assert_eq!(ex.block_on(spawn()).unwrap().as_deref(), Some("queue"));
    let in_group = elsewhere(|| {
        handle.new_task().group(7).spawn(|| async { Group::current().map(|group| group.key()) })
    });
    assert_eq!(ex.block_on(in_group).unwrap(), Some(7));
    let on_another = elsewhere(|| handle.spawn_on("default", place));
    assert_eq!(ex.block_on(on_another).unwrap().as_deref(), Some("default"));
    queue.rename("renamed").unwrap();
    ex.new_queue("queue").create().unwrap();
    let (as_named, sent_before) = (spawn(), spawn());
    queue.set_max_live(Some(1)).unwrap();
    assert_eq!(ex.block_on(as_named).unwrap().as_deref(), Some("renamed"));
    assert!(output(sent_before).unwrap_err().is_full());
    queue.close();
    let closed = spawn();
    tick(&ex);
    assert!(output(closed).unwrap_err().is_refused());
    assert_eq!((queue.stats().spawned, queue.stats().refused), (4, 1));
    drop(ex);
    assert!(handle.is_stopped() && output(spawn()).unwrap_err().is_refused());
}

#[test]
fn a_task_spawned_while_the_executor_sleeps_wakes_it() {
    let ex = untimed();
    let handle = ex.handle();
    let mut run = pin!(ex.run_until(pending::<()>()));
    assert!(settle_run(run.as_mut()).is_none());
    let (wakes, waker) = CountingWaker::new();
    assert!(poll_with(&mut run, &waker).is_pending());
    let task = elsewhere(|| handle.spawn(|| async { 1 }));
    assert_eq!(wakes.count(), 1);
    assert!(settle_run(run.as_mut()).is_none());
    assert_eq!(output(task).unwrap(), 1);
}

#[test]
fn a_task_spawned_in_the_middle_of_a_poll_runs_in_the_same_tick() {
    // On a clock that stands still, for the host is not due then.
    let ex = untimed();
    let (handle, spawned) = (ex.handle(), Slot::new());
    let slot = spawned.clone();
    ex.spawn(async move { slot.put(elsewhere(|| handle.spawn(|| async { 1 }))) });
    tick(&ex);
    assert_eq!(output(spawned.take()).unwrap(), 1);
}

#[test]
fn the_closure_and_its_future_run_on_the_executors_thread() {
    let ex = untimed();
    let (here, handle) = (thread::current().id(), ex.handle());
    let task = elsewhere(|| {
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
    let task = elsewhere(|| {
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
    let task = elsewhere(|| handle.spawn_on("q", || async {}));
    assert_refused(&output(task).unwrap_err(), "was refused: there is no queue of that name");
    let second = ex.new_queue("q").create().unwrap();
    let task = elsewhere(|| handle.spawn_on("q", || async { 2 }));
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
            let (item, handle) = (log.item(), ex.handle());
            let task = elsewhere(|| handle.spawn_on("q", move || hold(item)));
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
#[test]
fn one_that_is_stopped_or_dropped_refuses_on_the_callers_thread() {
    let stopped = untimed();
    stopped.block_on_shutdown(async {});
    let of_dropped = untimed().handle();
    for (handle, why) in [
        (stopped.handle(), "was refused: its executor was shut down"),
        (of_dropped, "was refused: its executor was dropped"),
    ] {
        let task = elsewhere(|| {
            let log = DropLog::new();
            let item = log.item();
            assert!(handle.is_stopped());
            let task = handle.spawn(move || hold(item));
            log.assert_here(1);
            task
        });
        assert_refused(&output(task).unwrap_err(), why);
    }
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
    let outputs = serve(&ex, move || {
        let task = handle.spawn(|| async {
            yield_now().await;
            String::from("done")
        });
        (block_on(task).unwrap(), block_on(handle.spawn(|| async { 2 })).unwrap())
    });
    assert_eq!(outputs, (String::from("done"), 2));
    assert_finished(&ex.stats(), 2, 0, 0);
}

#[test]
fn a_join_handle_wakes_the_waker_that_asked_last_on_any_thread() {
    let ex = untimed();
    let (probe, mut task) = parked(&ex);
    let ((first, one), (second, two)) = (CountingWaker::new(), CountingWaker::new());
    assert!(poll_with(&mut task, &one).is_pending());
    // Asked again with the same waker, it still wakes it.
    elsewhere(|| (0..3).for_each(|_| assert!(poll_with(&mut task, &two).is_pending())));
    probe.finish();
    settle(&ex);
    assert_eq!((first.count(), second.count()), (0, 1));
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
    serve(&ex, move || {
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
    let spawn_all = &|name: &str| {
        start.wait();
        let spawn = |i| {
            let ran = Arc::clone(&ran);
            handle.spawn_on(name, move || async move {
                ran.fetch_add(1, Ordering::SeqCst);
                i
            })
        };
        (0..SPAWNS).map(spawn).collect::<Vec<_>>()
    };
    thread::scope(|scope| {
        let names = [["default", "other"]; THREADS / 2].concat();
        let spawners: Vec<_> = names.into_iter().map(|name| scope.spawn(move || spawn_all(name))).collect();
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

/// Dropped, it cancels them; shut down without a deadline, it waits for those that it took.
#[test]
fn an_executor_dropped_or_shut_down_while_threads_spawn_answers_them_all() {
    const THREADS: usize = 4;
    const SPAWNS: usize = 200;
    for round in 0..20 {
        let shuts_down = round % 2 == 0;
        let ex = untimed();
        let (handle, start, drops) = (ex.handle(), Barrier::new(THREADS + 1), DropLog::new());
        let spawn_all = || {
            start.wait();
            let spawn = |_| {
                let item = drops.item();
                handle.spawn(move || async move {
                    let _item = item;
                    if !shuts_down {
                        pending::<()>().await;
                    }
                })
            };
            (0..SPAWNS).map(spawn).collect::<Vec<_>>()
        };
        thread::scope(|scope| {
            let spawners = [(); THREADS].map(|()| scope.spawn(spawn_all));
            start.wait();
            if shuts_down {
                assert!(ex.block_on_shutdown(pending::<()>()).drained);
            } else {
                tick(&ex);
            }
            drop(ex);
            for task in spawners.into_iter().flat_map(|spawner| spawner.join().unwrap()) {
                match output(task) {
                    Ok(()) => assert!(shuts_down),
                    Err(error) => assert!(error.is_cancelled()),
                }
            }
        });
        assert_eq!(drops.count(), THREADS * SPAWNS);
    }
}

#[test]
fn a_handle_says_whether_its_executor_is_stopped() {
    let ex = untimed();
    let handle = ex.handle();
    assert_eq!(format!("{handle:?}"), "Handle { stopped: false }");
    drop(ex);
    assert_eq!(format!("{handle:?}"), "Handle { stopped: true }");
}

#[test]
fn a_joiner_on_another_thread_hears_of_an_abort_and_of_the_executors_drop() {
    for aborted in [false, true] {
        let ex = untimed();
        let task = ex.spawn(pending::<()>());
        let abort = task.abort_handle();
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
        if aborted {
            abort.abort();
            tick(&ex);
        } else {
            drop(ex);
        }
        assert!(joiner.join().unwrap().unwrap_err().is_cancelled());
    }
}
