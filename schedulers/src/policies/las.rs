//! [`Las`]: least attained service first.

use core::fmt;

use crate::parts::attained::Attained;
use crate::parts::bitmap::Bitmap;
use crate::parts::buckets::{BUCKETS, Buckets};
use crate::{FairTurns, GroupId, Ready, Scheduler, Task, TaskId};

/// Says in a list that there is no next slot.
const END: u32 = u32::MAX;

/// log2 of the default resolution: 1,024 ns.
const DEFAULT_RESOLUTION_BITS: u32 = 10;

const _: () = assert!(bucket(u64::MAX, 0) < BUCKETS);

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
/// Groups in the same bucket take turns. To the tail of its bucket goes a group
///
/// - when the first of its tasks becomes ready;
/// - when a task of it was popped and others are ready;
/// - when the service of that poll takes it to another bucket while others are ready.
///
/// Inside a group, the order of becoming ready.
///
/// # Cost
///
/// O(1): the lowest bucket in use takes two `trailing_zeros`. (A fair turn looks the next group up in a bitmap, and reads
/// at worst a word for each 4,096 group indices.) Nothing is hashed, and nothing allocated once the tables have grown:
/// 32 bytes for each group, 8 for each task, and at most 8 for each of 3,136 buckets (3,776 at the finest resolution).
///
/// # Starvation
///
/// A group that has run for long would starve under a stream of new ones, and a server task that never ends is sure
/// to. So every Nth pop ([`FairTurns`]; *N* is 32 unless set) is a *fair turn*: it goes to the
/// next group that has ready tasks, in the order of group indices, round and round.
///
/// A ready task with *k* tasks before it in its group is popped within N·G·(k + 1) pops, where *G* counts the group
/// indices that have ready tasks at any time meanwhile: *G* fair turns pass each of these groups once.
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
    /// The groups; those that have ready tasks are in the bucket of their attained service.
    groups: Buckets<Group>,
    /// Links between the ready tasks of each group, by slot.
    links: Vec<Link>,
    /// log2 of the resolution.
    resolution_bits: u32,
    /// The groups that have ready tasks, for finding the next by index; and `emptied`.
    inside: Bitmap,
    /// The group popped from last, where that left it without ready tasks: `inside` forgets it at the next pop, unless
    /// it has some again by then, as it has if the task yielded.
    emptied: Option<u32>,
    /// The group that the last fair turn went to.
    cursor: u32,
    fair_turns: FairTurns,
    ready: usize,
}

#[derive(Clone, Copy)]
struct Group {
    attained: Attained,
    /// First and last slot of its list of ready tasks; `END` if empty.
    head: u32,
    tail: u32,
}

/// A place in a group's list. Only meaningful while the slot's task is in one.
#[derive(Clone, Copy)]
struct Link {
    next: u32,
    /// To make the task's id from the slot again.
    generation: u32,
}

impl Default for Group {
    fn default() -> Self {
        Self { attained: Attained::default(), head: END, tail: END }
    }
}

impl Link {
    const UNUSED: Self = Self { next: END, generation: 0 };
}

/// The bucket of a group that has attained `ns`. Never a lower one for more.
///
/// Log-linear, as in an HDR histogram: by the seven leading bits of `ns` in units of the resolution, which makes one
/// bucket for each unit below 128, and 64 for each power of two from there on.
#[inline]
const fn bucket(ns: u64, resolution_bits: u32) -> u32 {
    let units = ns >> resolution_bits;
    let dropped = (units | 64).ilog2() - 6;
    64 * dropped + (units >> dropped) as u32
}

