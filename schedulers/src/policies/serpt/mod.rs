//! [`Serpt`]: shortest expected remaining time, by what was learnt from those that ended.

mod ranks;
mod sizes;
mod waiting;

use core::fmt;
use core::num::NonZeroU32;

use crate::parts::elders::{BACK, FRONT};
use crate::parts::half_life::HalfLife;
use crate::parts::ledger::Ledger;
use crate::parts::levels::Levels;
use crate::parts::rings::RINGS;
use crate::{Attributes, FairTurns, GroupId, Ready, Scheduler, Task, TaskId};
use ranks::Ranks;
use sizes::{LEVELS, Sizes};
use waiting::Waiting;

const _: () = assert!(LEVELS == RINGS);

/// Shortest expected remaining time: the group that is expected to need least goes first, to judge by the sizes of those
/// that ended before it.
///
/// It starts as [`Qlas`](crate::Qlas) and learns which of its levels to tell apart. Where a group that has run for long
/// is likely to go on for longer (Pareto), all are, as in QLAS, so the little served go first. Where what remains falls
/// with what was attained (the second kind of two, sizes much alike), levels are made equal: a group that got there goes on
/// until it ends, in place of taking turns with others at every doubling. Where nothing can be foretold (exponential
/// sizes), what remains is the same everywhere, and so is the order: FIFO.
///
/// The rank E\[*S* − *a* | *S* > *a*\] at attained service *a*, made monotone by its running maximum, is M-SERPT:
/// Scully, Harchol-Balter and Scheller-Wolf, *Simple Near-Optimal Scheduling for the M/G/1*, SIGMETRICS 2020. With the
/// distribution known, and to the nanosecond, it has at most five times the mean response time of the Gittins policy,
/// the best that knows no sizes, and at most three times at a utilisation up to 8/9. Those bounds are not for this
/// policy, which has levels, estimates and whole polls. On the bimodal load of [`Qlas`](crate::Qlas)'s page (99.5 % of
/// 10 µs, 0.5 % of 10 ms, at 95 % utilisation) M-SERPT has a mean response time of 9.03 times the mean service, as the
/// policy that is told the sizes has; LAS has 149.
///
/// # What it learns
///
/// The size of a group is the service that it attained by the time it closed: for a task without a group, its own. One
/// table is kept for the whole queue, since few groups live long enough to have a history of their own; kinds of work
/// with sizes of their own belong in queues of their own.
///
/// The table counts for each level (as in [`Qlas`](crate::Qlas): 0 below the *base*, one more per doubling) how many
/// groups ended in it, with how much service in the level, and how many went on to the next. From these *exits* follows
/// what remains at each level, from the highest down. It is the actuary's life table, which is not biased by the lives that
/// have not ended: a group counts in the levels that it has left, when it leaves them. One that never ends is such a
/// life: it counts once in each level, ever more rarely, and moves the estimate no more than any other.
///
/// Of each level the last exits are remembered, between 512 and 1,024 of them ([`with_memory`](Serpt::with_memory)):
/// each 512 halve the weight of all that was before. Every 64 exits the ranks are computed again. So after 64 + 512·*j*
/// exits of a level, what was before has 2⁻ʲ of the weight at most. A cancelled task counts as one that ended there.
///
/// # Order
///
/// The rank of a level is the most that is expected to remain at it or below. A level is of the same rank as those below
/// it if its rank exceeds that of the lowest of these by a quarter at most, and if eight groups at least have ended in
/// it or above. So with no group ended all are told apart, and the order is that of QLAS.
///
/// Lower ranks go first. Inside a rank:
///
/// - a task that was spawned or woken goes to the tail;
/// - a task that yielded goes to the front while its group is of the same rank, so that it goes on, and to the tail of the
///   new rank when its group has crossed into one.
///
/// Tasks that wait are not moved when ranks change. Those of levels that become equal wait in the order of their former
/// ranks, those that come afterwards behind them. A task that waits too far in front, because its group went on or its
/// rank became a later one, is moved to the tail of the right rank when its turn comes, instead of being popped. One that
/// waits too far behind stays there.
///
/// Groups that have attained 1/16 of the half-life are *elders*, behind all others, and take turns as with
/// [`Qlas`](crate::Qlas#order). When attained service is halved, a level that stands alone becomes the one below it, with the tasks that wait there.
/// Tasks of levels of equal rank stay where they are, and so do those of two levels that have more than 4,096 each.
///
/// # Forgetting
///
/// As with [`Las`](crate::Las#forgetting), half of what a group has attained is forgotten with each half-life of the queue's service, and a
/// group that closes is remembered by its key. Two groups that always have work get equal service after two half-lives, as there, if they have
/// attained 1/16 of a half-life each, as up to sixteen do that always have work. Of more, one may get twice as
/// much as another, which is what levels do not tell apart.
///
/// What is learnt is of service that was not forgotten when a group ended or went on. One that works on for many half-lives comes
/// through the topmost levels again and again, and counts each time as one that went on. One that is opened again ends each time
/// that it closes, if it was served since.
///
/// # Cost
///
/// O(1), and nothing allocated by polls once the lists have grown. A task is moved at most 63 times while it waits, and once per
/// round of the elders. The end of a half-life takes a microsecond, and some ten for each two levels
/// that are joined. To open or close a group with a key takes O(log n) of the groups that are remembered. A group's exit
/// of a level costs a few additions, every 64th exit about a microsecond: a division for each level in use.
///
/// # Starvation
///
/// One part in *N* of the time goes to *fair turns* ([`FairTurns`]; *N* is 32 unless set): they go round the levels
/// in which tasks wait, and to the front of each. But a task that goes on there, and was polled since the last fair
/// turn there, keeps the front: the fair turn goes to the next behind it. (Otherwise long tasks would change turns all
/// the time, and end late.) If the task of a fair turn yields, it goes to the tail.
///
/// A ready task with *p* tasks before it in its level is popped within M·(p + 2) fair turns, where *M* ≤ 64 counts the levels
/// that have tasks at any time meanwhile. Of polls that take equally long these are N·M·(p + 2). Else it takes
/// N·(M·(p + 2) + 1)·(*S* + 256 ns) of service at most, with polls of at most *S*, of which each counts 256 ns more; and
/// 2¹⁸·N·(M·(p + 2) + 1) polls, if they take no time. Being moved starts the count again, in a higher level each time or in the next round
/// of the elders. A level that comes down counts its tasks with those that it joins.
///
/// # Limits
///
/// - It is no better than its guess that the next sizes are like the last. A server task that yields for ever looks like
///   any other at first: among long ones of equal rank it goes on until it has left the levels that were learnt, and then
///   is behind them, as in QLAS. While sizes change, the order is that of the old ones.
/// - Levels whose groups rarely end are learnt late, and eight ends are few: levels may be held equal that are not.
/// - What remains is a mean. Where a little more service would settle whether a group is short, the Gittins policy would
///   give it that; this one sees a long mean and waits.
/// - It is for the mean response time, not for the mean slowdown. Groups of equal rank run one after another, where with
///   QLAS they would share: the last of the long ones waits for all of them. And where sizes are spread widely but tell
///   nothing (exponential), the order is FIFO: the mean is the same and the tail shorter, but short groups wait for long
///   ones, so the median is later and the mean slowdown many times as great.
/// - Sizes that differ below the base are not told apart.
/// - A group that is kept open ([`group_closed`](Scheduler::group_closed) is not called) never ends, however often it
///   has nothing to do: it sinks, as in QLAS, and teaches nothing but that.
/// - Sizes beyond 1/16 of the half-life are not learnt. Where they are to be, set a longer one.
///
/// ```
/// use clockworker_schedulers::{GroupId, Ready, Scheduler, Serpt, Task, TaskId};
///
/// let task = |slot| Task { id: TaskId::new(slot, 0), group: GroupId::new(slot) };
/// let mut serpt = Serpt::new();
/// for n in 0..100 {
///     // Most take 10 µs; one in ten takes 10 ms.
///     serpt.served(task(0), if n % 10 == 0 { 10_000_000 } else { 10_000 });
///     serpt.group_closed(task(0).group);
/// }
/// // One that has run for 20 µs is a long one, and has nearly all before it.
/// assert!(serpt.expected_at(20_000) > 9_000_000);
/// // At 5 ms it is of the same rank, so it goes on until it ends.
/// assert_eq!(serpt.rank_at(5_000_000), serpt.rank_at(20_000));
/// // One that has just begun is most likely short, and goes first.
/// assert!(serpt.rank_at(0) < serpt.rank_at(20_000));
/// ```
#[derive(Clone)]
pub struct Serpt {
    waiting: Waiting,
    ledger: Ledger,
    sizes: Sizes,
    ranks: Ranks,
}

