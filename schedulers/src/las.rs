//! [`Las`]: least attained service first.

use core::fmt;
use core::num::NonZeroU32;

use crate::bitmap::Bitmap;
use crate::heap::IndexedHeap;
use crate::turn::Turn;
use crate::{GroupId, Ready, Scheduler, Task, TaskId};

/// Says in a list that there is no next slot.
const END: u32 = u32::MAX;

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
/// Least attained service of the group, in nanoseconds; between groups with the same, the one whose foremost ready task
/// became ready first; inside a group, the order of becoming ready.
///
/// # Cost
///
/// O(log G) with *G* groups that have ready tasks; O(1) while the group that ran is still the least. Nothing is hashed,
/// and nothing allocated once the tables have grown.
///
/// # Starvation
///
/// A group that has run for long would starve under a stream of new ones, and a server task that never ends is sure
/// to. So every Nth pop ([`fair_every`](Las::fair_every), 32 unless told otherwise) is a *fair turn*: it goes to the
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
/// las.served(task(0), 500);
/// las.push(task(0), Ready::Yielded);
/// assert_eq!(las.pop(), Some(task(1).id)); // it has received nothing yet
/// las.served(task(1), 300);
/// las.push(task(1), Ready::Yielded);
/// assert_eq!(las.pop(), Some(task(1).id)); // 300 ns against 500
/// ```
#[derive(Clone, Default)]
pub struct Las {
    groups: Vec<Group>,
    /// Links between the ready tasks of each group, by slot.
    links: Vec<Link>,
    /// Groups that have ready tasks, by service and by when their foremost task became ready; and `ran`.
    heap: IndexedHeap<Rank>,
    /// The groups in `heap`, for finding the next by index.
    inside: Bitmap,
    /// The group popped from last: its key in `heap` is out of date, and it may have no ready tasks. Setting it right
    /// waits for the next pop, so that a task which yields costs one sift and not a removal and an insertion.
    ran: Option<u32>,
    /// Number of the next task to become ready.
    next_seq: u64,
    /// The group that the last fair turn went to.
    cursor: u32,
    turn: Turn,
    ready: usize,
}

/// What groups are ordered by: attained service, then the sequence number of the foremost ready task.
type Rank = u128;

#[derive(Clone, Copy)]
struct Group {
    /// Nanoseconds of service.
    attained: u64,
    /// First and last slot of its list of ready tasks; `END` if empty.
    head: u32,
    tail: u32,
}

/// A place in a group's list. Only meaningful while the slot's task is in one.
#[derive(Clone, Copy)]
struct Link {
    seq: u64,
    next: u32,
    /// To make the task's id from the slot again.
    generation: u32,
}

impl Group {
    const NEW: Self = Self { attained: 0, head: END, tail: END };
}

impl Link {
    const UNUSED: Self = Self { seq: 0, next: END, generation: 0 };
}

impl Las {
    /// Makes an empty one with a fair turn every 32nd pop.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes every `pops`th pop a fair turn. A smaller number shortens the longest wait and dilutes the order.
    #[must_use]
    pub fn fair_every(self, pops: NonZeroU32) -> Self {
        Self { turn: Turn::every(pops), ..self }
    }

    /// Switches fair turns off: strictly least attained service, and old groups starve under a stream of new ones.
    #[must_use]
    pub fn strict(self) -> Self {
        Self { turn: Turn::never(), ..self }
    }

    /// The service that `group` has attained, in nanoseconds.
    pub fn attained_ns(&self, group: GroupId) -> u64 {
        self.groups.get(group.index()).map_or(0, |group| group.attained)
    }

    #[inline]
    fn group_mut(&mut self, group: GroupId) -> &mut Group {
        let index = group.index();
        if index >= self.groups.len() {
            self.groups.resize(index + 1, Group::NEW);
        }
        &mut self.groups[index]
    }

    /// Puts a task at the end of its group's list and says whether it is alone there.
    #[inline]
    fn append(&mut self, task: Task) -> bool {
        let slot = task.id.slot();
        if slot >= self.links.len() {
            self.links.resize(slot + 1, Link::UNUSED);
        }
        self.links[slot] = Link { seq: self.next_seq, next: END, generation: task.id.generation() };
        self.next_seq += 1;
        let group = self.group_mut(task.group);
        let last = core::mem::replace(&mut group.tail, slot as u32);
        if last == END {
            group.head = slot as u32;
        } else {
            self.links[last as usize].next = slot as u32;
        }
        last == END
    }

    /// Takes the first task off a group's list.
    #[inline]
    fn take_first(&mut self, index: u32) -> Option<TaskId> {
        let group = &mut self.groups[index as usize];
        let slot = group.head;
        let link = *self.links.get(slot as usize)?;
        group.head = link.next;
        if link.next == END {
            group.tail = END;
        }
        Some(TaskId::new(slot, link.generation))
    }

    /// Where a group belongs in the heap; `None` if it has no ready tasks.
    #[inline]
    fn rank(&self, index: u32) -> Option<Rank> {
        let group = self.groups[index as usize];
        let link = self.links.get(group.head as usize)?;
        Some(Rank::from(group.attained) << 64 | Rank::from(link.seq))
    }

    /// Sets the group that was popped from last right in the heap.
    #[inline]
    fn settle(&mut self) {
        let Some(index) = self.ran.take() else { return };
        if let Some(rank) = self.rank(index) {
            self.heap.update(index, rank);
        } else {
            self.heap.remove(index);
            self.inside.clear(index);
        }
    }

    #[inline]
    fn next_group(&mut self) -> Option<u32> {
        let (_, least) = self.heap.peek()?;
        if !self.turn.is_fair() {
            return Some(least);
        }
        self.cursor = self.inside.next_after(self.cursor).unwrap_or(least);
        Some(self.cursor)
    }
}

impl Scheduler for Las {
    fn push(&mut self, task: Task, _why: Ready) {
        self.ready += 1;
        let first = self.append(task);
        let index = task.group.index() as u32;
        if !first || self.ran == Some(index) {
            return; // its place is kept by an earlier task, or is set right at the next pop
        }
        if let Some(rank) = self.rank(index) {
            self.heap.push(rank, index);
            self.inside.set(index);
        }
    }

    fn pop(&mut self) -> Option<TaskId> {
        self.settle();
        let index = self.next_group()?;
        self.ran = Some(index);
        self.ready -= 1;
        self.take_first(index)
    }

    #[inline]
    fn served(&mut self, task: Task, service_ns: u64) {
        let group = self.group_mut(task.group);
        group.attained = group.attained.saturating_add(service_ns);
        let index = task.group.index() as u32;
        if self.ran == Some(index) {
            return;
        }
        // Service that was not announced by a pop: the group's place changes now.
        if let Some(rank) = self.rank(index) {
            self.heap.update(index, rank);
        }
    }

    fn group_closed(&mut self, group: GroupId) {
        if let Some(group) = self.groups.get_mut(group.index()) {
            group.attained = 0;
        }
    }
}

impl fmt::Debug for Las {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Las").field("ready", &self.ready).field("turn", &self.turn).finish_non_exhaustive()
    }
}
