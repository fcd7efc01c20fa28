//! Queues that come and go while others work: renamed, retired with a report, created and retired in thousands.

use std::future::{pending, ready};
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use clockworker::{Executor, Group, JoinSet, Queue, ShutdownReport, spawn_local, yield_now};

use crate::support::*;

fn counts(report: &ShutdownReport) -> (u64, u64, u64, bool) {
    (report.completed, report.cancelled, report.panicked, report.drained)
}

#[test]
fn a_renamed_queue_is_found_by_its_new_name_alone_everywhere() {
    let ex = untimed();
    let (queue, handle) = (ex.new_queue("old").create().unwrap(), ex.handle());
    let name_there = |name| handle.spawn_on(name, || async { Queue::current().unwrap().name() });
    let sent = name_there("old");
    queue.rename("new").unwrap();
    assert_eq!((queue.name(), queue.stats().name), ("new".to_owned(), "new".to_owned()));
    assert_eq!(handle.queue_names(), ["default", "new"]);
    assert!(ex.queue("old").is_none() && ex.queue("new").is_some() && !handle.has_queue("old"));
    // What was sent by the old name is of this queue, and what comes now is of another.
    let other = ex.new_queue("old").create().unwrap();
    let (by_new, by_old) = (name_there("new"), name_there("old"));
    let names = ex.block_on(async { [sent.await, by_new.await, by_old.await].map(Result::unwrap) });
    assert_eq!(names, ["new", "new", "old"]);
    other.close();
    queue.rename("old").unwrap();
    queue.close();
    assert!(ex.new_queue("old").create().is_ok() && ex.new_queue("new").create().is_ok());
}

#[test]
fn a_name_that_cannot_be_is_refused_and_the_old_one_stays() {
    let ex = untimed();
    let queue = ex.new_queue("a").create().unwrap();
    let error = queue.rename("").unwrap_err();
    assert!(error.is_empty_name() && ex.new_queue("").create().unwrap_err().is_empty_name());
    assert_eq!(error.to_string(), "a queue's name has at least one character, not \"\"");
    let error = queue.rename("default").unwrap_err();
    assert!(error.is_name_taken());
    assert_eq!(error.to_string(), "there is an open queue named \"default\" already");
    queue.rename("a").unwrap();
    assert_eq!((queue.name().as_str(), ex.handle().queue_names().len()), ("a", 2));
    queue.spawn(pending::<()>());
    queue.close();
    let error = queue.rename("b").unwrap_err();
    assert!(error.is_closed() && !ex.handle().has_queue("b"));
    assert_eq!(error.to_string(), "the queue \"a\" is closed");
    let last = ex.new_queue("last").create().unwrap();
    ex.block_on_shutdown(ready(()));
    assert!(last.rename("b").unwrap_err().is_stopped());
}

#[test]
fn refusals_are_counted_once_whatever_the_queues_are_called() {
    let ex = untimed();
    let closed = ex.new_queue("a").create().unwrap();
    closed.spawn(pending::<()>());
    closed.close();
    drop(ex.handle().spawn_on("a", || async {}));
    // Takes the closed queue's name, with the count that stands there.
    let queue = ex.new_queue("b").create().unwrap();
    queue.rename("a").unwrap();
    drop(ex.handle().spawn_on("b", || async {}));
    assert_eq!((closed.stats().refused, queue.stats().refused, ex.stats().refused), (1, 0, 2));
}

/// A queue, and a signal that one of its tasks waits for.
fn tenant(ex: &Executor) -> (Queue, Signal) {
    let (queue, signal) = (ex.new_queue("tenant").create().unwrap(), Signal::new());
    let waits = signal.clone();
    queue.spawn(async move { waits.wait().await });
    (queue, signal)
}

#[test]
fn a_retired_queue_drains_and_its_name_and_place_are_free() {
    let ex = untimed();
    let (queue, signal) = tenant(&ex);
    queue.spawn(async { yield_now().await });
    ex.block_on(queue.spawn(async {})).unwrap();
    queue.spawn(async { panic!("reported") });
    queue.spawn(async { drop(spawn_local(async { unreachable!("refused: the queue is closed") })) });
    let mut run = pin!(ex.run_until(queue.retire(pending::<()>())));
    let (wakes, waker) = CountingWaker::new();
    assert_eq!(settle_with(run.as_mut(), &wakes, &waker), None);
    assert!(queue.is_closed() && queue.try_spawn(async {}).is_err());
    signal.set();
    let report = settle_with(run, &wakes, &waker).unwrap();
    // One was completed before.
    assert_eq!(counts(&report), (2, 0, 1, true));
    assert_eq!((ex.stats().queues.len(), queue.stats().live), (1, 0));
    assert!(queue.set_share(2).unwrap_err().is_closed());
    assert_eq!(ex.block_on(ex.new_queue("tenant").create().unwrap().spawn(async { 7 })).unwrap(), 7);
}

