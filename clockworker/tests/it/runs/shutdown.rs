//! Shutdown: no more tasks are taken, those there are finish or are cancelled, and the report says how many.

use std::cell::{Cell, RefCell};
use std::future::{pending, poll_fn, ready};
use std::pin::pin;
use std::rc::Rc;
use std::task::{Poll, Waker};

use clockworker::{Executor, ManualClock, ShutdownReport, spawn_local, yield_now};

use crate::support::{
    Count, CountingWaker, OnDrop, Probe, assert_finished, complaint_of, elsewhere, hold, output,
    panic_as_meant, panic_of, poll_once, poll_with, probed, settle, settle_run, untimed, yields,
};

fn numbers(report: ShutdownReport) -> (u64, u64, u64, bool) {
    (report.completed, report.cancelled, report.panicked, report.drained)
}

#[test]
fn an_empty_executor_is_drained_at_once() {
    let ex = untimed();
    assert_eq!(numbers(ex.block_on_shutdown(pending::<()>())), (0, 0, 0, true));
    let ex = untimed();
    assert_eq!(numbers(ex.block_on_shutdown(ready(()))), (0, 0, 0, true));
}

#[test]
fn only_what_happens_from_then_on_is_reported() {
    let ex = untimed();
    ex.spawn(async {});
    ex.spawn(async { panic_as_meant("before") });
    ex.spawn(pending::<()>()).abort();
    settle(&ex);
    ex.spawn(async {});
    assert_eq!(numbers(ex.block_on_shutdown(pending::<()>())), (1, 0, 0, true));
    assert_finished(&ex.stats(), 2, 1, 1);
}

#[test]
fn without_a_deadline_every_task_finishes() {
    let ex = untimed();
    let other = ex.new_queue("other").create().unwrap();
    for i in 0..30 {
        let queue = if i % 2 == 0 { ex.default_queue() } else { &other };
        queue.spawn(async move {
            yields(i).await;
            if i % 10 == 9 {
                panic_as_meant("one in ten");
            }
        });
    }
    assert_eq!(numbers(ex.block_on_shutdown(pending::<()>())), (27, 0, 3, true));
    assert_eq!((ex.stats().live, ex.stats().ready), (0, 0));
}

#[test]
fn at_the_deadline_the_rest_is_cancelled_and_counted() {
    let ex = untimed();
    let dropped = Count::default();
    ex.spawn(yields(3));
    (0..5).for_each(|_| drop(ex.spawn(hold(dropped.guard()))));
    let bad = ex.spawn(hold(OnDrop::new(|| panic_as_meant("when cancelled"))));
    let waiting = ex.spawn(pending::<()>());
    let report = ex.block_on_shutdown(yields(50));
    assert_eq!(numbers(report), (1, 6, 1, false));
    assert_eq!(dropped.get(), 5);
    assert_eq!(panic_of(output(bad)), "when cancelled");
    let error = output(waiting).unwrap_err();
    assert!(error.is_cancelled() && !error.is_refused());
    assert!(error.to_string().ends_with("was cancelled: its executor was shut down"), "{error}");
}

#[test]
fn tasks_aborted_meanwhile_count_as_cancelled_and_it_is_still_drained() {
    let ex = untimed();
    let stuck = ex.spawn(pending::<()>());
    ex.spawn(async move {
        yield_now().await;
        stuck.abort();
    });
    assert_eq!(numbers(ex.block_on_shutdown(pending::<()>())), (1, 1, 0, true));
}

#[test]
fn a_group_opened_by_an_aborted_tasks_drop_is_not_charged_for_it() {
    // Aborted while its scheduler has it, and while it waits.
    for is_ready in [true, false] {
        let ex = untimed();
        let (queue, opened) = (ex.new_queue("q").create().unwrap(), Rc::new(Cell::new(None)));
        let guard = OnDrop::new({
            let (queue, opened) = (queue.clone(), Rc::clone(&opened));
            move || opened.set(Some(queue.group(2)))
        });
        let task = queue.group(1).spawn(hold(guard));
        if !is_ready {
            settle(&ex);
        }
        task.abort();
        assert_eq!(numbers(ex.block_on_shutdown(ready(()))).1, 1);
        let group = opened.take().expect("the future is dropped");
        let stats = group.stats();
        assert_eq!((stats.spawned, stats.cancelled, stats.live), (0, 0, 0));
        drop(task);
    }
}

