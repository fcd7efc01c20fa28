//! [`Las`]: least attained service first.

use super::buckets::BUCKETS;
use super::rank::Rank;
use super::{ByAttained, policy_by_attained};

/// log2 of the default resolution: 1,024 ns.
const DEFAULT_RESOLUTION_BITS: u32 = 10;

/// The group that has received the least service goes first, also called foreground-background (FB).
///
/// It needs no sizes in advance, yet favours short work: a new request goes before all that have run for longer.
/// Among policies that know no sizes it minimises the mean response time where the longer a task has run, the longer it
/// is likely to go on (a decreasing hazard rate): Righter and Shanthikumar, *Scheduling multiclass single server queueing
/// systems to stochastically maximize the number of successful departures*, 1989; Nuyens and Wierman, *The
/// foreground-background queue: a survey*, Performance Evaluation 65, 2008. Where that does not hold, as when sizes are
/// of two kinds, groups of equal service take turns and all finish late: [`Qlas`](crate::Qlas) does better there.
///
/// Service is attained by the *group*, over all its tasks, so a tenant with many tasks is one competitor. A task spawned
/// without a group is its own.
///
/// # Order
///
/// Least attained service of the group first, to within a resolution: 1,024 ns
/// ([`with_resolution_ns`](Las::with_resolution_ns)) or 1/64 of what was attained, whichever is more. Attained service is
/// counted to the nanosecond, and groups are ordered by the *bucket* it falls into. A bucket is one resolution wide below
/// 128 resolutions; from there on each power of two has 64 of equal width. A clock could not tell more apart: each poll
/// adds an error of some ten nanoseconds to what its group has attained.
///
/// Groups in the same bucket take turns. A group with one ready task goes on while that task yields, so that polls of some ten
/// nanoseconds do not change group every time: until it has had one resolution of service or 16 polls, has left its bucket, or another
/// has less, or a half-life ends. Then it goes to the tail of its bucket. To the tail goes also a group
///
/// - when the first of its tasks becomes ready in another way;
/// - when a task of it was popped and others are ready;
/// - when the service of that poll takes it to another bucket while others are ready.
///
/// A fair turn is one poll. It interrupts the turn of another group, which then goes on with what is left.
///
/// Inside a group, the order of becoming ready.
///
/// When attained service is halved, buckets move down as they are, and with them the groups that wait.
///
/// # Forgetting
///
/// Half of what a group has attained is forgotten with each *half-life*: a second of the queue's service
/// ([`with_half_life_ns`](Las::with_half_life_ns)). It is service and not time, so an idle queue forgets nothing. A second is long
/// beside requests, whose order it hardly changes, and short beside a tenant's patience: a newcomer catches up in one half-life with a
/// tenant that has worked alone for however long. From the second on, two groups that always have work get equal service: in any
/// stretch of *t* half-lives it differs by (*t*/2 + 5/2)·(1/64 half-life + *S*) at most, with polls of at most *S*. So each gets 50 % ± 1.
///
/// A group that closes is remembered by its key, for as long as what it had matters. When it is opened again it has what is left of that.
/// Groups that had more than 1/1,024 of a half-life, of which there are 2,048 at most, and some 4,000 that closed last: memory
/// does not grow with the number of tenants that ever were. A task without a group is new each time.
///
/// A poll that is longer than a half-life ends one only.
/// [`without_half_life`](Las::without_half_life) groups keep what they have attained until they close, and are new when they come back.
///
/// # Cost
///
/// O(1): the lowest bucket in use takes two `trailing_zeros`. (A fair turn looks the next group up in a bitmap, and reads
/// at worst a word for each 4,096 group indices.) Nothing is hashed or allocated by polls once the tables have grown:
/// 32 bytes for each group, 8 for each task of a group that has several ready, and at most 8 for each of 3,136 buckets (3,776 at the finest resolution).
/// A queue that has drained gives back what a burst took: more than 65,536 tasks, and twice as many groups as that or as the last that has
/// attained something.
///
/// The end of a half-life takes some ten nanoseconds for each bucket in use, whatever the number of groups: a group goes through the
/// halvings that it missed when it is next looked at. To open or close a group with a key takes O(log n) of the groups that are remembered.
///
/// # Starvation
///
/// A group that has run for long would starve under a stream of new ones, and a server task that never ends is sure
/// to. So one part in *N* of the time goes to *fair turns* ([`FairTurns`](crate::FairTurns); *N* is 32 unless set): each goes to the
/// next group that has ready tasks, in the order of group indices, round and round.
///
/// A ready task with *k* tasks before it in its group is popped within G·(k + 1) fair turns, where *G* counts the group
/// indices that have ready tasks at any time meanwhile: *G* fair turns pass each of these groups once. Of polls that
/// take equally long these are N·G·(k + 1). Else it takes N·(G·(k + 1) + 1)·(*S* + 256 ns) of service at most, with polls of
/// at most *S*, of which each counts 256 ns more; and 2¹⁸·N·(G·(k + 1) + 1) polls, if they take no time.
///
/// ```
/// use clockworker_schedulers::{GroupId, Las, Ready, Scheduler, Served, Task, TaskId};
///
/// let task = |slot| Task { id: TaskId::new(slot, 0), group: GroupId::new(slot) };
/// let mut las = Las::new();
/// las.push(task(0), Ready::Spawned);
/// las.push(task(1), Ready::Spawned);
/// assert_eq!(las.pop(), Some(task(0).id));
/// las.served(Served::Task { task: task(0), polls: 1, ns: 5_000 }, 0);
/// las.push(task(0), Ready::Yielded);
/// assert_eq!(las.pop(), Some(task(1).id)); // it has received nothing yet
/// las.served(Served::Task { task: task(1), polls: 1, ns: 3_000 }, 0);
/// las.push(task(1), Ready::Yielded);
/// assert_eq!(las.pop(), Some(task(1).id)); // 3 µs against 5
/// ```
#[derive(Clone)]
pub struct Las(ByAttained<Resolution>);

