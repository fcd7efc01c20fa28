//! Wakes while nobody drives the executor.

#![allow(clippy::disallowed_methods, reason = "it tells how long real wakes take")]

use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::sync::{Arc, Barrier};
use std::task::{Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use clockworker::Executor;
use clockworker_testing::driving::{CountingWaker, settle_with};
use clockworker_testing::memory::Allocated;

use crate::watchdog::Pulse;

/// Wakes by a thread in one round.
const ROUND: u64 = 5_000;

/// What wakes cost.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cost {
    pub(super) wakes: u64,
    pub(super) allocations: i64,
    /// In one park, at most.
    pub(super) host_wakes: usize,
    /// How far polls were from one per woken task, summed up.
    pub(super) polls_off: u64,
    pub(super) longest_ns: u64,
    pub(super) mean_ns: f64,
}

/// Rounds of wakes by `threads` threads, until each has done `each`. After a round all tasks are polled, and park again.
pub(super) fn measure(threads: usize, tasks: usize, each: u64, pulse: &Pulse) -> anyhow::Result<Cost> {
    let ex = Executor::new();
    let wakers = Rc::new(RefCell::new(vec![None; tasks]));
    for task in 0..tasks {
        let wakers = Rc::clone(&wakers);
        let _detached = ex.spawn(poll_fn(move |cx| {
            wakers.borrow_mut()[task].get_or_insert_with(|| cx.waker().clone());
            Poll::<()>::Pending
        }));
    }
    let (host_wakes, waker) = CountingWaker::new();
    let mut run = pin!(ex.run_until(std::future::pending::<()>()));
    // Until it has nothing left to do, and parks.
    let mut settle = || settle_with(run.as_mut(), &host_wakes, &waker);
    settle();
    let mut cost = Cost::default();
    let mut total = Duration::ZERO;
    while cost.wakes < each * threads as u64 {
        let polls = ex.stats().polls;
        let round: Vec<Waker> = wakers.borrow().iter().flatten().cloned().collect();
        let before = host_wakes.count();
        let (allocations, times) = wake_all(threads, round)?;
        cost.allocations += allocations;
        cost.host_wakes = cost.host_wakes.max(host_wakes.count() - before);
        settle();
        // Each was woken many times, and is polled once.
        cost.polls_off += (ex.stats().polls - polls).abs_diff(tasks as u64);
        for time in times {
            cost.wakes += ROUND;
            total += time.sum;
            cost.longest_ns = cost.longest_ns.max(time.longest.as_nanos() as u64);
        }
        pulse.beat(1);
    }
    cost.mean_ns = total.as_nanos() as f64 / cost.wakes as f64;
    Ok(cost)
}

/// How long a thread's wakes took.
#[derive(Clone, Copy, Debug, Default)]
struct Times {
    longest: Duration,
    sum: Duration,
}

/// One round: what all threads allocated meanwhile, and how long they took.
fn wake_all(threads: usize, wakers: Vec<Waker>) -> anyhow::Result<(i64, Vec<Times>)> {
    let wakers = Arc::new(wakers);
    let (begin, end) = (Arc::new(Barrier::new(threads + 1)), Arc::new(Barrier::new(threads + 1)));
    let spawned: Vec<_> = (0..threads)
        .map(|index| {
            let (wakers, begin, end) = (Arc::clone(&wakers), Arc::clone(&begin), Arc::clone(&end));
            thread::spawn(move || {
                begin.wait();
                begin.wait();
                let times = wake_many(&wakers, index);
                end.wait();
                times
            })
        })
        .collect();
    // The threads have started, and wait. From the second passing of `begin` to `end` there are the wakes, nothing else.
    begin.wait();
    let before = Allocated::now();
    begin.wait();
    end.wait();
    let allocations = (Allocated::now() - before).requests;
    let times = spawned.into_iter().map(|thread| thread.join().ok()).collect::<Option<_>>();
    Ok((allocations, times.context("a thread that wakes panicked")?))
}

/// Every third is woken by value, which clones the waker and gives it up.
#[allow(clippy::waker_clone_wake, reason = "a wake by value is measured too")]
fn wake_many(wakers: &[Waker], first: usize) -> Times {
    let mut times = Times::default();
    let mut last = Instant::now();
    for index in 0..ROUND as usize {
        let waker = &wakers[(first + index) % wakers.len()];
        if index % 3 == 0 {
            waker.clone().wake()
        } else {
            waker.wake_by_ref()
        }
        let now = Instant::now();
        let took = now - last;
        last = now;
        times.longest = times.longest.max(took);
        times.sum += took;
    }
    times
}
