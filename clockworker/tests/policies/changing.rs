//! [`Queue::set_scheduler`]: another order for a queue whose tasks run.

use std::cell::{Cell, RefCell};
use std::future::pending;
use std::rc::Rc;

use clockworker::schedulers::{Las, Qlas, RunnableFifo, Scheduler};
use clockworker::{Executor, JoinHandle, PolicyFault, Queue, spawn_local, yield_now};
use clockworker_testing::hostile::{Call as Method, Fault, Faulty, Hostile};
use clockworker_testing::policy::Policy;

use crate::support::*;

/// What the new scheduler is told.
const TOLD: [&str; 3] = ["push", "spawned", "group_opened"];

fn lifo() -> Spy<false> {
    Spy::lifo()
}

fn fifo(ex: &Executor) -> Queue {
    ex.new_queue("q").scheduler(RunnableFifo::new()).create().unwrap()
}

/// So many tasks that note their numbers when they are polled.
fn spawn_noting(queue: &Queue, numbers: std::ops::Range<usize>) {
    numbers.for_each(|number| drop(queue.spawn(async move { note(number.to_string()) })));
}

/// Spawns a task that changes the queue's scheduler, and so before those that were spawned before it are polled, if the last comes first.
fn change_from_within(queue: &Queue, next: impl Scheduler + 'static) {
    let changed = queue.clone();
    drop(queue.spawn(async move { changed.set_scheduler(next).unwrap() }));
}

#[test]
fn ready_tasks_go_over_in_the_old_order_after_groups_and_attributes() {
    let (ex, log) = (untimed(), Log::default());
    let queue = ex.new_queue("q").scheduler(lifo()).create().unwrap();
    let group = queue.new_group(7).weight(3).open().unwrap();
    let waits = queue.new_task().priority(2).spawn(pending::<()>());
    settle(&ex);
    (0..3).for_each(|_| drop(group.spawn(async {})));
    change_from_within(&queue, lifo().logging(&log));
    settle(&ex);
    let pushes = "push 4 of 0 Woken, push 3 of 0 Woken, push 2 of 0 Woken";
    assert_eq!(log.take_only(&TOLD), format!("group_opened 0 for 7 w3, spawned 1 of 1 p2, {pushes}"));
    assert_eq!(queue.stats().live, 1);
    waits.abort();
    settle(&ex);
    assert_finished(&ex.stats(), 4, 1, 0);
    assert_eq!(queue.stats().policy_fault, None);
}

#[test]
fn the_order_is_the_new_schedulers_from_then_on() {
    let ex = untimed();
    let queue = fifo(&ex);
    spawn_noting(&queue, 0..4);
    queue.set_scheduler(lifo()).unwrap();
    settle(&ex);
    assert_eq!(trace(), "3 2 1 0");
}

#[test]
fn a_task_changes_the_scheduler_of_its_own_queue_after_its_poll() {
    let (ex, log) = (untimed(), Log::default());
    let (queue, new) = (fifo(&ex), log.clone());
    queue.spawn(async move {
        note("0");
        let own = Queue::current().unwrap();
        own.set_scheduler(lifo().logging(&new)).unwrap();
        assert_eq!(new.take(), "", "after the poll");
        drop(spawn_local(async { note("9") }));
        yield_now().await;
        assert!(format!("{own:?}").contains("Spy"), "{own:?}");
        note("10");
    });
    spawn_noting(&queue, 1..4);
    settle(&ex);
    // The spawned task came before the yielded one, which is the last in.
    assert_eq!(trace(), "0 10 9 3 2 1");
    assert_finished(&ex.stats(), 5, 0, 0);
    assert_eq!((queue.stats().policy_fault, queue.stats().preemptions), (None, 0));
}

