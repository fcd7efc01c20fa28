//! The background: tasks in an endless loop of work and sleep.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::sleep;

use crate::arms::Contender;
use crate::workload::self_waking::SelfWaking;
use crate::workload::spin::burn;

/// What the background does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Background {
    /// How many tasks loop.
    pub tasks: usize,
    /// The CPU time that a task uses up in one iteration, which is one poll.
    pub poll: Duration,
    /// What it does then.
    pub rest: Rest,
}

/// What a task does between two polls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// It sleeps so long.
    Sleep(Duration),
    /// It is ready again at once.
    Yield,
}

/// The lane of these tasks.
pub const LANE: usize = 1;

/// The background tasks of one arm, as seen from any thread.
#[derive(Clone, Debug)]
pub struct Loops {
    background: Background,
    iterations: Arc<AtomicU64>,
    stopped: Arc<AtomicBool>,
}

impl Loops {
    /// Of a background that does this; none is spawned yet.
    pub fn new(background: Background) -> Self {
        Loops { background, iterations: Arc::default(), stopped: Arc::default() }
    }

    /// Spawns the tasks. They run until they are stopped, or dropped with their executor.
    ///
    /// Must be called inside [`Contender::run_until`].
    pub fn spawn<C: Contender>(&self, contender: &C) -> Vec<C::Handle> {
        (0..self.background.tasks).map(|_| contender.spawn(LANE, self.clone().repeat())).collect()
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
            burn(self.background.poll);
            match self.background.rest {
                Rest::Sleep(pause) => sleep(pause).await,
                Rest::Yield => SelfWaking::new(1).await,
            }
            self.iterations.fetch_add(1, Ordering::Relaxed);
        }
    }
}