impl Las {
    /// Makes an empty one with a resolution of 1,024 ns, a half-life of 1 s, and 1/32 of the time for fair turns.
    pub const fn new() -> Self {
        Self(ByAttained::new(Resolution { bits: DEFAULT_RESOLUTION_BITS }))
    }

    /// Sets the resolution (see [Order](Las#order)) in nanoseconds: rounded down to a power of two, and up to 1.
    ///
    /// Coarser means fewer changes of turn between groups that run side by side. Finer than the clock means to go by its
    /// errors.
    #[must_use]
    pub fn with_resolution_ns(self, ns: u64) -> Self {
        Self(self.0.with_rank(Resolution { bits: ns.max(1).ilog2() }))
    }

    /// The resolution in nanoseconds: how finely groups that have attained less than 128 times as much are told apart.
    pub const fn resolution_ns(&self) -> u64 {
        1 << self.0.rank.bits
    }
}

policy_by_attained!(Las, resolution_ns);

/// How wide buckets of attained service are.
///
/// Log-linear, as in an HDR histogram: by the seven leading bits in units of the resolution, which makes one bucket for each unit below
/// 128, and 64 for each power of two from there on.
#[derive(Clone, Copy)]
pub(super) struct Resolution {
    /// log2 of it.
    pub(super) bits: u32,
}

const _: () = assert!(Resolution { bits: 0 }.of(u64::MAX) < BUCKETS);

// A bucket ends where the next begins.
const _: () = {
    let (finest, mut number) = (Resolution { bits: 0 }, 0);
    while number < finest.of(u64::MAX) {
        let end = finest.end_of(number);
        assert!(finest.of(end - 1) == number && finest.of(end) == number + 1);
        number += 1;
    }
    assert!(finest.end_of(number) == u64::MAX);
};

impl Resolution {
    #[inline]
    const fn of(self, ns: u64) -> u32 {
        let units = ns >> self.bits;
        let dropped = (units | 64).ilog2() - 6;
        64 * dropped + (units >> dropped) as u32
    }

    #[inline]
    const fn end_of(self, bucket: u32) -> u64 {
        let dropped = (bucket / 64).saturating_sub(1);
        let (units, shift) = ((bucket - 64 * dropped + 1) as u64, dropped + self.bits);
        if units.leading_zeros() < shift { u64::MAX } else { units << shift }
    }
}

impl Rank for Resolution {
    const TAKES_TURNS: bool = true;

    #[inline]
    fn bucket(&self, ns: u64) -> u32 {
        self.of(ns)
    }

    #[inline]
    fn end_ns(&self, bucket: u32) -> u64 {
        self.end_of(bucket)
    }

    #[inline]
    fn turn_ns(&self) -> u64 {
        1 << self.bits
    }

    fn halved(&self, bucket: u32) -> u32 {
        if bucket < 128 { bucket / 2 } else { bucket - 64 }
    }
}