#[test]
fn another_queues_task_and_a_destructor_change_it() {
    let (ex, log) = (untimed(), Log::default());
    let (queue, first) = (fifo(&ex), Signal::new());
    let goes_on = first.clone();
    queue.spawn(async move {
        first.set();
        yield_now().await;
    });
    (0..2).for_each(|_| drop(queue.spawn(async {})));
    let other = ex.new_queue("other").share(100).create().unwrap();
    let (changed, new) = (queue.clone(), log.clone());
    other.spawn(async move {
        goes_on.wait().await;
        changed.set_scheduler(lifo().logging(&new)).unwrap();
        assert_eq!(new.take(), "push 1 of 1 Woken, push 2 of 2 Woken, push 0 of 0 Woken", "at once");
    });
    settle(&ex);
    assert_eq!((other.stats().completed, log.take_only(&TOLD).as_str()), (1, ""));
    let (changed, new) = (queue.clone(), log.clone());
    let aborted =
        queue.spawn(hold(OnDrop::new(move || changed.set_scheduler(lifo().logging(&new)).unwrap())));
    let beside = queue.spawn(yields(1));
    tick(&ex);
    log.take();
    aborted.abort();
    settle(&ex);
    assert!(output(aborted).unwrap_err().is_cancelled() && output(beside).is_ok());
    log.take();
    output(spawn_and_settle(&ex, &queue)).unwrap();
    assert_eq!(log.take_only(&TOLD), "push 1 of 1 Spawned");
    assert_eq!(queue.stats().policy_fault, None);
}

/// A task that was spawned and has run.
fn spawn_and_settle(ex: &Executor, queue: &Queue) -> JoinHandle<()> {
    let task = queue.spawn(async {});
    settle(ex);
    task
}

#[test]
fn a_scheduler_may_ask_for_its_own_successor() {
    let (ex, log, own) = (untimed(), Log::default(), Rc::new(RefCell::new(None::<Queue>)));
    let (within, new) = (Rc::clone(&own), log.clone());
    let resigns: Spy = Spy::fifo().listening(move |call| {
        if let Call::Pop(_) = call
            && let Some(queue) = within.take()
        {
            queue.set_scheduler(lifo().logging(&new)).unwrap();
        }
    });
    let queue = ex.new_queue("q").scheduler(resigns).create().unwrap();
    own.replace(Some(queue.clone()));
    let tasks: Vec<_> = (0..3).map(|_| queue.spawn(async {})).collect();
    settle(&ex);
    tasks.into_iter().for_each(|task| output(task).unwrap());
    // The first was polled in the slice that was under way.
    assert_eq!(log.take_only(&TOLD), "push 1 of 1 Woken, push 2 of 2 Woken");
    assert_eq!(queue.stats().policy_fault, None);
}

#[test]
fn the_old_scheduler_is_dropped_once_and_its_drop_may_do_anything() {
    let (ex, drops) = (untimed(), Rc::new(Cell::new(0)));
    let queue = fifo(&ex);
    let (counted, own) = (Rc::clone(&drops), queue.clone());
    let at_drop = OnDrop::new(move || {
        counted.set(counted.get() + 1);
        own.spawn(async {});
        own.set_scheduler(Qlas::new()).unwrap();
        panic_as_meant("the old scheduler, in its drop");
    });
    let old = lifo().listening(move |_| {
        let _ = &at_drop;
    });
    queue.set_scheduler(old).unwrap();
    queue.spawn(async {});
    queue.set_scheduler(Las::new()).unwrap();
    assert_eq!(drops.get(), 1);
    assert!(format!("{queue:?}").contains("Qlas"), "{queue:?}");
    settle(&ex);
    assert_finished(&ex.stats(), 2, 0, 0);
    assert_eq!((queue.stats().policy_fault, drops.get()), (None, 1));
}

