//! [`Las`]: least attained service first.

mod turn;
mod width;

use core::fmt;

use crate::parts::attained::Attained;
use crate::parts::bitmap::Bitmap;
use crate::parts::buckets::{BUCKETS, Buckets};
use crate::parts::half_life::HalfLife;
use crate::parts::occasions::Occasions;
use crate::parts::remembered::Remembered;
use crate::parts::task_lists::{TaskList, TaskLists};
use crate::{Attributes, FairTurns, GroupId, Ready, Scheduler, Task, TaskId};
use turn::Turn;
use width::bucket;

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
/// beside requests, whose order it hardly changes, and short beside a tenant's patience: a newcomer catches up in one half-life with
/// whoever has worked alone for however long. From the second on, two groups that always have work get equal service: in any
/// stretch of *t* half-lives it differs by (*t* + 1)·(1/64 half-life + *S*) at most, with polls of at most *S*. So each gets 50 % ± 1.
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
/// The end of a half-life takes a few microseconds, whatever the number of groups: a group goes through the halvings that it missed
/// when it is next looked at. To open or close a group with a key takes O(log n) of the groups that are remembered.
///
/// # Starvation
///
/// A group that has run for long would starve under a stream of new ones, and a server task that never ends is sure
/// to. So one part in *N* of the time goes to *fair turns* ([`FairTurns`]; *N* is 32 unless set): each goes to the
/// next group that has ready tasks, in the order of group indices, round and round.
///
/// A ready task with *k* tasks before it in its group is popped within G·(k + 1) fair turns, where *G* counts the group
/// indices that have ready tasks at any time meanwhile: *G* fair turns pass each of these groups once. Of polls that
/// take equally long these are N·G·(k + 1). Else it takes N·(G·(k + 1) + 1)·(*S* + 256 ns) of service at most, with polls of
/// at most *S*, of which each counts 256 ns more; and 2¹⁸·N·(G·(k + 1) + 1) polls, if they take no time.
///
/// ```
/// use clockworker_schedulers::{GroupId, Las, Ready, Scheduler, Task, TaskId};
///
/// let task = |slot| Task { id: TaskId::new(slot, 0), group: GroupId::new(slot) };
/// let mut las = Las::new();
/// las.push(task(0), Ready::Spawned);
/// las.push(task(1), Ready::Spawned);
/// assert_eq!(las.pop(), Some(task(0).id));
/// las.served(task(0), 5_000);
/// las.push(task(0), Ready::Yielded);
/// assert_eq!(las.pop(), Some(task(1).id)); // it has received nothing yet
/// las.served(task(1), 3_000);
/// las.push(task(1), Ready::Yielded);
/// assert_eq!(las.pop(), Some(task(1).id)); // 3 µs against 5
/// ```
#[derive(Clone)]
pub struct Las {
    /// The groups, each with its ready tasks; those that have some are in the bucket of their attained service.
    groups: Buckets<TaskList>,
    tasks: TaskLists,
    /// log2 of the resolution.
    resolution_bits: u32,
    /// The groups that have ready tasks, for finding the next by index; and `emptied`.
    inside: Bitmap,
    /// The group popped from last, where that left it without ready tasks: `inside` forgets it at the next pop, unless
    /// it has some again by then, as it has if the task yielded.
    emptied: Option<u32>,
    turn: Turn,
    /// The group that the last fair turn went to.
    cursor: u32,
    remembered: Remembered,
    occasions: Occasions,
    ready: usize,
}

impl Las {
    /// Makes an empty one with a resolution of 1,024 ns, a half-life of 1 s, and 1/32 of the time for fair turns.
    pub const fn new() -> Self {
        Self {
            groups: Buckets::new(),
            tasks: TaskLists::new(),
            resolution_bits: DEFAULT_RESOLUTION_BITS,
            inside: Bitmap::new(),
            emptied: None,
            turn: Turn::NONE,
            cursor: 0,
            remembered: Remembered::new(),
            occasions: Occasions::new(FairTurns::DEFAULT, HalfLife::DEFAULT),
            ready: 0,
        }
    }

    /// Sets the resolution (see [Order](Las#order)) in nanoseconds: rounded down to a power of two, and up to 1.
    ///
    /// Coarser means fewer changes of turn between groups that run side by side. Finer than the clock means to go by its
    /// errors.
    #[must_use]
    pub fn with_resolution_ns(self, ns: u64) -> Self {
        Self { resolution_bits: ns.max(1).ilog2(), ..self }
    }

    /// The resolution in nanoseconds: how finely groups that have attained less than 128 times as much are told apart.
    pub const fn resolution_ns(&self) -> u64 {
        1 << self.resolution_bits
    }

    /// Sets the part of the time that fair turns have. With [`FairTurns::NEVER`] the order is strictly that of attained
    /// service, and old groups starve under a stream of new ones.
    #[must_use]
    pub fn with_fair_turns(self, fair_turns: FairTurns) -> Self {
        Self { occasions: self.occasions.with_fair_turns(fair_turns), ..self }
    }

