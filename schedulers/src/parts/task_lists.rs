//! First-in-first-out lists of tasks that share one table of links.

use crate::TaskId;

/// Says in a list that there is no next slot.
const END: u32 = u32::MAX;

/// The links of any number of [`TaskList`]s, by slot. A task is in one of them at most, so eight bytes a task are enough,
/// however many lists there are.
#[derive(Clone, Debug)]
pub(crate) struct TaskLists {
    links: Vec<Link>,
}

/// One list. It means something together with the [`TaskLists`] that its tasks were put into.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TaskList {
    /// First and last slot; `END` if empty.
    head: u32,
    tail: u32,
}

/// A place in a list. Only meaningful while the slot's task is in one.
#[derive(Clone, Copy, Debug)]
struct Link {
    next: u32,
    /// To make the task's id from the slot again.
    generation: u32,
}

impl TaskList {
    pub(crate) const EMPTY: Self = Self { head: END, tail: END };

    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.head == END
    }
}

impl TaskLists {
    pub(crate) const fn new() -> Self {
        Self { links: Vec::new() }
    }

    /// Puts a task, which is in no list, at the tail of `list`.
    #[inline]
    pub(crate) fn push_back(&mut self, list: &mut TaskList, task: TaskId) {
        let slot = task.slot();
        if slot >= self.links.len() {
            self.grow(slot);
        }
        self.links[slot] = Link { next: END, generation: task.generation() };
        let last = core::mem::replace(&mut list.tail, slot as u32);
        match self.links.get_mut(last as usize) {
            Some(link) => link.next = slot as u32,
            None => list.head = slot as u32,
        }
    }

    #[cold]
    fn grow(&mut self, slot: usize) {
        self.links.resize(slot + 1, Link { next: END, generation: 0 });
    }

    /// Takes out the head of `list`.
    #[inline]
    pub(crate) fn pop_front(&mut self, list: &mut TaskList) -> Option<TaskId> {
        let slot = list.head;
        let link = self.links.get(slot as usize)?;
        list.head = link.next;
        if link.next == END {
            list.tail = END;
        }
        Some(TaskId::new(slot, link.generation))
    }

    /// The task `n` places behind the head of `list`. O(n).
    #[inline]
    pub(crate) fn nth(&self, list: TaskList, n: usize) -> Option<TaskId> {
        let mut slot = list.head;
        for _ in 0..n {
            slot = self.links.get(slot as usize)?.next;
        }
        let link = self.links.get(slot as usize)?;
        Some(TaskId::new(slot, link.generation))
    }

    /// Gives memory back but that of `slots` slots, where all lists are empty.
    pub(crate) fn shrink_to(&mut self, slots: usize) {
        if self.links.capacity() > slots {
            self.links.clear();
            self.links.shrink_to(slots);
        }
    }

    #[cfg(test)]
    pub(crate) fn capacity(&self) -> usize {
        self.links.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use std::collections::VecDeque;

    #[test]
    fn agree_with_queues() {
        let mut random = Random::new(1);
        let (mut links, mut lists) = (TaskLists::new(), [TaskList::EMPTY; 5]);
        let mut model: [VecDeque<TaskId>; 5] = Default::default();
        let mut free: Vec<TaskId> = (0..40).map(|slot| TaskId::new(slot, 0)).collect();
        for _ in 0..20_000 {
            let list = random.below(5);
            if random.one_in(2) && !free.is_empty() {
                let task = free.swap_remove(random.below(free.len()));
                links.push_back(&mut lists[list], task);
                model[list].push_back(task);
            } else {
                let popped = links.pop_front(&mut lists[list]);
                assert_eq!(popped, model[list].pop_front());
                free.extend(popped.map(|task| TaskId::new(task.slot() as u32, task.generation() + 1)));
            }
            assert_eq!(lists[list].is_empty(), model[list].is_empty());
            for n in 0..4 {
                assert_eq!(links.nth(lists[list], n), model[list].get(n).copied());
            }
        }
    }

    #[test]
    fn give_memory_back() {
        let (mut links, mut list) = (TaskLists::new(), TaskList::EMPTY);
        links.push_back(&mut list, TaskId::new(99_999, 3));
        assert_eq!(links.pop_front(&mut list), Some(TaskId::new(99_999, 3)));
        links.shrink_to(64);
        assert!(links.capacity() < 99_999);
        links.push_back(&mut list, TaskId::new(99_999, 4));
        assert_eq!(links.pop_front(&mut list), Some(TaskId::new(99_999, 4)));
    }
}
