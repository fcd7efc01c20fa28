//! What waking threads write, and what the task that they wake has seen of it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::{Context, Waker};

use fastrand::Rng;

/// One waking thread's side of one task. Apart from the others in memory, so that nothing but the wake orders them.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Lane {
    /// The number of the last wake, written before it.
    sent: AtomicU64,
    /// The greatest number that a poll of the task has found.
    seen: AtomicU64,
}

/// A task, as the threads that wake it see it.
#[derive(Debug, Default)]
pub(super) struct Target {
    lanes: Vec<Lane>,
    /// From the first poll on.
    waker: OnceLock<Waker>,
    /// Clones of its waker, on their way from one thread to another.
    exchange: Mutex<Vec<Waker>>,
    /// The future was dropped: nothing more is seen.
    gone: AtomicBool,
}

impl Target {
    pub(super) fn new(threads: usize) -> Arc<Self> {
        let lanes = (0..threads).map(|_| Lane::default()).collect();
        Arc::new(Target { lanes, ..Target::default() })
    }

    /// A poll of the task: notes what has been sent. The sum of all numbers.
    pub(super) fn look(&self, cx: &Context<'_>) -> u64 {
        self.waker.get_or_init(|| cx.waker().clone());
        let mut sum = 0;
        for lane in &self.lanes {
            // Ordering: Relaxed on purpose, here and in `send`: it is the wake that has to publish the number.
            let sent = lane.sent.load(Ordering::Relaxed);
            if sent != lane.seen.load(Ordering::Relaxed) {
                lane.seen.store(sent, Ordering::Relaxed);
            }
            sum += sent;
        }
        sum
    }

    /// Numbers the next wake of that thread. None if the task was never polled.
    pub(super) fn send(&self, thread: usize) -> Option<&Waker> {
        let lane = &self.lanes[thread];
        lane.sent.store(lane.sent.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        self.waker.get()
    }

    /// Whether a poll has found what that thread sent last, or there will be none.
    pub(super) fn is_settled(&self, thread: usize) -> bool {
        let lane = &self.lanes[thread];
        lane.seen.load(Ordering::Relaxed) == lane.sent.load(Ordering::Relaxed) || self.is_gone()
    }

    /// Whether it was polled, so that it can be woken.
    pub(super) fn is_known(&self) -> bool {
        self.waker.get().is_some()
    }

    /// Leaves a waker of this task there and takes one that another thread left.
    pub(super) fn exchange(&self, rng: &mut Rng, waker: Waker) -> Waker {
        const KEPT: usize = 64;
        let mut kept = self.exchange.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < KEPT {
            kept.push(waker.clone());
            return waker;
        }
        let at = rng.usize(..kept.len());
        std::mem::replace(&mut kept[at], waker)
    }

    /// The future is being dropped.
    pub(super) fn leave(&self) {
        self.gone.store(true, Ordering::Release);
    }

    pub(super) fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Acquire)
    }

    /// Wakes that no poll has followed, by thread: number sent and number seen.
    pub(super) fn unseen(&self) -> Vec<(usize, u64, u64)> {
        let numbers = |lane: &Lane| (lane.sent.load(Ordering::Relaxed), lane.seen.load(Ordering::Relaxed));
        let lanes = self.lanes.iter().map(numbers).enumerate();
        lanes.filter(|(_, (sent, seen))| sent != seen).map(|(n, (sent, seen))| (n, sent, seen)).collect()
    }
}
