//! Wakers that panic: of join handles, sets, waiters for the last task, and hosts. The panic goes to the caller or is
//! swallowed; the executor goes on, and no other waiter misses a wake.

use std::cell::Cell;
use std::future::pending;
use std::pin::pin;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::task::{Context, Poll, Waker};

use clockworker::{Executor, Id, JoinSet, ManualClock, yield_now};

use crate::support::WakerCall::{Clone, Drop, Wake};
use crate::support::{
    CountingWaker, Probe, assert_finished, assert_usable, bad_waker, caught, complaint_of, elsewhere,
    in_child, output, panic_as_meant, parked, poll_once, poll_with, probed, settle, settle_run, untimed,
};

#[test]
fn of_a_join_handle() {
    // Two panics at once would abort the process.
    in_child(|| {
        for calls in [&[Clone][..], &[Wake], &[Drop], &[Wake, Drop]] {
            for has_another in [false, true] {
                let ex = untimed();
                let (mut task, bystander) = (ex.spawn(async { 7 }), ex.spawn(async { 8 }));
                if has_another {
                    assert!(poll_once(&mut task).is_pending());
                }
                let bad = bad_waker(calls);
                let polled = caught(|| poll_with(&mut task, &bad.waker()).is_pending());
                let cloned = calls != [Clone];
                assert_eq!(polled, if cloned { Ok(true) } else { Err("the waker".to_owned()) });
                if !cloned && !has_another {
                    assert!(poll_once(&mut task).is_pending());
                }
                settle(&ex);
                assert!(bad.is_done(), "{calls:?}");
                assert_eq!((bad.calls(Wake), bad.calls(Drop)), (cloned.into(), cloned.into()), "{calls:?}");
                assert_eq!((output(task).unwrap(), output(bystander).unwrap()), (7, 8));
                assert_finished(&ex.stats(), 2, 0, 0);
                assert_usable(&ex);
            }
        }
    });
}

#[test]
fn of_a_join_handle_that_is_dropped_or_polled_with_another() {
    for replaced in [false, true] {
        let ex = untimed();
        let mut task = ex.spawn(async { 1 });
        let bad = bad_waker(&[Drop]);
        assert!(poll_with(&mut task, &bad.waker()).is_pending());
        if replaced {
            assert!(poll_once(&mut task).is_pending());
            settle(&ex);
            assert_eq!(output(task).unwrap(), 1);
        } else {
            drop(task);
            settle(&ex);
        }
        assert!(bad.is_done());
        assert_finished(&ex.stats(), 1, 0, 0);
        assert_usable(&ex);
    }
}

#[test]
fn of_a_join_handle_when_the_executor_is_dropped() {
    let ex = untimed();
    let mut task = ex.spawn(pending::<()>());
    let (probe, _) = probed(&ex);
    let bad = bad_waker(&[Wake]);
    assert!(poll_with(&mut task, &bad.waker()).is_pending());
    settle(&ex);
    drop(ex);
    assert_eq!((probe.drops.get(), bad.is_done()), (1, true));
    assert!(output(task).unwrap_err().is_cancelled());
}

#[test]
fn of_a_set_that_gives_every_output_nevertheless() {
    for at in [Clone, Wake, Drop] {
        let ex = untimed();
        let mut set: JoinSet<u32> = JoinSet::new();
        for i in 0..3 {
            set.insert(ex.spawn(async move {
                yield_now().await;
                i
            }));
        }
        let bad = bad_waker(&[at]);
        let waker = bad.waker();
        let _ = caught(|| set.poll_join_next(&mut Context::from_waker(&waker)).is_pending());
        let _ = caught(|| drop(set.insert(ex.spawn(async { 3 }))));
        settle(&ex);
        let mut outputs = Vec::new();
        while !set.is_empty() {
            match caught(|| set.poll_join_next(&mut Context::from_waker(Waker::noop()))) {
                Ok(Poll::Ready(Some(output))) => outputs.push(output.unwrap()),
                Ok(_) => panic!("all tasks have finished: {set:?}, {at:?}"),
                Err(_) => {}
            }
        }
        // It may be the last to have the waker.
        let _ = caught(|| drop(set));
        assert!(bad.is_done(), "{at:?}");
        outputs.sort_unstable();
        assert_eq!(outputs, [0, 1, 2, 3], "{at:?}");
        assert_usable(&ex);
    }
}

