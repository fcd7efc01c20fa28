//! Ready tasks by priority, FIFO in each, of which the highest is found at once.

use std::collections::VecDeque;

use super::waiting::Waiting;
use crate::{Task, TaskId};

/// There are so many levels, one for each priority.
const LEVELS: usize = 256;

/// The level of a priority: 0 is the highest, 127, and 255 the lowest, −128.
#[inline]
pub(crate) const fn level(priority: i8) -> usize {
    (i8::MAX as i16 - priority as i16) as usize
}

/// A FIFO list of ready tasks for each level, each in the order of becoming ready.
#[derive(Clone, Debug)]
pub(crate) struct ByPriority {
    /// By level, as far as there ever were tasks.
    lists: Vec<VecDeque<Waiting>>,
    /// Bit *l* is set if and only if list *l* has tasks.
    filled: [u64; LEVELS / 64],
    /// How many lists have tasks.
    levels: usize,
    ready: usize,
    /// The most that were ready at a time since memory was last given back.
    most_ready: usize,
    /// How often a task became ready.
    pushes: u64,
}

impl ByPriority {
    /// Of no tasks.
    pub(crate) const fn new() -> Self {
        Self { lists: Vec::new(), filled: [0; LEVELS / 64], levels: 0, ready: 0, most_ready: 0, pushes: 0 }
    }

    /// How many tasks there are.
    #[inline]
    pub(crate) fn ready(&self) -> usize {
        self.ready
    }

    /// How many levels have tasks.
    #[inline]
    pub(crate) fn levels(&self) -> usize {
        self.levels
    }

    /// Puts a task that became ready at the tail of its level.
    #[inline]
    pub(crate) fn push(&mut self, level: usize, task: Task) {
        self.pushes += 1;
        self.ready += 1;
        self.most_ready = self.most_ready.max(self.ready);
        self.mark_filled(level);
        self.lists[level].push_back(Waiting { number: self.pushes, task });
    }

    /// Takes the first task out of a level.
    #[inline]
    pub(crate) fn pop(&mut self, level: usize) -> Option<TaskId> {
        let list = self.lists.get_mut(level)?;
        let first = list.pop_front()?;
        self.ready -= 1;
        if list.is_empty() {
            self.mark_empty(level);
        }
        Some(first.task.id)
    }

    /// The highest level that has tasks.
    #[inline]
    pub(crate) fn highest(&self) -> Option<usize> {
        let (word, bits) = self.filled.iter().enumerate().find(|(_, bits)| **bits != 0)?;
        Some(64 * word + bits.trailing_zeros() as usize)
    }

    /// The level of the task that became ready first of all. O(256).
    pub(crate) fn longest_ready(&self) -> Option<usize> {
        let firsts = self.lists.iter().enumerate();
        let numbers = firsts.filter_map(|(level, list)| Some((list.front()?.number, level)));
        numbers.min().map(|(_, level)| level)
    }

    /// The task that is `ahead` places behind the first of the highest level that has tasks.
    #[inline]
    pub(crate) fn peek(&self, ahead: usize) -> Option<TaskId> {
        self.lists.get(self.highest()?)?.get(ahead).map(|waiting| waiting.task.id)
    }

    /// Moves those of a level's tasks for which `moves` says so to another level, to where they would be if they had become
    /// ready there. O(n·log n) of the tasks in both levels at worst.
    pub(crate) fn shift(&mut self, from: usize, to: usize, moves: impl Fn(Task) -> bool) {
        let Some(list) = self.lists.get_mut(from) else { return };
        let (moved, stay): (Vec<_>, Vec<_>) = list.drain(..).partition(|waiting| moves(waiting.task));
        list.extend(stay);
        if moved.is_empty() {
            return;
        }
        if list.is_empty() {
            self.mark_empty(from);
        }
        self.mark_filled(to);
        let list = &mut self.lists[to];
        list.extend(moved);
        list.make_contiguous().sort_unstable_by_key(|waiting| waiting.number);
    }

