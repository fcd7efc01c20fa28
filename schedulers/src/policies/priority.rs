//! [`Priority`]: levels that were given from outside.

use core::fmt;

use super::runnable_fifo::KEPT;
use crate::parts::by_priority::{ByPriority, level};
use crate::parts::own_or_group::OwnOrGroup;
use crate::parts::passed_over::PassedOver;
use crate::{Attributes, FairTurns, GroupId, Ready, Scheduler, Task, TaskId};

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
/// group index up to the highest of which a priority was said. Where all ready tasks are of one level it is
/// [`RunnableFifo`](crate::RunnableFifo).
///
/// # Starvation
///
/// A task ages: the longer it is ready, the more of the others came after it. Pops that pass over lower levels are
/// counted, and the *N*th in a row ([`FairTurns`]; *N* is 32 unless set, and at least 2) is a *fair turn*: it goes to the
/// task that has been ready for longest, on whatever level. So lower levels get one in *N* of such pops at most.
///
/// Fair turns are paid for by time, as far as the policy is [told](Scheduler::time_passed) of it, so that long polls of low
/// levels take one part in *N* of the time and not most of it: after a turn the next is due when the pops that pass over
/// others have taken *N* − 1 times as long, but after 1,024·*N* of them in any case.
///
/// A ready task is popped within *N*·*R* pops where turns take no longer than other polls, and within 1,024·*N*·*R* whatever
/// they take, where *R* tasks were ready when it became ready, itself included. For where its level alone has tasks, each pop
/// takes one of those *R*, and where other levels have some as well, a fair turn does, in each so many pops; and
/// none of them is taken twice, as it goes behind if it becomes ready again.
///
/// With [`FairTurns::NEVER`] levels are strict: lower ones starve while higher ones have tasks, and no
/// [patience](Scheduler::patience) is promised.
///
/// ```
/// use clockworker_schedulers::{Attributes, GroupId, Priority, Ready, Scheduler, Task, TaskId};
///
/// let task = |slot| Task { id: TaskId::new(slot, 0), group: GroupId::new(slot) };
/// let mut policy = Priority::new();
/// policy.group_opened(task(1).group, 77, &Attributes::new().with_priority(-5));
/// policy.spawned(task(2), &Attributes::new().with_priority(5));
/// (0..3).for_each(|slot| policy.push(task(slot), Ready::Spawned));
/// let order: Vec<_> = std::iter::from_fn(|| policy.pop()).collect();
/// assert_eq!(order, [task(2).id, task(0).id, task(1).id]);
/// ```
#[derive(Clone)]
pub struct Priority {
    ready: ByPriority,
    priorities: OwnOrGroup<i8>,
    passed_over: PassedOver,
}

impl Priority {
    /// Makes an empty one with a fair turn in 32 pops that pass over others.
    pub const fn new() -> Self {
        Self {
            ready: ByPriority::new(),
            priorities: OwnOrGroup::new(),
            passed_over: PassedOver::new(&FairTurns::DEFAULT),
        }
    }

    /// Sets how often a pop that passes over others is a fair turn. With [`FairTurns::NEVER`] levels are strict.
    #[must_use]
    pub fn with_fair_turns(self, fair_turns: FairTurns) -> Self {
        Self { passed_over: PassedOver::new(&fair_turns), ..self }
    }

    /// The priority of a task: its own, or else its group's, or else 0.
    #[inline]
    pub fn priority(&self, task: Task) -> i8 {
        self.priorities.of(task).unwrap_or_default()
    }

    /// The level that a fair turn goes to, instead of the highest.
    fn fair_turn(&mut self, highest: usize) -> usize {
        let level = self.ready.longest_ready().unwrap_or(highest);
        if level != highest {
            self.passed_over.take_turn();
        }
        level
    }
}

impl Default for Priority {
    fn default() -> Self {
        Self::new()
    }
}

impl Scheduler for Priority {
    const NEEDS_SERVICE: bool = false;
    const WANTS_TIME: bool = true;

    #[inline]
    fn push(&mut self, task: Task, _why: Ready) {
        self.ready.push(level(self.priority(task)), task);
    }

    #[inline]
    fn pop(&mut self) -> Option<TaskId> {
        let mut level = self.ready.highest()?;
        if self.ready.levels() == 1 {
            self.passed_over.none_is();
        } else if self.passed_over.are() {
            level = self.fair_turn(level);
        }
        self.ready.pop(level)
    }

    #[inline]
    fn push_pop(&mut self, task: Task) -> Option<TaskId> {
        // Where no other is ready, nor was any when it was popped, it goes on and passes over none.
        let Some(highest) = self.ready.highest() else { return Some(task.id) };
        let own = level(self.priority(task));
        if highest <= own {
            self.ready.push(own, task);
            return self.pop();
        }
        // It is the only one of its level, and goes on unless it has passed over others for long.
        if !self.passed_over.are() {
            return Some(task.id);
        }
        self.ready.push(own, task);
        let level = self.fair_turn(own);
        self.ready.pop(level)
    }

    fn group_opened(&mut self, group: GroupId, _key: u64, attributes: &Attributes) {
        self.priorities.set_group(group, attributes.priority);
    }

    fn group_changed(&mut self, group: GroupId, attributes: &Attributes) {
        let before = self.priorities.set_group(group, attributes.priority).unwrap_or_default();
        let now = attributes.priority.unwrap_or_default();
        if before != now {
            let priorities = &self.priorities;
            let follows = |task: Task| task.group == group && priorities.follows_group(task);
            self.ready.shift(level(before), level(now), follows);
        }
    }

    #[inline]
    fn spawned(&mut self, task: Task, attributes: &Attributes) {
        self.priorities.set_own(task.id, attributes.priority);
    }

    #[inline]
    fn time_passed(&mut self, service_ns: u64) {
        self.passed_over.time_passed(service_ns);
    }

    #[inline]
    fn finished(&mut self, task: Task) {
        self.priorities.set_own(task.id, None);
    }

    fn group_closed(&mut self, group: GroupId) {
        self.priorities.set_group(group, None);
    }

    fn drained(&mut self) {
        self.ready.give_back(KEPT);
    }

    /// Right while no higher level gets tasks, the level keeps that many, and no fair turn comes between.
    #[inline]
    fn peek(&self, ahead: usize) -> Option<TaskId> {
        self.ready.peek(ahead)
    }

    /// By the bound on waiting ([Starvation](Priority#starvation)). `None` without fair turns.
    fn patience(&self, tasks: usize) -> Option<u64> {
        self.passed_over.patience(tasks as u64)
    }
}

impl fmt::Debug for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Priority")
            .field("ready", &self.ready.ready())
            .field("levels", &self.ready.levels())
            .field("passed_over", &self.passed_over)
            .finish_non_exhaustive()
    }
}
