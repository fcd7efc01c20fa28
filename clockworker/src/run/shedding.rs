//! Load shedding: what a queue's [`Shedder`] is told, and when.
//!
//! A queue with one is asked before every spawn (see [`room`](super::room)) and looked after at the end of each of its slices.
//! Nothing else knows of it, so that a queue without one pays nothing.

use clockworker_schedulers::TaskId;

use super::Core;
use super::queue::RunQueue;
use crate::queue::{LoadShedding, QueueError, Shedder};

impl RunQueue {
    /// Whether it refuses one more task beside `reserved` ones, as tasks wait for too long.
    pub(super) fn sheds(&self, reserved: usize, now: u64) -> bool {
        let polls = self.counters.polls.get();
        let mut shedder = self.shedder.borrow_mut();
        shedder.as_mut().is_some_and(|shedder| !shedder.admits(self.waiting() + reserved, polls, now))
    }

    /// Tells the shedder that a slice has ended.
    pub(super) fn tell_shedder(&self, now: u64) {
        // If a scheduler ends a slice, the records are borrowed.
        if let Some(shedder) = &mut *self.shedder.borrow_mut()
            && let Ok(records) = self.records.try_borrow()
        {
            shedder.end_slice(&records, self.waiting(), self.counters.polls.get(), now);
        }
    }

    /// A task was inserted with another id than was foreseen, as its group took that: the wait of the task is still measured.
    pub(super) fn correct_probe(&self, foreseen: TaskId, id: TaskId) {
        if let Some(shedder) = &mut *self.shedder.borrow_mut() {
            shedder.correct_probe(foreseen, id);
        }
    }

    /// What sheds its load.
    pub(crate) fn load_shedding(&self) -> Option<LoadShedding> {
        self.shedder.borrow().as_deref().map(Shedder::settings)
    }
}

impl Core {
    /// Has the wait of the task measured that is spawned next on the queue, if its shedder wants that.
    pub(super) fn probe_next(&self, queue: &RunQueue) {
        if let Some(shedder) = &mut *queue.shedder.borrow_mut()
            && shedder.wants_probe()
            && let Ok(records) = queue.records.try_borrow()
        {
            // The last reading may be of before the host's time.
            shedder.probe(records.next_id(), self.meter.look());
        }
    }

    /// Changes what sheds a queue's load. Waiters get the room that this makes.
    pub(crate) fn change_load_shedding(
        &self,
        queue: &RunQueue,
        settings: Option<LoadShedding>,
    ) -> Result<(), QueueError> {
        self.exists(queue)?;
        if queue.load_shedding() != settings {
            self.set_load_shedding(queue, settings);
        }
        Ok(())
    }

    /// Gives a queue another shedder, which begins anew, or none.
    pub(crate) fn set_load_shedding(&self, queue: &RunQueue, settings: Option<LoadShedding>) {
        queue.shedder.replace(settings.map(|settings| Box::new(Shedder::new(settings))));
        self.give_room(queue);
    }
}
