//! What a program can do: the one grammar of all programs.

use std::sync::Arc;

use crate::policy::Policy;

/// A task, by its place in the text of the program: the first script is 0.
pub(super) type TaskName = u16;

/// How many queues a program may have by name at a time. The first is there from the beginning.
pub(super) const SLOTS: u8 = 8;
/// How many groups a program may hold at a time.
pub(super) const GROUPS: u8 = 8;

/// On which thread something is done: the executor's, or another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Thread {
    /// The executor's.
    Owner,
    /// Another one.
    Other,
}

/// One step of a program, or of a task in it. What refers to a task, queue or group that is not there does nothing.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Op {
    /// A task yields so many times; from outside, the executor is run for so many short turns.
    Yield(u8),
    /// A task waits for any wake; from outside, the executor is run until nothing is left to do.
    Park,
    /// Awaits a task, if its handle was not taken; from outside, at most until nothing is left to do.
    Join(TaskName),
    /// A task waits in a way that only Clockworker has.
    Wait(Wait),
    /// A task, or a destructor, panics.
    Panic,
    /// The clock moves on by so many microseconds.
    Work(u16),
    /// Wakes a task by the waker of its last poll.
    Wake(TaskName, Thread),
    /// Drops that waker on another thread.
    DropWaker(TaskName),
    Spawn(On, Arc<Script>),
    Abort(TaskName, Thread),
    DropHandle(TaskName, Thread),
    /// Moves a task, if its handle was not taken, to the queue of that slot, or the first one.
    Move(TaskName, u8),
    /// Polls a join handle with a waker that panics when it is woken, or dropped.
    TouchHandle {
        of: TaskName,
        in_wake: bool,
        in_drop: bool,
    },
    Queue(u8, Change),
    Group(u8, GroupChange),
    /// From outside: one turn, in which the future that is run does this.
    Main(Vec<Op>),
    /// From outside: the same, in a run that then waits, is polled by hand, and is dropped. After each poll but the last the host
    /// does something.
    Cut {
        acts: Vec<Op>,
        visits: Vec<Op>,
    },
}

/// What a task can wait for beside a wake and another task.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// For another thread, which ends the wait by one wake.
    Thread,
    /// For room in a queue, to spawn a task there.
    Room(u8, Arc<Script>),
    /// For some of several tasks, in a set.
    Set { first: TaskName, tasks: u8, awaited: u8, rest: Rest },
    /// For a queue to be retired, with so many yields as its time.
    Retired(u8, u8),
    /// Until it has moved to the queue of that slot, or the first one.
    Moved(u8),
}

/// What becomes of the tasks of a set that are not awaited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    Detached,
    /// They are aborted, and awaited.
    Aborted,
    /// The set is dropped.
    Dropped,
}

/// Where a task is spawned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum On {
    /// In the queue of the task that spawns it; from outside, in the first queue.
    Beside,
    /// In the queue of that slot.
    Queue(u8),
    /// The same, unless it refuses: then the future is given back.
    Try(u8),
    /// In that group, with a priority and a deadline.
    Group(u8),
    /// In the queue of that slot from another thread, by the queue's name, and in the group of that key if there is one.
    Elsewhere(u8, Option<u8>),
}

/// What is done with a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// It is created, unless its name is taken. The reference knows the order of `RunnableFifo` by itself.
    Create {
        below: Option<u8>,
        share: u32,
        policy: Policy,
        idle: bool,
    },
    Share(u32),
    /// It is given another scheduler. The reference knows the order if both are `RunnableFifo`.
    Scheduler(Policy),
    /// The same is done to the calling task's queue, whichever that is.
    OwnScheduler(Policy),
    /// It is closed. Its name is free then.
    Close,
    /// It is given the name of another slot, if that is free.
    Rename(u8),
    /// It is given another request, in microseconds.
    Request(u16),
    /// It is given a limit beside those that it has.
    Limit(Limit),
    AbortAll,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Limit {
    /// At most so many tasks.
    Live(u8),
    /// At most so many tasks in each group.
    LivePerGroup(u8),
    /// A cap, in percent of the thread.
    Cap(u8),
    /// All limits are lifted.
    None,
}

/// What is done with a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GroupChange {
    /// That of a key in the queue of a slot is opened, with a weight. The one that was held before is let go.
    Open {
        slot: u8,
        key: u8,
        weight: u8,
    },
    Weight(u8),
    AbortAll,
    /// It is let go.
    Forget,
}

/// What a task does.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Script {
    pub(super) name: TaskName,
    /// Step by step; after the last it gives its output.
    pub(super) steps: Vec<Op>,
    /// What its future's destructor does.
    pub(super) at_drop: Vec<Op>,
    /// Whether its output's destructor panics.
    pub(super) output_panics: bool,
}
