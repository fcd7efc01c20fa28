//! The [`Scheduler`] trait: order inside one queue.

use crate::{GroupId, Ready, Task, TaskId};

/// What [`Scheduler::patience`] is for a queue of no tasks, unless a policy says otherwise. Polls.
pub const DEFAULT_PATIENCE: u64 = 65_536;

/// What is added to [`DEFAULT_PATIENCE`] for each task. Polls.
///
/// As many as 64 levels or groups times one fair turn in 32, which is what the policies of this crate need at worst.
pub const DEFAULT_PATIENCE_PER_TASK: u64 = 64 * 32;

/// Order inside one queue.
///
/// A scheduler is a plain data structure. It is told when a task becomes ready, asked which ready task to poll next,
/// and told afterwards what service that poll took. It holds no futures, wakers, threads or clocks, and needs no
/// `unsafe`.
///
/// # The calls it gets
///
/// For each poll, in this order:
///
/// 1. [`pop`](Scheduler::pop) gives a task; the executor polls it.
/// 2. [`served`](Scheduler::served) tells how long the poll took, if [`NEEDS_SERVICE`](Scheduler::NEEDS_SERVICE);
///    [`time_passed`](Scheduler::time_passed) how much went by since it was called last, if it is
///    [wanted](Scheduler::WANTS_TIME) and known.
/// 3. [`finished`](Scheduler::finished), if the task completed, was cancelled or panicked; then
///    [`group_closed`](Scheduler::group_closed), if that was the last of its group.
/// 4. [`push`](Scheduler::push) for each task of this queue that became ready meanwhile, in that order; the polled task
///    itself comes last, with [`Ready::Yielded`], if it was woken while it ran. Where the next `pop` follows at once, the
///    two are one call of [`push_pop`](Scheduler::push_pop).
///
/// A task may also finish without having been polled.
///
/// # What it owes
///
/// Each id pushed is popped exactly once, and nothing is popped that was not pushed. An executor checks this: a policy
/// that loses, repeats or invents tasks, or panics, is taken out of service and reported, and its tasks go on in FIFO
/// order. So is one that passes over a ready task for longer than its own [`patience`](Scheduler::patience): whether it
/// has lost the task or starves it cannot be seen from outside. `clockworker_schedulers::laws` (feature `laws`) checks the
/// same, and bounded waiting, in a policy's own tests.
///
/// # Example
///
/// Last in, first out, in full:
///
/// ```
/// use clockworker_schedulers::{Ready, Scheduler, Task, TaskId};
///
/// #[derive(Default)]
/// struct Lifo(Vec<TaskId>);
///
/// impl Scheduler for Lifo {
///     const NEEDS_SERVICE: bool = false; // so no clock is read on its behalf
///
///     fn push(&mut self, task: Task, _why: Ready) {
///         self.0.push(task.id);
///     }
///
///     fn pop(&mut self) -> Option<TaskId> {
///         self.0.pop()
///     }
///
///     fn patience(&self, _tasks: usize) -> Option<u64> {
///         None // it starves the task at the bottom, and means to
///     }
/// }
/// ```
pub trait Scheduler {
    /// Whether [`served`](Scheduler::served) is to be called. Where this is `false`, the executor reads no clock on the
    /// policy's behalf.
    const NEEDS_SERVICE: bool = true;

    /// Whether [`time_passed`](Scheduler::time_passed) is to be called. The executor reads no clock for it.
    const WANTS_TIME: bool = false;

    /// `task` became ready, for the reason `why`. It is not in the scheduler at present.
    ///
    /// A task that is [woken](Ready::Woken) may be pushed late, but before any that becomes ready after it, where the policy
    /// does not [want it now](Scheduler::wants_woken).
    fn push(&mut self, task: Task, why: Ready);

    /// Takes out the task to poll next; `None` if and only if no task is ready.
    fn pop(&mut self) -> Option<TaskId>;

