//! Queues: names, bounds, closing, and many of them.

use std::cell::{Cell, RefCell};
use std::future::{pending, poll_fn, ready};
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;

use clockworker::{Executor, JoinHandle, Queue, QueueError, spawn_local, yield_now};

use crate::support::*;

// ---- Names and bounds

#[test]
fn a_queue_keeps_its_options() {
    let ex = Executor::new();
    let queue = ex.new_queue("Käse 9").share(7).request(us(30)).create().unwrap();
    assert_eq!((queue.name().as_str(), queue.share(), queue.request()), ("Käse 9", 7, us(30)));
    let default = ex.default_queue();
    assert_eq!((default.name().as_str(), default.share(), default.request()), ("default", 1, us(500)));
    assert!(!queue.is_closed());
    assert!(ex.handle().has_queue("Käse 9") && !ex.handle().has_queue("käse 9"));
}

#[test]
fn a_name_can_be_taken_once() {
    let ex = Executor::new();
    for name in ["a", "A", " "] {
        ex.new_queue(name).create().unwrap();
    }
    assert!(ex.new_queue("").create().unwrap_err().is_empty_name());
    for name in ["a", "A", " ", "default"] {
        let error = ex.new_queue(name).create().unwrap_err();
        assert!(error.is_name_taken(), "{error}");
        assert_eq!(error.to_string(), format!("there is an open queue named {name:?} already"));
    }
    assert_eq!(ex.stats().queues.len(), 4, "those that were refused left nothing behind");
}

/// Of which kind it is: name, share, request, closed, stopped.
fn kinds(error: &QueueError) -> [bool; 5] {
    [error.is_name_taken(), error.is_share(), error.is_request(), error.is_closed(), error.is_stopped()]
}

const STOPPED: [bool; 5] = [false, false, false, false, true];

#[test]
fn shares_have_bounds() {
    let ex = Executor::new();
    for share in [0, 1_000_001, u32::MAX] {
        let error = ex.new_queue("a").share(share).create().unwrap_err();
        assert_eq!(kinds(&error), [false, true, false, false, false]);
        assert_eq!(error.to_string(), format!("a share is between 1 and 1000000, not {share}"));
    }
    for share in [1, 1_000_000] {
        let queue = ex.new_queue(&share.to_string()).share(share).create().unwrap();
        assert_eq!(queue.set_share(0).unwrap_err().to_string(), "a share is between 1 and 1000000, not 0");
        assert_eq!(queue.share(), share, "unchanged");
    }
    let error = Executor::builder().share(0).build().unwrap_err();
    assert_eq!(error.to_string(), "default queue: a share is between 1 and 1000000, not 0");
    assert!(error.queue_error().is_some_and(QueueError::is_share) && !error.is_poll_cap());
}

#[test]
fn requests_have_a_lower_bound() {
    let ex = Executor::new();
    let error = ex.new_queue("a").request(Duration::ZERO).create().unwrap_err();
    assert_eq!(kinds(&error), [false, false, true, false, false]);
    assert_eq!(error.to_string(), "a queue's request must be more than zero");
    let queue = ex.new_queue("a").request(Duration::from_nanos(1)).create().unwrap();
    assert_eq!(queue.set_request(Duration::ZERO).unwrap_err(), error);
    assert_eq!(queue.request(), Duration::from_nanos(1), "unchanged");
    queue.set_request(Duration::MAX).unwrap();
    assert_eq!(ex.block_on(queue.spawn(async { 1 })).unwrap(), 1, "as long a request as can be is a request");
}

#[test]
fn the_options_of_an_executor_have_bounds() {
    let error = Executor::builder().poll_cap(0).build().unwrap_err();
    assert_eq!(error.to_string(), "the poll cap must be at least 1");
    assert!(error.is_poll_cap() && error.queue_error().is_none());
    let error = Executor::builder().request(Duration::ZERO).build().unwrap_err();
    assert_eq!(error.to_string(), "default queue: a queue's request must be more than zero");
}