/// A clone that panics has not taken an earlier waker's place, and does not keep a later one from its own.
#[test]
fn of_a_set_that_wakes_the_waker_before_or_after() {
    for (is_first, is_last) in [(true, false), (false, true), (false, false)] {
        let ex = untimed();
        let mut set: JoinSet<u32> = JoinSet::new();
        let (probe, task) = parked(&ex);
        set.insert(task);
        let ((wakes_before, before), (wakes_after, after)) = (CountingWaker::new(), CountingWaker::new());
        if !is_first {
            assert!(set.poll_join_next(&mut Context::from_waker(&before)).is_pending());
        }
        let bad = bad_waker(&[Clone]);
        let waker = bad.waker();
        assert!(caught(|| set.poll_join_next(&mut Context::from_waker(&waker)).is_pending()).is_err());
        if !is_last {
            assert!(set.poll_join_next(&mut Context::from_waker(&after)).is_pending());
        }
        assert_eq!((wakes_before.count(), wakes_after.count()), (0, 0));
        probe.finish();
        settle(&ex);
        assert_eq!((wakes_before.count(), wakes_after.count()), (is_last.into(), (!is_last).into()));
    }
}

#[test]
fn of_who_waits_for_the_last_task() {
    for at in [Clone, Wake, Drop] {
        let ex = untimed();
        let (probe, _) = parked(&ex);
        let (mut first, mut last) = (Box::pin(ex.drained()), Box::pin(ex.drained()));
        let (wakes, waker) = CountingWaker::new();
        assert!(poll_with(&mut first, &waker).is_pending());
        let bad = bad_waker(&[at]);
        let failed = caught(|| {
            let mut drained = pin!(ex.drained());
            let _ = poll_with(&mut drained, &bad.waker());
            assert!(poll_with(&mut last, &waker).is_pending());
            match at {
                Wake => probe.finish(),
                // Another waker takes the place of the first.
                _ => drop(poll_once(&mut drained)),
            }
            settle(&ex);
        });
        // The executor has the panic of a wake.
        assert_eq!((failed.is_err(), bad.is_done()), (at != Wake, true), "{at:?}");
        if at != Wake {
            probe.finish();
            settle(&ex);
        }
        assert_eq!(wakes.count(), if at == Clone { 1 } else { 2 }, "{at:?}");
        assert!(poll_once(&mut first).is_ready() && poll_once(&mut last).is_ready());
        assert_usable(&ex);
    }
}

#[test]
fn of_a_host_that_is_registered_or_replaced() {
    for at in [Clone, Drop] {
        let ex = untimed();
        let (probe, task) = probed(&ex);
        let bad = bad_waker(&[at]);
        let waker = bad.waker();
        let mut run = Box::pin(ex.run_until(pending::<()>()));
        // The second host takes the first one's place, whose waker is dropped.
        let hosts = [&*waker, Waker::noop()].into_iter().cycle().take(4);
        let panics = hosts.filter(|host| caught(|| assert!(poll_with(&mut run, host).is_pending())).is_err());
        assert_eq!((panics.count(), bad.is_done()), (1, true), "{at:?}");
        // The same run goes on, and is woken.
        probe.finish();
        settle_run(run.as_mut());
        drop(run);
        assert_eq!(output(task).unwrap(), 2);
        assert_usable(&ex);
    }
}

#[test]
fn of_a_host_that_has_a_better_one_later() {
    for same_run in [true, false] {
        let ex = untimed();
        let bad = bad_waker(&[Clone]);
        let mut run = Box::pin(ex.run_until(pending::<()>()));
        assert_eq!(complaint_of(|| poll_with(&mut run, &bad.waker()).is_pending()), "the waker");
        if !same_run {
            run = Box::pin(ex.run_until(pending::<()>()));
        }
        let (wakes, waker) = CountingWaker::new();
        for n in 1..=3 {
            assert!(poll_with(&mut run, &waker).is_pending());
            let handle = ex.handle();
            elsewhere(|| drop(handle.spawn(|| async {})));
            assert_eq!(wakes.count(), n, "in the same run: {same_run}");
        }
        settle_run(run.as_mut());
        assert_finished(&ex.stats(), 3, 0, 0);
    }
}

