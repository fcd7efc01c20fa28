//! Sixty-four numbered FIFO lists of tasks, of which the lowest that is not empty is found at once.

use std::collections::VecDeque;

use crate::{Task, TaskId};

/// How many lists, so that the set of those that are not empty is a `u64`.
pub(crate) const RINGS: usize = 64;

/// FIFO lists of tasks, numbered below [`RINGS`].
#[derive(Clone, Debug)]
pub(crate) struct Rings {
    rings: [VecDeque<Task>; RINGS],
    /// Bit *k* is set if and only if ring *k* has tasks.
    filled: u64,
}

/// The task popped last: what decides where it goes if it yields.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Popped {
    pub(crate) task: TaskId,
    pub(crate) ring: u32,
    /// Whether by a fair turn.
    pub(crate) fair: bool,
}

impl Rings {
    /// Empty ones.
    pub(crate) const fn new() -> Self {
        Self { rings: [const { VecDeque::new() }; RINGS], filled: 0 }
    }

    #[inline]
    pub(crate) fn push_back(&mut self, ring: u32, task: Task) {
        self.rings[ring as usize].push_back(task);
        self.filled |= 1 << ring;
    }

    #[inline]
    pub(crate) fn push_front(&mut self, ring: u32, task: Task) {
        self.rings[ring as usize].push_front(task);
        self.filled |= 1 << ring;
    }

    #[inline]
    pub(crate) fn pop_front(&mut self, ring: u32) -> Option<Task> {
        let tasks = &mut self.rings[ring as usize];
        let task = tasks.pop_front();
        if tasks.is_empty() {
            self.filled &= !(1 << ring);
        }
        task
    }

    /// Takes out the task behind the first, if there is one.
    pub(crate) fn pop_second(&mut self, ring: u32) -> Option<Task> {
        self.rings[ring as usize].remove(1)
    }

    /// The rings that have tasks, one bit each.
    #[inline]
    pub(crate) fn filled(&self) -> u64 {
        self.filled
    }

    /// The lowest ring that has tasks; [`RINGS`] if none has.
    #[inline]
    pub(crate) fn lowest(&self) -> u32 {
        self.filled.trailing_zeros()
    }

    /// The next ring that has tasks above `ring`, or else the lowest; [`RINGS`] if none has.
    #[inline]
    pub(crate) fn next_after(&self, ring: u32) -> u32 {
        // Shifted in two steps, as a shift by 64 is not defined.
        let above = self.filled & (!0 << ring << 1);
        if above != 0 { above.trailing_zeros() } else { self.lowest() }
    }

    /// The task that is `ahead` places behind the first of the lowest ring that has tasks.
    #[inline]
    pub(crate) fn peek(&self, ahead: usize) -> Option<Task> {
        self.rings.get(self.lowest() as usize)?.get(ahead).copied()
    }

    /// The rings that have tasks, and how many.
    pub(crate) fn counts(&self) -> Vec<(usize, usize)> {
        let filled = self.rings.iter().enumerate().filter(|(_, tasks)| !tasks.is_empty());
        filled.map(|(ring, tasks)| (ring, tasks.len())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GroupId;

    fn task(slot: u32) -> Task {
        Task { id: TaskId::new(slot, 0), group: GroupId::new(slot) }
    }

    #[test]
    fn each_ring_is_a_list_with_two_ends() {
        let mut rings = Rings::new();
        [1, 2].iter().for_each(|&slot| rings.push_back(63, task(slot)));
        rings.push_front(63, task(0));
        rings.push_back(7, task(9));
        assert_eq!(rings.pop_second(7), None);
        assert_eq!((rings.lowest(), rings.counts()), (7, vec![(7, 1), (63, 3)]));
        assert_eq!((rings.peek(0), rings.peek(1)), (Some(task(9)), None));
        assert_eq!((rings.pop_front(7), rings.pop_front(7)), (Some(task(9)), None));
        assert_eq!(rings.peek(2), Some(task(2)));
        assert_eq!(rings.pop_second(63), Some(task(1)));
        let popped: Vec<u32> =
            core::iter::from_fn(|| rings.pop_front(63)).map(|t| t.id.slot() as u32).collect();
        assert_eq!(popped, [0, 2]);
        assert_eq!((rings.filled(), rings.peek(0)), (0, None));
    }

    #[test]
    fn go_round() {
        let mut rings = Rings::new();
        assert_eq!((rings.lowest(), rings.next_after(63)), (64, 64));
        [0, 5, 63].iter().for_each(|&ring| rings.push_back(ring, task(ring)));
        let round: Vec<u32> = [0, 4, 5, 62, 63].map(|ring| rings.next_after(ring)).to_vec();
        assert_eq!(round, [5, 5, 63, 63, 0]);
    }
}
