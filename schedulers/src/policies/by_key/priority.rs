//! [`Priority`]: levels that were given from outside.

use core::fmt;

use super::by_priority::ByPriority;
use super::{ByKey, Lists, calls_by_key};
use crate::{Attributes, ClockUse, FairTurns, Gone, Ready, Scheduler, Served, Subject, Task, TaskId};

/// The task of the highest priority goes first; of equal ones, the one that became ready first.
///
/// A task has the [priority](Attributes::priority) that it was given, or else that of its group, or else 0.
///
/// Good where the order is known beforehand and few levels are enough: commands before traffic, traffic before repair. It
/// is no way to share: how much a level gets is up to the levels above it. Queues with shares divide the thread, and
/// policies that go by attained service ([`Qlas`](crate::Qlas)) find out by themselves what is short.
///
/// # Changes
///
/// When a group is given another priority, its ready tasks move at once to where they would be if it had always been so.
/// That costs O(n·log n) of the tasks that are ready in the two levels at worst.
///
/// # Cost
///
/// O(1): a level is a FIFO list, and the highest that has tasks is found in a bitmap of 256. (A fair turn compares the first
/// tasks of all levels.) Nothing is allocated once the lists have grown: 24 bytes for each ready task, two for each slot or
/// group index up to the highest of which a priority was said. What a burst took of that is given back when the queue
/// has drained. Where all ready tasks are of one level it is [`RunnableFifo`](crate::RunnableFifo).
///
/// # Starvation
///
/// A task ages: the longer it is ready, the more of the others came after it. Pops that pass over lower levels are
/// counted, and the *N*th in a row ([`FairTurns`]; *N* is 32 unless set, and at least 2) is a *fair turn*: it goes to the
/// task that has been ready for longest, on whatever level. So lower levels get one in *N* of such pops at most.
///
/// Fair turns are paid for by time, as far as the policy is [told](Served::Queue) of it, so that long polls of low
/// levels take one part in *N* of the time and not most of it: after a turn the next is due when the pops that pass over
/// others have taken *N* − 1 times as long, but after 1,024·*N* of them in any case.
///
/// A ready task is popped within *N*·*R* pops where turns take no longer than other polls, and within 1,024·*N*·*R* whatever
/// they take, where *R* tasks were ready when it became ready, itself included. For where its level alone has tasks, each pop
/// takes one of those *R*, and where other levels have some as well, a fair turn does, in each so many pops; and
/// none of them is taken twice, as it goes behind if it becomes ready again.
///
/// With [`FairTurns::NEVER`] levels are strict: lower ones starve while higher ones have tasks.
///
/// ```
/// use clockworker_schedulers::{Attributes, GroupId, Priority, Ready, Scheduler, Subject, Task, TaskId};
///
/// let task = |slot| Task { id: TaskId::new(slot, 0), group: GroupId::new(slot) };
/// let mut policy = Priority::new();
/// policy.said(Subject::NewGroup { group: task(1).group, key: 77 }, &Attributes::new().with_priority(-5));
/// policy.said(Subject::Task(task(2)), &Attributes::new().with_priority(5));
/// (0..3).for_each(|slot| policy.push(task(slot), Ready::Spawned));
/// let order: Vec<_> = std::iter::from_fn(|| policy.pop()).collect();
/// assert_eq!(order, [task(2).id, task(0).id, task(1).id]);
/// ```
#[derive(Clone)]
pub struct Priority {
    by_key: ByKey<ByPriority>,
}

impl Priority {
    /// Makes an empty one with a fair turn in 32 pops that pass over others.
    pub const fn new() -> Self {
        Self { by_key: ByKey::new(ByPriority::new()) }
    }

    /// Sets how often a pop that passes over others is a fair turn. With [`FairTurns::NEVER`] levels are strict.
    #[must_use]
    pub fn with_fair_turns(self, fair_turns: FairTurns) -> Self {
        Self { by_key: self.by_key.with_fair_turns(&fair_turns) }
    }

    /// The priority of a task: its own, or else its group's, or else 0.
    #[inline]
    pub fn priority(&self, task: Task) -> i8 {
        self.by_key.keys.of(task).unwrap_or_default()
    }
}

impl Default for Priority {
    fn default() -> Self {
        Self::new()
    }
}

impl Scheduler for Priority {
    const CLOCK: ClockUse = ClockUse::WhenRead;

    calls_by_key!(priority);

    /// Right while no higher level gets tasks, the level keeps that many, and no fair turn comes between.
    #[inline]
    fn peek(&self, ahead: usize) -> Option<TaskId> {
        self.by_key.ready.peek(ahead)
    }

    #[inline]
    fn served(&mut self, served: Served, _now_ns: u64) {
        self.by_key.served(served);
    }
}

impl fmt::Debug for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Priority")
            .field("ready", &self.by_key.ready.ready)
            .field("levels", &self.by_key.ready.levels)
            .field("passed_over", &self.by_key.passed_over)
            .finish_non_exhaustive()
    }
}
