//! When the executor wakes its host: for each park at most once, and never for nothing.

use std::future::{Future, pending};
use std::pin::{Pin, pin};
use std::thread;

use clockworker::{Executor, ManualClock, yield_now};

use crate::support::{
    CountingWaker, Probe, assert_finished, elsewhere, on_thread, poll_with, probed, settle, settle_run,
    untimed,
};

#[test]
fn five_hundred_ready_tasks_finish_on_a_host_that_polls_only_when_woken() {
    for poll_cap in [1, 7, 61, 8_192] {
        let ex = Executor::builder().poll_cap(poll_cap).clock(ManualClock::new()).build().unwrap();
        let tasks: Vec<_> = (0..500).map(|_| ex.spawn(yield_now())).collect();
        settle(&ex);
        assert!(tasks.iter().all(|task| task.is_finished()));
        let stats = ex.stats();
        assert_eq!(stats.polls, 1_000);
        assert_eq!(stats.host_polls, 1_000_u64.div_ceil(u64::from(poll_cap)));
        assert_eq!(stats.host_yields, stats.host_polls - 1, "none when nothing is left to do");
    }
}

#[test]
fn an_idle_executor_never_wakes_its_host() {
    let ex = untimed();
    let parked: Vec<_> = (0..10).map(|_| probed(&ex).0).collect();
    let mut run = pin!(ex.run_until(pending::<()>()));
    assert!(settle_run(run.as_mut()).is_none());
    let (wakes, waker) = CountingWaker::new();
    for _ in 0..100 {
        assert!(poll_with(&mut run, &waker).is_pending());
    }
    assert_eq!(wakes.count(), 0);
    assert!(parked.iter().all(|probe| probe.polls.get() == 1));
}

/// Parks a run, does something, and says how often the host was woken for it.
fn wakes_for(ex: &Executor, mut run: Pin<&mut impl Future>, mut something: impl FnMut()) -> Vec<usize> {
    let mut counts = Vec::new();
    assert!(settle_run(run.as_mut()).is_none());
    for _ in 0..3 {
        let (wakes, waker) = CountingWaker::new();
        assert!(poll_with(&mut run, &waker).is_pending());
        let polls = ex.stats().polls;
        something();
        assert_eq!(ex.stats().polls, polls, "nothing is polled on the caller's stack");
        counts.push(wakes.count());
        assert!(settle_run(run.as_mut()).is_none());
    }
    counts
}

#[test]
fn a_spawn_on_the_owner_thread_wakes_a_sleeping_host_exactly_once() {
    let ex = untimed();
    let mut run = pin!(ex.run_until(pending::<()>()));
    let counts = wakes_for(&ex, run.as_mut(), || (0..10).for_each(|_| drop(ex.spawn(async {}))));
    assert_eq!(counts, [1, 1, 1]);
    assert_finished(&ex.stats(), 30, 0, 0);
}

#[test]
fn a_wake_on_the_owner_thread_wakes_a_sleeping_host_exactly_once() {
    let ex = untimed();
    let ((a, _), (b, _)) = (probed(&ex), probed(&ex));
    let mut run = pin!(ex.run_until(pending::<()>()));
    let counts = wakes_for(&ex, run.as_mut(), || {
        a.waker().wake();
        a.waker().wake();
        b.waker().wake();
    });
    assert_eq!(counts, [1, 1, 1]);
    assert_eq!((a.polls.get(), b.polls.get()), (4, 4));
}

#[test]
fn what_other_threads_do_wakes_a_sleeping_host_once_per_park() {
    let ex = untimed();
    let ((a, _), (b, _)) = (probed(&ex), probed(&ex));
    let handle = ex.handle();
    let mut run = pin!(ex.run_until(pending::<()>()));
    let counts = wakes_for(&ex, run.as_mut(), || {
        let (a, b, handle) = (a.waker(), b.waker(), &handle);
        thread::scope(|scope| {
            for _ in 0..4 {
                let (a, b) = (a.clone(), b.clone());
                scope.spawn(move || {
                    a.wake_by_ref();
                    b.wake();
                    drop(handle.spawn(|| async {}));
                    a.wake();
                });
            }
        });
    });
    assert_eq!(counts, [1, 1, 1]);
    assert_eq!((a.polls.get(), b.polls.get(), ex.stats().completed), (4, 4, 12));
}

#[test]
fn a_wake_of_the_future_being_run_wakes_a_sleeping_host_exactly_once() {
    for remote in [false, true] {
        let ex = untimed();
        let probe = Probe::new();
        let mut run = pin!(ex.run_until(probe.future()));
        let counts = wakes_for(&ex, run.as_mut(), || {
            let waker = probe.waker();
            on_thread(remote, || (0..2).for_each(|_| waker.wake_by_ref()));
        });
        assert_eq!(counts, [1, 1, 1], "remote: {remote}");
        assert_eq!(probe.polls.get(), 4);
    }
}

#[test]
fn the_host_that_polled_last_is_the_one_that_is_woken() {
    let ex = untimed();
    let (probe, _) = probed(&ex);
    let mut run = pin!(ex.run_until(pending::<()>()));
    assert!(settle_run(run.as_mut()).is_none());
    let ((first, one), (second, two)) = (CountingWaker::new(), CountingWaker::new());
    assert!(poll_with(&mut run, &one).is_pending());
    assert!(poll_with(&mut run, &two).is_pending());
    probe.waker().wake();
    assert_eq!((first.count(), second.count()), (0, 1));
}

#[test]
fn nobody_is_woken_for_an_executor_that_nobody_runs() {
    let ex = untimed();
    let (probe, _) = probed(&ex);
    let (wakes, waker) = CountingWaker::new();
    {
        let mut run = pin!(ex.run_until(pending::<()>()));
        assert!(settle_run(run.as_mut()).is_none());
        assert!(poll_with(&mut run, &waker).is_pending());
    }
    probe.waker().wake();
    ex.spawn(async {});
    let handle = ex.handle();
    elsewhere(|| drop(handle.spawn(|| async {})));
    assert_eq!(wakes.count(), 0);
    settle(&ex);
    assert_eq!((probe.polls.get(), ex.stats().completed), (2, 2));
}
