//! What a task's panic does to the executor: nothing, or it ends everything, and each run panics.

use std::cell::Cell;
use std::future::pending;
use std::rc::Rc;

use clockworker::schedulers::Qlas;
use clockworker::{Executor, JoinHandle, ManualClock, UnhandledPanic, spawn_local, yield_now};

use crate::support::{
    Count, OnDrop, Probe, assert_finished, complaint_of, elsewhere, hold, output, panic_as_meant, panic_of,
    parked, poll_once, quietly, settle, untimed,
};

const FAILED: &str = "a spawned task panicked and the executor is configured to shut down on unhandled panic";

fn strict() -> Executor {
    Executor::builder().unhandled_panic(UnhandledPanic::ShutdownRuntime).build().unwrap()
}

#[test]
fn unless_told_otherwise_the_others_go_on() {
    assert_eq!(UnhandledPanic::default(), UnhandledPanic::Ignore);
    for ex in [untimed(), Executor::builder().unhandled_panic(UnhandledPanic::Ignore).build().unwrap()] {
        let answer = quietly(|| {
            ex.block_on(async {
                drop::<JoinHandle<()>>(spawn_local(async { panic_as_meant("nobody hears") }));
                yield_now().await;
                spawn_local(async { 3 }).await.unwrap()
            })
        });
        assert_eq!(answer, 3);
        assert_finished(&ex.stats(), 1, 0, 1);
    }
}

#[test]
fn a_run_that_would_wait_for_ever_panics_instead() {
    // On a clock that stands still the executor looks at it, and at what else is seldom, every 32 polls.
    let ex = Executor::builder().clock(ManualClock::new()).unhandled_panic(UnhandledPanic::ShutdownRuntime);
    let ex = ex.build().unwrap();
    let bystander = Probe::new();
    let cancelled = ex.spawn(bystander.future());
    settle(&ex);
    let panicked = ex.spawn(async { panic_as_meant("boom") });
    let next = Probe::new();
    let never_polled = ex.spawn(next.future());
    assert_eq!(complaint_of(|| ex.block_on(pending::<()>())), FAILED);
    // The panic itself is the handle's, and no other task was polled in between.
    assert_eq!(panic_of::<()>(output(panicked)), "boom");
    assert!(output(cancelled).unwrap_err().is_cancelled());
    assert!(output(never_polled).unwrap_err().is_cancelled());
    assert_eq!((bystander.polls.get(), bystander.drops.get()), (1, 1));
    assert_eq!((next.polls.get(), next.drops.get()), (0, 1));
    assert_finished(&ex.stats(), 0, 2, 1);
}

#[test]
fn afterwards_it_takes_no_tasks_and_every_run_says_so() {
    let ex = strict();
    let (queue, handle) = (ex.new_queue("q").create().unwrap(), ex.handle());
    drop::<JoinHandle<()>>(ex.spawn(async { panic_as_meant("once") }));
    assert_eq!(complaint_of(|| ex.block_on(pending::<()>())), FAILED);
    assert!(handle.is_stopped());
    assert!(output(ex.spawn(async {})).unwrap_err().is_refused());
    assert!(output(queue.spawn(async {})).unwrap_err().is_refused());
    let remote = elsewhere(|| handle.spawn(|| async {}));
    assert!(output(remote).unwrap_err().is_refused());
    assert!(ex.new_queue("new").create().unwrap_err().is_stopped());
    for _ in 0..2 {
        assert_eq!(complaint_of(|| ex.block_on(async {})), FAILED);
    }
}

#[test]
fn it_counts_in_every_queue_and_wherever_the_task_came_from() {
    for whence in ["a queue", "a group", "another thread", "a task"] {
        let ex = strict();
        let queue = ex.new_queue("qlas").scheduler(Qlas::new()).create().unwrap();
        let boom = || async { panic_as_meant("somewhere") };
        let task: JoinHandle<()> = match whence {
            "a queue" => queue.spawn(boom()),
            "a group" => queue.group(1).spawn(boom()),
            "another thread" => {
                let handle = ex.handle();
                elsewhere(|| handle.spawn_on("qlas", boom))
            }
            _ => {
                // Spawned by a child in a later poll. Its handle is awaited by one that is cancelled.
                let parent = queue.spawn(async move {
                    yield_now().await;
                    spawn_local(boom()).await.unwrap()
                });
                assert_eq!(complaint_of(|| ex.block_on(pending::<()>())), FAILED);
                assert!(output(parent).unwrap_err().is_cancelled());
                continue;
            }
        };
        assert_eq!(complaint_of(|| ex.block_on(pending::<()>())), FAILED);
        assert_eq!(panic_of(output(task)), "somewhere");
    }
}

#[test]
fn an_abort_is_no_panic() {
    let ex = strict();
    let task = ex.spawn(pending::<()>());
    task.abort();
    assert!(ex.block_on(task).unwrap_err().is_cancelled());
    assert_eq!(ex.block_on(async { spawn_local(async { 1 }).await.unwrap() }), 1);
}

#[test]
fn a_panic_of_the_future_being_run_is_its_own() {
    let ex = strict();
    let (probe, task) = parked(&ex);
    assert_eq!(complaint_of(|| ex.block_on(async { panic_as_meant("main") })), "main");
    probe.finish();
    assert_eq!(ex.block_on(task).unwrap(), 2);
}

#[test]
fn futures_dropped_by_the_failure_may_spawn_and_are_refused() {
    let ex = strict();
    let refused = Rc::new(Cell::new(0));
    for _ in 0..3 {
        let refused = Rc::clone(&refused);
        drop(ex.spawn(hold(OnDrop::new(move || {
            let child = spawn_local(pending::<()>());
            refused.set(refused.get() + u32::from(output(child).unwrap_err().is_refused()));
        }))));
    }
    settle(&ex);
    drop::<JoinHandle<()>>(ex.spawn(async { panic_as_meant("all go") }));
    assert_eq!(complaint_of(|| ex.block_on(pending::<()>())), FAILED);
    assert_eq!((refused.get(), ex.stats().live), (3, 0));
}

#[test]
fn the_run_that_failed_may_be_dropped_and_so_may_the_executor() {
    let ex = strict();
    drop::<JoinHandle<()>>(ex.spawn(async { panic_as_meant("in a run") }));
    let drops = Count::default();
    let mut run = Box::pin(ex.run_until(hold(drops.guard())));
    assert_eq!(complaint_of(|| poll_once(&mut run)), FAILED);
    drop(run);
    drop(ex);
    assert_eq!(drops.get(), 1);
}

#[test]
fn a_shutdown_under_way_hears_of_it_too() {
    let ex = strict();
    drop::<JoinHandle<()>>(ex.spawn(async {
        yield_now().await;
        panic_as_meant("while it is shut down");
    }));
    let waits = ex.spawn(pending::<()>());
    assert_eq!(complaint_of(|| assert!(ex.block_on_shutdown(pending::<()>()).drained)), FAILED);
    drop(ex);
    assert!(output(waits).unwrap_err().is_cancelled());
}
