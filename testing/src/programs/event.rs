//! What can be seen of a program's run.

use std::fmt;

use super::op::TaskName;

/// How a task ended, as its joiner sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum End {
    /// With its output, which says whose it is.
    Output(TaskName),
    /// It was aborted, refused, or dropped with its executor.
    Cancelled,
    /// It panicked.
    Panicked,
}

/// Something that was seen. Queues are numbered by their creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Event {
    /// A task is about to be spawned.
    Spawned {
        /// Which.
        task: TaskName,
        /// In which queue; none if there is none of the name.
        queue: Option<u16>,
    },
    /// A task's poll begins.
    Polled {
        /// Which.
        task: TaskName,
        /// In which queue.
        queue: u16,
    },
    /// A task gives its output.
    Finished(TaskName),
    /// A task's future is being dropped.
    FutureDropped(TaskName),
    /// What was to make a task's future was dropped unused.
    Unmade(TaskName),
    /// A task's output is being dropped.
    OutputDropped(TaskName),
    /// A join handle gave its answer.
    Joined {
        /// To which task; none for the outside.
        by: Option<TaskName>,
        /// Of which task.
        of: TaskName,
        /// What it was.
        end: End,
    },
    /// A queue was to be created.
    Created {
        /// In which slot.
        slot: u8,
        /// Whether the name was free.
        free: bool,
    },
    /// A run of the executor ended.
    Stopped {
        /// For want of work.
        idle: bool,
    },
    /// The executor is about to be dropped.
    Ended,
}

impl Event {
    /// The task that it is about.
    pub fn task(&self) -> Option<TaskName> {
        match *self {
            Event::Spawned { task, .. }
            | Event::Polled { task, .. }
            | Event::Finished(task)
            | Event::FutureDropped(task)
            | Event::Unmade(task)
            | Event::OutputDropped(task)
            | Event::Joined { of: task, .. } => Some(task),
            Event::Created { .. } | Event::Stopped { .. } | Event::Ended => None,
        }
    }
}

/// An event, when and where it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Entry {
    /// Virtual time, in nanoseconds.
    pub at_ns: u64,
    /// What was seen.
    pub event: Event,
    /// On another thread than the executor's.
    pub elsewhere: bool,
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.elsewhere { ", elsewhere" } else { "" };
        write!(f, "{:>9} ns  {:?}{place}", self.at_ns, self.event)
    }
}