#[test]
fn no_queue_is_created_after_a_shutdown() {
    let ex = Executor::new();
    ex.block_on_shutdown(pending::<()>());
    let error = ex.new_queue("a").create().unwrap_err();
    assert_eq!((kinds(&error), error.to_string().as_str()), (STOPPED, "the executor was shut down"));
}

// ---- Closing

#[test]
fn a_closed_queue_refuses_and_drains() {
    let ex = scene("a\n a a: 1*3");
    let queue = queue(&ex, "a");
    queue.close();
    queue.close();
    assert!(queue.is_closed());
    let refused = queue.spawn(async { unreachable!("it is never polled") });
    let error = run(&ex, refused).unwrap_err();
    assert!(error.is_cancelled() && error.is_refused() && !error.is_panic());
    assert!(error.to_string().ends_with("was refused: its queue is closed"), "{error}");
    assert_eq!(drain(&ex), "a1 a2 a3");
    // The refused one was never spawned.
    let stats = queue.stats();
    assert_eq!((stats.spawned, stats.completed, stats.cancelled), (1, 1, 0));
    assert_eq!(ex.stats().queues.len(), 1, "it is gone");
}

/// A task of a closed queue cannot spawn beside itself, and its handle says so.
#[test]
fn children_are_refused_too() {
    let ex = Executor::new();
    let queue = ex.new_queue("a").create().unwrap();
    let task = queue.spawn(async {
        yield_now().await;
        spawn_local(async {}).await
    });
    queue.close();
    assert!(ex.block_on(task).unwrap().unwrap_err().is_refused());
}

#[test]
fn the_name_is_free_at_once() {
    let ex = Executor::new();
    let old = ex.new_queue("a").create().unwrap();
    old.spawn(pending::<()>());
    old.close();
    assert!(!ex.handle().has_queue("a"));
    let new = ex.new_queue("a").share(3).create().unwrap();
    assert_eq!((old.share(), new.share()), (1, 3));
    // By name it is the new one.
    let handle = ex.handle();
    ex.block_on(thread::spawn(move || handle.spawn_on("a", || async {})).join().unwrap()).unwrap();
    assert_eq!((old.stats().spawned, new.stats().spawned), (1, 1));
    // Closing the old one again does not take the name from the new one.
    old.close();
    assert!(ex.handle().has_queue("a"));
}

/// While a closed queue drains it may be re-shared; when it is gone its place may be another's.
#[test]
fn a_queue_that_is_gone_cannot_be_changed() {
    let ex = Executor::new();
    let old = ex.new_queue("old").create().unwrap();
    let task = old.spawn(yield_now());
    old.close();
    old.set_share(5).unwrap();
    ex.block_on(task).unwrap();
    let new = ex.new_queue("new").create().unwrap();
    let error = old.set_share(9).unwrap_err();
    assert_eq!(kinds(&error), [false, false, false, true, false]);
    assert_eq!(error.to_string(), "the queue \"old\" is closed");
    assert!(old.set_request(us(1)).unwrap_err().is_closed());
    assert_eq!((new.share(), new.request(), old.share()), (1, us(500), 5));
}

#[track_caller]
fn assert_stopped(queue: &Queue, why: &str) {
    let before = (queue.share(), queue.request());
    for error in [queue.set_share(9).unwrap_err(), queue.set_request(us(1)).unwrap_err()] {
        assert_eq!((kinds(&error), error.to_string().as_str()), (STOPPED, why));
    }
    assert_eq!((queue.share(), queue.request()), before);
    // What is wrong anyway is said first.
    assert!(queue.set_share(0).unwrap_err().is_share());
    assert!(queue.set_request(Duration::ZERO).unwrap_err().is_request());
}

const DROPPED: &str = "the executor was dropped";
const SHUT_DOWN: &str = "the executor was shut down";