#[test]
fn aborted_tasks_go_over_too_and_are_never_polled() {
    let ex = untimed();
    let queue = fifo(&ex);
    let doomed: Vec<JoinHandle<()>> = (0..4).map(|_| queue.spawn(async { panic!("polled") })).collect();
    let lives = queue.group(3).spawn(async { 7 });
    doomed.iter().for_each(JoinHandle::abort);
    let change = queue.clone();
    ex.new_queue("other").share(100).create().unwrap().spawn(async move {
        change.set_scheduler(Las::new()).unwrap();
    });
    settle(&ex);
    queue.set_scheduler(Qlas::new()).unwrap();
    settle(&ex);
    assert_eq!(output(lives).unwrap(), 7);
    assert!(doomed.into_iter().all(|task| output(task).unwrap_err().is_cancelled()));
    assert_eq!((queue.stats().policy_fault, queue.stats().ready), (None, 0));
    assert_finished(&ex.stats(), 2, 4, 0);
}

#[test]
fn whatever_is_wrong_with_the_old_one_nothing_is_lost() {
    for &fault in Fault::ALL {
        for after in 0..6 {
            let ex = untimed();
            let hostile = Hostile::<Faulty>::new(Faulty::once(fault, after));
            let queue = ex.new_queue("q").scheduler(hostile).create().unwrap();
            let spawn = || (0..5).map(|_| queue.spawn(yields(2))).collect::<Vec<_>>();
            let tasks = spawn();
            tick(&ex);
            let more = spawn();
            queue.set_scheduler(RunnableFifo::new()).unwrap();
            assert_eq!(queue.stats().policy_fault, None, "{fault:?} after {after}");
            settle(&ex);
            tasks.into_iter().chain(more).for_each(|task| output(task).unwrap());
            assert_finished(&ex.stats(), 10, 0, 0);
            assert_eq!(queue.stats().policy_fault, None, "{fault:?} after {after}");
        }
    }
}

#[test]
fn a_new_scheduler_that_panics_when_it_is_told_is_replaced_by_fifo() {
    for method in [Method::GroupOpened, Method::Push] {
        let ex = untimed();
        let queue = ex.new_queue("q").scheduler(lifo()).create().unwrap();
        let group = queue.group(1);
        (0..3).for_each(|number| drop(group.spawn(async move { note(number.to_string()) })));
        change_from_within(&queue, Hostile::<Faulty>::new(Faulty::once(Fault::Panics(method), 0)));
        settle(&ex);
        assert_eq!(queue.stats().policy_fault, Some(PolicyFault::Panicked), "{method:?}");
        assert!(format!("{queue:?}").contains("RunnableFifo"), "{queue:?}");
        assert_eq!(trace(), "0 1 2");
        // The watchdog and all else begin anew.
        queue.set_scheduler(lifo()).unwrap();
        assert_eq!(queue.stats().policy_fault, None);
        assert!(output(spawn_and_settle(&ex, &queue)).is_ok());
    }
}

#[test]
fn tasks_that_wait_end_under_a_scheduler_that_was_never_given_them() {
    for &policy in Policy::ALL {
        let ex = untimed();
        let queue = fifo(&ex);
        for number in 0..60 {
            let task = if number % 2 == 0 { queue.group(number % 8).new_task() } else { queue.new_task() };
            task.priority((number % 3) as i8).spawn(pending::<()>());
        }
        settle(&ex);
        policy.set(&queue).unwrap();
        assert_eq!(queue.abort_all(), 60);
        settle(&ex);
        let later: Vec<_> = (0..60).map(|number| queue.group(number % 8).spawn(yields(2))).collect();
        settle(&ex);
        later.into_iter().for_each(|task| output(task).unwrap());
        assert_finished(&ex.stats(), 60, 60, 0);
        assert_eq!(queue.stats().policy_fault, None, "{policy:?}");
    }
}

#[test]
fn a_queue_that_is_gone_takes_no_scheduler() {
    let ex = untimed();
    let queue = fifo(&ex);
    queue.close();
    assert!(queue.set_scheduler(Las::new()).unwrap_err().is_closed());
    let queue = fifo(&ex);
    drop(ex);
    assert!(queue.set_scheduler(Las::new()).unwrap_err().is_stopped());
}
