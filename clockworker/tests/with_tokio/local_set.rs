//! What Clockworker's `LocalSet` adds to tokio's, and where it differs. (What they have in common is in `drop_in/`;
//! several runs at once are in `local_set_runs`.)

use std::future::pending;
use std::pin::pin;

use clockworker::compat::{JoinSet, LocalSet, UnhandledPanic, spawn_local, yield_now};
use clockworker::schedulers::Qlas;
use clockworker::{Executor, Id};

use crate::support::{
    Count, CountingWaker, OnDrop, Probe, Slot, WakerCall, bad_waker, caught, complaint_of, current_thread,
    elsewhere, hold, multi_thread, output, panic_as_meant, panic_of, place_of_panic, poll_once, poll_with,
};

const FAILED: &str = "a spawned task panicked and the executor is configured to shut down on unhandled panic";

fn strict() -> LocalSet {
    let mut local = LocalSet::new();
    local.unhandled_panic(UnhandledPanic::ShutdownRuntime);
    local
}

/// Panics in its second poll.
async fn panics() {
    yield_now().await;
    panic_as_meant("nobody awaits it");
}

#[test]
fn where_panics_shut_down_it_ends_with_the_first() {
    for rt in [current_thread(), multi_thread()] {
        let local = strict();
        let bystander = local.spawn_local(pending::<()>());
        drop(local.spawn_local(panics()));
        assert_eq!(complaint_of(|| local.block_on(&rt, pending::<()>())), FAILED);
        assert!(output(bystander).unwrap_err().is_cancelled());
        // tokio would go on to panic; this does too, and refuses meanwhile.
        assert!(output(local.spawn_local(async {})).unwrap_err().is_refused());
        assert_eq!(complaint_of(|| local.block_on(&rt, async {})), FAILED);
        // Also awaited itself.
        let mut local = strict();
        drop(local.spawn_local(pending::<()>()));
        drop(local.spawn_local(panics()));
        assert_eq!(complaint_of(|| rt.block_on(&mut local)), FAILED);
    }
}

#[test]
fn where_panics_shut_down_each_of_several_runs_hears_of_it() {
    let local = strict();
    let task = local.spawn_local(panics());
    let mut runs = [(); 2].map(|()| Box::pin(local.run_until(pending::<()>())));
    let mut failures = [0; 2];
    for _ in 0..10 {
        for (run, failures) in runs.iter_mut().zip(&mut failures) {
            *failures += u32::from(caught(|| poll_once(run).is_pending()).is_err());
        }
    }
    assert!(failures.iter().all(|&failures| failures > 0) && task.is_finished());
}

#[test]
fn where_panics_are_ignored_it_goes_on() {
    let mut local = strict();
    local.unhandled_panic(UnhandledPanic::Ignore);
    let answer = local.block_on(&current_thread(), async {
        assert_eq!(panic_of(spawn_local(panics()).await), "nobody awaits it");
        spawn_local(async { 1 }).await.unwrap()
    });
    assert_eq!(answer, 1);
}

#[test]
fn its_executor_has_queues_and_its_tasks_are_in_them() {
    let rt = current_thread();
    let local = LocalSet::new();
    let background = local.executor().new_queue("background").scheduler(Qlas::new()).create().unwrap();
    let sum = local.block_on(&rt, async {
        let mut set = JoinSet::new();
        set.spawn_local(async { 1 });
        // What a task spawns is in its queue.
        set.spawn_local_on(async { spawn_local(async { 2 }).await.unwrap() }, &background);
        set.spawn_local_on(async { 4 }, &local);
        set.join_all().await.into_iter().sum::<i32>()
    });
    assert_eq!((sum, background.stats().spawned), (7, 2));
    let stats = local.executor().stats();
    assert_eq!((stats.spawned, stats.live), (4, 0));
}

#[test]
fn it_is_made_of_an_executor_with_its_options() {
    let ex = Executor::builder().poll_cap(1).build().unwrap();
    let task = ex.spawn(async { 3 });
    let local = LocalSet::from(ex);
    assert_eq!(local.block_on(&current_thread(), task).unwrap(), 3);
    assert!(local.executor().stats().host_polls >= 1);
}