#[test]
fn a_queue_whose_executor_is_gone_cannot_be_changed() {
    let ex = Executor::new();
    let queues = ["idle", "waiting", "closed", "gone"].map(|name| ex.new_queue(name).create().unwrap());
    let [idle, waiting, closed, gone] = &queues;
    drop(waiting.spawn(pending::<()>()));
    drop(closed.spawn(pending::<()>()));
    closed.close();
    gone.close();
    let (default, seen) = (ex.default_queue().clone(), Rc::new(Cell::new(false)));
    // Also while it is being dropped.
    let (dropped, sees) = (default.clone(), Rc::clone(&seen));
    drop(ex.spawn(hold(OnDrop::new(move || {
        assert_stopped(&dropped, DROPPED);
        sees.set(true);
    }))));
    drop(ex);
    assert!(seen.get());
    [&default, idle, waiting].into_iter().for_each(|queue| assert_stopped(queue, DROPPED));
    for queue in [closed, gone] {
        assert!(queue.set_share(9).unwrap_err().is_closed());
        assert!(queue.set_request(us(1)).unwrap_err().is_closed());
    }
}

/// As of a closed one: while it drains it may be re-shared.
#[test]
fn after_a_shutdown_a_queue_goes_with_its_last_task() {
    let ex = Executor::new();
    let [idle, drains, stays] = ["idle", "drains", "stays"].map(|name| ex.new_queue(name).create().unwrap());
    let go = Rc::new(Cell::new(false));
    let goes = Rc::clone(&go);
    drop(drains.spawn(poll_fn(move |cx| {
        cx.waker().wake_by_ref();
        if goes.get() { Poll::Ready(()) } else { Poll::Pending }
    })));
    drop(stays.spawn(pending::<()>()));
    // Given up at once, so that its tasks go on in the next run.
    let mut given_up = Box::pin(ex.shutdown(pending::<()>()));
    assert!(poll_once(&mut given_up).is_pending());
    drop(given_up);
    assert_stopped(&idle, SHUT_DOWN);
    drains.set_share(7).unwrap();
    stays.set_request(us(70)).unwrap();
    go.set(true);
    ex.block_on(yield_now());
    assert_stopped(&drains, SHUT_DOWN);
    stays.set_share(8).unwrap();
    assert_eq!(ex.block_on_shutdown(ready(())).cancelled, 1);
    for queue in [ex.default_queue(), &idle, &drains, &stays] {
        assert_stopped(queue, SHUT_DOWN);
    }
    assert_eq!((drains.share(), stays.share(), stays.request()), (7, 8, us(70)));
    drop(ex);
    assert_stopped(&stays, DROPPED);
}

/// A waker of a task of a queue that is gone says nothing to the queue in its place, nor to the task in its slot.
#[test]
fn stale_wakers_do_not_reach_a_queue_in_the_same_place() {
    let ex = world();
    let kept = Rc::new(RefCell::new(None::<Waker>));
    let old = ex.new_queue("old").create().unwrap();
    let keeps = Rc::clone(&kept);
    old.spawn(poll_fn(move |cx| {
        keeps.replace(Some(cx.waker().clone()));
        Poll::Ready(())
    }));
    old.close();
    drain(&ex);
    let new = ex.new_queue("new").create().unwrap();
    new.spawn(pending::<()>());
    drain(&ex);
    let waker = kept.take().unwrap();
    waker.wake_by_ref();
    drain(&ex);
    thread::spawn(move || waker.wake()).join().unwrap();
    drain(&ex);
    assert_eq!(new.stats().polls, 1);
}

/// A task on its way from another thread when its queue is closed does not land in the queue that takes its place.
#[test]
fn a_remote_spawn_does_not_reach_a_queue_in_the_same_place() {
    let ex = Executor::new();
    let old = ex.new_queue("old").create().unwrap();
    let handle = ex.handle();
    let sent = thread::spawn(move || handle.spawn_on("old", || async {})).join().unwrap();
    old.close();
    let new = ex.new_queue("new").create().unwrap();
    let error = ex.block_on(sent).unwrap_err();
    assert!(error.is_refused(), "{error}");
    assert_eq!((new.stats().spawned, ex.stats().spawned, ex.stats().cancelled), (0, 1, 1));
}