impl Serpt {
    /// Makes an empty one with a base of 16,384 ns, a memory of 1,024 exits, a half-life of 1 s, and 1/32 of the time for fair
    /// turns.
    pub fn new() -> Self {
        let sizes = Sizes::new();
        Self { waiting: Waiting::new(), ledger: Ledger::new(), ranks: sizes.ranks(0), sizes }
    }

    /// Sets the base, the attained service at which level 0 ends, in nanoseconds: rounded down to a power of two, and up
    /// to 2. Forgets what was learnt until now.
    ///
    /// Sizes are told apart from the base on. A low one costs an exit more per halving for each group, and a task that
    /// moves on at each.
    #[must_use]
    pub fn with_base_ns(self, ns: u64) -> Self {
        let sizes = self.sizes.with_levels(Levels::with_base_ns(ns));
        Self { ledger: self.ledger.with_levels(sizes.levels()), ranks: sizes.ranks(0), sizes, ..self }
    }

    /// Remembers at most the last `exits` of each level, and at least half as many; 1,024 unless set, and not below 16.
    /// Forgets what was learnt until now.
    ///
    /// A longer memory gives better estimates, a shorter one follows changes sooner.
    #[must_use]
    pub fn with_memory(self, exits: NonZeroU32) -> Self {
        let sizes = self.sizes.with_memory(exits.get());
        Self { ranks: sizes.ranks(0), sizes, ..self }
    }