#[test]
fn a_wake_by_what_it_drops_is_no_work_for_the_scheduler_left_behind() {
    // The first has its scheduler's place when it is dropped, and wakes the second, which goes after it.
    let ex = untimed();
    let woken = Rc::new(RefCell::new(Waker::noop().clone()));
    let wakes = OnDrop::new({
        let woken = woken.clone();
        move || woken.borrow().wake_by_ref()
    });
    let queue = ex.new_queue("q").create().unwrap();
    queue.spawn(async move {
        let _wakes = wakes;
        yields(u32::MAX).await;
    });
    queue.spawn(poll_fn(move |cx| {
        woken.replace(cx.waker().clone());
        Poll::<()>::Pending
    }));
    assert_eq!(numbers(ex.block_on_shutdown(yields(10))), (0, 2, 0, false));
    ex.block_on(yields(10));
    let stats = queue.stats();
    assert_eq!((stats.policy_fault, stats.ready, stats.live), (None, 0, 0));
}

#[test]
fn a_future_that_it_drops_cannot_run_the_executor() {
    let ex = Rc::new(untimed());
    let said = Rc::new(RefCell::new(String::new()));
    let guard = OnDrop::new({
        let (ex, said) = (Rc::clone(&ex), Rc::clone(&said));
        move || _ = said.replace(complaint_of(|| ex.block_on(async {})))
    });
    ex.spawn(hold(guard));
    settle(&ex);
    let sibling = ex.spawn(async {});
    assert_eq!(numbers(ex.block_on_shutdown(ready(()))), (0, 2, 0, false));
    assert!(said.borrow().starts_with("this executor is being run already"), "{said:?}");
    assert!(ex.default_queue().stats().policy_fault.is_none());
    assert!(output(sibling).unwrap_err().is_cancelled());
    // It may be run afterwards.
    ex.block_on(async {});
}

#[test]
fn an_abort_from_another_thread_ends_the_wait() {
    let ex = untimed();
    let task = ex.spawn(pending::<()>());
    let mut shutdown = pin!(ex.shutdown(pending::<()>()));
    assert!(settle_run(shutdown.as_mut()).is_none());
    elsewhere(|| task.abort());
    assert_eq!(numbers(settle_run(shutdown.as_mut()).expect("done")), (0, 1, 0, true));
}

#[test]
fn tasks_are_refused_while_it_waits_and_afterwards() {
    let ex = untimed();
    let queue = ex.new_queue("q").create().unwrap();
    let handle = ex.handle();
    let probe = Probe::new();
    let inner = probe.future();
    let (own_queue, own_handle) = (queue.clone(), handle.clone());
    let task = ex.spawn(async move {
        inner.await;
        // It is shutting down by now.
        let tries = [
            spawn_local(async {}).await,
            own_queue.spawn(async {}).await,
            own_queue.group(1).spawn(async {}).await,
            own_handle.spawn(|| async {}).await,
        ];
        tries.into_iter().all(|result| result.unwrap_err().is_refused())
    });
    settle(&ex);
    let mut shutdown = pin!(ex.shutdown(pending::<()>()));
    assert!(settle_run(shutdown.as_mut()).is_none());
    assert!(handle.is_stopped() && !handle.has_queue("q"));
    assert!(ex.new_queue("new").create().unwrap_err().is_stopped());
    probe.finish();
    assert_eq!(numbers(settle_run(shutdown.as_mut()).expect("done")), (1, 0, 0, true));
    assert!(output(task).unwrap());

    let drops = Count::default();
    let error = output(ex.spawn(hold(drops.guard()))).unwrap_err();
    assert!(error.is_cancelled() && error.is_refused() && drops.get() == 1);
    assert!(error.to_string().contains("was refused: its executor was shut down"), "{error}");
    assert!(output(queue.spawn(async {})).unwrap_err().is_refused());
    let remote = elsewhere(|| handle.spawn_on("q", || async {}));
    assert!(output(remote).unwrap_err().is_refused());
    assert!(ex.new_queue("new").create().unwrap_err().is_stopped());
    assert_eq!(ex.stats().spawned, 1, "what is refused is not counted");
}

