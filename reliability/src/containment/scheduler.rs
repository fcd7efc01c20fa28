//! A scheduler that panics in one of its methods, once.

use std::collections::VecDeque;

use clockworker::schedulers::{GroupId, Ready, Scheduler, Task, TaskId};

use super::case::Place;
use super::victim::Strikes;

/// FIFO, but for the panic at the `after`-th call of its place.
#[derive(Debug)]
pub(super) struct Panicking {
    pub(super) ready: VecDeque<TaskId>,
    pub(super) place: Place,
    pub(super) after: u32,
    pub(super) strikes: Strikes,
}

impl Panicking {
    fn at(&mut self, place: Place) {
        if self.place != place {
            return;
        }
        match self.after.checked_sub(1) {
            Some(left) => self.after = left,
            None => self.strikes.strike(),
        }
    }
}

impl Scheduler for Panicking {
    fn push(&mut self, task: Task, _why: Ready) {
        self.at(Place::Push);
        self.ready.push_back(task.id);
    }

    fn pop(&mut self) -> Option<TaskId> {
        self.at(Place::Pop);
        self.ready.pop_front()
    }

    fn served(&mut self, _task: Task, _service_ns: u64) {
        self.at(Place::Served);
    }

    fn finished(&mut self, _task: Task) {
        self.at(Place::Finished);
    }

    fn group_closed(&mut self, _group: GroupId) {
        self.at(Place::GroupClosed);
    }
}

impl Drop for Panicking {
    fn drop(&mut self) {
        if self.place == Place::SchedulerDrop && !std::thread::panicking() {
            self.strikes.strike();
        }
    }
}
