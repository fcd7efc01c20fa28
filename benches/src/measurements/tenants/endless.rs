//! Tasks that always have work.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use crate::arms::Contender;
use crate::workload::self_waking::SelfWaking;
use crate::workload::spin::burn;

/// CPU time of a poll.
pub(super) const POLL: Duration = Duration::from_micros(20);

/// The tasks of a tenant or of a queue, and the polls that they have had.
#[derive(Clone, Default)]
pub(super) struct Endless(Rc<Cell<u64>>);

impl Endless {
    /// Spawns tasks, which end with their executor. To be called inside [`Contender::run_until`].
    pub(super) fn spawn<C: Contender>(&self, contender: &C, lane: usize, tasks: usize) {
        for _ in 0..tasks {
            C::detach(contender.spawn(lane, self.clone().repeat()));
        }
    }

    pub(super) fn polls(&self) -> u64 {
        self.0.get()
    }

    /// What the tasks have done so far.
    pub(super) fn work(&self) -> Duration {
        POLL.mul_f64(self.polls() as f64)
    }

    async fn repeat(self) {
        loop {
            burn(POLL);
            self.0.set(self.0.get() + 1);
            SelfWaking::new(1).await;
        }
    }
}
