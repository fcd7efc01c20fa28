//! A policy under a script, and what came of it.

use core::num::NonZeroU32;

use clockworker_schedulers::{
    Attributes, FairTurns, Gone, GroupId, Ready, Scheduler, Served, Subject, Task, TaskId,
};

/// What a scheduler is told, by what happened.
pub(crate) trait Told: Scheduler {
    /// A poll of the task took so long.
    fn timed(&mut self, task: Task, ns: u64) {
        self.served(Served::Task { task, polls: 1, ns }, 0);
    }

    fn time_passed(&mut self, ns: u64) {
        self.served(Served::Queue { ns }, 0);
    }

    fn time_is(&mut self, now_ns: u64) {
        self.served(Served::Queue { ns: 0 }, now_ns);
    }

    fn group_opened(&mut self, group: GroupId, key: u64, attributes: &Attributes) {
        self.said(Subject::NewGroup { group, key }, attributes);
    }

    fn group_changed(&mut self, group: GroupId, attributes: &Attributes) {
        self.said(Subject::Group(group), attributes);
    }

    fn spawned(&mut self, task: Task, attributes: &Attributes) {
        self.said(Subject::Task(task), attributes);
    }

    fn finished(&mut self, task: Task) {
        self.gone(Gone::Task(task));
    }

    fn group_closed(&mut self, group: GroupId) {
        self.gone(Gone::Group(group));
    }

    fn drained(&mut self) {
        self.gone(Gone::Backlog);
    }
}

impl<S: Scheduler> Told for S {}

/// A task in slot `slot`, in its own group.
pub(crate) fn task(slot: u32) -> Task {
    member(slot, slot)
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

/// Pushes new tasks whose groups have attained so much.
pub(crate) fn spawn_served(
    policy: &mut impl Scheduler,
    service_ns: u64,
    tasks: impl IntoIterator<Item = Task> + Clone,
) {
    tasks.clone().into_iter().for_each(|task| policy.timed(task, service_ns));
    spawn(policy, tasks);
}

/// Pops until nothing is ready, and gives the slots.
pub(crate) fn drain(policy: &mut impl Scheduler) -> Vec<usize> {
    core::iter::from_fn(|| policy.pop()).map(TaskId::slot).collect()
}

/// Runs `polls` polls of tasks that always yield, each in its own group; `service_of` says what a poll takes the task in a slot.
pub(crate) fn trace(
    policy: &mut impl Scheduler,
    polls: usize,
    service_of: impl Fn(usize) -> u64,
) -> Vec<usize> {
    let poll = |_| {
        let slot = policy.pop().expect("all tasks are ready again after each poll").slot();
        poll_of(policy, task(slot as u32), service_of(slot));
        slot
    };
    (0..polls).map(poll).collect()
}

/// The task popped last took so long, and yields.
pub(crate) fn poll_of(policy: &mut impl Scheduler, task: Task, service_ns: u64) {
    policy.timed(task, service_ns);
    policy.time_passed(service_ns);
    policy.push(task, Ready::Yielded);
}

/// The next tasks, as far as they are known at once; their slots.
pub(crate) fn ahead(policy: &impl Scheduler) -> Vec<usize> {
    (0..).map_while(|ahead| policy.peek(ahead)).map(TaskId::slot).collect()
}

/// One fair turn in so many.
pub(crate) fn every(pops: u32) -> FairTurns {
    FairTurns::every(NonZeroU32::new(pops).unwrap())
}
