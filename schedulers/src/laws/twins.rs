//! Two policies that are told the same: one as an executor may tell it, in fewer calls, one by one call after the other.

use crate::{Attributes, ClockUse, Gone, Ready, Scheduler, Served, Subject, Task, TaskId};

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

    /// The task was polled, which stands for so many polls, until `now_ns`; so much had passed since the last that was told of.
    pub(super) fn served(&mut self, (task, polls, ns): (Task, u32, u64), passed_ns: u64, now_ns: u64) {
        match S::CLOCK {
            ClockUse::Unused => {}
            ClockUse::WhenRead => self.time_passed(passed_ns, now_ns),
            ClockUse::PerTask => self.tell(|policy| policy.served(Served::Task { task, polls, ns }, now_ns)),
        }
    }

    /// So much has passed by now.
    pub(super) fn time_passed(&mut self, ns: u64, now_ns: u64) {
        if S::CLOCK == ClockUse::WhenRead {
            self.tell(|policy| policy.served(Served::Queue { ns }, now_ns));
        }
    }

    pub(super) fn said(&mut self, of: Subject, attributes: &Attributes) {
        self.tell(|policy| policy.said(of, attributes));
    }

    pub(super) fn gone(&mut self, gone: Gone) {
        self.tell(|policy| policy.gone(gone));
    }

    fn tell(&mut self, what: impl Fn(&mut S)) {
        what(&mut self.policy);
        what(&mut self.other);
    }
}
