//! [`Serpt`]: shortest expected remaining time, by what was learnt from those that ended.

mod ranks;
mod sizes;

use core::num::NonZeroU32;

use crate::GroupId;
use crate::policies::by_attained::half_life::HalfLife;
use crate::policies::by_attained::levels::{Levels, OF_A_LEVEL};
use crate::policies::by_attained::rank::Rank;
use crate::policies::by_attained::{ByAttained, policy_by_attained};
use ranks::Ranks;
use sizes::Sizes;

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
/// Lower ranks go first. Inside a rank, as inside a level of [`Qlas`](crate::Qlas#order): a group whose first task is spawned or woken goes to
/// the tail, and one goes on until it crosses into another rank, then to the tail of that.
///
/// Where ranks become equal, those that wait are joined in the order of the ranks that they had, and those that come afterwards wait behind
/// them. Where a rank is parted, groups are moved to the tail of the right one when their turn comes, instead of being popped.
/// (After 64 of them in one pop the next is popped all the same.) One that waits too far behind, as what it had
/// attained was halved, stays where it is.
///
/// Levels from 1/16 of the half-life on are never equal. Each is in 64 parts, so groups that have attained so much are
/// behind all others, and go by attained service itself, as under [`Las`](crate::Las). When attained service is halved, a level that stands
/// alone becomes the one below it, with the groups that wait there; groups of levels of equal rank stay where they are.
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
/// O(1), and nothing allocated by polls once the tables have grown; what moves is a group, whatever the number of its tasks. Memory is as
/// under [`Las`](crate::Las#cost). A pop moves 64 groups at most, after ranks have changed, which takes a microsecond or two. The end of a
/// half-life takes some ten nanoseconds for each level in use. To open or close a group with a key takes O(log n) of the groups that are
/// remembered. A group's exit of a level costs a few additions, every 64th exit about a microsecond: a division for each level in use.
///
/// # Starvation
///
/// One part in *N* of the time goes to *fair turns* ([`FairTurns`](crate::FairTurns); *N* is 32 unless set): they go round the ranks
/// in which groups wait, and to the first of each. But one that goes on there, and was polled since the last fair
/// turn there, keeps the front: the fair turn goes to the next behind it. (Otherwise long ones would change turns all
/// the time, and end late.) After its poll the group goes to the tail.
///
/// The bounds are those of [`Qlas`](crate::Qlas#starvation), with ranks for levels and one group more before it: M·(p + 2 + k·(P + 1))
/// fair turns. Levels that are told apart in parts are as there.
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
/// - A group that is kept open ([`Gone::Group`](crate::Gone::Group) is not told) never ends, however often it
///   has nothing to do: it sinks, as in QLAS, and teaches nothing but that.
/// - Sizes beyond 1/16 of the half-life are not learnt. Where they are to be, set a longer one.
///
/// ```
/// use clockworker_schedulers::{Gone, GroupId, Ready, Scheduler, Serpt, Served, Task, TaskId};
///
/// let task = |slot| Task { id: TaskId::new(slot, 0), group: GroupId::new(slot) };
/// let mut serpt = Serpt::new();
/// for n in 0..100 {
///     // Most take 10 µs; one in ten takes 10 ms.
///     serpt.served(Served::Task { task: task(0), polls: 1, ns: if n % 10 == 0 { 10_000_000 } else { 10_000 } }, 0);
///     serpt.gone(Gone::Group(task(0).group));
/// }
/// // One that has run for 20 µs is a long one, and has nearly all before it.
/// assert!(serpt.expected_at(20_000) > 9_000_000);
/// // At 5 ms it is of the same rank, so it goes on until it ends.
/// assert_eq!(serpt.rank_at(5_000_000), serpt.rank_at(20_000));
/// // One that has just begun is most likely short, and goes first.
/// assert!(serpt.rank_at(0) < serpt.rank_at(20_000));
/// ```
#[derive(Clone)]
pub struct Serpt(ByAttained<Expected>);

impl Serpt {
    /// Makes an empty one with a base of 16,384 ns, a memory of 1,024 exits, a half-life of 1 s, and 1/32 of the time for fair
    /// turns.
    pub fn new() -> Self {
        Self(ByAttained::new(Expected::new()))
    }

    /// Sets the base, the attained service at which level 0 ends, in nanoseconds: rounded down to a power of two, and up
    /// to 2. Forgets what was learnt until now.
    ///
    /// Sizes are told apart from the base on. A low one costs an exit more per halving for each group, and a group that
    /// moves on at each.
    #[must_use]
    pub fn with_base_ns(self, ns: u64) -> Self {
        let sizes = self.0.rank.sizes.with_levels(Levels::with_base_ns(ns));
        Self(self.0.with_rank(Expected::of(sizes)))
    }