#[test]
fn what_other_threads_spawned_before_is_told() {
    let ex = untimed();
    let handle = ex.handle();
    let task = elsewhere(|| handle.spawn(|| async {}));
    let report = ex.block_on_shutdown(pending::<()>());
    assert!(report.drained);
    let error = output(task).unwrap_err();
    assert!(error.is_cancelled() && error.is_refused());
}

#[test]
fn a_second_shutdown_has_nothing_left_to_do() {
    let ex = untimed();
    ex.spawn(pending::<()>());
    assert_eq!(numbers(ex.block_on_shutdown(ready(()))), (0, 1, 0, false));
    assert_eq!(numbers(ex.block_on_shutdown(pending::<()>())), (0, 0, 0, true));
    assert_eq!(ex.block_on(async { 1 }), 1, "it can still run a future");
}

#[test]
fn dropped_at_any_poll_it_loses_no_task_and_may_be_begun_again() {
    for k in 0..12 {
        let ex = Executor::builder().poll_cap(1).clock(ManualClock::new()).build().unwrap();
        let tasks: Vec<_> = (0..3).map(|i| ex.spawn(yields(i))).collect();
        {
            let mut shutdown = pin!(ex.shutdown(pending::<()>()));
            for _ in 0..k {
                if poll_once(&mut shutdown).is_ready() {
                    break;
                }
            }
        }
        if k > 0 {
            assert!(output(ex.spawn(async {})).unwrap_err().is_refused());
        }
        let done_before = ex.stats().completed;
        let report = ex.block_on_shutdown(pending::<()>());
        assert_eq!(numbers(report), (3 - done_before, 0, 0, true), "dropped after {k} polls");
        assert!(tasks.into_iter().all(|task| output(task).is_ok()));
        assert_eq!(ex.stats().polls, 1 + 2 + 3);
    }
}

#[test]
fn after_a_shutdown_that_was_dropped_the_tasks_go_on_in_the_next_run() {
    let ex = untimed();
    let (probe, task) = probed(&ex);
    {
        let mut shutdown = pin!(ex.shutdown(pending::<()>()));
        assert!(settle_run(shutdown.as_mut()).is_none());
    }
    probe.finish();
    assert_eq!(ex.block_on(task).unwrap(), 2);
    assert!(output(ex.spawn(async {})).unwrap_err().is_refused());
}

#[test]
fn its_host_is_woken_only_for_work() {
    let ex = untimed();
    let (probe, _) = probed(&ex);
    let mut shutdown = pin!(ex.shutdown(pending::<()>()));
    assert!(settle_run(shutdown.as_mut()).is_none());
    let (wakes, waker) = CountingWaker::new();
    for _ in 0..10 {
        assert!(poll_with(&mut shutdown, &waker).is_pending());
    }
    assert_eq!(wakes.count(), 0);
    probe.finish();
    assert_eq!(wakes.count(), 1);
    assert!(settle_run(shutdown.as_mut()).is_some());
}

#[test]
fn closed_queues_are_drained_too() {
    let ex = untimed();
    let queue = ex.new_queue("closed").create().unwrap();
    queue.spawn(yields(5));
    queue.close();
    assert_eq!(numbers(ex.block_on_shutdown(pending::<()>())), (1, 0, 0, true));
    assert_eq!(ex.stats().queues.len(), 1);
}

#[test]
fn the_report_reads_as_a_sentence() {
    let ex = untimed();
    ex.spawn(async {});
    ex.spawn(pending::<()>());
    let report = ex.block_on_shutdown(yields(10));
    assert_eq!(report.to_string(), "deadline passed: 1 tasks completed, 1 cancelled, 0 panicked");
    let report = untimed().block_on_shutdown(pending::<()>());
    assert_eq!(report.to_string(), "drained: 0 tasks completed, 0 cancelled, 0 panicked");
}