    /// Sets the half-life of what groups have attained ([Forgetting](Las#forgetting)), in nanoseconds of the queue's service: from
    /// 2²⁰ (1 ms) to 2⁶⁰, and rounded to these.
    #[must_use]
    pub fn with_half_life_ns(self, ns: u64) -> Self {
        Self { occasions: self.occasions.with_half_life(HalfLife::of_ns(ns)), ..self }
    }

    /// Lets groups keep what they have attained for as long as they are open, and forgets them when they close.
    #[must_use]
    pub fn without_half_life(self) -> Self {
        Self { occasions: self.occasions.with_half_life(HalfLife::NEVER), ..self }
    }

    /// The half-life of what groups have attained, in nanoseconds of the queue's service; `None` if they keep it.
    pub const fn half_life_ns(&self) -> Option<u64> {
        self.occasions.half_life().ns()
    }

    /// The service that `group` has attained and that is not forgotten, in nanoseconds. Exact, whatever the resolution.
    pub fn attained_ns(&self, group: GroupId) -> u64 {
        self.groups.attained_ns(group.index() as u32)
    }

    /// Puts a group that has ready tasks and is in no bucket at the tail of its own.
    #[inline(always)]
    fn link(&mut self, index: u32, attained_ns: u64) {
        self.groups.push_back(bucket(attained_ns, self.resolution_bits), index);
    }

    /// Puts a group that has ready tasks and is in no bucket at the head of its own if it has its turn, else at the tail.
    #[inline(always)]
    fn put(&mut self, index: u32, bucket: u32, has_turn: bool) {
        if has_turn {
            self.groups.push_front(bucket, index);
            self.turn.waits = true;
        } else {
            self.groups.push_back(bucket, index);
        }
    }

    /// Moves a group from bucket `old` to that of what it has attained, if it is another.
    fn follow(&mut self, index: u32, attained_ns: u64, old: u32) {
        if old != bucket(attained_ns, self.resolution_bits) {
            self.groups.unlink(index);
            self.link(index, attained_ns);
        }
    }

    /// Sets what a group has attained.
    fn set_attained(&mut self, group: GroupId, ns: u64) {
        let index = group.index() as u32;
        if self.turn.group == index {
            self.end_turn();
        }
        let group = self.groups.get_mut(index);
        group.set_attained(ns);
        if let Some(old) = group.bucket() {
            self.follow(index, ns, old);
        }
    }

    /// Does what is due at this pop, and says whether it is a fair turn.
    #[cold]
    #[inline(never)]
    fn settle(&mut self) -> bool {
        let due = self.occasions.settle();
        if due.halving {
            self.end_turn();
            self.groups.halve();
        }
        due.fair
    }

    /// Takes the first task off the list of a group that was taken out of its bucket: this one if that was in order. Puts the group
    /// at the tail if there are more tasks, else it has its turn.
    #[inline(always)]
    fn take_from(&mut self, index: u32, in_order: Option<u32>) -> Option<TaskId> {
        let group = self.groups.get_mut(index);
        let attained_ns = group.attained_ns();
        let task = self.tasks.pop_front(group)?;
        if group.is_empty() {
            self.emptied = Some(index);
            if let Some(bucket) = in_order {
                self.take_turn(index, (bucket, attained_ns));
            }
        } else {
            self.link(index, attained_ns);
        }
        Some(task)
    }

    /// Takes the first group out of a bucket that is not empty, which ends the turn of any other.
    #[inline(always)]
    fn next_in_order(&mut self, bucket: u32) -> Option<u32> {
        let index = self.groups.pop_first(bucket)?;
        self.end_turn_but_of(index);
        Some(index)
    }

    /// Counts a poll of the turn of a group, which begins if it does not last.
    #[inline]
    fn take_turn(&mut self, group: u32, (bucket, attained_ns): (u32, u64)) {
        if !self.turn.lasts(group, attained_ns) {
            self.turn = Turn::new(group, (bucket, attained_ns), self.resolution_bits);
        }
        self.turn.count_poll();
    }

    /// Ends the turn of any group but this, which waits no more.
    #[inline]
    fn end_turn_but_of(&mut self, group: u32) {
        if self.turn.group != group {
            self.end_turn();
        }
        self.turn.waits = false;
    }

    /// Ends the turn under way: a group that waits for its rest goes to the tail.
    #[inline]
    fn end_turn(&mut self) {
        let Turn { group, waits, .. } = core::mem::replace(&mut self.turn, Turn::NONE);
        if waits {
            self.go_to_tail(group);
        }
    }

    #[cold]
    #[inline(never)]
    fn go_to_tail(&mut self, group: u32) {
        self.groups.unlink(group);
        let attained_ns = self.groups.get_mut(group).attained_ns();
        self.link(group, attained_ns);
    }

    /// Pops from the first group of the lowest bucket, or on a fair turn from the next by index.
    #[inline]
    fn pop_by(&mut self, fair: bool) -> Option<TaskId> {
        if let Some(index) = self.emptied.take() {
            self.inside.clear(index);
        }
        let lowest = self.groups.lowest()?;
        self.ready = self.ready.saturating_sub(1);
        match fair {
            true => self.next_in_turn().and_then(|index| self.take_from(index, None)),
            false => self.next_in_order(lowest).and_then(|index| self.take_from(index, Some(lowest))),
        }
    }

