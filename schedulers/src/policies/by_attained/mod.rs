//! The policies that go by what groups have attained: one structure, of which [`Rank`] says the order.

mod attained;
mod bitmap;
mod bucket_entry;
mod buckets;
mod half_life;
mod las;
mod levels;
mod occasions;
mod policy;
mod qlas;
mod rank;
mod remembered;
mod serpt;
#[cfg(test)]
mod tests;
mod turn;

pub use las::Las;
pub use qlas::Qlas;
pub use serpt::Serpt;

use crate::parts::KEPT;
use crate::parts::task_lists::{TaskList, TaskLists};
use crate::{FairTurns, GroupId, Ready, Task, TaskId};
use attained::Attained;
use bitmap::Bitmap;
use buckets::{BUCKETS, Buckets};
use half_life::HalfLife;
use occasions::Occasions;
use policy::policy_by_attained;
use rank::Rank;
use remembered::Remembered;
use turn::Turn;

/// Says that there is no such group.
const NO_GROUP: u32 = u32::MAX;

/// A pop moves at most so many groups that wait too far in front. The next is popped though it may be another of them.
const MOST_MOVED: usize = 64;

/// A fair turn looks at so many groups at most, to find one that is told apart finely.
const MOST_LOOKED_AT: usize = 16;

/// Groups with their ready tasks. Those that have some are in buckets, by a rank of what they have attained.
///
/// O(1), however many tasks a group has: what moves is the group. The end of a half-life, and what is learnt, move whole buckets.
#[derive(Clone)]
struct ByAttained<R> {
    groups: Buckets,
    tasks: TaskLists,
    rank: R,
    /// The groups that have ready tasks, for finding the next by index; and `emptied`.
    inside: Bitmap,
    /// The group popped from last, where that left it without ready tasks: `inside` forgets it at the next pop, unless
    /// it has some again by then, as it has if the task yielded.
    emptied: u32,
    turn: Turn,
    /// The group that the last fair turn by index went to, and the bucket that the last one by bucket did.
    last_group: u32,
    last_bucket: u32,
    /// Of each 64 buckets, whether the first goes on and was popped since the last fair turn there. Only where something is learnt.
    going_on: u64,
    remembered: Remembered,
    occasions: Occasions,
    ready: usize,
}

impl<R: Rank> ByAttained<R> {
    /// An empty one, with the default half-life and fair turns.
    const fn new(rank: R) -> Self {
        Self {
            groups: Buckets::new(),
            tasks: TaskLists::new(),
            rank,
            inside: Bitmap::new(),
            emptied: NO_GROUP,
            turn: Turn::NONE,
            last_group: 0,
            last_bucket: 0,
            going_on: 0,
            remembered: Remembered::new(),
            occasions: Occasions::new(FairTurns::DEFAULT, HalfLife::DEFAULT),
            ready: 0,
        }
    }

    /// With another rank.
    fn with_rank(self, mut rank: R) -> Self {
        rank.set_half_life(self.half_life());
        Self { rank, ..self }
    }

    fn with_fair_turns(self, fair_turns: FairTurns) -> Self {
        Self { occasions: self.occasions.with_fair_turns(fair_turns), ..self }
    }

    fn with_half_life(mut self, half_life: HalfLife) -> Self {
        self.rank.set_half_life(&half_life);
        Self { occasions: self.occasions.with_half_life(half_life), ..self }
    }

    const fn half_life(&self) -> &HalfLife {
        self.occasions.half_life()
    }

    const fn fair_turns(&self) -> &FairTurns {
        self.occasions.fair_turns()
    }

    fn attained_ns(&self, group: GroupId) -> u64 {
        self.groups.attained_ns(group.index() as u32)
    }

    /// Puts a group that has ready tasks and is in no bucket at the head of this one if it has its turn, else at the tail.
    #[inline(always)]
    fn put(&mut self, index: u32, bucket: u32, has_turn: bool) {
        if has_turn {
            self.groups.push_front(bucket, index);
            if R::TAKES_TURNS {
                self.turn.waits = true;
            }
            if R::LEARNS {
                self.going_on |= 1 << (bucket / 64);
            }
        } else {
            self.groups.push_back(bucket, index);
        }
    }

