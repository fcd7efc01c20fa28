//! The background: tasks in an endless loop of work and sleep.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::sleep;

use crate::arms::Contender;
use crate::workload::spin::burn;

/// How many tasks loop.
pub const TASKS: usize = 8;

/// The CPU time that a task uses up in one iteration.
pub const CPU: Duration = Duration::from_micros(100);

/// How long a task sleeps in one iteration.
pub const SLEEP: Duration = Duration::from_micros(100);

/// The lane of these tasks.
pub const LANE: usize = 1;

/// The background tasks of one arm, as seen from any thread.
#[derive(Clone, Debug, Default)]
pub struct Loops {
    iterations: Arc<AtomicU64>,
    stopped: Arc<AtomicBool>,
}

impl Loops {
    /// Spawns the tasks. They run until they are stopped, or dropped with their executor.
    ///
    /// Must be called inside [`Contender::run_until`].
    pub fn spawn<C: Contender>(&self, contender: &C) -> Vec<C::Handle> {
        (0..TASKS).map(|_| contender.spawn(LANE, self.clone().repeat())).collect()
    }

    /// How many iterations have been completed.
    pub fn iterations(&self) -> u64 {
        self.iterations.load(Ordering::Relaxed)
    }

    /// Lets every task end with its current iteration.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    async fn repeat(self) {
        while !self.stopped.load(Ordering::Relaxed) {
            burn(CPU);
            sleep(SLEEP).await;
            self.iterations.fetch_add(1, Ordering::Relaxed);
        }
    }
}
