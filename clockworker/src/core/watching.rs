//! When the watchdog looks at which queue.

use super::Core;

/// Queues to look at after a turn, at most.
const QUEUES_PER_TURN: usize = 16;

impl Core {
    /// After a turn that left work: lets the watchdog look at the queues for which it is time. Where there are many, at
    /// some now and at the others after the turns to come.
    #[cold]
    #[inline(never)]
    pub(crate) fn watch(&self) {
        let queues = self.lanes.borrow().len();
        for _ in 0..queues.min(QUEUES_PER_TURN) {
            let next = self.watched.get();
            self.watched.set(if next + 1 < queues { next + 1 } else { 0 });
            self.watch_queue(next);
        }
    }

    fn watch_queue(&self, index: usize) {
        let lanes = self.lanes.borrow();
        if let Some(Some(lane)) = lanes.get(index)
            && lane.is_look_due()
        {
            let lane = lane.clone();
            // A scheduler is asked, which is user code.
            drop(lanes);
            lane.look_for_starved();
        }
    }
}
