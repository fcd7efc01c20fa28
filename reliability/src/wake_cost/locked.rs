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

use crate::watchdog::Pulse;

/// Tasks of a round.
const TASKS: usize = 16;

/// Wakes by a thread in one round.
const ROUND: u64 = 2_000;

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// What went wrong, and how much there was of it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Clash {
    pub(super) wakes: u64,
    /// Polls and drops that began inside a wake or an abort.
    pub(super) inside: u64,
    /// Tasks that were neither completed nor cancelled at the end of their round.
    pub(super) left: u64,
}

#[derive(Debug, Default)]
struct Shared {
    lock: Mutex<u64>,
    inside: AtomicU64,
    wakes: AtomicU64,
    /// The wakers of the tasks that were polled.
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

    /// Calls into the executor for each of the tasks while holding the lock.
    fn under_lock(&self, call: impl FnOnce()) {
        self.wakes.fetch_add(TASKS as u64, Ordering::Relaxed);
        let _held = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        INSIDE.set(true);
        call();
        INSIDE.set(false);
    }
}

/// Rounds until each of `threads` threads has woken so often.
pub(super) fn measure(threads: usize, each: u64, pulse: &Pulse) -> anyhow::Result<Clash> {
    let mut clash = Clash::default();
    while clash.wakes < each * threads as u64 {
        round(threads, &mut clash)?;
        pulse.beat(1);
    }
    Ok(clash)
}

fn round(threads: usize, clash: &mut Clash) -> anyhow::Result<()> {
    let ex = Executor::new();
    let shared = Arc::new(Shared::default());
    let tasks = (0..TASKS).map(|_| ex.spawn(task(Arc::clone(&shared))).abort_handle());
    let tasks: Vec<AbortHandle> = tasks.collect();
    let _detached = ex.spawn(disturb_here(Arc::clone(&shared)));
    let panicked = thread::scope(|scope| {
        let spawned: Vec<_> = (0..threads)
            .map(|index| {
                let own: Vec<AbortHandle> = tasks.iter().skip(index).step_by(threads).cloned().collect();
                let shared = &*shared;
                scope.spawn(move || disturb(shared, own))
            })
            .collect();
        ex.block_on(ex.drained());
        spawned.into_iter().any(|thread| thread.join().is_err())
    });
    ensure!(!panicked && ex.stats().panicked == 0, "a thread or a task panicked");
    clash.wakes += shared.wakes.load(Ordering::Acquire);
    clash.inside += shared.inside.load(Ordering::Acquire);
    clash.left += ex.stats().live as u64;
    Ok(())
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
fn disturb(shared: &Shared, own: Vec<AbortHandle>) {
    for _ in 0..ROUND / TASKS as u64 {
        let wakers = shared.known().clone();
        shared.under_lock(|| wakers.iter().for_each(Waker::wake_by_ref));
        shared.under_lock(|| drop(wakers));
    }
    shared.under_lock(|| own.iter().for_each(AbortHandle::abort));
}

/// The owner thread, in a task: it wakes all that are known, now and then.
async fn disturb_here(shared: Arc<Shared>) {
    for _ in 0..20 {
        let wakers = shared.known().clone();
        shared.under_lock(|| wakers.iter().for_each(Waker::wake_by_ref));
        clockworker::yield_now().await;
    }
}
