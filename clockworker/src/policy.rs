//! A user's scheduler, and what replaces it when it breaks its contract.

use std::fmt;

use clockworker_schedulers::{GroupId, Ready, RunnableFifo, Scheduler, Task, TaskId};

use crate::lane::Left;

/// How a scheduler broke its contract. The executor then took it out of service, and its queue went on in FIFO order;
/// [`QueueStats::policy_fault`](crate::QueueStats::policy_fault) reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PolicyFault {
    /// It panicked.
    Panicked,
    /// It claimed to be empty while a task was ready.
    Lost,
    /// It gave out a task that is not ready: it had given it out already, or nobody pushed it.
    Repeated,
    /// It gave out an id that is no task's.
    Invented,
}

impl fmt::Display for PolicyFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PolicyFault::Panicked => "the scheduler panicked",
            PolicyFault::Lost => "the scheduler claimed to be empty while a task was ready",
            PolicyFault::Repeated => "the scheduler gave out a task that was not ready",
            PolicyFault::Invented => "the scheduler gave out an id that is no task's",
        })
    }
}

impl std::error::Error for PolicyFault {}

/// A scheduler in service, or FIFO in its place.
#[derive(Debug)]
pub(crate) enum Policy<S> {
    InService(S),
    Replaced(RunnableFifo),
}

impl<S: Scheduler> Policy<S> {
    pub(crate) fn new(scheduler: S) -> Self {
        Policy::InService(scheduler)
    }

    #[inline]
    pub(crate) fn push(&mut self, task: Task, why: Ready) {
        match self {
            Policy::InService(scheduler) => scheduler.push(task, why),
            Policy::Replaced(fifo) => fifo.push(task, why),
        }
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<TaskId> {
        match self {
            Policy::InService(scheduler) => scheduler.pop(),
            Policy::Replaced(fifo) => fifo.pop(),
        }
    }

    #[inline]
    pub(crate) fn peek(&self, ahead: usize) -> Option<TaskId> {
        match self {
            Policy::InService(scheduler) => scheduler.peek(ahead),
            Policy::Replaced(fifo) => fifo.peek(ahead),
        }
    }

    #[inline]
    pub(crate) fn served(&mut self, task: Task, service_ns: u64) {
        if let (true, Policy::InService(scheduler)) = (S::NEEDS_SERVICE, self) {
            scheduler.served(task, service_ns);
        }
    }

    pub(crate) fn left(&mut self, left: &Left) {
        if let Policy::InService(scheduler) = self {
            scheduler.finished(left.task);
            if left.group_closed {
                scheduler.group_closed(left.task.group);
            }
        }
    }

    pub(crate) fn group_closed(&mut self, group: GroupId) {
        if let Policy::InService(scheduler) = self {
            scheduler.group_closed(group);
        }
    }

    /// Puts FIFO in the scheduler's place, with the tasks that are ready. The old scheduler, if it was in service, is
    /// for the caller to drop.
    pub(crate) fn replace(&mut self, ready: &mut dyn Iterator<Item = Task>) -> Option<S> {
        let mut fifo = RunnableFifo::new();
        for task in ready {
            fifo.push(task, Ready::Woken);
        }
        match std::mem::replace(self, Policy::Replaced(fifo)) {
            Policy::InService(scheduler) => Some(scheduler),
            Policy::Replaced(_) => None,
        }
    }
}
