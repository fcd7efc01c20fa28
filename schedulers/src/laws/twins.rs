//! Two policies that are told the same: one as an executor may tell it, in fewer calls, one by one call after the other.

use crate::{GroupId, Ready, Scheduler, Task, TaskId};

/// A policy, and a second one that shows what it has to give.
pub(super) struct Twins<S> {
    policy: S,
    /// Gets `push` and `pop` where the policy gets [`push_pop`](Scheduler::push_pop).
    other: S,
}

impl<S: Scheduler> Twins<S> {
    pub(super) fn new(make: &dyn Fn() -> S) -> Self {
        Self { policy: make(), other: make() }
    }

    pub(super) fn push(&mut self, task: Task, why: Ready) {
        self.policy.push(task, why);
        self.other.push(task, why);
    }

    pub(super) fn pop(&mut self) -> Option<TaskId> {
        self.other.pop();
        self.policy.pop()
    }

    /// What was popped, and what should have been.
    pub(super) fn push_pop(&mut self, task: Task) -> (Option<TaskId>, Option<TaskId>) {
        self.other.push(task, Ready::Yielded);
        (self.policy.push_pop(task), self.other.pop())
    }

    pub(super) fn served(&mut self, task: Task, service_ns: u64) {
        if S::NEEDS_SERVICE {
            self.policy.served(task, service_ns);
            self.other.served(task, service_ns);
        }
        if S::WANTS_TIME {
            self.policy.time_passed(service_ns);
            self.other.time_passed(service_ns);
        }
    }

    pub(super) fn finished(&mut self, task: Task) {
        self.policy.finished(task);
        self.other.finished(task);
    }

    pub(super) fn group_closed(&mut self, group: GroupId) {
        self.policy.group_closed(group);
        self.other.group_closed(group);
    }
}
