//! A scheduler that breaks its contract.
//!
//! [`Hostile`] is FIFO, until its [`Plan`] says otherwise. [`Faulty`] is a plan for one [`Fault`] at its moment; random
//! [programs](crate::programs) have another, made of bytes.

mod faulty;

use std::collections::VecDeque;

use clockworker::schedulers::{Attributes, ClockUse, Gone, Ready, Scheduler, Served, Subject, Task, TaskId};

pub use faulty::{Fault, Faulty};

/// A method of a scheduler. `PushPop` is also a push and a pop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "they have the names of methods, or of what these are told")]
pub enum Call {
    Push,
    Pop,
    PushPop,
    Peek,
    Served,
    Finished,
    GroupOpened,
    GroupChanged,
    GroupClosed,
    Spawned,
}

/// What a scheduler can do wrong with the tasks in its hands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misdeed {
    /// Forgets a task that is pushed.
    LosePushed,
    /// Takes in twice a task that is pushed.
    DoublePushed,
    /// Puts a task that is pushed before all others, which is no fault.
    PushToFront,
    /// Says that it is empty although it is not.
    ClaimEmpty,
    /// Gives out a slot that no task has.
    InventSlot,
    /// Gives out the greatest id there is.
    InventMax,
    /// Gives out the slot of a task under another generation.
    InventGeneration,
    /// Forgets a task that it should have given out.
    LosePopped,
    /// Gives out a task and keeps it as well.
    KeepPopped,
    /// Gives out the task that came last, which is no fault.
    PopFromBack,
    /// Gives out the task that it gave out last.
    Repeat,
    /// Forgets the task that is handed back.
    LoseSwapped,
    /// Lets the task that is handed back go on, and keeps it as well.
    KeepSwapped,
}

/// Decides what a [`Hostile`] scheduler does wrong and when.
pub trait Plan {
    /// A call begins, in which the plan may panic.
    fn begin(&self, call: Call);

    /// Whether the scheduler, which has so many tasks, does this in the call under way.
    fn does(&self, misdeed: Misdeed, ready: usize) -> bool;

    /// What it says instead of the truth when it is asked who comes soon.
    fn peeks(&self, _ahead: usize) -> Option<TaskId> {
        None
    }

    /// A task was pushed; the call's misdeed is still to be asked for.
    fn pushed(&self, _task: Task, _why: Ready) {}

    /// The scheduler is about to give out that id, or to say that it is empty.
    fn gave(&self, _id: Option<TaskId>) {}

    /// A task has finished; the call's misdeed is still to be asked for.
    fn finished(&self, _task: Task) {}

    /// The scheduler is dropped, in which the plan may panic.
    fn dropped(&self) {}
}

/// FIFO, but for what its plan does wrong.
#[derive(Debug)]
pub struct Hostile<P: Plan, const PER_TASK: bool = true> {
    plan: P,
    ready: VecDeque<TaskId>,
    last: Option<TaskId>,
}

impl<P: Plan, const PER_TASK: bool> Hostile<P, PER_TASK> {
    /// An empty one.
    pub fn new(plan: P) -> Self {
        Self { plan, ready: VecDeque::new(), last: None }
    }

    fn does(&self, misdeed: Misdeed) -> bool {
        self.plan.does(misdeed, self.ready.len())
    }

    fn insert(&mut self, id: TaskId) {
        if self.does(Misdeed::LosePushed) {
            return;
        }
        if self.does(Misdeed::PushToFront) {
            return self.ready.push_front(id);
        }
        if self.does(Misdeed::DoublePushed) {
            self.ready.push_back(id);
        }
        self.ready.push_back(id);
    }

    fn take(&mut self) -> Option<TaskId> {
        if self.does(Misdeed::ClaimEmpty) {
            return None;
        }
        if self.does(Misdeed::InventSlot) {
            return Some(TaskId::new(1 << 20, 1));
        }
        if self.does(Misdeed::InventMax) {
            return Some(TaskId::new(u32::MAX, u32::MAX));
        }
        if let Some(id) = self.ready.front()
            && self.does(Misdeed::InventGeneration)
        {
            return Some(TaskId::new(id.slot() as u32, id.generation().wrapping_sub(1)));
        }
        if self.last.is_some() && self.does(Misdeed::Repeat) {
            return self.last;
        }
        if self.does(Misdeed::PopFromBack) {
            return self.ready.pop_back();
        }
        if self.does(Misdeed::LosePopped) {
            self.ready.pop_front();
        }
        let id = self.ready.pop_front();
        if let Some(id) = id
            && self.does(Misdeed::KeepPopped)
        {
            self.ready.insert(self.ready.len() / 2, id);
        }
        id
    }

    fn give(&mut self, id: Option<TaskId>) -> Option<TaskId> {
        self.plan.gave(id);
        self.last = id;
        id
    }
}

impl<P: Plan, const PER_TASK: bool> Scheduler for Hostile<P, PER_TASK> {
    const CLOCK: ClockUse = if PER_TASK { ClockUse::PerTask } else { ClockUse::WhenRead };

    fn push(&mut self, task: Task, why: Ready) {
        self.plan.pushed(task, why);
        self.plan.begin(Call::Push);
        self.insert(task.id);
    }

    fn pop(&mut self) -> Option<TaskId> {
        self.plan.begin(Call::Pop);
        let id = self.take();
        self.give(id)
    }

    fn push_pop(&mut self, task: Task) -> Option<TaskId> {
        self.plan.pushed(task, Ready::Yielded);
        self.plan.begin(Call::PushPop);
        if !self.does(Misdeed::LoseSwapped) {
            self.insert(task.id);
        }
        let id = if self.does(Misdeed::KeepSwapped) { Some(task.id) } else { self.take() };
        self.give(id)
    }

    fn peek(&self, ahead: usize) -> Option<TaskId> {
        self.plan.begin(Call::Peek);
        self.plan.peeks(ahead).or_else(|| self.ready.get(ahead).copied())
    }

    fn served(&mut self, _served: Served, _now_ns: u64) {
        self.plan.begin(Call::Served);
    }

    fn said(&mut self, of: Subject, _attributes: &Attributes) {
        self.plan.begin(match of {
            Subject::NewGroup { .. } => Call::GroupOpened,
            Subject::Group(_) => Call::GroupChanged,
            Subject::Task(_) => Call::Spawned,
        });
    }

    fn gone(&mut self, gone: Gone) {
        match gone {
            Gone::Task(task) => {
                self.plan.finished(task);
                self.plan.begin(Call::Finished);
            }
            Gone::Group(_) => self.plan.begin(Call::GroupClosed),
            Gone::Backlog => {}
        }
    }
}

impl<P: Plan, const PER_TASK: bool> Drop for Hostile<P, PER_TASK> {
    fn drop(&mut self) {
        self.plan.dropped();
    }
}
