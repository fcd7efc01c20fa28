//! Wakers that give the executor something to do just when it has nothing else to do, or end what it is about to wait for.

use std::cell::RefCell;
use std::future::ready;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Waker};

use clockworker::JoinSet;

use crate::support::{
    HookedWaker, OnDrop, Probe, WakerCall, assert_finished, hold, parked, poll_once, poll_with, settle,
    settle_run, untimed,
};

/// The set goes while its first member wakes its waiter, and with it the members.
#[test]
fn of_a_task_that_awaits_a_set_and_drops_it() {
    let ex = untimed();
    let probe = Probe::new();
    let set = Rc::new(RefCell::new(Some(JoinSet::new())));
    let hooked = HookedWaker::new(WakerCall::Wake, {
        let set = Rc::clone(&set);
        move || drop(set.take())
    });
    if let Some(set) = &mut *set.borrow_mut() {
        set.spawn_local_on(ready(1), &ex);
        set.spawn_local_on(probe.future(), &ex);
        assert!(set.poll_join_next(&mut Context::from_waker(&hooked.waker())).is_pending());
    }
    settle(&ex);
    assert!(hooked.is_done() && set.borrow().is_none());
    assert_finished(&ex.stats(), 1, 1, 0);
}

/// What a host's waker gives the executor to do while it is registered, which is when the executor has nothing else to do,
/// is done: the executor does not sleep on it.
#[test]
fn of_a_host_that_is_about_to_sleep() {
    // By what is done: how often a task and the main future are polled then, and how much else is done.
    let expected = [
        ("wake a task", (2, 1, 0)),
        ("wake the main future", (1, 2, 0)),
        ("spawn", (1, 1, 1)),
        ("spawn by a handle", (1, 1, 1)),
        ("abort", (1, 1, 1)),
    ];
    for at in [WakerCall::Clone, WakerCall::Drop] {
        for (what, expected) in expected {
            let ex = Rc::new(untimed());
            let (probe, _) = parked(&ex);
            let main = Probe::new();
            let done = Arc::new(AtomicUsize::new(0));
            let does = Arc::clone(&done);
            let does = move || _ = does.fetch_add(1, Ordering::Relaxed);
            let aborted = ex.spawn(hold(OnDrop::new(does.clone())));
            let mut run = Box::pin(ex.run_until(main.future()));
            assert!(settle_run(run.as_mut()).is_none());
            let hooked = {
                let (ex, probe, main) = (Rc::clone(&ex), Rc::clone(&probe), Rc::clone(&main));
                HookedWaker::new(at, move || match what {
                    "wake a task" => probe.waker().wake(),
                    "wake the main future" => main.waker().wake(),
                    "spawn" => drop(ex.spawn(async move { does() })),
                    "spawn by a handle" => drop(ex.handle().spawn(move || async move { does() })),
                    _ => aborted.abort(),
                })
            };
            assert!(poll_with(&mut run, &hooked.waker()).is_pending());
            if at == WakerCall::Drop {
                // The second host takes the first one's place, whose waker is dropped.
                assert!(poll_with(&mut run, Waker::noop()).is_pending());
            }
            assert!(hooked.is_done(), "{at:?}");
            let seen = (probe.polls.get(), main.polls.get(), done.load(Ordering::Relaxed));
            assert_eq!(seen, expected, "{at:?}, {what}");
        }
    }
}

#[test]
fn of_a_host_that_runs_the_executor_when_its_run_is_over() {
    for done in [false, true] {
        let ex = Rc::new(untimed());
        let (main, again) = (Probe::new(), Rc::clone(&ex));
        let hooked = HookedWaker::new(WakerCall::Drop, move || again.block_on(async {}));
        let mut run = Box::pin(ex.run_until(main.future()));
        assert!(poll_with(&mut run, &hooked.waker()).is_pending());
        if done {
            main.finish();
            assert!(poll_with(&mut run, &hooked.waker()).is_ready());
        } else {
            drop(run);
        }
        assert!(hooked.is_done(), "done: {done}");
    }
}

/// While its waker is registered, so that nobody would wake it afterwards.
#[test]
fn of_who_waits_for_the_last_task_and_ends_it() {
    for at in [WakerCall::Clone, WakerCall::Drop] {
        let ex = Rc::new(untimed());
        let (probe, _) = parked(&ex);
        let hooked = HookedWaker::new(at, {
            let ex = Rc::clone(&ex);
            move || {
                probe.finish();
                settle(&ex);
            }
        });
        let mut drained = pin!(ex.drained());
        let mut polled = poll_with(&mut drained, &hooked.waker());
        if at == WakerCall::Drop {
            // Another waker takes the place of the first.
            assert!(polled.is_pending());
            polled = poll_once(&mut drained);
        }
        assert!(polled.is_ready() && hooked.is_done(), "{at:?}");
    }
}
