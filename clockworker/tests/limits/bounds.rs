//! Which limits there may be, and what they count.

use std::cell::Cell;
use std::future::pending;
use std::rc::Rc;

use clockworker::schedulers::Las;
use clockworker::{Executor, Group, JoinHandle, Queue, QueueError, spawn_local, yield_now};

use crate::support::*;

const MOST: usize = 1 << 30;

type Set = fn(&Queue, Option<usize>) -> Result<(), QueueError>;

#[test]
fn limits_have_bounds() {
    let ex = Executor::new();
    for error in [
        ex.new_queue("q").max_live(0).create().unwrap_err(),
        ex.new_queue("q").max_live_per_group(MOST + 1).create().unwrap_err(),
    ] {
        assert!(error.is_limit(), "{error}");
    }
    assert_eq!(ex.stats().queues.len(), 1);
    assert!(!ex.handle().has_queue("q"));
    let queue = ex.new_queue("q").max_live(1).max_live_per_group(3).create().unwrap();
    let limits = || [queue.max_live(), queue.max_live_per_group()];
    assert_eq!(limits(), [Some(1), Some(3)]);
    let sets: [(&str, Set); 2] =
        [("max_live", Queue::set_max_live), ("max_live_per_group", Queue::set_max_live_per_group)];
    for (name, set) in sets {
        for wrong in [0, MOST + 1, usize::MAX] {
            let error = set(&queue, Some(wrong)).unwrap_err();
            assert!(error.is_limit() && !error.is_share() && !error.is_stopped());
            assert_eq!(error.to_string(), format!("{name} is between 1 and 1073741824, not {wrong}"));
        }
    }
    assert_eq!(limits(), [Some(1), Some(3)], "unchanged");
    for (_, set) in sets {
        set(&queue, Some(MOST)).unwrap();
        set(&queue, None).unwrap();
    }
    assert_eq!(limits(), [None; 2]);
}

#[test]
fn a_queue_that_is_gone_keeps_its_limits() {
    let ex = Executor::new();
    let queue = ex.new_queue("q").max_live(2).create().unwrap();
    queue.close();
    assert!(queue.set_max_live(Some(3)).unwrap_err().is_closed());
    let default = ex.default_queue().clone();
    drop(ex);
    assert!(default.set_max_live(None).unwrap_err().is_stopped());
    assert_eq!(queue.max_live(), Some(2));
}

fn is_full<T>(task: JoinHandle<T>) -> bool {
    match output(task) {
        Err(error) => {
            assert!(error.is_refused() && error.is_full() && error.is_cancelled(), "{error}");
            error.to_string().ends_with("its queue is full")
        }
        Ok(_) => false,
    }
}

/// Whether a task that waits for ever is taken.
fn takes(queue: &Queue) -> bool {
    queue.try_spawn(pending::<()>()).is_ok()
}

fn group_takes(group: &Group) -> bool {
    group.try_spawn(pending::<()>()).is_ok()
}

#[test]
fn a_full_queue_refuses_whatever_spawns() {
    let ex = untimed();
    let queue = ex.new_queue("q").max_live(2).create().unwrap();
    let parent = queue.spawn(async {
        yield_now().await;
        spawn_local(async {}).await
    });
    queue.spawn(pending::<()>());
    assert!(is_full(queue.spawn(async {})));
    assert!(is_full(queue.group(1).spawn(async {})));
    let handle = ex.handle();
    let remote = elsewhere(|| handle.spawn_on("q", || async {}));
    settle(&ex);
    assert!(is_full(remote), "the other thread's");
    assert!(output(parent).unwrap().unwrap_err().is_full(), "the child");
    // The parent has finished.
    let next = queue.spawn(async {});
    settle(&ex);
    output(next).unwrap();
    assert_eq!((queue.stats().live, queue.stats().refused), (1, 4));
}

#[test]
fn a_tombstone_counts_nowhere() {
    let ex = untimed();
    let lifo: Spy = Spy::lifo();
    let queue = ex.new_queue("q").scheduler(lifo).max_live_per_group(1).create().unwrap();
    let group = queue.group(1);
    for _ in 0..3 {
        let aborted = group.try_spawn(async { unreachable!("it is aborted before its first poll") }).unwrap();
        // On top of it, so that it is not given out.
        queue.spawn(never_rests());
        tick(&ex);
        aborted.abort();
        tick(&ex);
        assert!(output::<()>(aborted).unwrap_err().is_cancelled());
    }
    assert!(group_takes(&group));
    assert!(group.try_spawn(async {}).unwrap_err().is_group_full());
}

#[test]
fn each_group_has_the_limit_for_itself() {
    let ex = untimed();
    let queue = ex.new_queue("q").scheduler(Las::new()).max_live_per_group(2).create().unwrap();
    let groups: Vec<_> = (0..10).map(|key| queue.group(key)).collect();
    for group in &groups {
        assert_eq!([group_takes(group), group_takes(group)], [true; 2]);
        let error = group.try_spawn(pending::<()>()).unwrap_err();
        assert!(error.is_full() && error.is_group_full());
        assert_eq!(error.to_string(), "the task was refused: its group is full");
        assert!(output(group.spawn(async {})).unwrap_err().to_string().ends_with("its group is full"));
    }
    assert!((0..100).all(|_| takes(&queue)), "these have no group");
    // A handle to the group is no task.
    let handles = [(); 5].map(|()| queue.group(11));
    assert!(group_takes(&handles[0]));
}

/// The limit is asked at the spawn, so it holds inside of a slice too.
#[test]
fn there_are_never_more_than_the_limit_says() {
    let ex = untimed();
    let queue = ex.new_queue("q").max_live(4).create().unwrap();
    let (inner, most) = (queue.clone(), Rc::new(Cell::new(0)));
    let seen = Rc::clone(&most);
    let taken = ex.spawn(async move {
        let mut taken = 0;
        for _ in 0..100 {
            taken += u64::from(inner.try_spawn(yield_now()).is_ok());
            seen.set(inner.stats().live.max(seen.get()));
            if taken % 3 == 0 {
                yield_now().await;
            }
        }
        taken
    });
    settle(&ex);
    assert_eq!(most.get(), 4);
    let stats = queue.stats();
    assert_eq!((stats.spawned + stats.refused, stats.live), (100, 0));
    assert_eq!(stats.completed, output(taken).unwrap());
}

#[test]
fn tasks_of_queues_below_do_not_count() {
    let ex = untimed();
    let parent = ex.new_queue("parent").max_live(1).max_live_per_group(1).create().unwrap();
    let child = parent.new_queue("child").max_live(2).create().unwrap();
    assert!(takes(&child) && takes(&child) && !takes(&child));
    assert!(takes(&parent) && !takes(&parent));
}