    /// Sets the part of the time that fair turns have. With [`FairTurns::NEVER`] the order is strictly by rank, and old groups
    /// starve under a stream of new ones.
    #[must_use]
    pub fn with_fair_turns(self, fair_turns: FairTurns) -> Self {
        Self { ledger: self.ledger.with_fair_turns(fair_turns), ..self }
    }

    /// Sets the half-life of what groups have attained ([Forgetting](Serpt#forgetting)), in nanoseconds of the queue's service:
    /// from 2²⁰ (1 ms) to 2⁶⁰, and rounded to these.
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

    /// The end of level 0, in nanoseconds of attained service.
    pub const fn base_ns(&self) -> u64 {
        self.sizes.levels().base_ns()
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

    /// The rank of a group that has attained `ns`: the lowest of the levels that count as equal to its own. Lower ranks go
    /// first.
    pub fn rank_at(&self, ns: u64) -> u32 {
        self.ranks.first(self.sizes.levels().of(ns))
    }

    /// What a group that has attained `ns` is ranked by: the mean service, in nanoseconds, that groups were to receive yet
    /// when they came to its level, or to a lower level if that is more. As of the last look, 64 exits ago at most.
    ///
    /// Where nobody left a level, it is as much again as they had attained.
    pub fn expected_at(&self, ns: u64) -> u64 {
        self.ranks.expected_ns(self.sizes.levels().of(ns))
    }

    /// A group has gone on from a level to another. Kept out of the way of all the polls that change no level.
    #[inline(never)]
    fn passed(&mut self, from: u32, to: u32) {
        self.sizes.passed(from, to);
        self.learn();
    }

    /// Computes the ranks again if it is time.
    fn learn(&mut self) {
        if self.sizes.takes_a_look() {
            self.ranks = self.sizes.ranks(self.ledger.end_of_levels());
        }
    }

    /// Pops, on a fair turn or in order. There must be a task.
    #[inline]
    fn pop_by(&mut self, fair: bool) -> Option<TaskId> {
        loop {
            let ring = if fair { self.waiting.next_in_turn() } else { self.next_ring() };
            let task = if fair { self.waiting.take_fairly(ring)? } else { self.waiting.take(ring)? };
            if self.ranks.first(self.ledger.ring(task.group)) <= ring {
                self.waiting.set_popped(task.id, ring, fair);
                return Some(task.id);
            }
            let right = self.ledger.ring_of_comer(task.group);
            self.waiting.push_back(&self.ranks, right, task);
        }
    }

    /// The lowest ring, after the elders have begun a round if none but they have work, and their round is over.
    #[inline]
    fn next_ring(&mut self) -> u32 {
        match self.waiting.lowest() {
            BACK if self.ledger.has_elders() => self.begin_round(),
            lowest => lowest,
        }
    }

    #[cold]
    #[inline(never)]
    fn begin_round(&mut self) -> u32 {
        self.ledger.begin_round();
        self.waiting.begin_round();
        FRONT
    }

    /// Does what is due at this pop, and says whether it is a fair turn.
    #[cold]
    #[inline(never)]
    fn settle(&mut self) -> bool {
        let due = self.ledger.settle();
        if due.halving {
            self.waiting.halve(&self.ranks, self.ledger.end_of_levels());
        }
        due.fair
    }
}

impl Default for Serpt {
    fn default() -> Self {
        Self::new()
    }
}

impl Scheduler for Serpt {
    #[inline]
    fn push(&mut self, task: Task, why: Ready) {
        let right = self.ledger.ring_of_comer(task.group);
        self.waiting.push(&self.ranks, right, task, why);
    }

