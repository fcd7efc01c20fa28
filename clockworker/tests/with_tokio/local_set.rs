//! What Clockworker's `LocalSet` adds to tokio's, and where it differs. (What they have in common is in `drop_in/`;
//! several runs at once are in `local_set_runs`.)

use std::cell::RefCell;
use std::future::{Future, pending};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};
use std::thread;

use clockworker::compat::{JoinHandle, JoinSet, LocalSet, UnhandledPanic, spawn_local, yield_now};
use clockworker::schedulers::Qlas;
use clockworker::{Executor, Id, current_tag};

use crate::support::{
    Count, CountingWaker, OnDrop, Probe, complaint_of, current_thread, hold, multi_thread, output,
    panic_as_meant, panic_of, place_of_panic, poll_once, quietly, yields,
};

const FAILED: &str = "a spawned task panicked and the LocalSet is configured to shutdown on unhandled panic";

#[test]
fn told_to_it_ends_with_the_first_panic() {
    for rt in [current_thread(), multi_thread()] {
        let mut local = LocalSet::new();
        local.unhandled_panic(UnhandledPanic::ShutdownRuntime);
        let bystander = local.spawn_local(pending::<()>());
        let said = complaint_of(|| {
            local.block_on(&rt, async {
                drop::<JoinHandle<()>>(spawn_local(async { panic_as_meant("nobody awaits it") }));
                pending::<()>().await;
            })
        });
        assert_eq!(said, FAILED);
        assert!(output(bystander).unwrap_err().is_cancelled());
        // tokio would go on to panic; this does too, and refuses meanwhile.
        assert!(output(local.spawn_local(async {})).unwrap_err().is_refused());
        assert_eq!(complaint_of(|| local.block_on(&rt, async {})), FAILED);
    }
}

#[test]
fn awaited_itself_it_ends_with_the_first_panic_too() {
    let rt = current_thread();
    let mut local = LocalSet::new();
    local.unhandled_panic(UnhandledPanic::ShutdownRuntime);
    drop(local.spawn_local(pending::<()>()));
    drop::<JoinHandle<()>>(local.spawn_local(async { panic_as_meant("while it is awaited") }));
    assert_eq!(complaint_of(|| rt.block_on(&mut local)), FAILED);
}

#[test]
fn of_several_runs_each_hears_of_the_panic() {
    let mut local = LocalSet::new();
    local.unhandled_panic(UnhandledPanic::ShutdownRuntime);
    let task: JoinHandle<()> = local.spawn_local(async {
        yield_now().await;
        panic_as_meant("for both")
    });
    let (mut one, mut two) = (pin!(local.run_until(pending::<()>())), pin!(local.run_until(pending::<()>())));
    let mut cx = Context::from_waker(Waker::noop());
    let mut failures = 0;
    for _ in 0..10 {
        for run in [&mut one, &mut two] {
            let polled =
                quietly(|| catch_unwind(AssertUnwindSafe(|| run.as_mut().poll(&mut cx).is_pending())));
            failures += u32::from(polled.is_err());
        }
        if failures >= 2 {
            break;
        }
    }
    assert!(failures >= 2 && task.is_finished());
}

#[test]
fn told_to_ignore_panics_it_goes_on() {
    let mut local = LocalSet::new();
    local.unhandled_panic(UnhandledPanic::ShutdownRuntime).unhandled_panic(UnhandledPanic::Ignore);
    let answer = local.block_on(&current_thread(), async {
        let task: JoinHandle<()> = spawn_local(async { panic_as_meant("ignored") });
        assert_eq!(panic_of(task.await), "ignored");
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
fn other_threads_spawn_on_it_by_a_handle() {
    let rt = current_thread();
    let local = LocalSet::new();
    let handle = local.executor().handle();
    let here = thread::current().id();
    let task = thread::spawn(move || handle.spawn(|| async { thread::current().id() })).join().unwrap();
    assert_eq!(local.block_on(&rt, task).unwrap(), here);
    // Awaited, it waits for those as well.
    let handle = local.executor().handle();
    let task = thread::spawn(move || handle.spawn(yield_now)).join().unwrap();
    rt.block_on(local);
    assert!(task.is_finished());
}

#[test]
fn shut_down_it_reports() {
    let rt = current_thread();
    let local = LocalSet::new();
    drop(local.spawn_local(async {}));
    drop(local.spawn_local(pending::<()>()));
    let report = rt.block_on(local.executor().shutdown(yields(100)));
    assert_eq!((report.completed, report.cancelled, report.drained), (1, 1, false));
    assert!(output(local.spawn_local(async {})).unwrap_err().is_refused());
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
fn a_guard_may_be_held_across_a_run_and_the_run_has_its_own() {
    let rt = current_thread();
    let (outer, inner) = (LocalSet::new(), LocalSet::new());
    let guard = outer.enter();
    let mut of_inner = None;
    inner.block_on(&rt, async { of_inner = Some(spawn_local(async { 1 })) });
    let of_inner = of_inner.expect("it was spawned");
    let of_outer = spawn_local(async { 2 });
    drop(guard);
    assert_eq!(inner.executor().stats().spawned, 1);
    assert_eq!(outer.executor().stats().spawned, 1);
    assert_eq!(inner.block_on(&rt, of_inner).unwrap() + outer.block_on(&rt, of_outer).unwrap(), 3);
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
    let child: Rc<RefCell<Option<JoinHandle<u32>>>> = Rc::default();
    let slot = Rc::clone(&child);
    let guard = OnDrop::new(move || drop(slot.replace(Some(spawn_local(async { 9 })))));
    drop(local.run_until(hold(guard)));
    let child = child.take().expect("it was spawned");
    assert_eq!(local.block_on(&rt, child).unwrap(), 9);
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
fn a_host_that_panics_when_woken_does_not_keep_another_from_driving_on() {
    struct Panics;
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic_as_meant("a host");
        }
    }
    let local = LocalSet::new();
    let mut rides = Box::pin(local.run_until(pending::<()>()));
    let mut goes_on = Box::pin(local.run_until(pending::<()>()));
    let mut drives = Box::pin(local.run_until(pending::<()>()));
    let bad = Waker::from(Arc::new(Panics));
    let (wakes, waker) = CountingWaker::new();
    assert!(rides.as_mut().poll(&mut Context::from_waker(&bad)).is_pending());
    assert!(goes_on.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    assert!(poll_once(&mut drives).is_pending());
    let before = wakes.count();
    drop(drives);
    assert_eq!(wakes.count() - before, 1);
    drop((rides, goes_on));
    assert_eq!(local.block_on(&current_thread(), async { spawn_local(async { 1 }).await.unwrap() }), 1);
}

#[test]
fn a_tag_is_inherited_by_all_that_a_task_spawns() {
    let rt = current_thread();
    let local = LocalSet::new();
    let queue = local.executor().default_queue().clone();
    let tags = local.block_on(&rt, async {
        let tagged = queue.new_task().tag(7).spawn(async {
            let mut set = JoinSet::new();
            set.spawn_local(async { current_tag() });
            let child = spawn_local(async { spawn_local(async { current_tag() }).await.unwrap() });
            (child.await.unwrap(), set.join_next().await.unwrap().unwrap())
        });
        (tagged.await.unwrap(), spawn_local(async { current_tag() }).await.unwrap())
    });
    assert_eq!(tags, ((Some(7), Some(7)), None));
    let of_set = local.spawn_local(async { current_tag() });
    assert_eq!(local.block_on(&rt, of_set).unwrap(), None);
}
