//! Refusals: counted, and answered with the future.

use std::cell::Cell;
use std::future::pending;
use std::rc::Rc;

use clockworker::{Executor, Queue};

use crate::support::*;

fn refused(ex: &Executor, queue: &Queue) -> (u64, u64) {
    (ex.stats().refused, queue.stats().refused)
}

/// Spawns from another thread, and does not look at the handle.
fn fire(ex: &Executor, queue: &'static str) {
    let handle = ex.handle();
    elsewhere(|| drop(handle.spawn_on(queue, || async {})));
}

/// A queue that takes one task, and has one.
fn full(ex: &Executor) -> Queue {
    let queue = ex.new_queue("q").max_live(1).create().unwrap();
    queue.spawn(pending::<()>());
    queue
}

#[test]
fn what_is_fired_at_a_full_queue_and_forgotten_is_counted() {
    let ex = untimed();
    let queue = full(&ex);
    drop(queue.spawn(async {}));
    drop(queue.group(7).spawn(async {}));
    assert!(queue.try_spawn(async {}).is_err());
    assert_eq!(refused(&ex, &queue), (3, 3));
    fire(&ex, "q");
    settle(&ex);
    assert_eq!(refused(&ex, &queue), (4, 4));
    let stats = queue.stats();
    let counts = (stats.spawned, stats.cancelled, stats.live);
    assert_eq!(counts, (2, 1, 1), "the one that came by the inbox was spawned");
}

#[test]
fn what_is_fired_at_a_closed_queue_is_counted() {
    let ex = untimed();
    let queue = ex.new_queue("q").create().unwrap();
    let last = queue.spawn(pending::<()>());
    fire(&ex, "q");
    queue.close();
    settle(&ex);
    assert_eq!(refused(&ex, &queue), (1, 1), "closed while it was on its way");
    drop(queue.spawn(async {}));
    fire(&ex, "q");
    fire(&ex, "q");
    assert_eq!(refused(&ex, &queue), (4, 4));
    fire(&ex, "q");
    last.abort();
    settle(&ex);
    assert!(ex.stats().queues.iter().all(|other| other.name != "q"), "it is gone");
    assert_eq!(refused(&ex, &queue), (5, 5));
    drop(queue.spawn(async {}));
    fire(&ex, "q");
    assert_eq!(refused(&ex, &queue), (7, 6), "by then there is no queue of that name");
}

/// What was refused by name belongs to the queue that had the name last.
#[test]
fn a_name_given_again_begins_anew() {
    let ex = untimed();
    let old = ex.new_queue("q").create().unwrap();
    drop(old.spawn(pending::<()>()));
    old.close();
    fire(&ex, "q");
    let new = full(&ex);
    fire(&ex, "q");
    settle(&ex);
    assert_eq!((refused(&ex, &old), refused(&ex, &new)), ((2, 1), (2, 1)));
    drop(new.spawn(pending::<()>()));
    new.close();
    fire(&ex, "q");
    fire(&ex, "q");
    assert_eq!((refused(&ex, &old), refused(&ex, &new)), ((5, 1), (5, 4)));
}

#[test]
fn what_names_no_queue_is_counted() {
    let ex = untimed();
    fire(&ex, "nowhere");
    fire(&ex, "nowhere");
    assert_eq!(refused(&ex, ex.default_queue()), (2, 0));
}

#[test]
fn what_comes_after_a_shutdown_is_counted() {
    let ex = untimed();
    let (queue, closed) = (ex.default_queue().clone(), ex.new_queue("closed").create().unwrap());
    drop(closed.spawn(pending::<()>()));
    closed.close();
    fire(&ex, "closed");
    ex.block_on_shutdown(async {});
    assert_eq!((ex.stats().refused, closed.stats().refused), (1, 1));
    drop(ex.spawn(async {}));
    fire(&ex, "default");
    fire(&ex, "closed");
    assert_eq!(refused(&ex, &queue), (4, 1));
    drop(ex);
    drop(queue.spawn(async {}));
    assert_eq!((queue.stats().refused, closed.stats().refused), (2, 1), "the last statistics");
}

#[test]
fn a_refused_future_comes_back_whole() {
    let ex = untimed();
    let queue = full(&ex);
    let (drops, polled) = (Count::default(), Rc::new(Cell::new(false)));
    let (guard, seen) = (drops.guard(), Rc::clone(&polled));
    let error = queue.try_spawn(async move {
        seen.set(true);
        hold(guard).await;
    });
    let error = error.unwrap_err();
    let shown = "the task was refused: its queue is full; TrySpawnError { why: QueueFull, .. }";
    assert_eq!(format!("{error}; {error:?}"), shown);
    settle(&ex);
    assert!(!polled.get() && drops.get() == 0);
    let task = ex.spawn(error.into_future());
    settle(&ex);
    assert!(polled.get() && drops.get() == 0);
    task.abort();
    settle(&ex);
    assert_eq!(drops.get(), 1);
    drop(queue.try_spawn(hold(drops.guard())).unwrap_err());
    assert_eq!(drops.get(), 2, "the error's drop drops it");
}

#[test]
fn the_error_says_why() {
    let ex = untimed();
    #[track_caller]
    fn assert_why(queue: &Queue, kinds: [u8; 4], says: &str) {
        let error = queue.group(1).try_spawn(async {}).unwrap_err();
        let found = [error.is_full(), error.is_group_full(), error.is_closed(), error.is_stopped()];
        assert_eq!(
            (found.map(u8::from), error.to_string()),
            (kinds, format!("the task was refused: its {says}"))
        );
    }
    let queue = full(&ex);
    assert_why(&queue, [1, 0, 0, 0], "queue is full");
    let grouped = ex.new_queue("grouped").max_live_per_group(1).create().unwrap();
    drop(grouped.group(1).spawn(pending::<()>()));
    assert_why(&grouped, [1, 1, 0, 0], "group is full");
    queue.close();
    assert_why(&queue, [0, 0, 1, 0], "queue is closed");
    ex.block_on_shutdown(async {});
    assert_why(&grouped, [0, 0, 0, 1], "executor was shut down");
    drop(ex);
    assert_why(&grouped, [0, 0, 0, 1], "executor was dropped");
}

/// All three ways into a queue make the same task.
#[test]
fn a_task_that_was_tried_is_like_any_other() {
    let ex = untimed();
    let group = ex.default_queue().group(1);
    let tried = group.try_spawn(async {
        yields(3).await;
        clockworker::spawn_local(async { 5 }).await.unwrap()
    });
    let queued = ex.spawn(group.spawn_when_room(async { 6 }));
    settle(&ex);
    assert_eq!(output(tried.unwrap()).unwrap(), 5);
    assert_eq!(output(output(queued).unwrap().unwrap()).unwrap(), 6);
    assert_eq!((ex.stats().spawned, ex.stats().completed, ex.stats().refused), (4, 4, 0));
}
