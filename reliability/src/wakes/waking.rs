//! What threads do that wake tasks, and what the tasks have seen of it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::{Context, Waker};

use clockworker_testing::host::spin_until;
use fastrand::Rng;

use crate::watchdog::Pulse;

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
    pub(super) waker: OnceLock<Waker>,
    /// Clones of its waker, on their way from one thread to another.
    exchange: Mutex<Vec<Waker>>,
    /// The future was dropped: nothing more is seen.
    pub(super) gone: AtomicBool,
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

/// A thread that wakes tasks, in bursts, and waits after each until the tasks have seen the last of it.
pub(super) struct Waking {
    pub(super) thread: usize,
    pub(super) rng: Rng,
    /// Not only by reference, but also by a clone, or by a clone that another thread made; clones are dropped elsewhere too.
    pub(super) by_clones: bool,
    /// The most wakes of a burst; as many are as likely as half of it, a quarter and so on.
    pub(super) burst: u64,
    pub(super) pulse: Arc<Pulse>,
}

impl Waking {
    /// Wakes so often; how many bursts there were.
    pub(super) fn wake_all(&mut self, targets: &[Arc<Target>], wakes: u64) -> u64 {
        let (mut left, mut bursts) = (wakes, 0);
        let mut touched = Vec::new();
        while left > 0 {
            let burst = (1 << self.rng.u64(..=u64::from(self.burst.ilog2()))).min(left);
            touched.clear();
            for _ in 0..burst {
                let at = if targets.len() == 1 { 0 } else { self.rng.usize(..targets.len()) };
                self.wake(&targets[at]);
                // One that was touched by the burst before too need not be listed twice.
                if touched.last() != Some(&at) {
                    touched.push(at);
                }
            }
            for &at in &touched {
                spin_until(|| targets[at].is_settled(self.thread));
            }
            left -= burst;
            bursts += 1;
            self.pulse.beat(burst);
            // Some nanoseconds, so that wakes fall into every moment of going to sleep.
            (0..self.rng.u32(..100)).for_each(|_| std::hint::spin_loop());
        }
        bursts
    }

    #[allow(clippy::waker_clone_wake, reason = "a wake that consumes a clone is what is tested")]
    fn wake(&mut self, target: &Target) {
        let Some(waker) = target.send(self.thread) else { return };
        match if self.by_clones { self.rng.u8(..4) } else { 0 } {
            0 => waker.wake_by_ref(),
            1 => waker.clone().wake(),
            2 => {
                let clones = [waker.clone(), waker.clone()];
                clones[0].wake_by_ref();
            }
            _ => target.exchange(&mut self.rng, waker.clone()).wake(),
        }
    }
}
