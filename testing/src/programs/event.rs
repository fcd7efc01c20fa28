//! What can be seen of a program's run, and where it is noted, from any thread.

use std::cell::Cell;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, ThreadId};

use clockworker::ManualClock;

use super::op::{TaskName, Thread};

/// How a task ended, as its joiner sees it: with its output, which says whose it is, or without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum End {
    Output(TaskName),
    Cancelled,
    Panicked,
}

/// What does something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Actor {
    /// The program itself, between two runs.
    Outside,
    /// The future that is run.
    Main,
    /// A task.
    Task,
    /// The destructor of a task's future.
    Drop,
    /// A scheduler.
    Scheduler,
}

/// What a task that is not done waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum WaitsFor {
    /// A wake that is an event.
    Wake,
    /// That, or the end of this task.
    End(TaskName),
    /// Something that is no event.
    Else,
}

/// Something that was seen. Queues are numbered by their creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Event {
    /// A task is about to be spawned, in that queue if there is one of the name, by a call on that thread.
    Spawned(TaskName, Option<u16>, Thread),
    /// The future that is run is about to act.
    Main,
    /// The host is, while it has the thread.
    Visit,
    /// A task's poll begins, in that queue.
    Polled(TaskName, u16),
    /// It ends, and the task is not done.
    Pending(TaskName, WaitsFor),
    /// A task gives its output.
    Finished(TaskName),
    /// A task is about to panic, in its poll or its future's drop.
    Panics(TaskName),
    /// A task is about to be woken.
    Woken(TaskName),
    /// A task is in that queue by a move, or comes there when it is admitted; whether it is ready by the move.
    Moved(TaskName, u16, bool),
    /// A task is about to ask for a move after its poll.
    Moves(TaskName),
    /// A task is about to be aborted.
    Aborted(TaskName, Actor, Thread),
    /// A task's future is being dropped.
    FutureDropped(TaskName),
    /// What was to make a task's future is being dropped unused.
    Unmade(TaskName),
    /// A task's future, or what was to make it, is being dropped by the call that was to spawn it.
    Refused(TaskName),
    OutputDropped(TaskName),
    /// A task's join handle gave its answer; to that task, or to none.
    Joined(TaskName, Option<TaskName>, End),
    /// A task's join handle gives no answer although there is no executor any more.
    Unanswered(TaskName),
    /// A queue was to be created in that slot; whether it was.
    Created(u8, bool),
    /// A run of the executor ended; whether for want of work.
    Stopped(bool),
    /// A task that nothing has woken could go on all the same.
    Late(TaskName),
    /// All that is ready was polled, and other threads have done all.
    Rest,
    /// The executor is about to be dropped.
    Ended,
}

/// An event, when and where it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// Virtual time, in nanoseconds.
    pub(super) at_ns: u64,
    pub(super) event: Event,
    /// On another thread than the executor's.
    pub(super) elsewhere: bool,
}

/// What was seen so far. Clones are the same.
#[derive(Clone)]
pub(super) struct Trace {
    entries: Arc<Mutex<Vec<Entry>>>,
    clock: ManualClock,
    owner: ThreadId,
}

impl Trace {
    /// An empty one, of an executor on this thread and clock.
    pub(super) fn new(clock: ManualClock) -> Self {
        Self { entries: Arc::default(), clock, owner: thread::current().id() }
    }

    /// Notes it. Whether it was on the owner's thread: if not, more than noting it may not be safe.
    pub(super) fn note(&self, event: Event) -> bool {
        let at_ns = self.clock.now().as_nanos() as u64;
        let elsewhere = thread::current().id() != self.owner;
        self.with(|entries| entries.push(Entry { at_ns, event, elsewhere }));
        !elsewhere
    }

    /// Notes that a task's future is dropped, or what was to make it: by the call that was to spawn it if there is one.
    pub(super) fn note_drop(&self, task: TaskName, event: Event) -> bool {
        self.note(if being_spawned() == Some(task) { Event::Refused(task) } else { event })
    }

    /// Looks at what was noted. Nothing may be noted meanwhile.
    pub(super) fn with<T>(&self, look: impl FnOnce(&mut Vec<Entry>) -> T) -> T {
        look(&mut self.entries.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

thread_local! {
    static SPAWNING: Cell<Option<TaskName>> = const { Cell::new(None) };
}

/// The task that a call on this thread is to spawn.
pub(super) fn being_spawned() -> Option<TaskName> {
    SPAWNING.get()
}

/// Calls what spawns a task: if that is dropped meanwhile, it was refused.
pub(super) fn spawning<T>(task: TaskName, spawn: impl FnOnce() -> T) -> T {
    struct Restore(Option<TaskName>);
    impl Drop for Restore {
        fn drop(&mut self) {
            SPAWNING.set(self.0);
        }
    }
    let _restore = Restore(SPAWNING.replace(Some(task)));
    spawn()
}
