//! Waiting until no task is left: for whatever is spawned meanwhile, by anybody, and without leaving anything behind.

use std::cell::Cell;
use std::future::pending;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;

use clockworker::{spawn_local, yield_now};

use crate::support::{
    CountingWaker, OnDrop, assert_finished, elsewhere, hold, output, parked, poll_once, poll_with, settle,
    settle_run, tick, untimed,
};

#[test]
fn it_waits_for_children_and_for_spawns_from_threads() {
    let ex = untimed();
    let done = Rc::new(Cell::new(0));
    let counts = Rc::clone(&done);
    drop(ex.spawn(async move {
        yield_now().await;
        drop(spawn_local(async move {
            yield_now().await;
            counts.set(counts.get() + 1);
        }));
    }));
    let handle = ex.handle();
    let remote = elsewhere(|| handle.spawn(|| async { yield_now().await }));
    ex.block_on(ex.drained());
    assert!(done.get() == 1 && remote.is_finished());
    assert_finished(&ex.stats(), 3, 0, 0);
    // With nothing left it is over at once, again and again.
    ex.block_on(ex.drained());
}

#[test]
fn it_waits_for_what_the_drop_of_the_last_task_spawns() {
    let ex = untimed();
    let begun = Rc::new(Cell::new(false));
    let begins = Rc::clone(&begun);
    let guard = OnDrop::new(move || drop(spawn_local(async move { begins.set(true) })));
    let last = ex.spawn(hold(guard));
    settle(&ex);
    last.abort();
    ex.block_on(ex.drained());
    assert!(begun.get());
    assert_eq!(ex.stats().live, 0);
}

#[test]
fn all_who_wait_are_told_once() {
    let ex = untimed();
    let (probe, _) = parked(&ex);
    let mut waiting: Vec<_> = (0..5).map(|_| Box::pin(ex.drained())).collect();
    let (counts, wakers): (Vec<_>, Vec<_>) = (0..5).map(|_| CountingWaker::new()).unzip();
    for _ in 0..3 {
        for (waits, waker) in waiting.iter_mut().zip(&wakers) {
            assert!(poll_with(waits, waker).is_pending());
        }
    }
    // One of them gave up.
    drop(waiting.remove(2));
    probe.finish();
    settle(&ex);
    let told: Vec<usize> = counts.iter().map(|count| count.count()).collect();
    assert_eq!(told, [1, 1, 0, 1, 1]);
    assert!(waiting.iter_mut().all(|waits| poll_once(&mut waits.as_mut()).is_ready()));
}

#[test]
fn who_was_told_too_early_is_told_again() {
    let ex = untimed();
    let (first, _) = parked(&ex);
    let (count, waker) = CountingWaker::new();
    let mut waits = pin!(ex.drained());
    assert!(poll_with(&mut waits, &waker).is_pending());
    first.finish();
    settle(&ex);
    // Before the waiter looks, there is another task.
    let (second, _) = parked(&ex);
    assert_eq!(count.count(), 1);
    assert!(poll_with(&mut waits, &waker).is_pending());
    second.finish();
    settle(&ex);
    assert_eq!(count.count(), 2);
    assert!(poll_with(&mut waits, &waker).is_ready());
}

#[test]
fn given_up_it_leaves_no_waker_behind() {
    let ex = untimed();
    drop(ex.spawn(pending::<()>()));
    settle(&ex);
    let kept: Vec<Arc<CountingWaker>> = (0..1_000)
        .map(|_| {
            let (count, waker) = CountingWaker::new();
            let mut waits = Box::pin(ex.drained());
            assert!(poll_with(&mut waits, &waker).is_pending());
            count
        })
        .collect();
    assert!(kept.iter().all(|count| Arc::strong_count(count) == 1));
}

#[test]
fn awaited_in_a_task_of_another_executor_it_wakes_that_task() {
    let (ex, other) = (Rc::new(untimed()), untimed());
    let (probe, _) = parked(&ex);
    let watched = Rc::clone(&ex);
    let watcher = other.spawn(async move { watched.drained().await });
    settle(&other);
    assert!(!watcher.is_finished());
    probe.finish();
    tick(&ex);
    settle(&other);
    assert!(watcher.is_finished());
}

#[test]
fn a_task_that_waits_for_it_in_the_same_executor_waits_for_itself() {
    let ex = Rc::new(untimed());
    let watched = Rc::downgrade(&ex);
    let task = ex.spawn(async move {
        let ex = watched.upgrade().expect("it is running");
        ex.drained().await;
    });
    settle(&ex);
    assert!(!task.is_finished());
    task.abort();
    settle(&ex);
    assert_eq!((ex.stats().live, Rc::strong_count(&ex)), (0, 1));
}

/// What other threads have spawned and nobody has admitted, as nobody runs the executor: how it ends, and how many tasks are
/// counted then.
#[test]
fn where_nobody_runs_the_executor_it_sleeps_until_it_is_run() {
    for (how, finished) in
        [("runs", (1, 0)), ("is refused", (0, 1)), ("is aborted", (0, 1)), ("goes with the executor", (0, 1))]
    {
        let ex = untimed();
        let queue = ex.new_queue("other").create().unwrap();
        let handle = ex.handle();
        let task = elsewhere(|| handle.spawn_on("other", || async {}));
        let ((first, one), (second, two)) = (CountingWaker::new(), CountingWaker::new());
        let (mut waits, mut waits_too) = (Box::pin(ex.drained()), Box::pin(ex.drained()));
        for _ in 0..3 {
            assert!(poll_with(&mut waits, &one).is_pending() && poll_with(&mut waits_too, &two).is_pending());
        }
        assert_eq!((first.count(), second.count()), (0, 0), "nobody is woken for nothing");
        match how {
            "is refused" => queue.close(),
            "is aborted" => task.abort(),
            _ => {}
        }
        assert_eq!((first.count(), second.count()), (0, 0));
        if how == "goes with the executor" {
            drop((waits, waits_too));
            drop(ex);
            assert!(output(task).unwrap_err().is_cancelled());
            continue;
        }
        settle(&ex);
        assert_eq!((first.count(), second.count()), (1, 1), "{how}");
        assert!(poll_once(&mut waits).is_ready() && poll_once(&mut waits_too).is_ready());
        assert_finished(&ex.stats(), finished.0, finished.1, 0);
    }
}

#[test]
fn a_remote_task_that_is_refused_does_not_keep_it_from_ending() {
    let ex = untimed();
    let queue = ex.new_queue("other").create().unwrap();
    let handle = ex.handle();
    let tasks = elsewhere(|| [0; 3].map(|_| handle.spawn_on("other", || async {})));
    queue.close();
    let mut run = pin!(ex.run_until(ex.drained()));
    assert!(settle_run(run.as_mut()).is_some());
    assert!(tasks.into_iter().all(|task| output(task).unwrap_err().is_refused()));
}

#[test]
fn one_who_waits_beside_the_run_hears_of_what_came_and_went_meanwhile() {
    let ex = Rc::new(untimed());
    let other = untimed();
    let queue = ex.new_queue("other").create().unwrap();
    let handle = ex.handle();
    let task = elsewhere(|| handle.spawn_on("other", yield_now));
    let watched = Rc::clone(&ex);
    let watcher = other.spawn(async move { watched.drained().await });
    settle(&other);
    assert_eq!(other.stats().polls, 1, "it sleeps");
    tick(&ex);
    settle(&other);
    assert!(task.is_finished() && watcher.is_finished());
    assert_eq!((other.stats().polls, queue.stats().completed), (2, 1));
}
