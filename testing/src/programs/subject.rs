//! An executor, as the programs see it.

use std::future::Future;
use std::rc::Rc;
use std::task::Waker;

use super::event::{End, Entry};
use super::interpreter::Interpreter;
use super::op::TaskName;
use super::task::{Output, TaskFuture, Ticket};
use crate::policy::Policy;

/// See the [module docs](self). Queues are named by their number, in the order of their creation.
pub(super) trait Subject: Sized + 'static {
    type Join: Future<Output = Result<Output, End>> + Unpin + 'static;

    /// The interpreter that is being run on this thread.
    fn current() -> Option<Rc<Interpreter<Self>>>;
    /// Creates the next queue. False if the slot's name is taken.
    fn create(&self, slot: u8, share: u32, policy: Policy) -> bool;
    fn share(&self, queue: u16, share: u32);
    fn set_scheduler(&self, queue: u16, policy: Policy);
    fn close(&self, queue: u16);
    /// `beside` says that it is the queue of the task that is being polled, and is to be found by that.
    fn spawn(&self, queue: u16, beside: bool, task: TaskName, future: TaskFuture<Self>) -> Self::Join;
    /// `queue` is the open one of that slot, if there is one.
    fn spawn_elsewhere(&self, slot: u8, queue: Option<u16>, task: TaskName, ticket: Ticket) -> Self::Join;
    fn wake_elsewhere(&self, task: TaskName, waker: Waker);
    fn drop_waker_elsewhere(&self, waker: Waker);
    fn drop_handle_elsewhere(&self, handle: Self::Join);
    fn abort(&self, task: TaskName, elsewhere: bool);
    /// Runs the executor. `told` is the trace from here on of the executor that went first.
    fn run(&self, until: Until<'_, Self::Join>, told: &[Entry]) -> Stopped;
    /// Drops the executor.
    fn tear_down(&self);
}

/// What a run waits for.
pub(super) enum Until<'a, J> {
    /// Nothing is left to do.
    Idle,
    /// A short turn is over.
    Turn,
    /// A task is finished, or nothing is left to do.
    Joined(&'a mut J),
}

/// Why a run ended.
pub(super) struct Stopped {
    pub(super) idle: bool,
    pub(super) joined: Option<Result<Output, End>>,
}
