//! The [`Scheduler`] trait: order inside one queue.

use crate::{Attributes, GroupId, Ready, Task, TaskId};

/// Order inside one queue: which of its ready tasks is polled next.
///
/// Two methods make a scheduler. [`push`](Scheduler::push) is told that a task is ready, [`pop`](Scheduler::pop) takes out
/// the task to poll next:
///
/// ```
/// use clockworker_schedulers::{Ready, Scheduler, Task, TaskId};
///
/// /// Last in, first out.
/// #[derive(Default)]
/// struct Lifo(Vec<TaskId>);
///
/// impl Scheduler for Lifo {
///     fn push(&mut self, task: Task, _why: Ready) {
///         self.0.push(task.id);
///     }
///
///     fn pop(&mut self) -> Option<TaskId> {
///         self.0.pop()
///     }
/// }
/// ```
///
/// A scheduler is a plain data structure. It holds no futures, wakers, threads or clocks, and needs no `unsafe`. It may
/// always give its best task, as `Lifo` does: that others starve is lawful, unless the scheduler
/// [promises](Scheduler::patience) that they do not.
///
/// # What it owes
///
/// Each id pushed is popped exactly once, and nothing is popped that was not pushed. An executor checks this: a scheduler
/// that loses, repeats or invents tasks, breaks its own promise or panics is taken out of service and reported, and its
/// tasks go on in FIFO order. `clockworker_schedulers::laws` (feature `laws`) checks the same, and bounded waiting, in a
/// scheduler's own tests.
///
/// # What it is told besides
///
/// All other methods have a default. These tell a scheduler more, and by default do nothing with it:
/// [`group_opened`](Scheduler::group_opened), [`spawned`](Scheduler::spawned), [`served`](Scheduler::served),
/// [`time_passed`](Scheduler::time_passed), [`time_is`](Scheduler::time_is), [`finished`](Scheduler::finished),
/// [`group_closed`](Scheduler::group_closed) and [`drained`](Scheduler::drained). A group is opened before a task of it is pushed,
/// and a task with attributes is spawned before it is pushed. For each poll the calls come in this order:
///
/// 1. `pop` gives a task, and the executor polls it.
/// 2. `served` tells how long the poll took, if it was timed; `time_passed` how much went by since it was called last, and `time_is`
///    what the clock says, if they are [wanted](Scheduler::WANTS_TIME) and known.
/// 3. `finished`, if the task completed, was cancelled or panicked; then `group_closed`, if that was the last of its group.
/// 4. `push` for each task of this queue that became ready meanwhile, in that order; the polled task itself comes last, with
///    [`Ready::Yielded`], if it was woken while it ran. (Where more than 64 became ready, these come in several of such steps, and it
///    comes after the last as [woken](Ready::Woken).) Where the next `pop` follows at once, the two are one call of
///    [`push_pop`](Scheduler::push_pop).
///
/// `group_opened`, `group_changed` and `group_closed` may also come during the poll, before its `served`. Besides:
///
/// - **A task is aborted.** Its future is dropped at the beginning of a slice. `served` tells how long that took, if the task was in a
///   group. If the scheduler has the task, `finished` follows when `pop` gives it; else at once. Of one that was aborted before it
///   was pushed and is in no group, it hears nothing.
/// - **All are taken out and pushed again**, where a scheduler is [audited](Scheduler::patience): `pop` until it gives `None`, then
///   `finished` for those that were aborted, then `push` of the others as [woken](Ready::Woken), in the order in which they came.
/// - **Another scheduler takes over.** It is told of the groups that are open, then of the tasks that were spawned with attributes,
///   ready or not, then of those that are ready, as [woken](Ready::Woken). It is later told of the ends of tasks and groups that
///   it knows nothing else of.
/// - **A task moves** to another queue: to the one scheduler it finishes, in the other it is spawned.
///
/// # What only tunes it
///
/// The rest makes a scheduler cheaper and is never needed: [`NEEDS_SERVICE`](Scheduler::NEEDS_SERVICE),
/// [`push_pop`](Scheduler::push_pop), [`peek`](Scheduler::peek); or is a promise that it makes: [`patience`](Scheduler::patience).
pub trait Scheduler {
    /// Whether [`served`](Scheduler::served) is to be called. Where this is `false`, the executor reads no clock on the
    /// scheduler's behalf.
    const NEEDS_SERVICE: bool = true;

    /// Whether [`time_passed`](Scheduler::time_passed) is to be called. The executor reads no clock for it.
    const WANTS_TIME: bool = false;

    /// Whether [`time_is`](Scheduler::time_is) is to be called. The executor reads no clock for it.
    const WANTS_CLOCK: bool = false;

    /// `task` became ready, for the reason `why`. It is not in the scheduler at present.
    fn push(&mut self, task: Task, why: Ready);

    /// Takes out the task to poll next; `None` if and only if no task is ready.
    fn pop(&mut self) -> Option<TaskId>;

