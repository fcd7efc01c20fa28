//! Two policies that are told the same: one as an executor may tell it, in fewer calls or later, one by one call after the other.

use crate::{GroupId, Ready, Scheduler, Task, TaskId};

/// So many woken tasks are kept back at most.
const MOST_KEPT: usize = 64;

/// A policy, and a second one that shows what it has to give.
pub(super) struct Twins<S> {
    policy: S,
    /// Gets `push` and `pop` where the policy gets [`push_pop`](Scheduler::push_pop), and woken tasks at once.
    other: S,
    /// Woken tasks that the policy is not told of yet, as it does not [want](Scheduler::wants_woken) them now.
    kept: Vec<Task>,
}

impl<S: Scheduler> Twins<S> {
    pub(super) fn new(make: &dyn Fn() -> S) -> Self {
        Self { policy: make(), other: make(), kept: Vec::new() }
    }

    pub(super) fn push(&mut self, task: Task, why: Ready) {
        self.other.push(task, why);
        if why == Ready::Woken {
            self.kept.push(task);
        } else {
            self.tell();
            self.policy.push(task, why);
        }
    }

    /// Tells the policy of the tasks that were kept back.
    fn tell(&mut self) {
        self.kept.drain(..).for_each(|task| self.policy.push(task, Ready::Woken));
    }

    /// What was popped; and what should have been, where tasks are kept back.
    pub(super) fn pop(&mut self) -> (Option<TaskId>, Option<TaskId>) {
        if self.kept.len() >= MOST_KEPT || self.policy.wants_woken() {
            self.tell();
        }
        let (popped, expected) = (self.policy.pop(), self.other.pop());
        (popped, if self.kept.is_empty() { popped } else { expected })
    }

    /// What was popped, and what should have been.
    pub(super) fn push_pop(&mut self, task: Task) -> (Option<TaskId>, Option<TaskId>) {
        self.tell();
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
