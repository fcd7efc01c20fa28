//! A thread that wakes tasks, in bursts, and waits after each until the tasks have seen the last of it.

use std::sync::Arc;

use clockworker_testing::host::spin_until;
use fastrand::Rng;

use super::lanes::Target;
use crate::watchdog::Pulse;

/// See the [module docs](self).
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