#[test]
fn of_a_host_that_is_woken() {
    for how in ["spawn", "wake", "wake of the run's own future", "abort"] {
        let ex = untimed();
        let (probe, task) = probed(&ex);
        let main = Probe::new();
        let aborted = ex.spawn(pending::<()>());
        let bad = bad_waker(&[Wake]);
        let mut run = Box::pin(ex.run_until(main.future()));
        assert!(poll_with(&mut run, &bad.waker()).is_pending());
        let spawned = Cell::new(None);
        let said = complaint_of(|| match how {
            "spawn" => spawned.set(Some(ex.spawn(async { 3 }))),
            "wake" => probe.waker().wake(),
            "abort" => aborted.abort(),
            _ => main.waker().wake(),
        });
        assert_eq!(said, "the waker");
        assert!(spawned.take().is_none(), "its handle went with the panic");
        probe.finish();
        settle_run(run.as_mut());
        assert_eq!(output(task).unwrap(), 2);
        assert_eq!(aborted.is_finished(), how == "abort");
        assert_eq!((ex.stats().completed, ex.stats().ready), (1 + u64::from(how == "spawn"), 0));
        main.finish();
        assert!(settle_run(run.as_mut()).is_some());
        drop(run);
        assert_usable(&ex);
    }
}

#[test]
fn of_a_host_that_is_woken_after_a_poll_and_no_task_is_current_then() {
    let ex = Executor::builder().poll_cap(1).clock(ManualClock::new()).build().unwrap();
    let tasks = [(); 2].map(|()| ex.spawn(async { Id::current() }));
    let mut run = Box::pin(ex.run_until(pending::<()>()));
    // There is a task left, so it wakes its host.
    complaint_of(|| poll_with(&mut run, &bad_waker(&[Wake]).waker()));
    assert_eq!(Id::current(), None);
    drop(run);
    let ids = tasks.map(|task| Some(task.id()) == ex.block_on(task).unwrap());
    assert_eq!(ids, [true; 2]);
}

/// It aborts two members, and wakes the host for the first, while another has finished.
#[test]
fn of_a_host_when_a_set_is_dropped() {
    let ex = untimed();
    let (main, other) = (Probe::new(), untimed());
    let mut set = JoinSet::new();
    set.spawn_local_on(async {}, &other);
    settle(&other);
    (0..2).for_each(|_| drop(set.spawn_local_on(pending(), &ex)));
    let bad = bad_waker(&[Wake]);
    let mut run = Box::pin(ex.run_until(main.future()));
    assert!(poll_with(&mut run, &bad.waker()).is_pending());
    assert_eq!(complaint_of(|| drop(set)), "the waker");
    main.finish();
    assert!(settle_run(run.as_mut()).is_some());
    drop(run);
    assert_usable(&ex);
    assert_usable(&other);
    assert_finished(&ex.stats(), 2, 2, 0);
}

#[test]
fn of_a_host_whose_run_is_dropped() {
    for done in [false, true] {
        let ex = untimed();
        let (probe, task) = probed(&ex);
        let main = Probe::new();
        let bad = bad_waker(&[Drop]);
        let mut run = Box::pin(ex.run_until(main.future()));
        assert!(poll_with(&mut run, &bad.waker()).is_pending());
        if done {
            main.finish();
            assert_eq!(caught(|| poll_with(&mut run, &bad.waker()).is_ready()), Ok(true));
        }
        assert_eq!(caught(|| drop(run)), Ok(()));
        assert!(bad.is_done());
        probe.finish();
        assert_usable(&ex);
        assert_eq!(output(task).unwrap(), 2);
    }
}

#[test]
fn of_a_host_whose_run_is_dropped_by_a_panic() {
    in_child(|| {
        let ex = untimed();
        let bad = bad_waker(&[Drop]);
        let said = complaint_of(|| {
            let mut run = Box::pin(ex.run_until(pending::<()>()));
            assert!(poll_with(&mut run, &bad.waker()).is_pending());
            panic_as_meant("the first");
        });
        assert_eq!(said, "the first");
        assert!(bad.is_done());
        assert_usable(&ex);
    });
}

#[test]
fn of_a_host_whose_executor_is_dropped() {
    let ex = untimed();
    let (probe, task) = probed(&ex);
    let bad = bad_waker(&[Drop]);
    let mut run = Box::pin(ex.run_until(pending::<()>()));
    assert!(poll_with(&mut run, &bad.waker()).is_pending());
    // The run is never dropped, and keeps what it has: kept where LeakSanitizer finds it.
    static KEPT: AtomicPtr<()> = AtomicPtr::new(ptr::null_mut());
    KEPT.store(Box::into_raw(Box::new(run)).cast(), Ordering::Relaxed);
    assert_eq!(caught(|| drop(ex)), Ok(()));
    assert!(output(task).unwrap_err().is_cancelled());
    assert_eq!(probe.drops.get(), 1);
}
