//! An executor, as the programs see it.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::Waker;

use super::event::{End, Entry};
use super::interpreter::Interpreter;
use super::op::{Change, GroupChange, On, Op, TaskName, Thread, Wait};
use super::task::{Output, TaskFuture, Ticket};

/// How a task waits.
pub(super) type Waiting = Pin<Box<dyn Future<Output = ()>>>;

/// Runs interpreters of an executor.
pub(super) type Run<S> = Rc<Interpreter<S>>;

/// Queues are named by their number, in the order of their creation.
pub(super) trait Subject: Sized + 'static {
    type Join: Future<Output = Result<Output, End>> + Unpin + 'static;

    /// The interpreter that is being run on this thread.
    fn current() -> Option<Run<Self>>;
    /// Creates the next queue, with the name of a slot. False if that is taken, or what is asked for is refused.
    fn create(&self, slot: u8, below: Option<u16>, change: Change) -> bool;
    /// Changes a queue. False if that is refused.
    fn change(&self, queue: u16, change: Change) -> bool;
    /// Spawns a task. `On::Beside` says that it is the queue of the task that is being polled, and is to be found by that.
    fn spawn(&self, on: On, queue: u16, task: TaskName, future: TaskFuture<Self>) -> Option<Self::Join>;
    /// Spawns a task from elsewhere by the name of a slot, and the key of a group. `queue` is the open one of that slot.
    fn spawn_elsewhere(
        &self,
        slot: u8,
        key: Option<u8>,
        queue: Option<u16>,
        ticket: Ticket,
    ) -> Option<Self::Join>;
    fn elsewhere(&self, task: TaskName, act: Elsewhere<Self::Join>);
    fn abort(&self, task: TaskName, on: Thread);
    /// Runs the executor. `lead` is the trace from here on of the executor that went first.
    fn run(&self, run: &Run<Self>, until: Until<'_, Self::Join>, lead: &[Entry]) -> Stopped;
    /// Drops the executor.
    fn tear_down(&self);

    /// A task is being polled.
    fn polled(&self, _queue: u16) {}
    /// A task's future is being dropped.
    fn dropped(&self, _task: TaskName) {}
    /// How a task waits, if the executor has that.
    fn wait(&self, _run: &Run<Self>, _by: TaskName, _wait: &Wait) -> Option<Waiting> {
        None
    }
    /// Changes a group, in that queue if there is one of the slot.
    fn change_group(&self, _group: u8, _queue: Option<u16>, _change: GroupChange) {}
    /// The queue of a group that is held.
    fn group_queue(&self, _group: u8) -> Option<u16> {
        None
    }
}

/// What is done with something of a task on another thread.
pub(super) enum Elsewhere<J> {
    Wake(Waker),
    DropWaker(Waker),
    DropHandle(J),
}

/// What a run is for.
pub(super) enum Until<'a, J> {
    /// A short turn, in which the future that is run does this.
    Turn(&'a [Op]),
    /// The same, in a run that is dropped; and between its turns the host does that.
    Cut { acts: &'a [Op], visits: &'a [Op] },
    /// Nothing is left to do, or that task is finished.
    Idle(Option<&'a mut J>),
}

/// Why a run ended.
#[derive(Default)]
pub(super) struct Stopped {
    pub(super) idle: bool,
    pub(super) joined: Option<Result<Output, End>>,
}
