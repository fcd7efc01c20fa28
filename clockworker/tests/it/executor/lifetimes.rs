//! Who keeps what alive: nothing that a task can hold keeps its executor from going, and whatever is left of an executor
//! may go later, in any order, on any thread. (While its thread ends: see `reentrancy::thread_end`.)

use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

use clockworker::schedulers::{Las, Ready, Scheduler, Task, TaskId};
use clockworker::{Executor, JoinError, JoinHandle, Queue, spawn_local, yield_now};

use crate::support::{Count, Probe, Slot, hold, orders, output, parked, settle, untimed};

/// Gives the address of what it holds, after it has checked that it stays there.
async fn unmoved<const BYTES: usize>() -> usize {
    let held = [0_u8; BYTES];
    let at = std::ptr::from_ref(&held).addr();
    for _ in 0..3 {
        yield_now().await;
        assert_eq!(std::ptr::from_ref(&held).addr(), at);
    }
    at
}

#[test]
fn futures_of_all_sizes_stay_where_they_are_and_are_dropped_once() {
    fn spawn<const BYTES: usize>(ex: &Executor, drops: &Count) {
        let guarded = || {
            let guard = drops.guard();
            async move {
                let _guard = guard;
                unmoved::<BYTES>().await
            }
        };
        let before = drops.get();
        ex.block_on(async {
            let tasks = [
                ex.spawn(guarded()),
                ex.default_queue().try_spawn(guarded()).expect("there is room"),
                spawn_local(guarded()),
            ];
            for task in tasks {
                assert_ne!(task.await.unwrap(), 0);
            }
            // Never polled.
            ex.spawn(guarded()).abort();
        });
        settle(ex);
        assert_eq!(drops.get() - before, 4);
    }
    let drops = Count::default();
    spawn::<1>(&untimed(), &drops);
    spawn::<500>(&untimed(), &drops);
    spawn::<{ 16 << 10 }>(&untimed(), &drops);
    spawn::<{ 64 << 10 }>(&untimed(), &drops);
}

#[test]
fn a_task_that_holds_all_there_is_goes_with_the_executor() {
    let drops = Count::default();
    let ex = untimed();
    let queue = ex.new_queue("q").scheduler(Las::new()).create().unwrap();
    let wakers: Rc<RefCell<Vec<Waker>>> = Rc::default();
    let joins: Rc<RefCell<Vec<JoinHandle<()>>>> = Rc::default();
    for _ in 0..2 {
        // All but the executor itself.
        let all = Slot::new();
        let (own, wakers, guard) = (all.clone(), Rc::clone(&wakers), drops.guard());
        let task = queue.group(1).spawn(poll_fn(move |cx| {
            let _held = (&guard, &own);
            wakers.borrow_mut().push(cx.waker().clone());
            Poll::<()>::Pending
        }));
        all.put((queue.clone(), queue.group(1), ex.handle(), task.abort_handle(), Rc::clone(&joins)));
        joins.borrow_mut().push(task);
    }
    settle(&ex);
    let watch = (Rc::downgrade(&wakers), Rc::downgrade(&joins));
    drop((wakers, joins, queue));
    assert_eq!((drops.get(), watch.0.strong_count(), watch.1.strong_count()), (0, 2, 2));
    drop(ex);
    assert_eq!((drops.get(), watch.0.strong_count(), watch.1.strong_count()), (2, 0, 0));
}

#[test]
fn two_tasks_that_hold_each_others_wakers_are_freed_when_they_end() {
    for aborted in [false, true] {
        let drops = Count::default();
        let ex = untimed();
        // Each has the waker of its task.
        let probes = [Probe::new(), Probe::new()];
        let tasks = [0, 1].map(|i| {
            let (inner, held) = (probes[i].future(), (Rc::clone(&probes[1 - i]), drops.guard()));
            ex.spawn(async move {
                let _held = held;
                inner.await
            })
        });
        settle(&ex);
        if aborted {
            tasks.iter().for_each(JoinHandle::abort);
        } else {
            probes.iter().for_each(|probe| probe.finish());
        }
        settle(&ex);
        assert_eq!((drops.get(), ex.stats().live), (2, 0), "the futures went, although the cells are held");
        drop(tasks);
        let watch = probes.each_ref().map(Rc::downgrade);
        drop(probes);
        assert!(watch.iter().all(|probe| probe.strong_count() == 0));
    }
}

