//! A scheduler that keeps its contract for a while.

use std::collections::VecDeque;

use clockworker::schedulers::{Ready, Scheduler, Task, TaskId};
use fastrand::Rng;

use super::ledger::panic_quietly;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Loses,
    Repeats,
    Invents,
    ClaimsEmpty,
    PanicsInPush,
    PanicsInPop,
    PanicsInServed,
    PanicsInFinished,
}

const FAULTS: [Fault; 8] = [
    Fault::Loses,
    Fault::Repeats,
    Fault::Invents,
    Fault::ClaimsEmpty,
    Fault::PanicsInPush,
    Fault::PanicsInPop,
    Fault::PanicsInServed,
    Fault::PanicsInFinished,
];

/// FIFO, until it has been called so often.
#[derive(Debug)]
pub(super) struct Hostile {
    ready: VecDeque<TaskId>,
    last: Option<TaskId>,
    fault: Fault,
    left: u32,
}

impl Hostile {
    pub(super) fn new(rng: &mut Rng) -> Self {
        let fault = FAULTS[rng.usize(..FAULTS.len())];
        Hostile { ready: VecDeque::new(), last: None, fault, left: rng.u32(..60) }
    }

    /// What to do wrong at this call, if it is one of these. From its time on it is done at each.
    fn wrong(&mut self, here: &[Fault]) -> Option<Fault> {
        if !here.contains(&self.fault) {
            return None;
        }
        self.left = self.left.saturating_sub(1);
        (self.left == 0).then_some(self.fault)
    }
}

impl Scheduler for Hostile {
    fn push(&mut self, task: Task, _why: Ready) {
        match self.wrong(&[Fault::Loses, Fault::PanicsInPush]) {
            None => self.ready.push_back(task.id),
            Some(Fault::Loses) => {}
            Some(_) => panic_quietly(),
        }
    }

    fn pop(&mut self) -> Option<TaskId> {
        let next = match self.wrong(&[Fault::Repeats, Fault::Invents, Fault::ClaimsEmpty, Fault::PanicsInPop])
        {
            None => self.ready.pop_front(),
            Some(Fault::Repeats) => self.last,
            Some(Fault::Invents) => Some(TaskId::new(u32::MAX, 7)),
            Some(Fault::ClaimsEmpty) => None,
            Some(_) => panic_quietly(),
        };
        self.last = next;
        next
    }

    fn served(&mut self, _task: Task, _service_ns: u64) {
        if self.wrong(&[Fault::PanicsInServed]).is_some() {
            panic_quietly();
        }
    }

    fn finished(&mut self, _task: Task) {
        if self.wrong(&[Fault::PanicsInFinished]).is_some() {
            panic_quietly();
        }
    }
}