    /// [`push`](Scheduler::push) of the task popped last, which yielded, and [`pop`](Scheduler::pop), in one: what there is
    /// to do between two polls of a queue whose tasks yield.
    ///
    /// The same as the two calls one after the other, which is what it does unless a policy knows a shorter way: where
    /// the same task goes on, there is nothing to move.
    #[inline]
    fn push_pop(&mut self, task: Task) -> Option<TaskId> {
        self.push(task, Ready::Yielded);
        self.pop()
    }

    /// Whether the next `pop` depends on the tasks woken since the last. Where it does not, the executor keeps them back for a
    /// while, at most 64, and pushes them all at once, which costs less than one by one.
    ///
    /// Say `false` only where `pop` gives the same task whether they are pushed before or after it.
    #[inline]
    fn wants_woken(&self) -> bool {
        true
    }

    /// A hint: the task that would be popped after `ahead` more pops if nothing changed, where that is cheap to say.
    ///
    /// The executor fetches that task's memory early, which pays when tasks are too many for the cache. A wrong answer
    /// costs a few nanoseconds, `None` nothing.
    #[inline]
    fn peek(&self, ahead: usize) -> Option<TaskId> {
        let _ = ahead;
        None
    }

    /// How many polls of the queue's tasks may go by while a task is ready and is not popped; `None` for any number. More,
    /// and it counts as lost: the policy is taken out of service.
    ///
    /// `tasks` is an upper limit of the unfinished tasks, ready or not, that the queue had at a time so far (at most twice
    /// their number, or 4). It is asked rarely, after a turn of the executor, and an answer of 0 counts as 1.
    ///
    /// Unless a policy says otherwise, the answer is [`DEFAULT_PATIENCE`] + [`DEFAULT_PATIENCE_PER_TASK`] · `tasks`, which
    /// is 65,536 + 2,048 · `tasks`. A policy that passes the `laws` with the bound they have by default keeps to that. So
    /// does one that draws at random from *R* ready tasks: it passes over a given one *n* times with a probability below
    /// e^(−*n*/*R*), hence over any of 10⁹ tasks for so long with one below 10⁻⁸⁰⁰.
    ///
    /// Say `None` where tasks may starve lawfully, as under strict priorities; say more where turns are rarer than in the
    /// `laws`. A lost task is found when one to two times as many polls have gone by, and a turn: in a queue that never had
    /// more than 16,384 tasks. In a larger one it is the time for each 16,384.
    fn patience(&self, tasks: usize) -> Option<u64> {
        Some(DEFAULT_PATIENCE.saturating_add(DEFAULT_PATIENCE_PER_TASK.saturating_mul(tasks as u64)))
    }

    /// The poll of `task`, which [`pop`](Scheduler::pop) gave last, took `service_ns` nanoseconds of CPU time.
    ///
    /// Also told of a task in a group that was aborted, popped or not: dropping its future took so long.
    fn served(&mut self, task: Task, service_ns: u64) {
        let _ = (task, service_ns);
    }

    /// The tasks of the queue were served for so many nanoseconds since this was called last, or a little less.
    ///
    /// Called after a poll for which the executor read its clock in any case, if [`WANTS_TIME`](Scheduler::WANTS_TIME): after
    /// each that took two microseconds or more, and after so many shorter ones. (Where polls suddenly take long, it may be 32
    /// of them, once.)
    fn time_passed(&mut self, service_ns: u64) {
        let _ = service_ns;
    }

    /// The queue has no ready task any more, and may not have one for a while: an occasion to give memory back.
    fn drained(&mut self) {}

    /// `task` will never be pushed again, and is not in the scheduler at present. Its slot may be reused from now on.
    fn finished(&mut self, task: Task) {
        let _ = task;
    }

    /// The last task of `group` has finished and no handle to the group is left. Its index may be reused from now on,
    /// by a group that has nothing to do with this one.
    fn group_closed(&mut self, group: GroupId) {
        let _ = group;
    }
}
