//! [`Qlas`]: least attained service in powers of two.

use super::half_life::HalfLife;
use super::levels::{Levels, OF_A_LEVEL};
use super::rank::Rank;
use super::{ByAttained, policy_by_attained};
use crate::GroupId;

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
/// - a group whose first task becomes ready, as it was spawned or woken, goes to the tail;
/// - a group goes on until it leaves its level, then to the tail of the next: it is the first as long as tasks of it are ready, and
///   where they yield. A group in a lower level interrupts it.
///
/// Inside a group, the order of becoming ready: its tasks take turns with each other, poll by poll.
///
/// Levels from 1/16 of the half-life on are in 64 parts of equal width, each of which is a level of its own: groups that have attained so
/// much go by attained service itself, as under [`Las`](crate::Las).
///
/// When attained service is halved each level becomes the one below it, with the groups that wait there, and level 1 goes behind level 0.
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
/// O(1), whatever the number of tasks: what moves is their group, once per level. Memory is as under [`Las`](crate::Las#cost), and so is a
/// fair turn, for up to sixteen groups. The end of a half-life takes some ten nanoseconds for each level in use. To open or close a group
/// with a key takes O(log n) of the groups that are remembered.
///
/// # Starvation
///
/// One part in *N* of the time goes to *fair turns* ([`FairTurns`](crate::FairTurns); *N* is 32 unless set): each goes to the first group of
/// the next non-empty level, round and round, for a poll. Then it goes to the tail of its level, so the groups inside
/// a level take turns too. Levels that are told apart in parts count as one: there a fair turn goes to the next group by index. (Sixteen
/// groups are looked at. If none of them is in these levels, it goes to the one that has attained least.)
///
/// A ready task with *k* tasks before it in its group, and *p* groups before that in its level, is popped within M·(p + 1 + k·P) fair
/// turns, where *M* ≤ 64 counts the levels that have groups at any time meanwhile, and *P* is the most groups in its level: each round of
/// *M* fair turns takes one of the *p* away for good. In levels that are told apart in parts it is M·G·(k + 1), with *G* groups that have
/// ready tasks. Of polls that take equally long these are N times as many. Of *m* fair turns it takes
/// N·(m + 1)·(*S* + 256 ns) of service at most, with polls of at most *S*, of which each counts 256 ns more; and 2¹⁸·N·(m + 1) polls, if
/// they take no time. A group that comes to another level counts those that are there; it has had a poll then. A level that comes down
/// counts its groups with those that it joins.
///
/// ```
/// use clockworker_schedulers::{GroupId, Qlas, Ready, Scheduler, Served, Task, TaskId};
///
/// let task = |slot| Task { id: TaskId::new(slot, 0), group: GroupId::new(slot) };
/// let mut qlas = Qlas::new();
/// qlas.push(task(0), Ready::Spawned);
/// qlas.push(task(1), Ready::Spawned);
/// assert_eq!(qlas.pop(), Some(task(0).id));
/// qlas.served(Served::Task { task: task(0), polls: 1, ns: 10_000 }, 0);
/// qlas.push(task(0), Ready::Yielded);
/// assert_eq!(qlas.pop(), Some(task(0).id)); // still in level 0, so it goes on
/// qlas.served(Served::Task { task: task(0), polls: 1, ns: 10_000 }, 0);
/// qlas.push(task(0), Ready::Yielded);
/// assert_eq!(qlas.pop(), Some(task(1).id)); // 20 µs: level 1
/// ```
#[derive(Clone)]
pub struct Qlas(ByAttained<Levels>);

impl Qlas {
    /// Makes an empty one with a base of 16,384 ns, a half-life of 1 s, and 1/32 of the time for fair turns.
    pub const fn new() -> Self {
        Self(ByAttained::new(Levels::DEFAULT))
    }

    /// Sets the base, the attained service at which level 0 ends, in nanoseconds: rounded down to a power of two, and up
    /// to 2.
    ///
    /// A good base is somewhat above what the short requests need, so that they never leave level 0.
    #[must_use]
    pub fn with_base_ns(self, ns: u64) -> Self {
        Self(self.0.with_rank(Levels::with_base_ns(ns)))
    }

    /// The end of level 0, in nanoseconds of attained service.
    pub const fn base_ns(&self) -> u64 {
        self.0.rank.base_ns()
    }

    /// The level that `group` is in: 0 below the base, then one more per doubling.
    #[inline]
    pub fn level(&self, group: GroupId) -> u32 {
        self.0.rank.of(self.attained_ns(group))
    }
}

policy_by_attained!(Qlas, base_ns);

impl Rank for Levels {
    #[inline]
    fn bucket(&self, ns: u64) -> u32 {
        Levels::bucket(*self, ns)
    }

    #[inline]
    fn end_ns(&self, bucket: u32) -> u64 {
        Levels::end_ns(*self, bucket)
    }

    fn halved(&self, bucket: u32) -> u32 {
        Levels::halved(*self, bucket)
    }

    fn finely_from(&self) -> u32 {
        OF_A_LEVEL * Levels::finely_from(*self)
    }

    fn set_half_life(&mut self, half_life: &HalfLife) {
        *self = self.for_half_life(half_life);
    }
}
