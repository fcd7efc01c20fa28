//! The [`Scheduler`] trait: order inside one queue.

use crate::{Attributes, GroupId, Ready, Task, TaskId};

/// Order inside one queue: which of its ready tasks is polled next.
///
/// Two methods make a scheduler. [`push`](Scheduler::push) tells it that a task is ready, [`pop`](Scheduler::pop) takes out
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
/// always give its best task, as `Lifo` does, and let others starve. (`laws` accept that of a scheduler that
/// says so.) A user of the crate `clockworker` finds all of this in `clockworker::schedulers`.
///
/// # What it owes
///
/// A scheduler pops each id that was pushed exactly once, and no other. An executor checks this: a scheduler that loses, repeats
/// or invents tasks, or panics, is taken out of service and reported, and its tasks go on in FIFO order. The module `laws`
/// (feature `laws`) checks the same, and bounded waiting, in a scheduler's own tests.
///
/// # What it is told besides
///
/// Three more methods tell a scheduler what happens. By default they do nothing:
///
/// - [`said`](Scheduler::said): a group was opened, or a task spawned, with these [`Attributes`];
/// - [`served`](Scheduler::served): how much CPU time was used, and what the clock says;
/// - [`gone`](Scheduler::gone): a task or a group has ended, or no task is ready.
///
/// [`CLOCK`](Scheduler::CLOCK) says which time it needs. [`push_pop`](Scheduler::push_pop) and [`peek`](Scheduler::peek) only make
/// it faster.
///
/// Weighted round robin by tag needs the first and the last:
///
/// ```
/// use std::collections::{HashMap, VecDeque};
/// use clockworker_schedulers::{Attributes, ClockUse, Gone, Ready, Scheduler, Subject, Task, TaskId};
///
/// /// Tags take turns. A turn has as many polls as the weight of the first task that was ready.
/// #[derive(Default)]
/// struct ByTag {
///     /// Tasks with attributes.
///     said: HashMap<TaskId, Attributes>,
///     /// Each tag with ready tasks, and what is left of its turn.
///     turns: VecDeque<(u64, u64)>,
///     ready: HashMap<u64, VecDeque<TaskId>>,
/// }
///
/// impl Scheduler for ByTag {
///     const CLOCK: ClockUse = ClockUse::Unused;
///
///     fn said(&mut self, of: Subject, attributes: &Attributes) {
///         if let Subject::Task(task) = of {
///             self.said.insert(task.id, *attributes);
///         }
///     }
///
///     fn push(&mut self, task: Task, _why: Ready) {
///         let Attributes { tag, weight, .. } = self.said.get(&task.id).copied().unwrap_or_default();
///         let ready = self.ready.entry(tag).or_default();
///         if ready.is_empty() {
///             self.turns.push_back((tag, weight.get().into()));
///         }
///         ready.push_back(task.id);
///     }
///
///     fn pop(&mut self) -> Option<TaskId> {
///         let (tag, left) = self.turns.pop_front()?;
///         let ready = self.ready.get_mut(&tag)?;
///         let id = ready.pop_front()?;
///         match ready.front() {
///             None => drop(self.ready.remove(&tag)),
///             Some(_) if left > 1 => self.turns.push_front((tag, left - 1)),
///             Some(next) => {
///                 let weight = self.said.get(next).map_or(1, |said| said.weight.get());
///                 self.turns.push_back((tag, weight.into()));
///             }
///         }
///         Some(id)
///     }
///
///     fn gone(&mut self, gone: Gone) {
///         if let Gone::Task(task) = gone {
///             self.said.remove(&task.id);
///         }
///     }
/// }
///
/// # #[cfg(feature = "laws")] {
/// clockworker_schedulers::laws::Laws::new(ByTag::default).check().unwrap();
/// # }
/// ```
///
/// Shortest expected poll first learns from the service of each task:
///
/// ```
/// use std::collections::{BTreeMap, HashMap};
/// use clockworker_schedulers::{Gone, Ready, Scheduler, Served, Task, TaskId};
///
/// /// A poll is expected to take as long as the last one of its task that was timed.
/// #[derive(Default)]
/// struct ShortestFirst {
///     last_ns: HashMap<TaskId, u64>,
///     /// By what is expected; the number of the push keeps equal ones in order.
///     ready: BTreeMap<(u64, u64), TaskId>,
///     pushes: u64,
/// }
///
/// impl Scheduler for ShortestFirst {
///     fn push(&mut self, task: Task, _why: Ready) {
///         let expected_ns = self.last_ns.get(&task.id).copied().unwrap_or(0);
///         self.pushes += 1;
///         self.ready.insert((expected_ns, self.pushes), task.id);
///     }
///
///     fn pop(&mut self) -> Option<TaskId> {
///         self.ready.pop_first().map(|(_, id)| id)
///     }
///
///     fn served(&mut self, served: Served, _now_ns: u64) {
///         // (`polls` is 0 where an aborted task was dropped.)
///         if let Served::Task { task, polls: polls @ 1.., ns } = served {
///             self.last_ns.insert(task.id, ns / u64::from(polls));
///         }
///     }
///
///     fn gone(&mut self, gone: Gone) {
///         if let Gone::Task(task) = gone {
///             self.last_ns.remove(&task.id);
///         }
///     }
/// }
///
/// # #[cfg(feature = "laws")] {
/// // Long polls wait as long as there are short ones, as in any order by size.
/// clockworker_schedulers::laws::Laws::new(ShortestFirst::default).may_starve().check().unwrap();
/// # }
/// ```
///
/// # In which order
///
/// A group is opened before a task of it is pushed, and a task with attributes is said before it is pushed. For each poll the calls
/// come in this order:
///
/// 1. `pop` gives a task, and the executor polls it.
/// 2. `served` tells how long the poll took, if it was timed.
/// 3. `gone`, if the task completed, was cancelled or panicked; and again for its group, if it was the last of it.
/// 4. `push` for each task of this queue that became ready meanwhile, in that order. The polled task itself comes last, with
///    [`Ready::Yielded`], if it was woken while it ran. (More than 64 are pushed in several batches, between which others are
///    popped. The polled task then follows the last batch, as [woken](Ready::Woken).) Where the next `pop` follows at once, the two are one call of
///    [`push_pop`](Scheduler::push_pop).
///
/// What is said of a group, and that it is gone, may also come during the poll, before its `served`. Besides:
///
/// - **A task is aborted.** The executor drops its future at the beginning of a slice. `served` tells how long that took, if the task
///   was in a group. If the scheduler has the task, `gone` follows when `pop` gives it; else at once. Of a task that was aborted before
///   it was pushed and is in no group, it hears nothing.
/// - **All are taken out and pushed again.** Where a ready task was not popped in 65,536 + 2,048 · *n* polls, *n* being the most
///   tasks that the queue had (at most twice as many, or 4), the executor looks whether it was lost: `pop` until it gives `None`,
///   then `gone` for those that were aborted, then `push` of the others as [woken](Ready::Woken), in the order in which they came.
///   That takes some 35 ns for each ready task (EPYC, 2026-11-22).
/// - **Another scheduler takes over.** It is told of the groups that are open, then of the tasks that were spawned with attributes,
///   ready or not, then of those that are ready, as [woken](Ready::Woken). It is later told of the ends of tasks and groups that
///   it knows nothing else of.
/// - **A task moves** to another queue. For one scheduler the task is gone, for the other it is new.
pub trait Scheduler {
    /// When the executor reads the clock for this scheduler, and so when it calls [`served`](Scheduler::served).
    const CLOCK: ClockUse = ClockUse::PerTask;