#[test]
fn awaited_it_waits_for_what_other_threads_spawn_by_a_handle() {
    let local = LocalSet::new();
    let handle = local.executor().handle();
    let task = elsewhere(|| handle.spawn(yield_now));
    current_thread().block_on(local);
    assert!(task.is_finished());
}

/// tokio forbids `block_in_place` wherever a `LocalSet` is polled. Here the runtime decides: outside its workers, which
/// is where `block_on` runs, it only runs the closure.
#[test]
fn blocking_in_place_on_a_runtime_of_several_threads_is_allowed() {
    let rt = multi_thread();
    let answer = LocalSet::new().block_on(&rt, async {
        spawn_local(async { tokio::task::block_in_place(|| 1) }).await.unwrap()
            + tokio::task::block_in_place(|| 2)
    });
    assert_eq!(answer, 3);
}

#[test]
fn what_is_entered_outlives_the_set_and_refuses() {
    let local = LocalSet::new();
    let guard = local.enter();
    drop(local);
    assert!(output(spawn_local(async {})).unwrap_err().is_refused());
    drop(guard);
    assert_eq!(Id::current(), None);
}

#[test]
fn the_place_of_a_run_inside_the_runtime_is_the_callers() {
    let (rt, local) = (current_thread(), LocalSet::new());
    let mut line = 0;
    let place = place_of_panic(|| {
        rt.block_on(async {
            line = line!() + 1;
            local.block_on(&rt, pending::<()>());
        });
    });
    assert_eq!(place, (file!().to_owned(), line));
}

#[test]
fn a_run_that_is_over_drops_its_future_at_once() {
    let drops = Count::default();
    let local = LocalSet::new();
    let guard = drops.guard();
    let mut run = pin!(local.run_until(async move {
        let guard = guard;
        drop(guard);
        yield_now().await;
        1
    }));
    let rt = current_thread();
    assert_eq!(rt.block_on(run.as_mut()), 1);
    assert_eq!(drops.get(), 1);
    let said = complaint_of(|| assert_eq!(rt.block_on(run.as_mut()), 1));
    assert_eq!(said, "`RunUntil` polled after completion");
}

#[test]
fn what_a_dropped_run_drops_may_spawn() {
    let rt = current_thread();
    let local = LocalSet::new();
    let child = Slot::new();
    let slot = child.clone();
    let guard = OnDrop::new(move || slot.put(spawn_local(async { 9 })));
    drop(local.run_until(hold(guard)));
    assert_eq!(local.block_on(&rt, child.take()).unwrap(), 9);
}

#[test]
fn a_set_that_was_awaited_midway_and_dropped_leaves_nothing() {
    let local = LocalSet::new();
    let probe = Probe::new();
    let task = local.spawn_local(probe.future());
    let mut boxed = Box::pin(local);
    assert!(poll_once(&mut boxed).is_pending());
    assert_eq!(probe.polls.get(), 1);
    drop(boxed);
    probe.finish();
    assert_eq!((probe.polls.get(), probe.drops.get()), (1, 1));
    assert!(output(task).unwrap_err().is_cancelled());
}

#[test]
fn a_host_that_panics_when_woken_keeps_no_other_from_driving_on() {
    let local = LocalSet::new();
    let mut rides = Box::pin(local.run_until(pending::<()>()));
    let mut goes_on = Box::pin(local.run_until(pending::<()>()));
    let mut drives = Box::pin(local.run_until(pending::<()>()));
    let bad = bad_waker(&[WakerCall::Wake]);
    let (wakes, waker) = CountingWaker::new();
    assert!(poll_with(&mut rides, &bad.waker()).is_pending());
    assert!(poll_with(&mut goes_on, &waker).is_pending());
    assert!(poll_once(&mut drives).is_pending());
    let before = wakes.count();
    drop(drives);
    assert_eq!(wakes.count() - before, 1);
    drop((rides, goes_on));
    assert_eq!(local.block_on(&current_thread(), async { spawn_local(async { 1 }).await.unwrap() }), 1);
}