    /// Takes the group out of its bucket that a fair turn goes to. There is one.
    #[cold]
    #[inline(never)]
    fn next_in_turn(&mut self) -> Option<u32> {
        self.cursor = self.inside.next_after(self.cursor)?;
        self.groups.unlink(self.cursor);
        if self.turn.group == self.cursor {
            self.turn = Turn::NONE;
        }
        Some(self.cursor)
    }

    /// Swaps the task popped last, the only one of its group, for the next: `push` and `pop`, less what cancels out.
    #[inline]
    fn swap(&mut self, task: Task, index: u32) -> Option<TaskId> {
        let lowest = self.groups.lowest().unwrap_or(BUCKETS);
        let attained_ns = self.groups.get_mut(index).attained_ns();
        let has_turn = self.turn.lasts(index, attained_ns);
        if has_turn && lowest >= self.turn.bucket {
            self.turn.count_poll();
            return Some(task.id); // it goes on
        }
        let bucket = bucket(attained_ns, self.resolution_bits);
        if lowest > bucket {
            self.end_turn_but_of(index);
            self.take_turn(index, (bucket, attained_ns));
            return Some(task.id);
        }
        **self.groups.get_mut(index) = TaskList::of(task.id);
        self.put(index, bucket, has_turn);
        self.emptied = None;
        let next = self.next_in_order(lowest)?;
        self.take_from(next, Some(lowest))
    }
}

impl Default for Las {
    fn default() -> Self {
        Self::new()
    }
}

impl Scheduler for Las {
    #[inline]
    fn push(&mut self, task: Task, why: Ready) {
        let index = task.group.index() as u32;
        self.ready += 1;
        let group = self.groups.get_mut(index);
        let was_empty = group.is_empty();
        self.tasks.push_back(group, task.id);
        if !was_empty {
            return; // the group is in its bucket for an earlier task
        }
        let attained_ns = group.attained_ns();
        let bucket = bucket(attained_ns, self.resolution_bits);
        let was_popped_last = self.emptied == Some(index);
        let has_turn = was_popped_last && self.turn.lasts(index, attained_ns);
        self.put(index, bucket, has_turn && why == Ready::Yielded);
        if was_popped_last {
            self.emptied = None;
        } else {
            self.inside.set(index);
        }
    }

    #[inline]
    fn pop(&mut self) -> Option<TaskId> {
        let fair = self.ready > 0 && self.occasions.are_due() && self.settle();
        self.pop_by(fair)
    }

    #[inline]
    fn push_pop(&mut self, task: Task) -> Option<TaskId> {
        let due = self.occasions.are_due();
        let index = task.group.index() as u32;
        if !due && self.emptied == Some(index) {
            return self.swap(task, index);
        }
        self.push(task, Ready::Yielded);
        let fair = due && self.settle();
        self.pop_by(fair)
    }

    #[inline]
    fn peek(&self, ahead: usize) -> Option<TaskId> {
        // The groups of the lowest bucket take turns, one task each. Right unless they have fewer tasks than that, go on, leave
        // the bucket, or a fair turn comes between.
        let (&tasks, rounds) = self.groups.behind_first(ahead)?;
        self.tasks.nth(tasks, rounds)
    }

    /// By the bound on waiting ([Starvation](Las#starvation)). `None` without fair turns.
    fn patience(&self, tasks: usize) -> Option<u64> {
        // At worst half of the tasks are in one group and the others in one each.
        let tasks = tasks as u64;
        self.occasions.fair_turns().patience(tasks.saturating_mul(tasks))
    }

    #[inline]
    fn served(&mut self, task: Task, service_ns: u64) {
        let index = task.group.index() as u32;
        self.occasions.served(service_ns);
        let group = self.groups.get_mut(index);
        group.add(service_ns);
        let attained_ns = group.attained_ns();
        if let Some(old) = group.bucket() {
            if self.turn.group == index {
                self.end_turn();
            }
            self.follow(index, attained_ns, old);
        }
    }

    fn group_opened(&mut self, group: GroupId, key: u64, _attributes: &Attributes) {
        let had = self.remembered.opened(group, key, self.occasions.half_life());
        self.set_attained(group, had.ns(self.occasions.halvings()));
    }

    fn group_closed(&mut self, group: GroupId) {
        if self.groups.get(group.index() as u32).is_none() {
            return;
        }
        let attained = Attained::new(self.attained_ns(group), self.occasions.halvings());
        self.remembered.closed(group, attained, self.occasions.half_life());
        self.set_attained(group, 0);
    }
}

impl fmt::Debug for Las {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Las")
            .field("resolution_ns", &self.resolution_ns())
            .field("ready", &self.ready)
            .field("half_life_ns", &self.half_life_ns())
            .field("fair_turns", self.occasions.fair_turns())
            .finish_non_exhaustive()
    }
}