    /// `task` became ready, for the reason `why`. It is not in the scheduler at present.
    fn push(&mut self, task: Task, why: Ready);

    /// Takes out the task to poll next; `None` if and only if no task is ready.
    fn pop(&mut self) -> Option<TaskId>;

    /// [`push`](Scheduler::push) of the task popped last, which yielded, and [`pop`](Scheduler::pop), in one: what there is
    /// to do between two polls of a queue whose tasks yield.
    ///
    /// It gives what the two calls give, one after the other. A scheduler may know a shorter way: where the same task goes on,
    /// there is nothing to move.
    #[inline]
    fn push_pop(&mut self, task: Task) -> Option<TaskId> {
        self.push(task, Ready::Yielded);
        self.pop()
    }

    /// A hint: the task that would be popped after `ahead` more pops if nothing changed, where that is cheap to say.
    ///
    /// The executor fetches the memory of that task early, which pays when tasks are too many for the cache. A wrong answer
    /// costs a few nanoseconds, `None` nothing.
    #[inline]
    fn peek(&self, ahead: usize) -> Option<TaskId> {
        let _ = ahead;
        None
    }

    /// So much CPU time was used, by a task or by all of the queue, as [`CLOCK`](Scheduler::CLOCK) asks.
    ///
    /// `now_ns` is what the clock reads, on which [deadlines](Attributes::deadline_ns) are given. It never falls.
    fn served(&mut self, served: Served, now_ns: u64) {
        let _ = (served, now_ns);
    }

