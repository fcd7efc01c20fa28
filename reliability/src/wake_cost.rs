//! Promise 9: `wake()` takes no lock that others hold, runs no user code and allocates nothing.
//!
//! Wakes while the executor is not driven: one that waited for it would wait for ever. And wakes and aborts under a lock that
//! the poll and the drop of the task take: if a wake polled or dropped the task where it is, that would be seen as a poll
//! inside a wake, and would lock twice.

#![allow(clippy::disallowed_methods, reason = "it tells how long real wakes take")]

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use clap::Args;
use clockworker::{AbortHandle, Executor};
use clockworker_testing::driving::{CountingWaker, settle_with};
use clockworker_testing::memory::Allocated;

use crate::figure::{Figure, at_most, none, told};
use crate::watchdog::{Patience, Pulse};

#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// How many wakes, in all.
    #[arg(long, value_name = "N", default_value_t = 100_000_000)]
    wakes: u64,
    /// Half a million wakes.
    #[arg(long, conflicts_with = "wakes")]
    quick: bool,
    #[command(flatten)]
    patience: Patience,
}

const THREADS: usize = 8;

pub(crate) fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let wakes = if options.quick { 500_000 } else { options.wakes };
    let stuck = |rounds| format!("a wake does not return: {rounds} rounds were done");
    let work = move |pulse: Arc<Pulse>| while_suspended(wakes, &pulse);
    let mut figures = options.patience.watch(|_| {}, work, stuck)?;
    let work = move |pulse: Arc<Pulse>| under_locks(wakes / 10, &pulse);
    figures.extend(options.patience.watch(|_| {}, work, stuck)?);
    Ok(figures)
}

const TASKS: usize = 1_000;

/// Wakes by a thread in one round.
const ROUND: usize = 5_000;

/// Rounds of wakes by all threads, until there were so many. After a round all tasks are polled, and park again.
fn while_suspended(wakes: u64, pulse: &Pulse) -> anyhow::Result<Vec<Figure>> {
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

/// Tasks of a round.
const LOCK_TASKS: usize = 16;

/// Wakes by a thread in one round.
const LOCK_WAKES: u64 = 2_000;

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// What tasks and threads share, in all rounds.
#[derive(Debug, Default)]
struct Shared {
    lock: Mutex<u64>,
    wakes: AtomicU64,
    /// Polls and drops that began inside a wake or an abort.
    inside: AtomicU64,
    /// The wakers of the tasks that were polled in this round.
    known: Mutex<Vec<Waker>>,
}

impl Shared {
    fn use_lock(&self) {
        if INSIDE.get() {
            self.inside.fetch_add(1, Ordering::Relaxed);
            return;
        }
        *self.lock.lock().unwrap_or_else(PoisonError::into_inner) += 1;
    }

    fn known(&self) -> MutexGuard<'_, Vec<Waker>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes all tasks that are known, and gives the wakers.
    fn wake_known(&self) -> Vec<Waker> {
        let wakers = self.known().clone();
        self.under_lock(|| wakers.iter().for_each(Waker::wake_by_ref));
        wakers
    }

    /// Calls into the executor for each of the tasks while holding the lock.
    fn under_lock(&self, call: impl FnOnce()) {
        self.wakes.fetch_add(LOCK_TASKS as u64, Ordering::Relaxed);
        let _held = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        INSIDE.set(true);
        call();
        INSIDE.set(false);
    }
}

/// Rounds until there were so many wakes.
fn under_locks(wakes: u64, pulse: &Pulse) -> anyhow::Result<Vec<Figure>> {
    let shared = Arc::new(Shared::default());
    let mut left = 0;
    while shared.wakes.load(Ordering::Acquire) < wakes {
        left += round(&shared)?;
        pulse.beat(1);
    }
    let done = shared.wakes.load(Ordering::Acquire);
    Ok(vec![
        told(9, "wakes, aborts and drops of wakers under a lock that the tasks need, about", done),
        none(9, "polls and drops of tasks inside of them", shared.inside.load(Ordering::Acquire)),
        none(9, "tasks that did not end", left),
    ])
}

/// How many tasks were neither completed nor cancelled at its end.
fn round(shared: &Arc<Shared>) -> anyhow::Result<usize> {
    let ex = Executor::new();
    shared.known().clear();
    let tasks = (0..LOCK_TASKS).map(|_| ex.spawn(task(Arc::clone(shared))).abort_handle());
    let tasks: Vec<AbortHandle> = tasks.collect();
    let _detached = ex.spawn(disturb_here(Arc::clone(shared)));
    let panicked = thread::scope(|scope| {
        let own = |index| tasks.iter().skip(index).step_by(THREADS);
        let disturb = |index| scope.spawn(move || disturb(shared, own(index)));
        let threads: Vec<_> = (0..THREADS).map(disturb).collect();
        ex.block_on(ex.drained());
        threads.into_iter().any(|thread| thread.join().is_err())
    });
    ensure!(!panicked && ex.stats().panicked == 0, "a thread or a task panicked");
    Ok(ex.stats().live)
}

/// Uses the lock in every poll and in its drop, and never ends by itself.
async fn task(shared: Arc<Shared>) {
    let _in_drop = UseInDrop(Arc::clone(&shared));
    let mut is_known = false;
    poll_fn(|cx| {
        shared.use_lock();
        if !is_known {
            shared.known().push(cx.waker().clone());
            is_known = true;
        }
        Poll::Pending
    })
    .await
}

struct UseInDrop(Arc<Shared>);

impl Drop for UseInDrop {
    fn drop(&mut self) {
        self.0.use_lock();
    }
}

/// Another thread: wakes all that are known, aborts its own, and drops its wakers.
fn disturb<'a>(shared: &Shared, own: impl Iterator<Item = &'a AbortHandle>) {
    for _ in 0..LOCK_WAKES / LOCK_TASKS as u64 {
        let wakers = shared.wake_known();
        shared.under_lock(|| drop(wakers));
    }
    shared.under_lock(|| own.for_each(AbortHandle::abort));
}

/// The owner thread, in a task: it wakes all that are known, now and then.
async fn disturb_here(shared: Arc<Shared>) {
    for _ in 0..20 {
        drop(shared.wake_known());
        clockworker::yield_now().await;
    }
}
