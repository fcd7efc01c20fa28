//! Ready tasks by deadline, of which the one with the earliest is found at once.

use core::cmp::Ordering;
use std::collections::BinaryHeap;

use super::waiting::Waiting;

/// A ready task with a deadline. The greater of two is the one that goes first.
#[derive(Clone, Copy, Debug)]
struct Dated {
    deadline_ns: u64,
    waiting: Waiting,
}

impl Dated {
    #[inline]
    fn key(&self) -> (u64, u64) {
        (self.deadline_ns, self.waiting.number)
    }
}

impl Ord for Dated {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

impl PartialOrd for Dated {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Dated {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Dated {}

/// Ready tasks, the earliest deadline first; of equal ones, the one that became ready first. Changes are O(log n).
#[derive(Clone, Debug)]
pub(crate) struct ByDeadline(BinaryHeap<Dated>);

impl ByDeadline {
    /// Of no tasks.
    pub(crate) const fn new() -> Self {
        Self(BinaryHeap::new())
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    #[inline]
    pub(crate) fn push(&mut self, deadline_ns: u64, waiting: Waiting) {
        self.0.push(Dated { deadline_ns, waiting });
    }

    /// The task of the earliest deadline.
    #[inline]
    pub(crate) fn first(&self) -> Option<Waiting> {
        self.0.peek().map(|first| first.waiting)
    }

    /// The earliest deadline.
    #[inline]
    pub(crate) fn earliest_ns(&self) -> Option<u64> {
        self.0.peek().map(|first| first.deadline_ns)
    }

    /// Takes out the task of the earliest deadline.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Waiting> {
        self.0.pop().map(|first| first.waiting)
    }

    /// Moves the tasks of deadlines before `ns` to `others`. O(log n) for each.
    #[inline]
    pub(crate) fn move_before(&mut self, ns: u64, others: &mut Self) {
        while self.earliest_ns().is_some_and(|earliest| earliest < ns) {
            others.0.extend(self.0.pop());
        }
    }

    /// Moves all to `others`. O(n).
    pub(crate) fn move_all(&mut self, others: &mut Self) {
        others.0.append(&mut self.0);
    }

    /// Keeps those that `stays` says so of. O(n).
    pub(crate) fn retain(&mut self, mut stays: impl FnMut(&Waiting) -> bool) {
        self.0.retain(|dated| stays(&dated.waiting));
    }

    /// Gives memory back, but that for so many.
    pub(crate) fn shrink_to(&mut self, kept: usize) {
        if self.0.capacity() > kept {
            self.0.shrink_to(kept);
        }
    }
}
