//! [`Qlas`]: least attained service in powers of two.

use core::fmt;

use crate::parts::elders::{BACK, FRONT};
use crate::parts::half_life::HalfLife;
use crate::parts::ledger::Ledger;
use crate::parts::levels::Levels;
use crate::parts::rings::{Popped, Rings};
use crate::{Attributes, FairTurns, GroupId, Ready, Scheduler, Task, TaskId};

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
/// Levels from 1/16 of the half-life on are not told apart by powers of two. Groups that have attained so much are *elders*, and
/// take turns: each goes on until it has attained 1/128 of the half-life more than the least of them had, then the next round
/// begins. When attained service is halved each level becomes the one below it, with the tasks that wait there, and level 1 goes
/// behind level 0. (Not where two levels with more than 4,096 tasks each would be joined: those stay where they are until one has
/// fewer.) An elder that waits while it falls below 1/16 stays with the elders until it is popped.
///
/// # Forgetting
///
/// As with [`Las`](crate::Las#forgetting), half of what a group has attained is forgotten with each half-life of the queue's service, and a
/// group that closes is remembered by its key. Two groups that always have work get equal service after two half-lives, as there, if they have
/// attained 1/16 of a half-life each, as up to sixteen do that always have work. Of more, one may get twice as
/// much as another, which is what levels do not tell apart.
///
/// # Cost
///
/// O(1). A task is moved at most once per level that its group crosses, and once per round of the elders. The end of a half-life
/// takes a microsecond, and joins the lists of levels 0 and 1, which moves the tasks of the shorter: some ten microseconds at most. To
/// open or close a group with a key takes O(log n) of the groups that are remembered.
///
/// # Starvation
///
/// One part in *N* of the time goes to *fair turns* ([`FairTurns`]; *N* is 32 unless set): each goes to the front of
/// the next non-empty level, round and round. If that task yields, it goes to the tail of its level, so the tasks inside
/// a level take turns too. (The elders are two levels: those whose round has ended are the other.)
///
/// A ready task with *p* tasks before it in its level is popped within M·(p + 1) fair turns, where *M* ≤ 64 counts the levels
/// that have tasks at any time meanwhile: each round of *M* fair turns takes one of the *p* away for good. Of polls that take
/// equally long these are N·M·(p + 1). Else it takes N·(M·(p + 1) + 1)·(*S* + 256 ns) of service at most, with polls of at most
/// *S*, of which each counts 256 ns more; and 2¹⁸·N·(M·(p + 1) + 1) polls, if they take no time. This holds
/// while its group stays in the level; being moved starts the count again, and each time takes as much service as the
/// group had received in all, or a round of the elders. A level that comes down counts its tasks with those that it joins.
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
    ledger: Ledger,
    /// What was popped last.
    popped: Popped,
    /// The level that the last fair turn went to.
    cursor: u32,
}

impl Qlas {
    /// Makes an empty one with a base of 16,384 ns, a half-life of 1 s, and 1/32 of the time for fair turns.
    pub const fn new() -> Self {
        Self { rings: Rings::new(), ledger: Ledger::new(), popped: Popped::NONE, cursor: 0 }
    }

    /// Sets the base, the attained service at which level 0 ends, in nanoseconds: rounded down to a power of two, and up
    /// to 2.
    ///
    /// A good base is somewhat above what the short requests need, so that they never leave level 0.
    #[must_use]
    pub fn with_base_ns(self, ns: u64) -> Self {
        Self { ledger: self.ledger.with_levels(Levels::with_base_ns(ns)), ..self }
    }

    /// The end of level 0, in nanoseconds of attained service.
    pub const fn base_ns(&self) -> u64 {
        self.ledger.levels().base_ns()
    }

    /// Sets the part of the time that fair turns have. With [`FairTurns::NEVER`] the order is strictly by level, and old groups
    /// starve under a stream of new ones.
    #[must_use]
    pub fn with_fair_turns(self, fair_turns: FairTurns) -> Self {
        Self { ledger: self.ledger.with_fair_turns(fair_turns), ..self }
    }

    /// Sets the half-life of what groups have attained ([Forgetting](Qlas#forgetting)), in nanoseconds of the queue's service: from
    /// 2²⁰ (1 ms) to 2⁶⁰, and rounded to these.
    #[must_use]
    pub fn with_half_life_ns(self, ns: u64) -> Self {
        Self { ledger: self.ledger.with_half_life(HalfLife::of_ns(ns)), ..self }
    }

    /// Lets groups keep what they have attained for as long as they are open, and forgets them when they close.
    #[must_use]
    pub fn without_half_life(self) -> Self {
        Self { ledger: self.ledger.with_half_life(HalfLife::NEVER), ..self }
    }