    /// A group that is in a bucket has attained another amount: it goes to the tail of its own bucket, if that is another.
    fn follow(&mut self, index: u32, before_ns: u64, after_ns: u64) {
        let bucket = self.rank.bucket(after_ns);
        if bucket != self.rank.bucket(before_ns) {
            self.groups.unlink(index);
            self.groups.push_back(bucket, index);
        }
    }

    /// Sets what a group has attained.
    fn set_attained(&mut self, group: GroupId, ns: u64) {
        let index = group.index() as u32;
        if self.turn.group == index {
            self.end_turn();
        }
        let group = self.groups.get_mut(index);
        let before_ns = group.attained_ns();
        group.attained = Attained::new(ns, group.attained.halvings());
        if group.is_linked() {
            self.follow(index, before_ns, ns);
        }
    }

    /// Does what is due at this pop, and says whether it is a fair turn.
    #[cold]
    #[inline(never)]
    fn settle(&mut self) -> bool {
        let due = self.occasions.settle();
        if due.halving {
            self.end_turn();
            self.going_on = 0;
            self.groups.halve(|bucket| self.rank.halved(bucket));
        }
        due.fair
    }

    /// Something was learnt: buckets are joined that are equal now, and the turn goes on if its group is among equals as before.
    #[cold]
    #[inline(never)]
    fn reorder(&mut self) {
        self.groups.join(|bucket| self.rank.joined(bucket));
        self.going_on = 0;
        let Turn { group, bucket, .. } = self.turn;
        let attained_ns = self.groups.attained_ns(group);
        let right = self.rank.bucket(attained_ns);
        let lasts = group != NO_GROUP && self.rank.joined(bucket) == right;
        self.turn = if lasts { Turn::new(group, (right, attained_ns), &self.rank) } else { Turn::NONE };
    }

    /// Takes the first task off the list of a group that was taken out of its bucket: this one if that was in order. The group has its
    /// turn then, unless groups take turns and it has more tasks; else it goes to the tail.
    #[inline(always)]
    fn take_from(&mut self, index: u32, in_order: Option<u32>) -> Option<TaskId> {
        let group = self.groups.get_mut(index);
        let attained_ns = group.attained_ns();
        let task = self.tasks.pop_front(&mut group.tasks)?;
        let is_empty = group.tasks.is_empty();
        if is_empty {
            self.emptied = index;
        }
        if let Some(bucket) = in_order
            && (is_empty || !R::TAKES_TURNS)
        {
            self.take_turn(index, (bucket, attained_ns));
        }
        if !is_empty {
            let goes_on = !R::TAKES_TURNS && in_order.is_some() && self.turn.lasts::<R>(index);
            self.put(index, self.rank.bucket(attained_ns), goes_on);
        }
        Some(task)
    }

    /// Takes the first group out of a bucket that is not empty: this, or another where that one waits too far in front.
    #[inline(always)]
    fn next_in_order(&mut self, mut bucket: u32) -> Option<(u32, u32)> {
        let mut index = self.groups.pop_first(bucket)?;
        if R::LEARNS {
            (index, bucket) = self.move_on(index, bucket)?;
            self.going_on &= !(1 << (bucket / 64));
        }
        if R::TAKES_TURNS {
            self.end_turn_but_of(index);
        }
        Some((index, bucket))
    }

    /// Moves groups on that wait too far in front, from this one on.
    #[inline]
    fn move_on(&mut self, mut index: u32, mut bucket: u32) -> Option<(u32, u32)> {
        for _ in 0..MOST_MOVED {
            let right = self.rank.bucket(self.groups.get_mut(index).attained_ns());
            if right <= bucket {
                break;
            }
            self.groups.push_back(right, index);
            bucket = self.groups.lowest()?;
            index = self.groups.pop_first(bucket)?;
        }
        Some((index, bucket))
    }

