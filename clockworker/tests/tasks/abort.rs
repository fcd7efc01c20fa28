//! Abort: the future is dropped within one tick, on the owner thread, whatever state its task is in.

use std::cell::{Cell, RefCell};
use std::future::{Future, pending, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use clockworker::schedulers::{Las, Qlas, Serpt};
use clockworker::{AbortHandle, Executor, ManualClock, Queue, yield_now};

use crate::support::{
    CountingWaker, DropLog, OnDrop, Probe, assert_finished, hold, output, settle, settle_run, tick, untimed,
};

/// Aborts here or on another thread.
fn abort(task: &AbortHandle, remote: bool) {
    if remote {
        thread::scope(|scope| scope.spawn(|| task.abort()).join().unwrap());
    } else {
        task.abort();
    }
}

#[test]
fn a_task_aborted_before_its_first_poll_is_never_polled() {
    for remote in [false, true] {
        let ex = untimed();
        let probe = Probe::new();
        let task = ex.spawn(probe.future());
        abort(&task.abort_handle(), remote);
        assert_eq!(probe.drops.get(), 0, "not on the caller's stack");
        assert!(!task.is_finished());
        tick(&ex);
        assert!(task.is_finished());
        assert_eq!((probe.polls.get(), probe.drops.get()), (0, 1));
        assert!(output(task).unwrap_err().is_cancelled());
        settle(&ex);
        assert_finished(&ex.stats(), 0, 1, 0);
        assert_eq!(ex.stats().ready, 0);
    }
}

#[test]
fn a_parked_task_is_dropped_in_the_next_tick() {
    for remote in [false, true] {
        let ex = untimed();
        let probe = Probe::new();
        let task = ex.spawn(probe.future());
        settle(&ex);
        abort(&task.abort_handle(), remote);
        assert_eq!(probe.drops.get(), 0);
        tick(&ex);
        assert_eq!((probe.polls.get(), probe.drops.get()), (1, 1));
        assert!(output(task).unwrap_err().is_cancelled());
        assert_finished(&ex.stats(), 0, 1, 0);
    }
}

#[test]
fn a_woken_task_is_not_polled_but_dropped() {
    for remote in [false, true] {
        for remote_wake in [false, true] {
            for abort_first in [false, true] {
                let ex = untimed();
                let probe = Probe::new();
                let task = ex.spawn(probe.future());
                settle(&ex);
                let waker = probe.waker();
                let wake = || {
                    if remote_wake {
                        thread::scope(|scope| scope.spawn(|| waker.wake_by_ref()).join().unwrap());
                    } else {
                        waker.wake_by_ref();
                    }
                };
                if !abort_first {
                    wake();
                }
                abort(&task.abort_handle(), remote);
                if abort_first {
                    wake();
                }
                tick(&ex);
                assert_eq!((probe.polls.get(), probe.drops.get()), (1, 1));
                assert!(output(task).unwrap_err().is_cancelled());
                settle(&ex);
                assert_finished(&ex.stats(), 0, 1, 0);
            }
        }
    }
}

#[test]
fn a_task_that_yields_for_ever_can_be_aborted() {
    let ex = Executor::builder().poll_cap(100).clock(ManualClock::new()).build().unwrap();
    let task = ex.spawn(async {
        loop {
            yield_now().await;
        }
    });
    tick(&ex);
    assert_eq!(ex.stats().polls, 100);
    task.abort();
    tick(&ex);
    assert!(task.is_finished());
    assert_eq!(ex.stats().polls, 100);
    assert_finished(&ex.stats(), 0, 1, 0);
}

#[test]
fn a_task_that_aborts_itself_and_is_pending_is_dropped_after_that_poll() {
    for remote in [false, true] {
        for self_wake in [false, true] {
            // To the host the poll takes no time, so that the drop comes in the same turn.
            let ex = Executor::builder().clock(ManualClock::new()).build().unwrap();
            let probe = Probe::new();
            let own: Rc<RefCell<Option<AbortHandle>>> = Rc::default();
            let (slot, seen) = (Rc::clone(&own), Rc::clone(&probe));
            let mut inner = probe.future();
            let task = ex.spawn(poll_fn(move |cx| {
                abort(slot.borrow().as_ref().unwrap(), remote);
                assert_eq!(seen.drops.get(), 0, "not inside its own poll");
                if self_wake {
                    cx.waker().wake_by_ref();
                }
                Pin::new(&mut inner).poll(cx)
            }));
            own.replace(Some(task.abort_handle()));
            tick(&ex);
            assert_eq!(
                (probe.polls.get(), probe.drops.get()),
                (1, 1),
                "remote: {remote}, woken: {self_wake}"
            );
            assert!(output(task).unwrap_err().is_cancelled());
            settle(&ex);
            assert_finished(&ex.stats(), 0, 1, 0);
            assert_eq!(ex.stats().queues[0].policy_fault, None);
        }
    }
}

#[test]
fn a_task_that_aborts_itself_in_its_last_poll_completes() {
    let ex = untimed();
    let own: Rc<RefCell<Option<AbortHandle>>> = Rc::default();
    let slot = Rc::clone(&own);
    let task = ex.spawn(async move { slot.borrow().as_ref().unwrap().abort() });
    own.replace(Some(task.abort_handle()));
    settle(&ex);
    output(task).unwrap();
    assert_finished(&ex.stats(), 1, 0, 0);
}

#[test]
fn a_task_aborted_by_another_thread_in_the_middle_of_its_poll_is_dropped_after_it() {
    let ex = Executor::builder().clock(ManualClock::new()).build().unwrap();
    let log = DropLog::new();
    let guard = log.local();
    let (polled, in_poll) = mpsc::channel::<()>();
    let (aborted, is_aborted) = mpsc::channel::<()>();
    let counted = log.clone();
    let task = ex.spawn(poll_fn(move |_| {
        let _guard = &guard;
        polled.send(()).unwrap();
        is_aborted.recv().unwrap();
        assert_eq!(counted.count(), 0);
        Poll::<()>::Pending
    }));
    let abort = task.abort_handle();
    let other = thread::spawn(move || {
        in_poll.recv().unwrap();
        abort.abort();
        aborted.send(()).unwrap();
    });
    tick(&ex);
    other.join().unwrap();
    log.assert_here(1);
    assert!(output(task).unwrap_err().is_cancelled());
    assert_finished(&ex.stats(), 0, 1, 0);
}

#[test]
fn a_task_that_another_task_aborts_is_dropped_before_the_third_is_polled() {
    let ex = untimed();
    let victim = Probe::new();
    let parked = ex.spawn(victim.future());
    settle(&ex);
    let abort = parked.abort_handle();
    ex.spawn(async move { abort.abort() });
    let seen = Rc::clone(&victim);
    let third = ex.spawn(async move { seen.drops.get() });
    settle(&ex);
    assert_eq!(output(third).unwrap(), 1);
}

#[test]
fn aborting_a_finished_task_keeps_its_output() {
    for remote in [false, true] {
        let ex = untimed();
        let task = ex.spawn(async { 7 });
        settle(&ex);
        abort(&task.abort_handle(), remote);
        settle(&ex);
        assert_eq!(output(task).unwrap(), 7);
        assert_finished(&ex.stats(), 1, 0, 0);
    }
}

#[test]
fn aborting_twice_or_by_several_handles_cancels_once() {
    let ex = untimed();
    let probe = Probe::new();
    let task = ex.spawn(probe.future());
    settle(&ex);
    let handle = task.abort_handle();
    let clone = handle.clone();
    task.abort();
    task.abort();
    handle.abort();
    thread::spawn(move || clone.abort()).join().unwrap();
    tick(&ex);
    handle.abort();
    task.abort();
    settle(&ex);
    assert_eq!(probe.drops.get(), 1);
    assert!(output(task).unwrap_err().is_cancelled());
    assert_finished(&ex.stats(), 0, 1, 0);
}

#[test]
fn an_abort_handle_may_outlive_the_task_the_join_handle_and_the_executor() {
    let ex = untimed();
    let task = ex.spawn(pending::<()>());
    let (handle, id) = (task.abort_handle(), task.id());
    drop(task);
    settle(&ex);
    assert!(!handle.is_finished());
    drop(ex);
    assert!(handle.is_finished());
    assert_eq!(handle.id(), id);
    handle.abort();
    thread::spawn(move || {
        handle.clone().abort();
        handle.abort();
        assert!(handle.is_finished());
    })
    .join()
    .unwrap();
}

#[test]
fn a_detached_task_can_still_be_aborted() {
    let ex = untimed();
    let probe = Probe::new();
    let task = ex.spawn(probe.future());
    let handle = task.abort_handle();
    drop(task);
    settle(&ex);
    handle.abort();
    tick(&ex);
    assert!(handle.is_finished());
    assert_eq!(probe.drops.get(), 1);
    assert_finished(&ex.stats(), 0, 1, 0);
}

#[test]
fn ten_thousand_ready_tasks_before_it_do_not_delay_the_drop() {
    let ex = Executor::builder().poll_cap(1).clock(ManualClock::new()).build().unwrap();
    for _ in 0..10_000 {
        ex.spawn(async {});
    }
    let probe = Probe::new();
    let task = ex.spawn(probe.future());
    tick(&ex);
    task.abort();
    tick(&ex);
    assert_eq!(probe.drops.get(), 1);
    assert_eq!(ex.stats().polls, 1, "the drop took the place of a poll");
    settle(&ex);
    assert_finished(&ex.stats(), 10_000, 1, 0);
}

#[test]
fn ten_thousand_woken_tasks_before_it_do_not_delay_the_drop() {
    let ex = Executor::builder().poll_cap(1).clock(ManualClock::new()).build().unwrap();
    let probes: Vec<_> = (0..10_000).map(|_| Probe::new()).collect();
    probes.iter().for_each(|probe| drop(ex.spawn(probe.future())));
    let victim = Probe::new();
    let task = ex.spawn(victim.future());
    settle(&ex);
    let polls = ex.stats().polls;
    probes.iter().for_each(|probe| probe.finish());
    task.abort();
    tick(&ex);
    // Between two polls come at most 64 of those that were woken, and what other threads sent and aborts.
    assert_eq!((victim.drops.get(), ex.stats().polls), (1, polls));
}

#[test]
fn a_tiny_share_does_not_delay_the_drop() {
    let ex = Executor::builder().poll_cap(10).clock(ManualClock::new()).build().unwrap();
    let heavy = ex.queue("heavy").share(10_000).create().unwrap();
    let tiny = ex.queue("tiny").share(1).create().unwrap();
    let busy = heavy.spawn(async {
        loop {
            yield_now().await;
        }
    });
    let probe = Probe::new();
    let task = tiny.spawn(probe.future());
    task.abort();
    tick(&ex);
    assert_eq!((probe.polls.get(), probe.drops.get()), (0, 1));
    assert!(!busy.is_finished());
}

#[test]
fn tasks_of_a_queue_that_is_never_picked_are_dropped_too() {
    // The other queue's only slice is under way when the abort comes: no pick in between.
    let ex = untimed();
    let starved = ex.queue("starved").create().unwrap();
    let probe = Probe::new();
    let task = starved.spawn(probe.future());
    let handle = task.abort_handle();
    let seen = Rc::clone(&probe);
    let aborter = ex.spawn(async move {
        handle.abort();
        yield_now().await;
        seen.drops.get()
    });
    settle(&ex);
    assert_eq!(output(aborter).unwrap(), 1);
    assert_eq!((probe.polls.get(), starved.stats().polls), (0, 0));
    assert!(output(task).unwrap_err().is_cancelled());
}

#[test]
fn an_abort_in_every_scheduler_leaves_the_rest_in_order() {
    fn check(ex: &Executor, queue: &Queue) {
        let order = Rc::new(RefCell::new(Vec::new()));
        let tasks: Vec<_> = (0..6)
            .map(|i| {
                let order = Rc::clone(&order);
                queue.spawn(async move { order.borrow_mut().push(i) })
            })
            .collect();
        [0, 3, 5].into_iter().for_each(|i: usize| tasks[i].abort());
        settle(ex);
        assert_eq!(*order.borrow(), [1, 2, 4]);
        assert_eq!(queue.stats().policy_fault, None);
        assert_eq!((queue.stats().live, queue.stats().ready), (0, 0));
        assert!(tasks.iter().all(|task| task.is_finished()));
    }
    let ex = untimed();
    check(&ex, ex.default_queue());
    check(&ex, &ex.queue("las").scheduler(Las::new()).create().unwrap());
    check(&ex, &ex.queue("qlas").scheduler(Qlas::new()).create().unwrap());
    check(&ex, &ex.queue("serpt").scheduler(Serpt::new()).create().unwrap());
}

#[test]
fn slots_of_aborted_tasks_are_used_again() {
    // If they leaked, the ids would grow; the scheduler sees them.
    use clockworker::schedulers::{Ready, Scheduler, Task, TaskId};
    struct Highest(std::collections::VecDeque<TaskId>, Rc<Cell<usize>>);
    impl Scheduler for Highest {
        fn push(&mut self, task: Task, _why: Ready) {
            self.1.set(self.1.get().max(task.id.slot()));
            self.0.push_back(task.id);
        }
        fn pop(&mut self) -> Option<TaskId> {
            self.0.pop_front()
        }
    }
    let highest = Rc::new(Cell::new(0));
    let ex = Executor::builder().scheduler(Highest(Default::default(), Rc::clone(&highest))).build().unwrap();
    for round in 0..1_000 {
        let ready = ex.spawn(pending::<()>());
        let parked = ex.spawn(pending::<()>());
        if round % 2 == 0 {
            settle(&ex);
        }
        ready.abort();
        parked.abort();
        settle(&ex);
        // Those that were aborted while ready go when the scheduler gives them out.
        drop(ex.spawn(async {}));
        settle(&ex);
    }
    assert!(highest.get() <= 4, "slot {} was used", highest.get());
    assert_eq!(ex.stats().live, 0);
}

#[test]
fn is_finished_turns_true_when_the_future_has_been_dropped_and_not_before() {
    let ex = untimed();
    let during = Rc::new(Cell::new(None));
    let handle: Rc<RefCell<Option<AbortHandle>>> = Rc::default();
    let (seen, own) = (Rc::clone(&during), Rc::clone(&handle));
    let task = ex.spawn(hold(OnDrop::new(move || {
        seen.set(Some(own.borrow().as_ref().unwrap().is_finished()));
    })));
    handle.replace(Some(task.abort_handle()));
    assert!(!task.is_finished());
    settle(&ex);
    assert!(!task.is_finished());
    task.abort();
    assert!(!task.is_finished());
    tick(&ex);
    assert_eq!(during.get(), Some(false));
    assert!(task.is_finished() && task.abort_handle().is_finished());
    handle.take();
}

#[test]
fn an_abort_wakes_a_sleeping_host_once() {
    for remote in [false, true] {
        let ex = untimed();
        let task = ex.spawn(pending::<()>());
        let mut run = pin!(ex.run_until(pending::<()>()));
        assert!(settle_run(run.as_mut()).is_none());
        let (wakes, waker) = CountingWaker::new();
        assert!(run.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        assert_eq!(wakes.count(), 0);
        abort(&task.abort_handle(), remote);
        abort(&task.abort_handle(), remote);
        assert_eq!(wakes.count(), 1);
        assert!(run.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        assert!(task.is_finished());
        assert_eq!(wakes.count(), 1);
    }
}

#[test]
fn a_task_from_another_thread_aborted_before_admission_is_dropped_on_the_owner_thread() {
    let ex = untimed();
    let log = DropLog::new();
    let (handle, item) = (ex.handle(), log.item());
    let made = Arc::new(AtomicBool::new(false));
    let was_made = Arc::clone(&made);
    let task = thread::spawn(move || {
        let task = handle.spawn(move || {
            was_made.store(true, Ordering::SeqCst);
            hold(item)
        });
        task.abort();
        task
    })
    .join()
    .unwrap();
    assert!(!task.is_finished());
    tick(&ex);
    assert!(!made.load(Ordering::SeqCst));
    log.assert_here(1);
    let error = output(task).unwrap_err();
    assert!(error.is_cancelled() && !error.is_refused());
    assert_finished(&ex.stats(), 0, 1, 0);
}

#[test]
fn aborts_from_eight_threads_during_a_run_cancel_each_task_once() {
    const THREADS: usize = 8;
    const TASKS: usize = 500;
    let ex = untimed();
    let log = DropLog::new();
    let tasks: Vec<_> = (0..TASKS).map(|_| ex.spawn(hold(log.local()))).collect();
    let handles: Vec<_> = tasks.iter().map(|task| task.abort_handle()).collect();
    thread::scope(|scope| {
        for shift in 0..THREADS {
            let mut handles = handles.clone();
            scope.spawn(move || {
                handles.rotate_left(shift * TASKS / THREADS);
                handles.iter().for_each(AbortHandle::abort);
            });
        }
        ex.block_on(async {
            for task in tasks {
                assert!(task.await.unwrap_err().is_cancelled());
            }
        });
    });
    log.assert_here(TASKS);
    assert_finished(&ex.stats(), 0, TASKS as u64, 0);
}

#[test]
fn a_joiner_on_another_thread_is_told_of_an_abort() {
    let ex = untimed();
    let task = ex.spawn(pending::<()>());
    let abort = task.abort_handle();
    let (joining, joined) = mpsc::channel::<()>();
    let other = thread::spawn(move || {
        let mut task = pin!(task);
        futures::executor::block_on(poll_fn(|cx| {
            let polled = task.as_mut().poll(cx);
            let _ = joining.send(());
            polled
        }))
    });
    joined.recv().unwrap();
    abort.abort();
    tick(&ex);
    assert!(other.join().unwrap().unwrap_err().is_cancelled());
}

#[test]
fn tasks_that_abort_one_another_in_their_drops_all_go_in_bounded_time() {
    let ex = untimed();
    let mut last: Option<AbortHandle> = None;
    for _ in 0..1_000 {
        let next = last.take();
        let task = ex.spawn(hold(OnDrop::new(move || next.iter().for_each(AbortHandle::abort))));
        last = Some(task.abort_handle());
    }
    settle(&ex);
    last.unwrap().abort();
    settle(&ex);
    assert_finished(&ex.stats(), 0, 1_000, 0);
}

#[test]
fn an_aborted_task_can_be_awaited_later_or_never() {
    let ex = untimed();
    let (awaited, never) = (ex.spawn(pending::<()>()), ex.spawn(pending::<()>()));
    let detached = ex.spawn(pending::<()>());
    awaited.abort();
    never.abort();
    detached.abort();
    drop(detached);
    settle(&ex);
    drop(never);
    assert!(ex.block_on(awaited).unwrap_err().is_cancelled());
    assert_finished(&ex.stats(), 0, 3, 0);
}

/// Found by the fuzz target `hostile_scheduler`: the spawn took the wake in, and the scheduler was handed a task whose record
/// was then removed.
#[test]
fn a_task_that_is_woken_while_it_is_being_dropped_is_not_handed_to_its_scheduler() {
    for woken_before in [false, true] {
        let ex = untimed();
        let probe = Probe::new();
        let drop_spawns = {
            let (probe, queue) = (Rc::clone(&probe), ex.default_queue().clone());
            OnDrop::new(move || {
                probe.waker().wake();
                drop(queue.spawn(async {}));
            })
        };
        let future = probe.future();
        let task = ex.spawn(async move {
            let _drop_spawns = drop_spawns;
            future.await
        });
        settle(&ex);
        task.abort();
        if woken_before {
            probe.waker().wake();
        }
        settle(&ex);
        assert!(output(task).unwrap_err().is_cancelled());
        settle(&ex);
        let stats = ex.default_queue().stats();
        assert_eq!((probe.polls.get(), stats.ready, stats.policy_fault), (1, 0, None));
        assert_finished(&ex.stats(), 1, 1, 0);
    }
}

#[test]
fn the_host_gets_its_turn_between_aborted_tasks_that_abort_others_when_dropped() {
    const TASKS: usize = 10;
    let clock = ManualClock::new();
    let ex = Executor::builder().clock(clock.clone()).build().unwrap();
    let mut next: Option<AbortHandle> = None;
    for _ in 0..TASKS {
        let (clock, aborts) = (clock.clone(), next.take());
        let drop_takes_long = OnDrop::new(move || {
            clock.advance(Duration::from_millis(1));
            aborts.iter().for_each(AbortHandle::abort);
        });
        next = Some(ex.spawn(hold(drop_takes_long)).abort_handle());
    }
    settle(&ex);
    let before = ex.stats();
    next.unwrap().abort();
    settle(&ex);
    let after = ex.stats();
    assert_eq!(after.cancelled - before.cancelled, TASKS as u64);
    assert_eq!(after.host_yields - before.host_yields, TASKS as u64, "one after each");
}