/// Each of some tasks awaits the next, and the last the first. One may await itself.
#[test]
fn tasks_that_await_one_another_go_with_the_executor_or_by_an_abort() {
    for length in [1, 2, 3] {
        for aborted in [false, true] {
            let drops = Count::default();
            let ex = untimed();
            let slots: Vec<Slot<JoinHandle<bool>>> = (0..length).map(|_| Slot::new()).collect();
            let tasks = (0..length).map(|i| {
                let (next, guard) = (slots[(i + 1) % length].clone(), drops.guard());
                ex.spawn(async move {
                    let _guard = guard;
                    yield_now().await;
                    next.take().await.is_err()
                })
            });
            let tasks: Vec<_> = tasks.collect();
            let abort = tasks[0].abort_handle();
            slots.iter().zip(tasks).for_each(|(slot, task)| slot.put(task));
            settle(&ex);
            assert_eq!((drops.get(), ex.stats().live), (0, length));
            if aborted {
                // The one that awaits it is woken, and ends.
                abort.abort();
                settle(&ex);
                assert_eq!((ex.stats().live, ex.stats().completed), (0, length as u64 - 1));
            } else {
                drop(ex);
            }
            assert_eq!(drops.get(), length);
        }
    }
}

#[test]
fn an_output_may_hold_the_executors_own_things() {
    let ex = untimed();
    let queue = ex.new_queue("q").create().unwrap();
    let held = Rc::new(());
    let inside = Rc::clone(&held);
    let task = queue.clone().spawn(async move {
        let child = spawn_local(hold(inside));
        (child, queue)
    });
    settle(&ex);
    drop(ex);
    assert_eq!(Rc::strong_count(&held), 1, "the child went with the executor");
    let (child, queue) = output(task).unwrap();
    assert!(output(child).unwrap_err().is_cancelled());
    assert!(output(queue.spawn(async {})).unwrap_err().is_refused());
}

#[test]
fn an_executor_held_by_its_own_task_goes_when_the_task_does() {
    // The one cycle that there is: nothing but the task's end can break it.
    let drops = Count::default();
    let ex = Rc::new(untimed());
    let watch = Rc::downgrade(&ex);
    let guard = drops.guard();
    let own = Rc::clone(&ex);
    let task = ex.spawn(hold((own, guard)));
    settle(&ex);
    task.abort();
    settle(&ex);
    assert_eq!((drops.get(), Rc::strong_count(&ex)), (1, 1));
    drop(ex);
    assert!(watch.upgrade().is_none());
}

#[test]
fn what_is_left_goes_in_any_order() {
    for order in orders(4) {
        let ex = untimed();
        let queue = ex.new_queue("q").create().unwrap();
        let (probe, _) = parked(&ex);
        let task = queue.group(2).spawn(probe.future());
        settle(&ex);
        let (group, abort, waker) = (queue.group(2), task.abort_handle(), probe.waker.take());
        let mut left: [Option<Box<dyn FnOnce()>>; 4] = [
            Some(Box::new(move || drop(ex))),
            Some(Box::new(move || drop((queue, group)))),
            Some(Box::new(move || drop(task))),
            Some(Box::new(move || {
                abort.abort();
                waker.into_iter().for_each(Waker::wake);
            })),
        ];
        for at in order {
            left[at].take().expect("each goes once")();
        }
        assert_eq!(probe.drops.get(), 2);
    }
}

#[test]
fn what_is_left_of_an_executor_refuses_and_shows_its_last_numbers() {
    let ex = untimed();
    let queue = ex.new_queue("q").create().unwrap();
    let group = queue.group(1);
    queue.spawn(async {});
    settle(&ex);
    drop(ex);
    let refused = |result: Result<(), JoinError>| result.unwrap_err().is_refused();
    assert!(refused(output(queue.spawn(async {}))) && refused(output(group.spawn(async {}))));
    assert_eq!((queue.stats().completed, queue.stats().live), (1, 0));
    queue.close();
    assert!(queue.is_closed());
    drop(group.clone());
    drop(queue.group(2));
}

#[test]
fn executors_that_were_not_built_or_never_used_leave_nothing_behind() {
    // What they would leave, LeakSanitizer sees.
    for _ in 0..10 {
        assert!(Executor::builder().share(0).build().unwrap_err().queue_error().is_some());
        assert!(Executor::builder().poll_cap(0).build().unwrap_err().is_poll_cap());
        drop(untimed());
        let unrun = untimed();
        drop(unrun.spawn(async {}));
        drop(unrun.run_until(async {}));
        let _ = (unrun.handle(), unrun.default_queue().clone());
    }
}

/// A scheduler that holds queues, its own among them.
struct Holds(#[allow(dead_code, reason = "it is held")] Rc<RefCell<Vec<Queue>>>);

impl Scheduler for Holds {
    fn push(&mut self, _task: Task, _why: Ready) {}

    fn pop(&mut self) -> Option<TaskId> {
        None
    }
}

#[test]
fn a_scheduler_that_holds_queues_goes_with_the_executor_or_with_its_queue() {
    for closed in [false, true] {
        let ex = untimed();
        let held = Rc::new(RefCell::new(vec![ex.default_queue().clone()]));
        let scheduler = Rc::downgrade(&held);
        let queue = ex.new_queue("q").scheduler(Holds(Rc::clone(&held))).create().unwrap();
        held.borrow_mut().push(queue.clone());
        drop(held);
        assert_eq!(scheduler.strong_count(), 1);
        if closed {
            queue.close();
        } else {
            drop(ex);
        }
        assert_eq!(scheduler.strong_count(), 0);
    }
}