    /// Counts a poll of the turn of a group, which begins if it does not last.
    #[inline]
    fn take_turn(&mut self, group: u32, (bucket, attained_ns): (u32, u64)) {
        if !self.turn.lasts::<R>(group) {
            let bucket = if R::LEARNS { self.rank.bucket(attained_ns) } else { bucket };
            self.turn = Turn::new(group, (bucket, attained_ns), &self.rank);
        }
        self.turn.count_poll::<R>();
    }

    /// Ends the turn of any group but this, which waits no more.
    #[inline]
    fn end_turn_but_of(&mut self, group: u32) {
        if self.turn.group != group {
            self.end_turn();
        }
        self.turn.waits = false;
    }

    /// Ends the turn under way: where groups take turns, one that waits for its rest goes to the tail.
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
        self.groups.push_back(self.rank.bucket(attained_ns), group);
    }

    /// Pops from the first group of the lowest bucket, or on a fair turn.
    #[inline]
    fn pop_by(&mut self, fair: bool) -> Option<TaskId> {
        let emptied = core::mem::replace(&mut self.emptied, NO_GROUP);
        if emptied != NO_GROUP {
            self.inside.clear(emptied);
        }
        let lowest = self.groups.lowest()?;
        self.ready = self.ready.saturating_sub(1);
        if fair {
            let index = self.next_in_turn()?;
            self.take_from(index, None)
        } else {
            let (index, bucket) = self.next_in_order(lowest)?;
            self.take_from(index, Some(bucket))
        }
    }

    /// Takes the group out of its bucket that a fair turn goes to. There is one.
    #[cold]
    #[inline(never)]
    fn next_in_turn(&mut self) -> Option<u32> {
        let index = self.next_by_bucket()?;
        self.groups.unlink(index);
        if self.turn.group == index {
            self.turn = Turn::NONE;
        }
        Some(index)
    }

    fn next_by_index(&mut self) -> Option<u32> {
        self.last_group = self.inside.next_after(self.last_group)?;
        Some(self.last_group)
    }

    /// The first of the next bucket; of those that are told apart finely, which count as one, the next by index.
    fn next_by_bucket(&mut self) -> Option<u32> {
        let bucket = self.groups.next_after(self.last_bucket)?;
        if bucket < self.rank.finely_from() {
            self.last_bucket = bucket;
            return self.first_but_who_goes_on(bucket);
        }
        self.last_bucket = BUCKETS - 1;
        for _ in 0..MOST_LOOKED_AT {
            let index = self.next_by_index()?;
            if self.rank.bucket(self.groups.attained_ns(index)) >= self.rank.finely_from() {
                return Some(index);
            }
        }
        self.groups.first(bucket)
    }

    fn first_but_who_goes_on(&mut self, bucket: u32) -> Option<u32> {
        let bit = 1 << (bucket / 64);
        let passes_over = self.going_on & bit != 0;
        self.going_on &= !bit;
        let second = if passes_over { self.groups.second(bucket) } else { None };
        second.or_else(|| self.groups.first(bucket))
    }

    /// Swaps the task popped last, the only one of its group, for the next: `push` and `pop`, less what cancels out.
    #[inline]
    fn swap(&mut self, task: Task, index: u32) -> Option<TaskId> {
        let has_turn = self.turn.lasts::<R>(index);
        if has_turn && !self.groups.is_any(self.turn.below) {
            self.turn.count_poll::<R>();
            return Some(task.id); // it goes on
        }
        let lowest = self.groups.lowest().unwrap_or(BUCKETS);
        let attained_ns = self.groups.get_mut(index).attained_ns();
        let bucket = self.rank.bucket(attained_ns);
        if lowest > bucket {
            if R::TAKES_TURNS {
                self.end_turn_but_of(index);
            }
            self.take_turn(index, (bucket, attained_ns));
            return Some(task.id);
        }
        self.groups.get_mut(index).tasks = TaskList::of(task.id);
        self.put(index, bucket, has_turn);
        self.emptied = NO_GROUP;
        let (next, bucket) = self.next_in_order(lowest)?;
        self.take_from(next, Some(bucket))
    }

    /// Gives memory back but that of [`KEPT`] tasks and groups, and of the groups that have attained something.
    #[cold]
    #[inline(never)]
    fn give_back(&mut self) {
        if self.groups.lowest().is_some() {
            return;
        }
        self.tasks.shrink_to(KEPT);
        if self.groups.give_back(KEPT) {
            (self.inside, self.emptied) = (Bitmap::new(), NO_GROUP);
        }
    }
}