#[test]
fn at_the_deadline_the_rest_is_cancelled_and_dropped_before_the_report() {
    let ex = untimed();
    let (queue, dropped) = (ex.new_queue("tenant").create().unwrap(), Rc::new(()));
    for _ in 0..100 {
        queue.spawn(hold(Rc::clone(&dropped)));
    }
    queue.spawn(hold(OnDrop::new(|| panic!("in its drop"))));
    let deadline = Signal::new();
    let passes = deadline.clone();
    let mut run = pin!(ex.run_until(queue.retire(async move { passes.wait().await })));
    let (wakes, waker) = CountingWaker::new();
    assert!(settle_with(run.as_mut(), &wakes, &waker).is_none() && Rc::strong_count(&dropped) == 101);
    deadline.set();
    let report = settle_with(run, &wakes, &waker).unwrap();
    assert_eq!((counts(&report), Rc::strong_count(&dropped)), ((0, 100, 1, false), 1));
    // An empty queue has nothing to wait for, and a second time there is nothing to report.
    let none = untimed();
    let nothing = none.block_on(none.new_queue("empty").create().unwrap().retire(ready(())));
    assert_eq!(counts(&nothing), (0, 0, 0, true));
    assert_eq!(counts(&ex.block_on(queue.retire(ready(())))), (0, 0, 0, true));
}

#[test]
fn dropped_midway_the_queue_stays_closed_and_goes_with_its_last_task() {
    let ex = untimed();
    let (queue, signal) = tenant(&ex);
    drop(queue.retire(pending::<()>()));
    assert!(!queue.is_closed(), "nothing was polled");
    let mut retiring = Box::pin(queue.retire(pending::<()>()));
    assert!(poll_once(&mut retiring).is_pending());
    drop(retiring);
    settle(&ex);
    assert!(queue.is_closed() && ex.queues().len() == 2);
    signal.set();
    settle(&ex);
    assert!(queue.stats().completed == 1 && ex.queues().len() == 1);
}

#[test]
fn who_waits_is_answered_when_the_executor_goes_and_several_may_wait() {
    let ex = untimed();
    let (queue, _signal) = tenant(&ex);
    let mut waits = [queue.retire(pending::<()>()), queue.retire(pending::<()>())].map(Box::pin);
    assert!(waits.iter_mut().all(|wait| poll_once(wait).is_pending()));
    tick(&ex);
    drop(ex);
    for wait in &mut waits {
        let std::task::Poll::Ready(report) = poll_once(wait) else { panic!("the queue is gone") };
        assert_eq!(counts(&report), (0, 1, 0, true));
    }
}

#[test]
fn a_join_set_spawns_as_a_task_builder_says() {
    let (ex, log) = (untimed(), Log::default());
    let spy: Spy = Spy::fifo().logging(&log);
    let queue = ex.new_queue("q").scheduler(spy).create().unwrap();
    let urgent = queue.group(7).new_task().priority(5);
    let mut set = JoinSet::new();
    for number in 0..3 {
        set.spawn_local_on(async move { (number, Group::current().unwrap().key()) }, &urgent);
    }
    assert_eq!(ex.block_on(set.join_all()), [(0, 7), (1, 7), (2, 7)]);
    assert_eq!(log.take_only(&["spawned"]), "spawned 1 of 0 p5, spawned 2 of 0 p5, spawned 3 of 0 p5");
}

#[test]
fn a_queue_is_found_by_name_in_a_task_that_has_no_handle_to_it() {
    let ex = untimed();
    ex.new_queue("background").create().unwrap();
    let found = ex.spawn(async { Queue::find("background").unwrap().share() });
    assert_eq!(ex.block_on(found).unwrap(), 1);
    assert!(Queue::find("background").is_none(), "no executor runs here");
    let entered = ex.enter();
    assert!(Queue::find("background").is_some() && Queue::find("no such").is_none());
    drop(entered);
}

/// A queue is created each millisecond, with three tasks of 100 µs, and retired; every other one before its tasks are done.
#[test]
fn a_thousand_queues_a_second_leave_the_tables_flat_and_the_shares_right() {
    const QUEUES: u32 = 3_000;
    let ex = world();
    let worker = ex.new_queue("worker").share(1).create().unwrap();
    worker.spawn(compute(us(50)));
    let churn = async {
        for number in 0..QUEUES {
            let queue = ex.new_queue(&format!("tenant {number}")).create().unwrap();
            (0..3).for_each(|_| drop(queue.spawn(polls("", 1, us(100)))));
            let report = match number % 2 {
                0 => queue.retire(pending::<()>()).await,
                _ => queue.retire(ready(())).await,
            };
            assert_eq!(report.completed + report.cancelled, 3);
            sleep_until(Duration::from_millis(u64::from(number) + 1)).await;
        }
    };
    let (mut churn, mut most) = (pin!(churn), 0);
    let watched = std::future::poll_fn(|cx| {
        let poll = churn.as_mut().poll(cx);
        most = most.max(ex.queues().len());
        poll
    });
    run(&ex, watched);
    // The default queue, the worker, and one tenant at a time.
    assert_eq!((most, ex.queues().len(), ex.handle().queue_names().len()), (3, 2, 2));
    let (worked, all) = (worker.stats().busy, ex.stats().busy);
    // The tenants of even numbers had their 300 µs each; the rest of the time is the worker's.
    let tenants = all - worked;
    assert_eq!(tenants, us(300) * (QUEUES / 2));
    assert!(now() >= Duration::from_secs(3) && now() - tenants - worked <= us(50), "{:?}", now());
}
