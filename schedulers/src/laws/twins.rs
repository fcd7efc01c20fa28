//! Two policies that are told the same: one as an executor may tell it, in fewer calls, one by one call after the other.

use crate::{Attributes, GroupId, Ready, Scheduler, Task, TaskId};

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
        self.tell(|policy| policy.push(task, why));
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

    pub(super) fn served(&mut self, task: Task, polls: u32, service_ns: u64) {
        if S::NEEDS_SERVICE {
            self.tell(|policy| policy.served(task, polls, service_ns));
        }
    }

    /// So much has passed by now.
    pub(super) fn time(&mut self, passed_ns: u64, now_ns: u64) {
        if S::WANTS_TIME && passed_ns > 0 {
            self.tell(|policy| policy.time_passed(passed_ns));
        }
        if S::WANTS_CLOCK {
            self.tell(|policy| policy.time_is(now_ns));
        }
    }

    pub(super) fn spawned(&mut self, task: Task, attributes: &Attributes) {
        self.tell(|policy| policy.spawned(task, attributes));
    }

    pub(super) fn finished(&mut self, task: Task) {
        self.tell(|policy| policy.finished(task));
    }

    pub(super) fn group_opened(&mut self, group: GroupId, key: u64, attributes: &Attributes) {
        self.tell(|policy| policy.group_opened(group, key, attributes));
    }

    pub(super) fn group_changed(&mut self, group: GroupId, attributes: &Attributes) {
        self.tell(|policy| policy.group_changed(group, attributes));
    }

    pub(super) fn group_closed(&mut self, group: GroupId) {
        self.tell(|policy| policy.group_closed(group));
    }

    pub(super) fn drained(&mut self) {
        self.tell(S::drained);
    }

    fn tell(&mut self, what: impl Fn(&mut S)) {
        what(&mut self.policy);
        what(&mut self.other);
    }
}
