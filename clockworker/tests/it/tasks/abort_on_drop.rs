//! A handle that aborts its task when it is dropped, wherever that is.

use std::cell::Cell;
use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use clockworker::{AbortOnDropHandle, Cap, Executor, JoinHandle, ManualClock, Queue};
use futures::FutureExt;
use static_assertions::{assert_impl_all, assert_not_impl_any};

use crate::support::{
    Count, CountingWaker, OnDrop, elsewhere, hold, output, panic_as_meant, settle, settle_with, untimed,
    yields,
};

assert_impl_all!(AbortOnDropHandle<u32>: Send, Sync, Unpin);
assert_not_impl_any!(AbortOnDropHandle<Rc<u32>>: Send, Sync);

/// Drops a handle of a task of each kind of queue at that moment, and lets the host poll the executor if it is woken.
fn drops(at: impl Fn(&Executor, AbortOnDropHandle<()>)) {
    for kind in ["plain", "child", "throttled", "idle"] {
        let clock = ManualClock::new();
        let ex = Executor::builder().clock(clock.clone()).build().unwrap();
        let parent = ex.new_queue("parent").create().unwrap();
        let cap = Cap::new(Duration::from_millis(1), Duration::from_secs(1)).unwrap();
        let queue: Queue = match kind {
            "child" => parent.new_queue(kind).create(),
            "throttled" => ex.new_queue(kind).cap(cap).create(),
            "idle" => ex.new_queue(kind).idle().create(),
            _ => ex.new_queue(kind).create(),
        }
        .unwrap();
        if kind == "throttled" {
            queue.spawn(async move { clock.advance(Duration::from_millis(3)) });
            settle(&ex);
        }
        let dropped = Count::default();
        let handle = AbortOnDropHandle::new(queue.spawn(hold(dropped.guard())));
        settle(&ex);
        at(&ex, handle);
        settle(&ex);
        assert_eq!((dropped.get(), queue.stats().cancelled, queue.stats().live), (1, 1, 0), "{kind}");
    }
}

#[test]
fn outside_a_turn_and_on_another_thread() {
    drops(|_, handle| drop(handle));
    drops(|_, handle| elsewhere(|| drop(handle)));
}

#[test]
fn beside_a_parked_host_which_it_wakes() {
    drops(|ex, handle| {
        let (wakes, waker) = CountingWaker::new();
        let mut run = pin!(ex.run_until(pending::<()>()));
        assert_eq!(settle_with(run.as_mut(), &wakes, &waker), None);
        let before = wakes.count();
        drop(handle);
        assert!(wakes.count() > before, "the host is woken");
    });
}

#[test]
fn in_a_task_in_a_drop_and_while_unwinding() {
    drops(|ex, handle| drop(ex.spawn(async move { drop(handle) })));
    drops(|ex, handle| ex.spawn(hold(OnDrop::new(move || drop(handle)))).abort());
    drops(|ex, handle| {
        drop(ex.spawn(async move {
            let _handle = handle;
            panic_as_meant("with it");
        }));
    });
    drops(|_, handle| {
        let unwinding = AssertUnwindSafe(move || {
            let _handle = handle;
            panic_as_meant("with it");
        });
        assert!(catch_unwind(unwinding).is_err());
    });
}

#[test]
fn it_gives_the_output_and_then_aborts_nothing() {
    let ex = untimed();
    let mut handle = AbortOnDropHandle::new(ex.spawn(async {
        yields(2).await;
        42
    }));
    assert!((&mut handle).now_or_never().is_none() && !handle.is_finished());
    settle(&ex);
    assert!(handle.is_finished());
    assert_eq!(handle.now_or_never().unwrap().unwrap(), 42);
    assert_eq!((ex.stats().completed, ex.stats().cancelled), (1, 0));
}

#[test]
fn a_detached_task_goes_on() {
    let ex = untimed();
    let done = Rc::new(Cell::new(false));
    let sets = Rc::clone(&done);
    let handle = AbortOnDropHandle::new(ex.spawn(async move { sets.set(true) }));
    let handle: JoinHandle<()> = handle.detach();
    settle(&ex);
    assert!(done.get() && output(handle).is_ok());
}
