//! [`Round`]: which queues the watchdog looks at after a turn.

use std::cell::Cell;

use super::Core;
use super::queue::RunQueue;

/// The most queues to look at after a turn.
const QUEUES_PER_TURN: usize = 16;

/// Goes round the queues.
#[derive(Default)]
pub(super) struct Round {
    /// The queue to look at next.
    next: Cell<usize>,
}

impl Core {
    /// Has the watchdog look at the queues that are due for it, after a turn that left work. Where queues are many, at some
    /// now and at the others after the next turns.
    #[cold]
    #[inline(never)]
    pub(super) fn watch(&self) {
        let queues = self.queues.slots();
        for _ in 0..queues.min(QUEUES_PER_TURN) {
            let next = self.round.next.get();
            self.round.next.set(if next + 1 < queues { next + 1 } else { 0 });
            if let Some(queue) = self.queues.get_if(next, RunQueue::is_look_due) {
                // This calls a scheduler, which is user code: nothing is borrowed here.
                queue.look_for_starved();
            }
        }
    }
}