    /// These attributes were said of a group or a task.
    fn said(&mut self, of: Subject, attributes: &Attributes) {
        let _ = (of, attributes);
    }

    /// A task or a group has ended, or the last ready task was popped.
    fn gone(&mut self, gone: Gone) {
        let _ = gone;
    }
}

/// When the executor reads the clock for a [`Scheduler`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClockUse {
    /// Never. [`served`](Scheduler::served) is not called.
    Unused,
    /// Not for the scheduler: it is told [`Served::Queue`] where the executor read the clock in any case.
    WhenRead,
    /// As often as needed to tell tasks apart: it is told [`Served::Task`].
    PerTask,
}

#[cfg(any(test, feature = "laws", feature = "simulate"))]
impl ClockUse {
    /// What a scheduler is told of a poll after which the clock was read.
    pub(crate) const fn of_poll(self, task: Task, ns: u64) -> Option<Served> {
        match self {
            Self::Unused => None,
            Self::WhenRead => Some(Served::Queue { ns }),
            Self::PerTask => Some(Served::Task { task, polls: 1, ns }),
        }
    }
}

/// CPU time that was used, in nanoseconds. See [`Scheduler::served`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Served {
    /// A poll of `task` was timed, the task that [`pop`](Scheduler::pop) gave last ([`ClockUse::PerTask`]).
    ///
    /// Polls of two microseconds or more are all timed. Where they are shorter, the executor times one in up to sixteen, in
    /// the mean, which it draws by lot, and tells nothing of the others. What it tells of a group is then expected to be what
    /// the group had, whatever its tasks do. Each poll is timed where the polls of the queue took more than 1,024 ns in the mean
    /// so far; and where those of its group did, also among short polls of others.
    ///
    /// Also told of a task in a group that was aborted, pushed or not: its future took so long to drop.
    Task {
        /// The task.
        task: Task,
        /// How many polls this one stands for; 0 for the drop of an aborted task.
        polls: u32,
        /// What these took together: each took `ns / polls`.
        ns: u64,
    },
    /// The tasks of the queue were polled for so long since this was told last, or a little less ([`ClockUse::WhenRead`]).
    ///
    /// Told at the beginning of each slice, with 0, before what came since is pushed. Then after each poll that took two
    /// microseconds or more, and after so many shorter ones. (Where polls suddenly take long, it may be 32 of them, once.)
    Queue {
        /// What they took.
        ns: u64,
    },
}

/// Of whom [`Attributes`] are [said](Scheduler::said).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A group that was opened under the user's `key`, and has no task yet.
    ///
    /// Not said of tasks without a group. Each of these is a group of its own, which has no attributes.
    NewGroup {
        /// The group.
        group: GroupId,
        /// The user's key.
        key: u64,
    },
    /// An open group that was given other attributes. It may have tasks, ready or not.
    Group(GroupId),
    /// A task that was spawned with attributes of its own, or inherited them from the task that spawned it.
    ///
    /// Not said of a task that has none: take it for [`Attributes::new`]. What is said of a task goes before what is said of its group.
    Task(Task),
}

/// What has [ended](Scheduler::gone).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gone {
    /// The task will never be pushed again, and is not in the scheduler at present. Its slot may be reused from now on.
    Task(Task),
    /// The last task of the group has finished and no handle to the group is left. Its index may be reused from now on,
    /// by a group that has nothing to do with this one.
    Group(GroupId),
    /// No task of the queue is ready any more, and none may be for a while: an occasion to give memory back.
    Backlog,
}