/// What the policies pass on.
impl<R: Rank> ByAttained<R> {
    #[inline]
    fn push(&mut self, task: Task, why: Ready) {
        let index = task.group.index() as u32;
        self.ready += 1;
        let group = self.groups.get_mut(index);
        let was_empty = group.tasks.is_empty();
        self.tasks.push_back(&mut group.tasks, task.id);
        if !was_empty {
            return; // the group is in its bucket for an earlier task
        }
        let attained_ns = group.attained_ns();
        let bucket = self.rank.bucket(attained_ns);
        let was_popped_last = self.emptied == index;
        let has_turn = was_popped_last && self.turn.lasts::<R>(index);
        self.put(index, bucket, has_turn && why == Ready::Yielded);
        if was_popped_last {
            self.emptied = NO_GROUP;
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
        if !due && self.emptied == index {
            return self.swap(task, index);
        }
        self.push(task, Ready::Yielded);
        let fair = due && self.settle();
        self.pop_by(fair)
    }

    /// Right unless groups have fewer tasks than that, go on, leave the bucket, or a fair turn comes between.
    #[inline]
    fn peek(&self, ahead: usize) -> Option<TaskId> {
        let (first, _) = self.groups.behind_first(0)?;
        if !R::TAKES_TURNS
            && let Some(task) = self.tasks.nth(first, ahead)
        {
            return Some(task);
        }
        // The groups of the lowest bucket take turns, one task each; or one after another, of one task each.
        let (tasks, rounds) = self.groups.behind_first(ahead)?;
        if R::TAKES_TURNS || rounds == 0 { self.tasks.nth(tasks, rounds) } else { None }
    }

    fn open(&mut self, group: GroupId, key: u64) {
        let had = self.remembered.opened(group, key, self.occasions.half_life());
        self.set_attained(group, had.ns(self.occasions.halvings()));
    }

    #[inline]
    fn serve(&mut self, group: GroupId, service_ns: u64) {
        let index = group.index() as u32;
        self.occasions.served(service_ns);
        let group = self.groups.get_mut(index);
        let halvings = group.attained.halvings();
        let (before_ns, after_ns) = group.attained.add(service_ns, halvings);
        let is_linked = group.is_linked();
        if self.turn.group == index {
            if R::TAKES_TURNS && is_linked {
                self.end_turn();
            }
            self.turn.went_on(after_ns);
        }
        if is_linked {
            self.follow(index, before_ns, after_ns);
        }
        if R::LEARNS && self.rank.went_on(before_ns, after_ns) {
            self.reorder();
        }
    }

    /// No task is ready any more.
    fn drained(&mut self) {
        if self.groups.capacity() > KEPT || self.tasks.capacity() > KEPT {
            self.give_back();
        }
    }

    fn close(&mut self, group: GroupId) {
        let attained_ns = self.attained_ns(group);
        let attained = Attained::new(attained_ns, self.occasions.halvings());
        let was_served = self.remembered.closed(group, attained, self.occasions.half_life());
        if attained_ns > 0 || self.turn.group == group.index() as u32 {
            self.set_attained(group, 0);
        }
        if R::LEARNS && was_served && self.rank.ended(attained_ns) {
            self.reorder();
        }
    }
}
