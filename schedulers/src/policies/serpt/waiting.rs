//! The tasks that wait, by rank.

use super::ranks::Ranks;
use crate::parts::elders::{BACK, FRONT};
use crate::parts::rings::{Popped, Rings};
use crate::{Ready, Task, TaskId};

/// The tasks that wait: each in one of the rings that had its group's rank when it came.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    rings: Rings,
    /// What was popped last.
    popped: Popped,
    /// The ring that the last fair turn went to.
    cursor: u32,
    /// Bit *k* is set if and only if the front of ring *k* goes on, and was popped since the last fair turn there.
    going_on: u64,
}

impl Waiting {
    /// None.
    pub(super) const fn new() -> Self {
        Self { rings: Rings::new(), popped: Popped::NONE, cursor: 0, going_on: 0 }
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.rings.filled() == 0
    }

    /// The lowest ring that has tasks; 64 if none has.
    #[inline]
    pub(super) fn lowest(&self) -> u32 {
        self.rings.lowest()
    }

    /// Puts a task that has just become ready before all others of its rank if it goes on, else behind them.
    #[inline]
    pub(super) fn push(&mut self, ranks: &Ranks, right: u32, task: Task, why: Ready) {
        match self.goes_on(ranks, right, task.id).filter(|_| why == Ready::Yielded) {
            Some(ring) => {
                self.rings.push_front(ring, task);
                self.going_on |= 1 << ring;
            }
            None => self.push_back(ranks, right, task),
        }
    }

    /// Puts a task behind all others of its rank.
    #[inline]
    pub(super) fn push_back(&mut self, ranks: &Ranks, right: u32, task: Task) {
        self.rings.push_back(self.last_of_rank(ranks, right), task);
    }

    /// The last ring in use of the same rank as this one, or the first of the rank if none is.
    #[inline]
    fn last_of_rank(&self, ranks: &Ranks, ring: u32) -> u32 {
        let used = self.rings.filled() & ranks.equals(ring);
        if used == 0 { ranks.first(ring) } else { used.ilog2() }
    }

    /// Where a task that has yielded goes on, before all others of its rank: the ring that it was popped from, or a lower one if
    /// others of its rank have come there since. `None` if it does not.
    #[inline]
    fn goes_on(&self, ranks: &Ranks, right: u32, task: TaskId) -> Option<u32> {
        let equals = ranks.equals(right);
        let goes_on = self.popped.task == task && equals & self.popped.ring != 0;
        goes_on.then(|| (self.popped.ring | (self.rings.filled() & equals)).trailing_zeros())
    }

    /// Whether a task that has yielded is the next one, as it goes on: then nothing is to be moved.
    #[inline]
    pub(super) fn goes_on_at_once(&mut self, ranks: &Ranks, right: u32, task: TaskId) -> bool {
        let Some(ring) = self.goes_on(ranks, right, task) else { return false };
        if self.rings.filled() & ((1 << ring) - 1) != 0 {
            return false;
        }
        self.popped.ring = 1 << ring;
        true
    }

    /// Takes the first task out of a ring. It may be one that is to be moved.
    #[inline]
    pub(super) fn take(&mut self, ring: u32) -> Option<Task> {
        self.going_on &= !(1 << ring);
        self.rings.pop_front(ring)
    }

    /// The ring of the next fair turn. There must be a task.
    pub(super) fn next_in_turn(&mut self) -> u32 {
        self.cursor = self.rings.next_after(self.cursor);
        self.cursor
    }

    /// Takes out of a ring the task that a fair turn goes to. It may be one that is to be moved.
    pub(super) fn take_fairly(&mut self, ring: u32) -> Option<Task> {
        let passes_over = self.going_on & (1 << ring) != 0;
        self.going_on &= !(1 << ring);
        let second = if passes_over { self.rings.pop_second(ring) } else { None };
        second.or_else(|| self.rings.pop_front(ring))
    }

    /// Says what was popped.
    #[inline]
    pub(super) fn set_popped(&mut self, task: TaskId, ring: u32, fair: bool) {
        self.popped = Popped::new(task, ring, fair);
    }

    /// The elders that wait for the next round take part in it.
    pub(super) fn begin_round(&mut self) {
        self.rings.move_behind(BACK, FRONT);
        self.going_on &= !(1 << BACK);
    }

    /// Each level below `end` becomes the one below it. Those of equal rank stay where they are, as they wait among others.
    pub(super) fn halve(&mut self, ranks: &Ranks, end: u32) {
        for level in 1..end {
            let bit = 1 << level;
            if ranks.equals(level) != bit {
                continue;
            }
            let target = self.last_of_rank(ranks, level - 1);
            let is_empty = self.rings.filled() & (1 << target) == 0;
            if !self.rings.move_behind(level, target) {
                continue;
            }
            if self.going_on & bit != 0 {
                self.going_on = (self.going_on & !bit) | (u64::from(is_empty) << target);
            }
            if self.popped.ring == bit {
                self.popped.ring = 1 << target;
            }
        }
    }

    /// The task that is `ahead` places behind the first of the lowest ring.
    #[inline]
    pub(super) fn peek(&self, ahead: usize) -> Option<TaskId> {
        self.rings.peek(ahead).map(|task| task.id)
    }

    /// The rings that have tasks, and how many.
    pub(super) fn counts(&self) -> Vec<(usize, usize)> {
        self.rings.counts()
    }
}
