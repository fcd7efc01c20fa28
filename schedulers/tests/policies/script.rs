//! A policy under a script, and what came of it as a line of text.

use clockworker_schedulers::{GroupId, Ready, Scheduler, Task, TaskId};

/// A task in slot `slot`, in its own group.
pub(crate) fn task(slot: u32) -> Task {
    Task { id: TaskId::new(slot, 0), group: GroupId::new(slot) }
}

/// A task in slot `slot`, in `group`.
pub(crate) fn member(slot: u32, group: u32) -> Task {
    Task { id: TaskId::new(slot, 0), group: GroupId::new(group) }
}

/// Pushes new tasks, in order.
pub(crate) fn spawn(policy: &mut impl Scheduler, tasks: impl IntoIterator<Item = Task>) {
    for task in tasks {
        policy.push(task, Ready::Spawned);
    }
}

/// Pops until nothing is ready, and gives the slots.
pub(crate) fn drain(policy: &mut impl Scheduler) -> Vec<usize> {
    core::iter::from_fn(|| policy.pop()).map(TaskId::slot).collect()
}

/// Runs `polls` polls of tasks that always yield; `service_of` says in which group a slot is and what a poll takes it.
pub(crate) fn run_yielding(
    policy: &mut impl Scheduler,
    polls: usize,
    mut service_of: impl FnMut(Task) -> u64,
    group_of: impl Fn(usize) -> u32,
) -> Vec<usize> {
    let mut trace = Vec::new();
    for _ in 0..polls {
        let id = policy.pop().expect("all tasks are ready again after each poll");
        let task = Task { id, group: GroupId::new(group_of(id.slot())) };
        policy.served(task, service_of(task));
        policy.push(task, Ready::Yielded);
        trace.push(id.slot());
    }
    trace
}