#[test]
fn the_default_queue_can_be_closed_too() {
    let ex = Executor::new();
    ex.default_queue().close();
    let refused = ex.block_on(async { spawn_local(async {}).await });
    assert!(refused.unwrap_err().is_refused());
    assert!(ex.block_on(ex.spawn(async {})).unwrap_err().is_refused());
    let other = ex.new_queue("other").create().unwrap();
    assert_eq!(ex.block_on(other.spawn(async { 1 })).unwrap(), 1);
}

#[test]
fn handles_may_outlive_the_executor() {
    let ex = scene("a policy=Las\n a -: 5*3");
    let queue = queue(&ex, "a");
    let group = queue.group(1);
    let left = group.spawn(pending::<()>());
    drain(&ex);
    drop(ex);
    #[track_caller]
    fn assert_dropped(task: JoinHandle<()>) {
        let error = futures::executor::block_on(task).unwrap_err();
        assert!(error.is_cancelled() && error.to_string().ends_with("its executor was dropped"), "{error}");
    }
    assert_dropped(left);
    assert_eq!(queue.name(), "a");
    let stats = queue.stats();
    assert_eq!((stats.polls, stats.busy, stats.live), (4, us(15), 0));
    assert_eq!((stats.spawned, stats.completed, stats.cancelled), (2, 1, 1));
    for late in [queue.spawn(async {}), group.spawn(async {}), queue.group(2).clone().spawn(async {})] {
        assert_dropped(late);
    }
    queue.close();
    assert!(queue.is_closed());
}

// ---- While running

#[test]
fn a_task_creates_closes_and_shares_queues() {
    let ex = Rc::new(world());
    let inner = Rc::clone(&ex);
    let task = ex.spawn(async move {
        note("p1");
        let urgent = inner.new_queue("urgent").request(us(50)).create().unwrap();
        urgent.spawn(polls("u", 2, us(10)));
        work(us(100));
        yield_now().await;
        note("p2");
        urgent.set_share(1_000).unwrap();
        urgent.spawn(polls("v", 2, us(10)));
        urgent.close();
        yield_now().await;
        note("p3");
        inner.stats().queues.len()
    });
    let queues = run(&ex, task).unwrap();
    assert_eq!(trace(), "p1 u1 u2 p2 v1 v2 p3");
    assert_eq!(queues, 1, "the queue went with its last task");
}

#[test]
fn a_queue_may_be_closed_by_its_last_task() {
    let ex = scene("a");
    let own = queue(&ex, "a");
    let closed = own.clone();
    own.spawn(async move {
        work(us(10));
        closed.close();
        work(us(10));
    });
    drain(&ex);
    assert_eq!((own.stats().busy, ex.stats().busy), (us(20), us(20)), "its last slice is on its account");
    assert_eq!(ex.stats().queues.len(), 1);
}

/// A queue that leaves takes nothing from the others, nor gives them anything: they go on at their shares.
#[test]
fn the_others_go_on_at_their_shares_when_a_queue_leaves() {
    let ex = scene("three share=3\n one\n three -: 20*\n one -: 20*");
    for _ in 0..100 {
        let guest = ex.new_queue("guest").share(4).create().unwrap();
        let task = guest.spawn(polls("", 250, us(20)));
        guest.close();
        run(&ex, task).unwrap();
    }
    // 100 guests had 5 ms each, half of the time. Each guest's leaving rounds by a request and a poll at most, in either direction.
    for (name, due) in [("three", us(375_000)), ("one", us(125_000))] {
        let got = busy(&ex, name);
        assert!(got.abs_diff(due) < due / 20, "{name}: {got:?}");
    }
}
