//! [`Watch`]: one executor, watched by one detector.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use super::decide::Decide;
use super::detector::Hook;
use super::limit::RateLimit;
use super::{Stall, StallStats};
use crate::beacon::Beacon;
use crate::cpu_times::{CpuTimes, CpuTimesOfPoll, is_ready};
use crate::quietly::{call_quietly, drop_quietly};
use crate::sync::{self, AtomicBool, Mutex, MutexGuard};

/// See the [module docs](self). Shared by the guard and the lookout.
pub(super) struct Watch {
    beacon: sync::Arc<Beacon>,
    thread: Option<Arc<str>>,
    thread_id: Option<u32>,
    threshold: Duration,
    hooks: Vec<Hook>,
    /// Whether the guard is dropped.
    is_over: AtomicBool,
    /// Held while the lookout looks, and while it calls the hooks.
    looking: Mutex<Looking>,
    /// Nothing of others runs while it is held.
    stats: Mutex<StallStats>,
}

struct Looking {
    decide: Decide,
    /// From when the poll was seen first.
    times: Option<CpuTimesOfPoll>,
    limit: RateLimit,
    /// Stalls kept back since the last report.
    suppressed: u64,
}

impl Watch {
    pub(super) fn new(
        (beacon, thread, thread_id): (sync::Arc<Beacon>, Option<Arc<str>>, Option<u32>),
        (threshold, limit): (Duration, RateLimit),
        hooks: Vec<Hook>,
    ) -> Self {
        beacon.add_watcher();
        Self {
            beacon,
            thread,
            thread_id,
            threshold,
            hooks,
            is_over: AtomicBool::new(false),
            looking: Mutex::new(Looking {
                decide: Decide::new(threshold),
                times: None,
                limit,
                suppressed: 0,
            }),
            stats: Mutex::default(),
        }
    }

    /// How long the lookout may sleep between two looks.
    pub(super) fn period(&self) -> Duration {
        self.threshold / 4
    }

    /// Whether there is nothing to look at any more.
    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed) || self.beacon.is_gone()
    }

    /// Ends it. The lookout may be looking.
    pub(super) fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// Waits for a look under way, with its calls of the hooks. Not on the lookout's thread.
    pub(super) fn wait_for_look(&self) {
        drop(self.looking());
    }

    fn looking(&self) -> MutexGuard<'_, Looking> {
        // Panics of hooks are caught, and nothing else panics under the lock.
        self.looking.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn stats(&self) -> MutexGuard<'_, StallStats> {
        self.stats.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at the executor, and reports a stall. Called by the lookout; `now` is its clock.
    pub(super) fn look(&self, now: impl Fn() -> Duration) {
        let mut looking = self.looking();
        if self.is_over() {
            return;
        }
        let before = now();
        let sequence = self.beacon.sequence();
        let so_far = looking.decide.look(before, sequence, now());
        if looking.decide.has_begun() {
            looking.times = self.cpu_times().map(CpuTimesOfPoll::new);
        }
        if let Some(goes_on) = looking.decide.goes_on() {
            self.note_sleep(&mut looking.times, goes_on);
        }
        let Some(so_far) = so_far else {
            return looking.decide.too_long().into_iter().for_each(|so_far| self.stats().lasts(so_far));
        };
        let Some((holder, _)) = self.beacon.read(sequence) else { return };
        self.stats().seen += 1;
        self.stats().lasts(so_far);
        if self.hooks.is_empty() {
            return;
        }
        if !looking.limit.allows(before) {
            looking.suppressed += 1;
            self.stats().suppressed += 1;
            return;
        }
        let times = looking.times.as_ref().zip(self.cpu_times());
        let times = times.map(|(times, now)| times.until(now, so_far, self.is_ready()));
        let stall = Stall {
            holder,
            so_far,
            on_cpu: times.map(|times| times.on_cpu),
            off_cpu: times.map(|times| times.off_cpu),
            threshold: self.threshold,
            thread: self.thread.clone(),
            thread_id: self.thread_id,
            suppressed: std::mem::take(&mut looking.suppressed),
        };
        self.stats().reported += 1;
        self.hooks.iter().for_each(|hook| self.call(hook, &stall));
    }

    fn cpu_times(&self) -> Option<CpuTimes> {
        CpuTimes::of_thread(self.thread_id?)
    }

    /// Whether the thread runs, or is ready to.
    fn is_ready(&self) -> bool {
        self.thread_id.is_some_and(is_ready)
    }

    /// Notes it if the thread sleeps in the poll, which has taken so long.
    fn note_sleep(&self, times: &mut Option<CpuTimesOfPoll>, took: Duration) {
        let Some(times) = times.as_mut().filter(|_| !self.is_ready()) else { return };
        if let Some(now) = self.cpu_times() {
            times.sleeps(now, took);
        }
    }

    fn call(&self, hook: &Hook, stall: &Stall) {
        if call_quietly(|| hook(stall)).is_none() {
            self.stats().hook_panics += 1;
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.beacon.remove_watcher();
        self.hooks.drain(..).for_each(drop_quietly);
    }
}

#[cfg(all(test, clockworker_loom))]
mod models;
#[cfg(all(test, not(clockworker_loom)))]
mod tests;
