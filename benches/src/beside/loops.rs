//! The background: tasks in an endless loop of work and sleep.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::sleep;

use crate::arms::Contender;
use crate::workload::self_waking::SelfWaking;
use crate::workload::spin::burn;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Background {
    pub(crate) tasks: usize,
    /// The CPU time that a task uses up in one iteration, which is one poll.
    pub(crate) poll: Duration,
    /// How long it sleeps then; with `None` it is ready again at once.
    pub(crate) rest: Option<Duration>,
}

const LANE: usize = 1;

/// The background tasks of one arm, as seen from any thread.
#[derive(Clone, Debug)]
pub(super) struct Loops {
    background: Background,
    iterations: Arc<AtomicU64>,
    stopped: Arc<AtomicBool>,
}

impl Loops {
    pub(super) fn new(background: Background) -> Self {
        Loops { background, iterations: Arc::default(), stopped: Arc::default() }
    }

    /// Spawns the tasks. They run until they are stopped, or dropped with their executor.
    ///
    /// Must be called inside [`Contender::run_until`].
    pub(super) fn spawn<C: Contender>(&self, contender: &C) -> Vec<C::Handle> {
        (0..self.background.tasks).map(|_| contender.spawn(LANE, self.clone().repeat())).collect()
    }

    pub(super) fn iterations(&self) -> u64 {
        self.iterations.load(Ordering::Relaxed)
    }

    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    async fn repeat(self) {
        while !self.stopped.load(Ordering::Relaxed) {
            burn(self.background.poll);
            match self.background.rest {
                Some(pause) => sleep(pause).await,
                None => SelfWaking::new(1).await,
            }
            self.iterations.fetch_add(1, Ordering::Relaxed);
        }
    }
}
