//! When the watchdog looks at which queue.

use std::cell::Cell;

use super::Core;
use super::queue::RunQueue;

/// Queues to look at after a turn, at most.
const QUEUES_PER_TURN: usize = 16;

/// Goes round the queues.
#[derive(Default)]
pub(super) struct Round {
    /// The queue to look at next.
    next: Cell<usize>,
}

impl Core {
    /// After a turn that left work: lets the watchdog look at the queues for which it is time. Where there are many, at
    /// some now and at the others after the turns to come.
    #[cold]
    #[inline(never)]
    pub(super) fn watch(&self) {
        let queues = self.queues.places();
        for _ in 0..queues.min(QUEUES_PER_TURN) {
            let next = self.round.next.get();
            self.round.next.set(if next + 1 < queues { next + 1 } else { 0 });
            if let Some(queue) = self.queues.get_if(next, RunQueue::is_look_due) {
                // A scheduler is asked, which is user code: nothing is borrowed here.
                queue.look_for_starved();
            }
        }
    }
}
