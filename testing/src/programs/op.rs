//! What a program can do.

use std::fmt;
use std::sync::Arc;

use crate::policy::Policy;

/// A task, by its place in the text of the program: the first script is 0.
pub type TaskName = u16;

/// How many queues a program may have at a time. The first is there from the beginning.
pub(super) const SLOTS: u8 = 4;

/// One step of a program, or of a task in it. What refers to a task or a queue that is not there does nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// A task yields so many times; from outside, the executor is run for so many short turns.
    Yield(u8),
    /// A task waits for any wake; from outside, the executor is run until nothing is left to do.
    Park,
    /// Awaits a task, if its handle was not taken; from outside, at most until nothing is left to do.
    Join(TaskName),
    /// A task panics.
    Panic,
    /// The clock moves on by so many microseconds.
    Work(u16),
    /// Wakes a task by the waker of its last poll.
    Wake(TaskName),
    /// The same from another thread.
    WakeElsewhere(TaskName),
    /// Drops that waker on another thread.
    DropWakerElsewhere(TaskName),
    /// Spawns a task.
    Spawn {
        /// Where.
        on: On,
        /// What it does.
        script: Arc<Script>,
    },
    /// Aborts a task.
    Abort(TaskName),
    /// The same from another thread.
    AbortElsewhere(TaskName),
    /// Drops a join handle.
    DropHandle(TaskName),
    /// The same on another thread.
    DropHandleElsewhere(TaskName),
    /// Creates a queue, unless the slot's name is taken.
    Create {
        /// Which of the program's queues.
        slot: u8,
        /// Its share.
        share: u32,
        /// Its scheduler. The reference knows the order of `RunnableFifo` by itself.
        policy: Policy,
    },
    /// Gives a queue another share.
    Share {
        /// Which queue.
        slot: u8,
        /// The new share.
        share: u32,
    },
    /// Gives a queue another scheduler, also from inside its own tasks.
    Scheduler {
        /// Which queue.
        slot: u8,
        /// The new scheduler. The reference knows the order if both are `RunnableFifo`.
        policy: Policy,
    },
    /// Closes a queue. Its name is free then.
    Close(u8),
}

/// Where a task is spawned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// In the queue of the task that spawns it; from outside, in the first queue.
    Beside,
    /// In the queue of that slot.
    Queue(u8),
    /// The same from another thread, by the queue's name.
    Elsewhere(u8),
}

/// What a task does.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Script {
    /// Its name.
    pub name: TaskName,
    /// Step by step; after the last it gives its output.
    pub steps: Vec<Op>,
    /// Whom its future's destructor wakes.
    pub wakes_at_drop: Option<TaskName>,
    /// What its future's destructor spawns, and in which slot's queue.
    pub spawns_at_drop: Option<(u8, Arc<Script>)>,
    /// Whether its future's destructor panics, after all else.
    pub panics_at_drop: bool,
    /// Whether its output's destructor panics.
    pub output_panics: bool,
}

/// In short: the name, the steps, and what is out of the ordinary.
impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "task {} {:?}", self.name, self.steps)?;
        if let Some(other) = self.wakes_at_drop {
            write!(f, " dropped, wakes {other}")?;
        }
        if let Some((slot, child)) = &self.spawns_at_drop {
            write!(f, " dropped, spawns in {slot} {child:?}")?;
        }
        let panics =
            [(self.panics_at_drop, " dropped, panics"), (self.output_panics, " output's drop panics")];
        panics.iter().filter(|(does, _)| *does).try_for_each(|(_, what)| f.write_str(what))
    }
}
