//! Promise 9: `wake()` takes no lock that tasks need, runs no code of a task and allocates nothing.
//!
//! Threads wake tasks while the executor is not driven: a wake that waited for it would wait for ever. And they wake and
//! abort them under a lock that the poll and the drop of each task take.
//!
//! One test, as it counts what the whole process allocates.

#![allow(clippy::print_stdout, reason = "the figures of RELIABILITY.md, shown by `--nocapture`")]

use std::cell::{Cell, RefCell};
use std::future::{pending, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::thread;

use clockworker::{AbortHandle, Executor};
use clockworker_testing::driving::{CountingWaker, settle_with};
use clockworker_testing::effort::pick;
use clockworker_testing::memory::{Allocated, COUNTING, Counting};
use clockworker_testing::pulse::Pulse;
use clockworker_testing::watchdog::{PATIENCE, watch};

#[global_allocator]
static ALLOCATOR: Counting = COUNTING;

const THREADS: usize = 8;

#[test]
fn wakes_allocate_nothing_and_neither_wait_for_tasks_nor_run_them() {
    let rounds = pick(10, 2_500);
    let stuck = |rounds| format!("a wake does not return: {rounds} rounds were done");
    let wakes = watch(PATIENCE, move |pulse| while_not_driven(rounds, pulse), stuck);
    println!("{wakes} wakes while the executor is not driven");
    let rounds = pick(5, 600);
    watch(PATIENCE, move |pulse| under_a_lock(rounds, pulse), stuck);
    println!(
        "{} wakes under a lock that the tasks need, at most",
        rounds * THREADS * LOCK_WAKES * LOCK_TASKS
    );
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

/// Tasks of a round.
const LOCK_TASKS: usize = 16;

/// How often a thread wakes all of them.
const LOCK_WAKES: usize = 125;

thread_local! {
    /// Whether this thread is inside of a call that wakes, aborts or drops a waker.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// What tasks and threads share, in all rounds.
#[derive(Debug, Default)]
struct Shared {
    lock: Mutex<()>,
    /// Polls and drops that began inside of a call.
    inside: AtomicU64,
    /// The wakers of the tasks that were polled in this round.
    wakers: Mutex<Vec<Waker>>,
}

impl Shared {
    /// A task uses the lock.
    fn use_lock(&self) {
        if INSIDE.get() {
            self.inside.fetch_add(1, Ordering::Relaxed);
        } else {
            drop(lock(&self.lock));
        }
    }

    /// Calls into the executor while holding the lock.
    fn call(&self, call: impl FnOnce()) {
        let _held = lock(&self.lock);
        INSIDE.set(true);
        call();
        INSIDE.set(false);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn under_a_lock(rounds: usize, pulse: &Pulse) {
    let shared = Arc::new(Shared::default());
    for _ in 0..rounds {
        round(&shared);
        pulse.beat(1);
    }
    assert_eq!(shared.inside.load(Ordering::Acquire), 0, "polls and drops of tasks inside of calls");
}

/// Threads wake all tasks, and drop their wakers, and abort some tasks each.
fn round(shared: &Arc<Shared>) {
    let ex = Executor::new();
    lock(&shared.wakers).clear();
    let tasks = (0..LOCK_TASKS).map(|_| ex.spawn(task(Arc::clone(shared))).abort_handle());
    let tasks: Vec<AbortHandle> = tasks.collect();
    thread::scope(|scope| {
        for index in 0..THREADS {
            let own = tasks.iter().skip(index).step_by(THREADS);
            scope.spawn(move || {
                for _ in 0..LOCK_WAKES {
                    let wakers = lock(&shared.wakers).clone();
                    shared.call(|| wakers.iter().for_each(Waker::wake_by_ref));
                    shared.call(|| drop(wakers));
                }
                shared.call(|| own.for_each(AbortHandle::abort));
            });
        }
        ex.block_on(ex.drained());
    });
    assert_eq!((ex.stats().panicked, ex.stats().live), (0, 0), "tasks that panicked or did not end");
}

/// Uses the lock in every poll and in its drop, and never ends by itself.
async fn task(shared: Arc<Shared>) {
    let in_drop = UseInDrop(Arc::clone(&shared));
    let mut is_known = false;
    poll_fn(|cx| {
        in_drop.0.use_lock();
        if !is_known {
            lock(&shared.wakers).push(cx.waker().clone());
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