    /// Remembers at most the last `exits` of each level, and at least half as many; 1,024 unless set, and not below 16.
    /// Forgets what was learnt until now.
    ///
    /// A longer memory gives better estimates, a shorter one follows changes sooner.
    #[must_use]
    pub fn with_memory(self, exits: NonZeroU32) -> Self {
        let sizes = self.0.rank.sizes.with_memory(exits.get());
        Self(self.0.with_rank(Expected::of(sizes)))
    }

    /// The end of level 0, in nanoseconds of attained service.
    pub const fn base_ns(&self) -> u64 {
        self.0.rank.sizes.levels().base_ns()
    }

    /// The level that `group` is in: 0 below the base, then one more per doubling.
    #[inline]
    pub fn level(&self, group: GroupId) -> u32 {
        self.level_at(self.attained_ns(group))
    }

    /// The rank of a group that has attained `ns`: the lowest of the levels that count as equal to its own. Lower ranks go
    /// first.
    pub fn rank_at(&self, ns: u64) -> u32 {
        self.0.rank.ranks.first(self.level_at(ns))
    }

    /// What a group that has attained `ns` is ranked by: the mean service, in nanoseconds, that groups were to receive yet
    /// when they came to its level, or to a lower level if that is more. As of the last look, 64 exits ago at most.
    ///
    /// Where nobody left a level, it is as much again as they had attained.
    pub fn expected_at(&self, ns: u64) -> u64 {
        self.0.rank.ranks.expected_ns(self.level_at(ns))
    }

    fn level_at(&self, ns: u64) -> u32 {
        self.0.rank.sizes.levels().of(ns)
    }
}

policy_by_attained!(Serpt, base_ns);

/// What is known of sizes, and the order of the levels that follows.
#[derive(Clone)]
pub(super) struct Expected {
    sizes: Sizes,
    ranks: Ranks,
}

impl Expected {
    /// Nothing is known.
    pub(super) fn new() -> Self {
        Self::of(Sizes::new())
    }

    fn of(sizes: Sizes) -> Self {
        Self { ranks: sizes.ranks(), sizes }
    }

    /// The bucket of a level that is not told apart finely: the first of its rank.
    #[inline]
    fn of_level(&self, level: u32) -> u32 {
        OF_A_LEVEL * self.ranks.first(level)
    }

    /// Computes the ranks again if it is time, and says whether they changed.
    fn learn(&mut self) -> bool {
        if !self.sizes.takes_a_look() {
            return false;
        }
        let before = core::mem::replace(&mut self.ranks, self.sizes.ranks());
        !self.ranks.are_equal_as(&before)
    }

    /// Kept out of the way of all the polls that change no level.
    #[inline(never)]
    fn passed(&mut self, from: u32, to: u32) -> bool {
        self.sizes.passed(from, to);
        self.learn()
    }
}

impl Rank for Expected {
    const LEARNS: bool = true;

    #[inline]
    fn bucket(&self, ns: u64) -> u32 {
        let (levels, level) = (self.sizes.levels(), self.sizes.levels().of(ns));
        if level < levels.finely_from() { self.of_level(level) } else { levels.fine_bucket(level, ns) }
    }

    fn end_ns(&self, bucket: u32) -> u64 {
        let levels = self.sizes.levels();
        let last = match bucket / OF_A_LEVEL {
            level if level < levels.finely_from() => OF_A_LEVEL * self.ranks.last(level),
            _ => bucket,
        };
        levels.end_ns(last)
    }

    fn halved(&self, bucket: u32) -> u32 {
        let (levels, level) = (self.sizes.levels(), bucket / OF_A_LEVEL);
        let below = levels.halved(bucket);
        match below / OF_A_LEVEL {
            target if target >= levels.finely_from() => below,
            target if self.ranks.stands_alone(level) => self.of_level(target),
            _ => self.of_level(level),
        }
    }

    fn finely_from(&self) -> u32 {
        OF_A_LEVEL * self.sizes.levels().finely_from()
    }

    fn set_half_life(&mut self, half_life: &HalfLife) {
        self.sizes.set_half_life(half_life);
        self.ranks = self.sizes.ranks();
    }

    #[inline]
    fn went_on(&mut self, from_ns: u64, to_ns: u64) -> bool {
        let levels = self.sizes.levels();
        let (from, to) = (levels.of(from_ns), levels.of(to_ns));
        from != to && self.passed(from, to)
    }

    fn ended(&mut self, ns: u64) -> bool {
        self.sizes.ended(ns);
        self.learn()
    }

    fn joined(&self, bucket: u32) -> u32 {
        let level = bucket / OF_A_LEVEL;
        if level < self.sizes.levels().finely_from() { self.of_level(level) } else { bucket }
    }
}
