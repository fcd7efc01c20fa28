//! Wakes and aborts under a lock that the poll and the drop of the task take.
//!
//! If a wake polled or dropped the task where it is, that would be seen as a poll inside a wake, and would lock twice.

use std::cell::Cell;
use std::future::poll_fn;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::thread;

use anyhow::ensure;
use clockworker::{AbortHandle, Executor};

use super::THREADS;
use crate::figure::{Figure, none, told};
use crate::watchdog::Pulse;

/// Tasks of a round.
const TASKS: usize = 16;

/// Wakes by a thread in one round.
const ROUND: u64 = 2_000;

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
    /// The task's own use of the lock.
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
        self.wakes.fetch_add(TASKS as u64, Ordering::Relaxed);
        let _held = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        INSIDE.set(true);
        call();
        INSIDE.set(false);
    }
}

/// Rounds until there were so many wakes.
pub(super) fn measure(wakes: u64, pulse: &Pulse) -> anyhow::Result<Vec<Figure>> {
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
    let tasks = (0..TASKS).map(|_| ex.spawn(task(Arc::clone(shared))).abort_handle());
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
    for _ in 0..ROUND / TASKS as u64 {
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