    #[inline]
    fn pop(&mut self) -> Option<TaskId> {
        if self.waiting.is_empty() {
            return None;
        }
        let fair = self.ledger.are_due() && self.settle();
        self.pop_by(fair)
    }

    #[inline]
    fn push_pop(&mut self, task: Task) -> Option<TaskId> {
        let due = self.ledger.are_due();
        // Its group was served since the last halving. Elders' rings are no levels, so they do not go on here.
        if !due
            && self.waiting.goes_on_at_once(&self.ranks, self.ledger.level_if_current(task.group), task.id)
        {
            return Some(task.id);
        }
        self.push(task, Ready::Yielded);
        let fair = due && self.settle();
        self.pop_by(fair)
    }

    #[inline]
    fn peek(&self, ahead: usize) -> Option<TaskId> {
        self.waiting.peek(ahead)
    }

    /// By the bound on waiting ([Starvation](Serpt#starvation)), for a task that is moved through all levels. `None`
    /// without fair turns.
    fn patience(&self, tasks: usize) -> Option<u64> {
        let places = (tasks as u64).saturating_add(1);
        self.ledger.fair_turns().patience(places.saturating_mul(64 * 64))
    }

    #[inline]
    fn served(&mut self, task: Task, service_ns: u64) {
        let (before, after) = self.ledger.served(task.group, service_ns);
        let levels = self.sizes.levels();
        let (from, to) = (levels.of(before), levels.of(after));
        if from != to {
            self.passed(from, to);
        }
    }

    fn group_opened(&mut self, group: GroupId, key: u64, _attributes: &Attributes) {
        self.ledger.opened(group, key);
    }

    fn group_closed(&mut self, group: GroupId) {
        // One that received nothing has no size.
        if let Some(size) = self.ledger.closed(group) {
            self.sizes.ended(size);
            self.learn();
        }
    }
}

impl fmt::Debug for Serpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serpt")
            .field("base_ns", &self.base_ns())
            .field("ready_by_level", &self.waiting.counts())
            .field("half_life_ns", &self.half_life_ns())
            .field("fair_turns", self.ledger.fair_turns())
            .finish_non_exhaustive()
    }
}