impl Las {
    /// Makes an empty one with a resolution of 1,024 ns and a fair turn every 32nd pop.
    pub const fn new() -> Self {
        Self {
            groups: Buckets::new(),
            links: Vec::new(),
            resolution_bits: DEFAULT_RESOLUTION_BITS,
            inside: Bitmap::new(),
            emptied: None,
            cursor: 0,
            fair_turns: FairTurns::DEFAULT,
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

    /// Sets how often pops are fair turns. With [`FairTurns::NEVER`] the order is strictly that of attained service, and
    /// old groups starve under a stream of new ones.
    #[must_use]
    pub fn with_fair_turns(self, fair_turns: FairTurns) -> Self {
        Self { fair_turns, ..self }
    }

    /// The service that `group` has attained, in nanoseconds. Exact, whatever the resolution.
    pub fn attained_ns(&self, group: GroupId) -> u64 {
        self.groups.get(group.index() as u32).map_or(0, |group| group.attained.ns())
    }

    /// Puts a group that has ready tasks and is in no bucket at the tail of its own.
    #[inline]
    fn link(&mut self, index: u32, attained: Attained) {
        self.groups.push_back(bucket(attained.ns(), self.resolution_bits), index);
    }

    /// Moves a group that is in a bucket to the tail of its own.
    fn relink(&mut self, index: u32, attained: Attained) {
        self.groups.unlink(index);
        self.link(index, attained);
    }

    /// Moves a group to the bucket of what it has attained, if it is in another.
    #[inline]
    fn follow(&mut self, index: u32, attained: Attained) {
        let Some(old) = self.groups.bucket_of(index) else { return };
        if old != bucket(attained.ns(), self.resolution_bits) {
            self.relink(index, attained);
        }
    }

    /// The link of a slot.
    #[inline]
    fn link_mut(&mut self, slot: u32) -> &mut Link {
        let index = slot as usize;
        if index >= self.links.len() {
            self.grow_links(index);
        }
        &mut self.links[index]
    }

    #[cold]
    fn grow_links(&mut self, index: usize) {
        self.links.resize(index + 1, Link::UNUSED);
    }

    /// Takes the first task off a group's list, and the group out of its bucket or to the tail.
    #[inline]
    fn take_from(&mut self, index: u32) -> Option<TaskId> {
        let group = self.groups.get_mut(index);
        let slot = group.head;
        let link = *self.links.get(slot as usize)?;
        group.head = link.next;
        if link.next == END {
            group.tail = END;
            self.groups.unlink(index);
            self.emptied = Some(index);
        } else {
            let attained = group.attained;
            self.relink(index, attained);
        }
        Some(TaskId::new(slot, link.generation))
    }

    /// Pops from the first group of the lowest bucket, or on a fair turn from the next by index.
    #[inline]
    fn pop_by(&mut self, fair: bool) -> Option<TaskId> {
        if let Some(index) = self.emptied.take() {
            self.inside.clear(index);
        }
        let mut index = self.groups.first()?;
        if fair {
            index = self.inside.next_after(self.cursor).unwrap_or(index);
            self.cursor = index;
        }
        self.ready = self.ready.saturating_sub(1);
        self.take_from(index)
    }

    /// Swaps the task popped last, the only one of its group, for the next: `push` and `pop`, less what cancels out.
    #[inline]
    fn swap(&mut self, task: Task, index: u32) -> Option<TaskId> {
        let lowest = self.groups.lowest();
        let group = self.groups.get_mut(index);
        let bucket = bucket(group.attained.ns(), self.resolution_bits);
        let Some(lowest) = lowest.filter(|&lowest| lowest <= bucket) else {
            return Some(task.id); // it goes on
        };
        // Its link says what it said when it was popped.
        let slot = task.id.slot() as u32;
        (group.head, group.tail) = (slot, slot);
        self.groups.push_back(bucket, index);
        self.emptied = None;
        let next = self.groups.first_of(lowest)?;
        self.take_from(next)
    }
}

impl Default for Las {
    fn default() -> Self {
        Self::new()
    }
}

impl Scheduler for Las {
    #[inline]
    fn push(&mut self, task: Task, _why: Ready) {
        let (slot, index) = (task.id.slot() as u32, task.group.index() as u32);
        self.ready += 1;
        *self.link_mut(slot) = Link { next: END, generation: task.id.generation() };
        let group = self.groups.get_mut(index);
        let last = core::mem::replace(&mut group.tail, slot);
        if last != END {
            self.links[last as usize].next = slot;
            return; // the group is in its bucket for an earlier task
        }
        group.head = slot;
        let attained = group.attained;
        self.link(index, attained);
        if self.emptied == Some(index) {
            self.emptied = None;
        } else {
            self.inside.set(index);
        }
    }

    #[inline]
    fn pop(&mut self) -> Option<TaskId> {
        let fair = self.ready > 0 && self.fair_turns.next_is_fair();
        self.pop_by(fair)
    }

    #[inline]
    fn push_pop(&mut self, task: Task) -> Option<TaskId> {
        let fair = self.fair_turns.next_is_fair();
        let index = task.group.index() as u32;
        if !fair && self.emptied == Some(index) {
            return self.swap(task, index);
        }
        self.push(task, Ready::Yielded);
        self.pop_by(fair)
    }

    #[inline]
    fn peek(&self, ahead: usize) -> Option<TaskId> {
        // The groups of the lowest bucket take turns, one task each. Right unless they have fewer tasks than that, leave
        // the bucket, or a fair turn comes between.
        let (group, rounds) = self.groups.behind_first(ahead)?;
        let mut slot = group.head;
        for _ in 0..rounds {
            slot = self.links.get(slot as usize)?.next;
        }
        let link = self.links.get(slot as usize)?;
        Some(TaskId::new(slot, link.generation))
    }

    /// By the bound on waiting ([Starvation](Las#starvation)). `None` without fair turns.
    fn patience(&self, tasks: usize) -> Option<u64> {
        // At worst half of the tasks are in one group and the others in one each.
        let tasks = tasks as u64;
        self.fair_turns.patience(tasks.saturating_mul(tasks))
    }

    #[inline]
    fn served(&mut self, task: Task, service_ns: u64) {
        let index = task.group.index() as u32;
        let group = self.groups.get_mut(index);
        group.attained.add(service_ns);
        let attained = group.attained;
        self.follow(index, attained);
    }

    fn group_closed(&mut self, group: GroupId) {
        let index = group.index() as u32;
        if self.groups.get(index).is_some() {
            let attained = Attained::default();
            self.groups.get_mut(index).attained = attained;
            self.follow(index, attained);
        }
    }
}

impl fmt::Debug for Las {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Las")
            .field("resolution_ns", &self.resolution_ns())
            .field("ready", &self.ready)
            .field("fair_turns", &self.fair_turns)
            .finish_non_exhaustive()
    }
}