    /// Gives memory back where more than `kept` tasks were ready, and none is now.
    pub(crate) fn give_back(&mut self, kept: usize) {
        if self.most_ready > kept {
            self.most_ready = 0;
            self.lists.iter_mut().for_each(|list| list.shrink_to(kept / LEVELS));
        }
    }

    #[inline]
    fn mark_filled(&mut self, level: usize) {
        let bit = 1 << (level % 64);
        let word = &mut self.filled[level / 64];
        if *word & bit != 0 {
            return;
        }
        *word |= bit;
        self.levels += 1;
        if level >= self.lists.len() {
            self.grow(level);
        }
    }

    #[cold]
    fn grow(&mut self, level: usize) {
        self.lists.resize_with(level + 1, VecDeque::new);
    }

    #[inline]
    fn mark_empty(&mut self, level: usize) {
        self.filled[level / 64] &= !(1 << (level % 64));
        self.levels -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GroupId;
    use crate::random::Random;

    fn task(slot: u32) -> Task {
        Task { id: TaskId::new(slot, 0), group: GroupId::new(slot % 3) }
    }

    fn check(tasks: &ByPriority, model: &[(usize, u64, TaskId)]) {
        let first = model.iter().min_by_key(|(level, number, _)| (*level, *number));
        assert_eq!(tasks.highest(), first.map(|(level, ..)| *level));
        assert_eq!(tasks.peek(0), first.map(|(.., id)| *id));
        let longest = model.iter().min_by_key(|(_, number, _)| *number);
        assert_eq!(tasks.longest_ready(), longest.map(|(level, ..)| *level));
        let mut levels: Vec<usize> = model.iter().map(|(level, ..)| *level).collect();
        levels.sort_unstable();
        levels.dedup();
        assert_eq!((tasks.levels(), tasks.ready()), (levels.len(), model.len()));
    }

    #[test]
    fn agree_with_a_scan() {
        let mut random = Random::new(1);
        let (mut tasks, mut model) = (ByPriority::new(), Vec::new());
        let levels = [127, -128, 0, 63, 64, 65, 1].map(level);
        for number in 0..20_000 {
            let (from, to) = (levels[random.below(7)], levels[random.below(7)]);
            match random.below(5) {
                0 if from != to => {
                    let group = GroupId::new(random.below(3) as u32);
                    tasks.shift(from, to, |task| task.group == group);
                    for (level, _, id) in &mut model {
                        let moves = *level == from && task((*id as TaskId).slot() as u32).group == group;
                        *level = if moves { to } else { *level };
                    }
                }
                1 | 2 => {
                    let first = model.iter().filter(|(level, ..)| *level == from).min_by_key(|entry| entry.1);
                    let first = first.map(|(.., id)| *id);
                    assert_eq!(tasks.pop(from), first);
                    model.retain(|(.., id)| Some(*id) != first);
                }
                _ => {
                    tasks.push(to, task(number as u32));
                    model.push((to, number, task(number as u32).id));
                }
            }
            check(&tasks, &model);
        }
        assert!(!model.is_empty());
    }

    #[test]
    fn memory_of_a_crowd_is_given_back() {
        let mut tasks = ByPriority::new();
        (0..10_000).for_each(|slot| tasks.push(level((slot % 256) as u8 as i8), task(slot)));
        while let Some(level) = tasks.highest() {
            tasks.pop(level);
        }
        let capacity = |tasks: &ByPriority| -> usize { tasks.lists.iter().map(|list| list.capacity()).sum() };
        assert!(capacity(&tasks) >= 10_000);
        tasks.give_back(10_000);
        assert!(capacity(&tasks) >= 10_000, "so many may stay");
        tasks.give_back(1_000);
        assert!(capacity(&tasks) <= 1_000);
    }
}