    // What it is told besides.

    /// `group` was opened under the user's `key`, and has no task yet.
    ///
    /// Not called for tasks without a group, each of which is a group of its own with no attributes.
    fn group_opened(&mut self, group: GroupId, key: u64, attributes: &Attributes) {
        let _ = (group, key, attributes);
    }

    /// An open group was given other attributes. It may have tasks, ready or not.
    fn group_changed(&mut self, group: GroupId, attributes: &Attributes) {
        let _ = (group, attributes);
    }

    /// `task` was spawned with attributes of its own, or inherited them from the task that spawned it.
    ///
    /// Not called for a task that has none.
    fn spawned(&mut self, task: Task, attributes: &Attributes) {
        let _ = (task, attributes);
    }

    /// The poll of `task`, which [`pop`](Scheduler::pop) gave last, was timed. It stands for `polls` polls, which took `service_ns`
    /// nanoseconds of CPU time, so it took `service_ns / polls`.
    ///
    /// `polls` is 1 where polls take two microseconds or more. Where they are shorter, the executor times one in up to sixteen, in
    /// the mean, which it draws by lot; this is called for that one and not for the others. What a
    /// group is told to have had is then expected to be what it had, whatever its tasks do. Each poll is timed where those of the queue took more
    /// than 1,024 ns in the mean so far; and where those of its group did, also among short polls of others.
    ///
    /// Also told of a task in a group that was aborted, pushed or not: dropping its future took so long, and `polls` is 0. One that was
    /// never pushed [finishes](Scheduler::finished) then, too.
    fn served(&mut self, task: Task, polls: u32, service_ns: u64) {
        let _ = (task, polls, service_ns);
    }

    /// The tasks of the queue were served for so many nanoseconds since this was called last, or a little less.
    ///
    /// Called after a poll for which the executor read its clock in any case, if [`WANTS_TIME`](Scheduler::WANTS_TIME): after
    /// each that took two microseconds or more, and after so many shorter ones. (Where polls suddenly take long, it may be 32
    /// of them, once.)
    fn time_passed(&mut self, service_ns: u64) {
        let _ = service_ns;
    }

    /// The clock that [deadlines](Attributes::deadline_ns) are given on reads `now_ns`, which never falls.
    ///
    /// Called at the beginning of each slice, before what came since is pushed, and after the polls that [`time_passed`](Scheduler::time_passed) is called after,
    /// if [`WANTS_CLOCK`](Scheduler::WANTS_CLOCK).
    fn time_is(&mut self, now_ns: u64) {
        let _ = now_ns;
    }

    /// `task` will never be pushed again, and is not in the scheduler at present. Its slot may be reused from now on.
    fn finished(&mut self, task: Task) {
        let _ = task;
    }

    /// The last task of `group` has finished and no handle to the group is left. Its index may be reused from now on,
    /// by a group that has nothing to do with this one.
    fn group_closed(&mut self, group: GroupId) {
        let _ = group;
    }

    /// The queue has no ready task any more, and may not have one for a while: an occasion to give memory back.
    fn drained(&mut self) {}

    // What only tunes it.

    /// [`push`](Scheduler::push) of the task popped last, which yielded, and [`pop`](Scheduler::pop), in one: what there is
    /// to do between two polls of a queue whose tasks yield.
    ///
    /// The same as the two calls one after the other, which is what it does unless a scheduler knows a shorter way: where
    /// the same task goes on, there is nothing to move.
    #[inline]
    fn push_pop(&mut self, task: Task) -> Option<TaskId> {
        self.push(task, Ready::Yielded);
        self.pop()
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

    /// A promise: at most so many polls of the queue's tasks go by while a task is ready and is not popped. `None`, unless a
    /// scheduler says otherwise, promises nothing: tasks may starve, as under strict priorities.
    ///
    /// A scheduler that breaks its promise is taken out of service. It is found when one to two times as many polls have gone
    /// by, and a turn: in a queue that never had more than 16,384 tasks. In a larger one it is the time for each 16,384.
    ///
    /// Of a scheduler that promises nothing, the executor still finds the tasks that it has lost. Where a ready task was
    /// not popped in 65,536 + 2,048 · `tasks` polls, it pops all tasks and pushes them again as [woken](Ready::Woken), in the
    /// order in which they came; what did not come out is lost. That is done at once, and takes some 35 ns for each ready task:
    /// 0.7 ms for 20,000 (EPYC, 2026-11-22). A scheduler that cannot bear that promises a patience.
    ///
    /// `tasks` is an upper limit of the unfinished tasks, ready or not, that the queue had at a time so far (at most twice
    /// their number and that of the groups that were open, or 4). The question is asked rarely, after a turn of the executor, and
    /// an answer of 0 counts as 1.
    fn patience(&self, tasks: usize) -> Option<u64> {
        let _ = tasks;
        None
    }
}
