//! Wakes while nobody drives the executor.

#![allow(clippy::disallowed_methods, reason = "it tells how long real wakes take")]

use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Barrier;
use std::task::{Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use clockworker::Executor;
use clockworker_testing::driving::{CountingWaker, settle_with};
use clockworker_testing::memory::Allocated;

use super::THREADS;
use crate::figure::{Figure, at_most, none, told};
use crate::watchdog::Pulse;

const TASKS: usize = 1_000;

/// Wakes by a thread in one round.
const ROUND: usize = 5_000;

/// Rounds of wakes by all threads, until there were so many. After a round all tasks are polled, and park again.
pub(super) fn measure(wakes: u64, pulse: &Pulse) -> anyhow::Result<Vec<Figure>> {
    let ex = Executor::new();
    let wakers = Rc::new(RefCell::new(vec![None; TASKS]));
    for task in 0..TASKS {
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
    let (mut done, mut allocations, mut most_host_wakes, mut polls_off) = (0, 0, 0, 0);
    let (mut longest, mut total) = (Duration::ZERO, Duration::ZERO);
    while done < wakes {
        let polls = ex.stats().polls;
        let round: Vec<Waker> = wakers.borrow().iter().flatten().cloned().collect();
        let before = host_wakes.count();
        let (allocated, times) = wake_all(&round)?;
        allocations += allocated;
        most_host_wakes = most_host_wakes.max(host_wakes.count() - before);
        settle();
        // Each was woken many times, and is polled once. How far polls were from that, summed up.
        polls_off += (ex.stats().polls - polls).abs_diff(TASKS as u64);
        for (longest_here, sum) in times {
            done += ROUND as u64;
            longest = longest.max(longest_here);
            total += sum;
        }
        pulse.beat(1);
    }
    Ok(vec![
        told(9, "wakes while the executor is suspended, by value and by reference", done),
        none(9, "allocations by them", allocations),
        at_most(9, "most wakes of the host in one park", most_host_wakes, 1.0),
        none(9, "polls less woken tasks, afterwards", polls_off),
        told(9, "longest wake, ns (the operating system's pauses included)", longest.as_nanos() as u64),
        told(9, "wake, mean, ns", total.as_nanos() as f64 / done as f64),
    ])
}

/// One round: what all threads allocated meanwhile, and how long their wakes took.
fn wake_all(wakers: &[Waker]) -> anyhow::Result<(i64, Vec<(Duration, Duration)>)> {
    let (begin, end) = (Barrier::new(THREADS + 1), Barrier::new(THREADS + 1));
    thread::scope(|scope| {
        let work = |index| {
            begin.wait();
            begin.wait();
            let took = wake_many(wakers, index);
            end.wait();
            took
        };
        let threads: Vec<_> = (0..THREADS).map(|index| scope.spawn(move || work(index))).collect();
        // The threads have started, and wait. From the second passing of `begin` to `end` there are the wakes, nothing else.
        begin.wait();
        let before = Allocated::now();
        begin.wait();
        end.wait();
        let allocations = (Allocated::now() - before).requests;
        let times = threads.into_iter().map(|thread| thread.join().ok()).collect::<Option<_>>();
        Ok((allocations, times.context("a thread that wakes panicked")?))
    })
}

/// Every third is woken by value, which clones the waker and gives it up. How long the longest took, and all.
#[allow(clippy::waker_clone_wake, reason = "a wake by value is measured too")]
fn wake_many(wakers: &[Waker], first: usize) -> (Duration, Duration) {
    let begin = Instant::now();
    let (mut longest, mut last) = (Duration::ZERO, begin);
    for index in 0..ROUND {
        let waker = &wakers[(first + index) % wakers.len()];
        if index % 3 == 0 {
            waker.clone().wake()
        } else {
            waker.wake_by_ref()
        }
        let now = Instant::now();
        longest = longest.max(now - last);
        last = now;
    }
    (longest, last - begin)
}
