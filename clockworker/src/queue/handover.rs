//! [`Handover`]: what a scheduler is told that takes over a queue with tasks.

use clockworker_schedulers::{Attributes, GroupId, Ready, Scheduler, Subject, Task};

/// What there is in a queue whose scheduler is changed.
#[derive(Debug)]
pub(crate) struct Handover {
    /// The open groups, by their indices.
    pub(super) groups: Vec<(GroupId, u64, Attributes)>,
    /// The tasks with attributes, ready or not, by their slots.
    pub(super) spawned: Vec<(Task, Attributes)>,
    /// The ready tasks, in the order in which they are pushed.
    pub(super) ready: Vec<Task>,
}

impl Handover {
    /// Tells a scheduler all of it, in the order that [`Scheduler`] promises: groups, attributes of tasks, ready tasks.
    pub(crate) fn tell(&self, scheduler: &mut impl Scheduler) {
        for &(group, key, ref attributes) in &self.groups {
            scheduler.said(Subject::NewGroup { group, key }, attributes);
        }
        for (task, attributes) in &self.spawned {
            scheduler.said(Subject::Task(*task), attributes);
        }
        for task in &self.ready {
            scheduler.push(*task, Ready::Woken);
        }
    }
}
