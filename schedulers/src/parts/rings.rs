//! Sixty-four numbered FIFO lists of tasks, of which the lowest that is not empty is found at once.

use std::collections::VecDeque;

use crate::{Task, TaskId};

/// How many lists, so that the set of those that are not empty is a `u64`.
pub(crate) const RINGS: usize = 64;

/// Of two rings that are joined, one has so many tasks at most: to move them takes some ten microseconds.
const MOST_JOINED: usize = 4_096;

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
    /// The bit of the ring that it was popped from in order; 0 where that was by a fair turn.
    pub(crate) ring: u64,
}

impl Popped {
    /// None yet.
    pub(crate) const NONE: Self = Self { task: TaskId::new(u32::MAX, u32::MAX), ring: 0 };

    /// `task`, from `ring`.
    #[inline]
    pub(crate) fn new(task: TaskId, ring: u32, fair: bool) -> Self {
        Self { task, ring: u64::from(!fair) << ring }
    }
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

    /// Puts the tasks of one ring behind those of another, in order, unless both have more than [`MOST_JOINED`]: then false.
    pub(crate) fn move_behind(&mut self, from: u32, to: u32) -> bool {
        let [from_len, to_len] = [from, to].map(|ring| self.rings[ring as usize].len());
        if from_len.min(to_len) > MOST_JOINED {
            return false;
        }
        let mut tasks = core::mem::take(&mut self.rings[from as usize]);
        let target = &mut self.rings[to as usize];
        if target.len() < tasks.len() {
            target.drain(..).rev().for_each(|task| tasks.push_front(task));
            core::mem::swap(target, &mut tasks);
        } else {
            target.append(&mut tasks);
        }
        // The memory of the one that is empty now is kept.
        self.rings[from as usize] = tasks;
        let from_bit = (self.filled >> from) & 1;
        self.filled = (self.filled & !(1 << from)) | (from_bit << to);
        true
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
    fn rings_are_joined_in_order_whichever_is_the_longer() {
        for (first, second) in [(0, 0), (0, 3), (3, 0), (1, 5), (5, 1), (4, 4)] {
            let mut rings = Rings::new();
            (0..first).for_each(|slot| rings.push_back(2, task(slot)));
            (first..first + second).for_each(|slot| rings.push_back(3, task(slot)));
            assert!(rings.move_behind(3, 2));
            let expected = if first + second > 0 { vec![(2, (first + second) as usize)] } else { vec![] };
            assert_eq!(
                (rings.counts(), rings.filled().count_ones() as usize),
                (expected.clone(), expected.len())
            );
            let popped = core::iter::from_fn(|| rings.pop_front(2)).map(|t| t.id.slot() as u32);
            assert_eq!(popped.collect::<Vec<_>>(), Vec::from_iter(0..first + second));
        }
    }

    #[test]
    fn two_long_rings_are_not_joined() {
        let mut rings = Rings::new();
        let long = MOST_JOINED as u32 + 1;
        (0..long).for_each(|slot| rings.push_back(3, task(slot)));
        (0..long).for_each(|slot| rings.push_back(2, task(slot)));
        assert!(!rings.move_behind(3, 2));
        assert_eq!(rings.counts(), [(2, long as usize), (3, long as usize)]);
        rings.pop_front(2);
        assert!(rings.move_behind(3, 2));
        assert_eq!(rings.counts(), [(2, 2 * long as usize - 1)]);
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
