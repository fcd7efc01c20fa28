//! Ready tasks by priority, FIFO in each, of which the highest is found at once.

use super::Lists;
use super::ready_list::{ReadyList, ReadyTask};
use crate::{Task, TaskId};

/// There are so many levels, one for each priority.
const LEVELS: usize = 256;

/// The level of a priority: 0 is the highest, 127, and 255 the lowest, −128.
#[inline]
const fn level(priority: Option<i8>) -> usize {
    let priority = match priority {
        Some(priority) => priority,
        None => 0,
    };
    (i8::MAX as i16 - priority as i16) as usize
}

/// A FIFO list of ready tasks for each level, each in the order of becoming ready.
#[derive(Clone, Debug)]
pub(super) struct ByPriority {
    /// By level, as far as there ever were tasks.
    lists: Vec<ReadyList>,
    /// Bit *l* is set if and only if list *l* has tasks.
    filled: [u64; LEVELS / 64],
    /// How many lists have tasks.
    pub(super) levels: usize,
    /// How many tasks there are.
    pub(super) ready: usize,
    /// The most that were ready at a time since memory was last given back.
    most_ready: usize,
}

impl ByPriority {
    /// Of no tasks.
    pub(super) const fn new() -> Self {
        Self { lists: Vec::new(), filled: [0; LEVELS / 64], levels: 0, ready: 0, most_ready: 0 }
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
        self.lists.resize_with(level + 1, ReadyList::new);
    }

    #[inline]
    fn mark_empty(&mut self, level: usize) {
        self.filled[level / 64] &= !(1 << (level % 64));
        self.levels -= 1;
    }
}

/// A list is a level.
impl Lists for ByPriority {
    type Key = i8;
    type List = usize;

    #[inline]
    fn is_empty(&self) -> bool {
        self.levels == 0
    }

    #[inline]
    fn first(&self) -> Option<usize> {
        let (word, bits) = self.filled.iter().enumerate().find(|(_, bits)| **bits != 0)?;
        Some(64 * word + bits.trailing_zeros() as usize)
    }

    #[inline]
    fn any_besides(&self, level: usize) -> bool {
        self.levels > 1 || self.first() != Some(level)
    }

    #[inline]
    fn list_ahead(&self, priority: Option<i8>) -> Option<usize> {
        let level = level(priority);
        (self.first()? > level).then_some(level)
    }

    /// To the task that became ready first of all. O(256).
    fn fair_turn(&mut self, highest: usize) -> usize {
        let firsts = self.lists.iter().enumerate();
        let numbers = firsts.filter_map(|(level, list)| Some((list.get(0)?.number, level)));
        numbers.min().map_or(highest, |(_, level)| level)
    }

    #[inline]
    fn only_list(&mut self, priority: Option<i8>) -> Option<&mut ReadyList> {
        if self.levels == 1 {
            self.lists.get_mut(level(priority)).filter(|list| !list.is_empty())
        } else {
            None
        }
    }

    #[inline]
    fn push(&mut self, priority: Option<i8>, ready: ReadyTask) {
        let level = level(priority);
        self.ready += 1;
        self.most_ready = self.most_ready.max(self.ready);
        self.mark_filled(level);
        self.lists[level].push_back(ready);
    }

    #[inline]
    fn pop(&mut self, level: usize) -> Option<TaskId> {
        let list = self.lists.get_mut(level)?;
        let first = list.pop_front()?;
        self.ready -= 1;
        if list.is_empty() {
            self.mark_empty(level);
        }
        Some(first.task.id)
    }

    #[inline]
    fn peek(&self, ahead: usize) -> Option<TaskId> {
        self.lists.get(self.first()?)?.get(ahead).map(|ready| ready.task.id)
    }

    fn change(&mut self, from: Option<i8>, to: Option<i8>, moves: impl Fn(Task) -> bool) {
        let (from, to) = (level(from), level(to));
        let Some(list) = self.lists.get_mut(from).filter(|_| from != to) else { return };
        let moved = list.take_those(moves);
        if moved.is_empty() {
            return;
        }
        if list.is_empty() {
            self.mark_empty(from);
        }
        self.mark_filled(to);
        self.lists[to].merge(moved);
    }

    fn shrink_to(&mut self, kept: usize) {
        if self.most_ready > kept {
            self.most_ready = 0;
            self.lists.iter_mut().for_each(|list| list.shrink_to(kept / LEVELS));
        }
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

    fn check(tasks: &mut ByPriority, model: &[(usize, u64, TaskId)]) {
        let first = model.iter().min_by_key(|(level, number, _)| (*level, *number));
        assert_eq!(tasks.first(), first.map(|(level, ..)| *level));
        assert_eq!(tasks.peek(0), first.map(|(.., id)| *id));
        let longest = model.iter().min_by_key(|(_, number, _)| *number);
        assert_eq!(tasks.fair_turn(7), longest.map_or(7, |(level, ..)| *level));
        let mut levels: Vec<usize> = model.iter().map(|(level, ..)| *level).collect();
        levels.sort_unstable();
        levels.dedup();
        assert_eq!((tasks.levels, tasks.ready), (levels.len(), model.len()));
        assert!(levels.iter().all(|&level| tasks.any_besides(level) == (levels.len() > 1)));
    }

    #[test]
    fn agree_with_a_scan() {
        let mut random = Random::new(1);
        let (mut tasks, mut model) = (ByPriority::new(), Vec::new());
        let priorities = [127, -128, 0, 63, 64, 65, 1].map(Some);
        for number in 1..20_000 {
            let (from, to) = (priorities[random.below(7)], priorities[random.below(7)]);
            match random.below(5) {
                0 if from != to => {
                    let group = GroupId::new(random.below(3) as u32);
                    tasks.change(from, to, |task| task.group == group);
                    for (of, _, id) in &mut model {
                        let moves = *of == level(from) && task((*id as TaskId).slot() as u32).group == group;
                        *of = if moves { level(to) } else { *of };
                    }
                }
                1 | 2 => {
                    let first =
                        model.iter().filter(|(of, ..)| *of == level(from)).min_by_key(|entry| entry.1);
                    let first = first.map(|(.., id)| *id);
                    assert_eq!(tasks.pop(level(from)), first);
                    model.retain(|(.., id)| Some(*id) != first);
                }
                _ => {
                    let task = task(number as u32);
                    tasks.push(to, ReadyTask { number, task });
                    model.push((level(to), number, task.id));
                }
            }
            check(&mut tasks, &model);
        }
        assert!(!model.is_empty());
    }

    #[test]
    fn memory_of_a_crowd_is_given_back() {
        let mut tasks = ByPriority::new();
        for slot in 0..10_000 {
            let ready = ReadyTask { number: slot.into(), task: task(slot) };
            tasks.push(Some(slot as u8 as i8), ready);
        }
        while let Some(level) = tasks.first() {
            tasks.pop(level);
        }
        let capacity = |tasks: &ByPriority| -> usize { tasks.lists.iter().map(|list| list.capacity()).sum() };
        assert!(capacity(&tasks) >= 10_000);
        tasks.shrink_to(10_000);
        assert!(capacity(&tasks) >= 10_000, "so many may stay");
        tasks.shrink_to(1_024);
        assert!(capacity(&tasks) <= 1_024);
    }
}
