//! Promise 9: `wake()` takes no lock that tasks need, runs no code of a task and allocates nothing.
//!
//! Threads wake tasks while the executor is not driven, and while it polls: a wake that waited for it would wait for ever.
//!
//! One test, as it counts what the whole process allocates.

#![allow(clippy::print_stdout, reason = "the figures of RELIABILITY.md, shown by `--nocapture`")]

use std::cell::RefCell;
use std::future::{pending, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::task::{Poll, Waker};
use std::thread;

use clockworker::{AbortHandle, Executor, JoinHandle, yield_now};
use clockworker_testing::driving::{CountingWaker, settle_with};
use clockworker_testing::effort::pick;
use clockworker_testing::memory::{Allocated, COUNTING, Counting};
use clockworker_testing::watchdog::{Pulse, watch};

#[global_allocator]
static ALLOCATOR: Counting = COUNTING;

const THREADS: usize = 8;

#[test]
fn wakes_allocate_nothing_and_neither_wait_for_tasks_nor_run_them() {
    let stuck = |rounds| format!("a wake does not return: {rounds} rounds were done");
    let rounds = pick(10, 2_500);
    let wakes = watch(move |pulse| while_not_driven(rounds, pulse), stuck);
    watch(move |pulse| while_polled(10 * rounds, pulse), stuck);
    println!("{wakes} wakes while the executor is not driven, {} rounds while it polls", 10 * rounds);
}

const TASKS: usize = 1_000;

/// Wakes by a thread in one round.
const WAKES: usize = 5_000;

/// Rounds of wakes by all threads. After each round all tasks are polled, and wait again. How many wakes.
fn while_not_driven(rounds: usize, pulse: &Pulse) -> usize {
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
    let mut run = pin!(ex.run_until(pending::<()>()));
    // Until it has nothing left to do.
    let mut settle = || settle_with(run.as_mut(), &host_wakes, &waker);
    settle();
    for _ in 0..rounds {
        let polls = ex.stats().polls;
        let round: Vec<Waker> = wakers.borrow().iter().flatten().cloned().collect();
        let before = host_wakes.count();
        assert_eq!(wake_all(&round), 0, "allocations by wakes");
        assert_eq!(host_wakes.count() - before, 1, "wakes of the host that waits");
        settle();
        // Each was woken many times, and is polled once.
        assert_eq!(ex.stats().polls - polls, TASKS as u64);
        pulse.beat(1);
    }
    rounds * THREADS * WAKES
}

/// One round: how often memory was asked for meanwhile.
fn wake_all(wakers: &[Waker]) -> i64 {
    let (begin, end) = (Barrier::new(THREADS + 1), Barrier::new(THREADS + 1));
    thread::scope(|scope| {
        for index in 0..THREADS {
            let (begin, end) = (&begin, &end);
            scope.spawn(move || {
                begin.wait();
                begin.wait();
                wake_many(wakers, index);
                end.wait();
            });
        }
        // The threads have started, and wait. From the second passing of `begin` to `end` there are the wakes, nothing else.
        begin.wait();
        let before = Allocated::now();
        begin.wait();
        end.wait();
        (Allocated::now() - before).requests
    })
}

/// Every third is woken by value, which clones the waker and gives it up.
#[allow(clippy::waker_clone_wake, reason = "a wake by value is tried too")]
fn wake_many(wakers: &[Waker], first: usize) {
    for index in 0..WAKES {
        let waker = &wakers[(first + index) % wakers.len()];
        if index % 3 == 0 { waker.clone().wake() } else { waker.wake_by_ref() }
    }
}

/// Tasks beside the one that is polled: some are aborted, some only woken.
const OTHERS: usize = 16;

/// Threads wake and abort tasks, and drop wakers, while a task is polled that goes on when they have done so; then it does so
/// itself. It holds a lock meanwhile that the others take in their polls and drops: a call that waits for the owner thread, or
/// polls or drops a task where it is, does not return.
fn while_polled(rounds: usize, pulse: &Pulse) {
    for _ in 0..rounds {
        let ex = Executor::new();
        let seen = Arc::new(Seen::default());
        let others: Vec<_> = (0..OTHERS).map(|_| ex.spawn(other(Arc::clone(&seen)))).collect();
        let aborts: Vec<AbortHandle> = others.iter().map(JoinHandle::abort_handle).collect();
        let polled = async move {
            yield_now().await;
            let before = seen.polls_and_drops.load(Ordering::Acquire);
            let mut lock = seen.wakers.lock().unwrap();
            let wakers = std::mem::take(&mut *lock);
            thread::scope(|scope| {
                for thread in 0..THREADS {
                    let (wakers, aborted) = (wakers.clone(), aborts.iter().skip(thread).step_by(2 * THREADS));
                    scope.spawn(move || {
                        wakers.iter().for_each(Waker::wake_by_ref);
                        aborted.for_each(AbortHandle::abort);
                        wakers.into_iter().for_each(Waker::wake);
                    });
                }
            });
            wakers.iter().for_each(Waker::wake_by_ref);
            aborts.iter().skip(THREADS).step_by(4).for_each(AbortHandle::abort);
            wakers.into_iter().for_each(Waker::wake);
            drop(lock);
            assert_eq!(
                seen.polls_and_drops.load(Ordering::Acquire),
                before,
                "polls and drops inside of calls"
            );
        };
        ex.block_on(ex.spawn(polled)).unwrap();
        others.iter().for_each(JoinHandle::abort);
        ex.block_on(ex.drained());
        assert_eq!((ex.stats().panicked, ex.stats().live), (0, 0), "tasks that panicked or did not end");
        pulse.beat(1);
    }
}

/// What the other tasks do.
#[derive(Default)]
struct Seen {
    polls_and_drops: AtomicU64,
    wakers: Mutex<Vec<Waker>>,
}

/// Counts its polls and its drop, and never ends by itself.
async fn other(seen: Arc<Seen>) {
    let in_drop = CountsDrop(seen);
    poll_fn(|cx| {
        in_drop.0.polls_and_drops.fetch_add(1, Ordering::AcqRel);
        in_drop.0.wakers.lock().unwrap().push(cx.waker().clone());
        Poll::Pending
    })
    .await
}

struct CountsDrop(Arc<Seen>);

impl Drop for CountsDrop {
    fn drop(&mut self) {
        self.0.polls_and_drops.fetch_add(1, Ordering::AcqRel);
        drop(self.0.wakers.lock());
    }
}
