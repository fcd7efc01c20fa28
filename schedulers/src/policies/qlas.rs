//! [`Qlas`]: least attained service in powers of two.

use core::fmt;

use crate::parts::attained::AttainedByGroup;
use crate::parts::levels::Levels;
use crate::parts::rings::{Popped, Rings};
use crate::{FairTurns, GroupId, Ready, Scheduler, Task, TaskId};

/// Quantised LAS: the group that has received the least service goes first, to within a power of two, and in FIFO order
/// within it.
///
/// Like [`Las`](crate::Las) it favours short work without being told sizes, but without its weakness: LAS lets groups of
/// equal service take turns, so many long tasks of like size all finish late, at the end. Here a task goes on until it
/// leaves its level. On a bimodal load (99.5 % of 10 µs, 0.5 % of 10 ms, at 95 % utilisation) the mean
/// response time in theory is 42 times the mean service, against 149 for LAS, 20 for processor sharing and 1,323 for
/// FIFO. (It would be 14.6 if the last level began at 4 ms, so that the long ones took no turns after that;
/// [`Serpt`](crate::Serpt) finds that out.) The structure is Kleinrock's multilevel processor sharing with FCFS levels (*Queueing Systems* II, 4.7); Aalo's
/// D-CLAS (Chowdhury and Stoica, SIGCOMM 2015) uses it for network flows.
///
/// # Order
///
/// A group is in level 0 while it has received less than the *base* (16,384 ns, see [`with_base_ns`](Qlas::with_base_ns)), in
/// level *k* + 1 from base·2ᵏ on. Lower levels go first. Inside a level:
///
/// - a task that was spawned or woken goes to the tail;
/// - a task that yielded goes to the front while its group is in the same level, so that it goes on, and to the tail of
///   the new level when its group has crossed into one;
/// - a task that lies in a level which its group has left, because other tasks of the group ran, is moved to the tail of
///   the right level when its turn comes, instead of being popped.
///
/// # Cost
///
/// O(1). A task is moved at most once per level that its group crosses, so at most 63 times in the life of the group.
///
/// # Starvation
///
/// Every Nth pop ([`FairTurns`]; *N* is 32 unless set) is a *fair turn*: it goes to the front of
/// the next non-empty level, round and round. If that task yields, it goes to the tail of its level, so the tasks inside
/// a level take turns too.
///
/// A ready task with *p* tasks before it in its level is popped within N·M·(p + 1) pops, where *M* ≤ 64 counts the levels
/// that have tasks at any time meanwhile: each round of *M* fair turns takes one of the *p* away for good. This holds
/// while its group stays in the level; being moved starts the count again, and each time takes as much service as the
/// group had received in all.
///
/// ```
/// use clockworker_schedulers::{GroupId, Qlas, Ready, Scheduler, Task, TaskId};
///
/// let task = |slot| Task { id: TaskId::new(slot, 0), group: GroupId::new(slot) };
/// let mut qlas = Qlas::new();
/// qlas.push(task(0), Ready::Spawned);
/// qlas.push(task(1), Ready::Spawned);
/// assert_eq!(qlas.pop(), Some(task(0).id));
/// qlas.served(task(0), 10_000);
/// qlas.push(task(0), Ready::Yielded);
/// assert_eq!(qlas.pop(), Some(task(0).id)); // still in level 0, so it goes on
/// qlas.served(task(0), 10_000);
/// qlas.push(task(0), Ready::Yielded);
/// assert_eq!(qlas.pop(), Some(task(1).id)); // 20 µs: level 1
/// ```
#[derive(Clone)]
pub struct Qlas {
    /// The tasks that wait, by level.
    rings: Rings,
    levels: Levels,
    attained: AttainedByGroup,
    /// What was popped last.
    popped: Option<Popped>,
    fair_turns: FairTurns,
    /// The level that the last fair turn went to.
    cursor: u32,
}

impl Qlas {
    /// Makes an empty one with a base of 16,384 ns and a fair turn every 32nd pop.
    pub const fn new() -> Self {
        Self {
            rings: Rings::new(),
            levels: Levels::DEFAULT,
            attained: AttainedByGroup::new(),
            popped: None,
            fair_turns: FairTurns::DEFAULT,
            cursor: 0,
        }
    }