    /// The half-life of what groups have attained, in nanoseconds of the queue's service; `None` if they keep it.
    pub const fn half_life_ns(&self) -> Option<u64> {
        self.ledger.half_life_ns()
    }

    /// The service that `group` has attained and that is not forgotten, in nanoseconds.
    pub fn attained_ns(&self, group: GroupId) -> u64 {
        self.ledger.attained_ns(group)
    }

    /// The level that `group` is in: 0 below the base, then one more per doubling.
    #[inline]
    pub fn level(&self, group: GroupId) -> u32 {
        self.ledger.level(group)
    }

    /// Whether a task that has just become ready goes on where it was stopped.
    #[inline]
    fn goes_on(&self, task: Task, why: Ready, ring: u32) -> bool {
        why == Ready::Yielded && self.popped.task == task.id && self.popped.ring == 1 << ring
    }

    /// The ring to pop from: the lowest, or on a fair turn the next one.
    #[inline]
    fn next_ring(&mut self, fair: bool) -> u32 {
        if fair {
            self.cursor = self.rings.next_after(self.cursor);
            return self.cursor;
        }
        match self.rings.lowest() {
            BACK if self.ledger.has_elders() => self.begin_round(),
            lowest => lowest,
        }
    }

    /// None but elders have work, and their round is over.
    #[cold]
    #[inline(never)]
    fn begin_round(&mut self) -> u32 {
        self.ledger.begin_round();
        self.rings.move_behind(BACK, FRONT);
        FRONT
    }

    /// Pops, on a fair turn or in order. Some ring has tasks.
    #[inline]
    fn pop_by(&mut self, fair: bool) -> Option<TaskId> {
        let mut ring = self.next_ring(fair);
        loop {
            let task = self.rings.pop_front(ring)?;
            if self.ledger.ring(task.group) <= ring {
                self.popped = Popped::new(task.id, ring, fair);
                return Some(task.id);
            }
            let right = self.ledger.ring_of_comer(task.group);
            self.rings.push_back(right, task);
            if self.rings.filled() & (1 << ring) == 0 {
                ring = self.next_ring(fair);
            }
        }
    }

    /// Does what is due at this pop, and says whether it is a fair turn.
    #[cold]
    #[inline(never)]
    fn settle(&mut self) -> bool {
        let due = self.ledger.settle();
        if due.halving {
            self.halve();
        }
        due.fair
    }

    /// Each level becomes the one below it.
    fn halve(&mut self) {
        let end = self.ledger.end_of_levels();
        for level in 1..end {
            if self.rings.move_behind(level, level - 1) && self.popped.ring == 1 << level {
                self.popped.ring >>= 1;
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
        let ring = self.ledger.ring_of_comer(task.group);
        if self.goes_on(task, why, ring) {
            self.rings.push_front(ring, task);
        } else {
            self.rings.push_back(ring, task);
        }
    }

    #[inline]
    fn pop(&mut self) -> Option<TaskId> {
        if self.rings.filled() == 0 {
            return None;
        }
        let fair = self.ledger.are_due() && self.settle();
        self.pop_by(fair)
    }

    #[inline]
    fn push_pop(&mut self, task: Task) -> Option<TaskId> {
        let due = self.ledger.are_due();
        if !due {
            // Its group was served since the last halving. Elders' rings are no levels, so they do not go on here.
            let ring = 1 << self.ledger.level_if_current(task.group);
            if self.popped.ring == ring
                && self.popped.task == task.id
                && self.rings.filled() & (ring - 1) == 0
            {
                return Some(task.id); // `popped` says of it what it said before
            }
        }
        self.push(task, Ready::Yielded);
        let fair = due && self.settle();
        self.pop_by(fair)
    }

    #[inline]
    fn peek(&self, ahead: usize) -> Option<TaskId> {
        self.rings.peek(ahead).map(|task| task.id)
    }

    /// By the bound on waiting ([Starvation](Qlas#starvation)), for a task that is moved through all levels. `None`
    /// without fair turns.
    fn patience(&self, tasks: usize) -> Option<u64> {
        self.ledger.fair_turns().patience((tasks as u64).saturating_mul(64 * 64))
    }

    #[inline]
    fn served(&mut self, task: Task, service_ns: u64) {
        self.ledger.served(task.group, service_ns);
    }

    fn group_opened(&mut self, group: GroupId, key: u64, _attributes: &Attributes) {
        self.ledger.opened(group, key);
    }

    fn group_closed(&mut self, group: GroupId) {
        self.ledger.closed(group);
    }
}

impl fmt::Debug for Qlas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Qlas")
            .field("base_ns", &self.base_ns())
            .field("ready_by_level", &self.rings.counts())
            .field("half_life_ns", &self.half_life_ns())
            .field("fair_turns", self.ledger.fair_turns())
            .finish_non_exhaustive()
    }
}