    /// Sets the base, the attained service at which level 0 ends, in nanoseconds: rounded down to a power of two, and up
    /// to 2.
    ///
    /// A good base is somewhat above what the short requests need, so that they never leave level 0.
    #[must_use]
    pub fn with_base_ns(self, ns: u64) -> Self {
        Self { levels: Levels::with_base_ns(ns), ..self }
    }

    /// The end of level 0, in nanoseconds of attained service.
    pub const fn base_ns(&self) -> u64 {
        self.levels.base_ns()
    }

    /// Sets how often pops are fair turns. With [`FairTurns::NEVER`] the order is strictly by level, and old groups starve
    /// under a stream of new ones.
    #[must_use]
    pub fn with_fair_turns(self, fair_turns: FairTurns) -> Self {
        Self { fair_turns, ..self }
    }

    /// The service that `group` has attained, in nanoseconds.
    pub fn attained_ns(&self, group: GroupId) -> u64 {
        self.attained.of(group).ns()
    }

    /// The level that `group` is in: 0 below the base, then one more per doubling.
    #[inline]
    pub fn level(&self, group: GroupId) -> u32 {
        self.levels.of(self.attained_ns(group))
    }

    /// Whether a task that has just become ready goes on where it was stopped.
    #[inline]
    fn goes_on(&self, task: Task, why: Ready, level: u32) -> bool {
        why == Ready::Yielded
            && self
                .popped
                .is_some_and(|popped| popped.task == task.id && popped.ring == level && !popped.fair)
    }

    /// The level to pop from: the lowest, or on a fair turn the next one.
    #[inline]
    fn next_level(&mut self, fair: bool) -> u32 {
        if !fair {
            return self.rings.lowest();
        }
        self.cursor = self.rings.next_after(self.cursor);
        self.cursor
    }

    /// Pops, on a fair turn or in order. Some level has tasks.
    #[inline]
    fn pop_by(&mut self, fair: bool) -> Option<TaskId> {
        let mut level = self.next_level(fair);
        loop {
            let task = self.rings.pop_front(level)?;
            let right = self.level(task.group);
            if right <= level {
                self.popped = Some(Popped { task: task.id, ring: level, fair });
                return Some(task.id);
            }
            self.rings.push_back(right, task);
            if self.rings.filled() & (1 << level) == 0 {
                level = self.next_level(fair);
            }
        }
    }
}

impl Default for Qlas {
    fn default() -> Self {
        Self::new()
    }
}

impl Scheduler for Qlas {
    #[inline]
    fn push(&mut self, task: Task, why: Ready) {
        let level = self.level(task.group);
        if self.goes_on(task, why, level) {
            self.rings.push_front(level, task);
        } else {
            self.rings.push_back(level, task);
        }
    }

    #[inline]
    fn pop(&mut self) -> Option<TaskId> {
        if self.rings.filled() == 0 {
            return None;
        }
        let fair = self.fair_turns.next_is_fair();
        self.pop_by(fair)
    }

    #[inline]
    fn push_pop(&mut self, task: Task) -> Option<TaskId> {
        let fair = self.fair_turns.next_is_fair();
        let level = self.level(task.group);
        let none_lower = self.rings.filled() & ((1 << level) - 1) == 0;
        if none_lower && !fair && self.goes_on(task, Ready::Yielded, level) {
            return Some(task.id); // `popped` says of it what it said before
        }
        self.push(task, Ready::Yielded);
        self.pop_by(fair)
    }

    #[inline]
    fn peek(&self, ahead: usize) -> Option<TaskId> {
        self.rings.peek(ahead).map(|task| task.id)
    }

    /// By the bound on waiting ([Starvation](Qlas#starvation)), for a task that is moved through all levels. `None`
    /// without fair turns.
    fn patience(&self, tasks: usize) -> Option<u64> {
        self.fair_turns.patience((tasks as u64).saturating_mul(64 * 64))
    }

    #[inline]
    fn served(&mut self, task: Task, service_ns: u64) {
        self.attained.of_mut(task.group).add(service_ns);
    }

    fn group_closed(&mut self, group: GroupId) {
        self.attained.take(group);
    }
}

impl fmt::Debug for Qlas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Qlas")
            .field("base_ns", &self.base_ns())
            .field("ready_by_level", &self.rings.counts())
            .field("fair_turns", &self.fair_turns)
            .finish_non_exhaustive()
    }
}
