//! First-in-first-out lists of tasks that share one table of links.

use super::by_index;
use crate::TaskId;

/// Says in a list that it is empty, and in a link that there is no next slot. Slots are below 2³¹ − 1.
const END: u32 = u32::MAX;

/// Says beside the head's slot that it is the only task.
const ALONE: u32 = 1 << 31;

/// The links of any number of [`TaskList`]s, by slot. A task is in one of them at most, so eight bytes a task are enough,
/// however many lists there are. A task that is alone in its list has no link: most groups have one task.
#[derive(Clone, Debug, Default)]
pub(crate) struct TaskLists {
    links: Vec<Link>,
}

/// One list. It means something together with the [`TaskLists`] that its tasks were put into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TaskList {
    /// The first slot, with `ALONE` if there is no other; `END` if there is none.
    head: u32,
    /// The last slot; the generation of the only task.
    rest: u32,
}

/// A place in a list of two tasks or more. Only meaningful while the slot's task is in one.
#[derive(Clone, Copy, Debug)]
struct Link {
    next: u32,
    /// To make the task's id from the slot again.
    generation: u32,
}

impl TaskList {
    pub(crate) const EMPTY: Self = Self { head: END, rest: END };

    /// That of one task.
    #[inline]
    pub(crate) fn of(task: TaskId) -> Self {
        Self { head: task.slot() as u32 | ALONE, rest: task.generation() }
    }

    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.head == END
    }

    /// The only task, if it is the only one.
    #[inline]
    fn only(self) -> Option<TaskId> {
        (self.head & ALONE != 0 && !self.is_empty()).then(|| TaskId::new(self.head & !ALONE, self.rest))
    }
}

impl TaskLists {
    pub(crate) const fn new() -> Self {
        Self { links: Vec::new() }
    }

    /// Puts a task, which is in no list, at the tail of `list`.
    #[inline]
    pub(crate) fn push_back(&mut self, list: &mut TaskList, task: TaskId) {
        if list.is_empty() {
            *list = TaskList::of(task);
        } else {
            self.push_behind(list, task);
        }
    }

    fn push_behind(&mut self, list: &mut TaskList, task: TaskId) {
        if let Some(only) = list.only() {
            self.end_with(only);
            let slot = only.slot() as u32;
            *list = TaskList { head: slot, rest: slot };
        }
        self.end_with(task);
        let slot = task.slot() as u32;
        let last = core::mem::replace(&mut list.rest, slot);
        self.links[last as usize].next = slot;
    }

    /// The task becomes the last of a list.
    fn end_with(&mut self, task: TaskId) {
        let slot = task.slot();
        if slot >= self.links.len() {
            by_index::grow(&mut self.links, slot, || Link { next: END, generation: 0 });
        }
        self.links[slot] = Link { next: END, generation: task.generation() };
    }

    /// Takes out the head of `list`.
    #[inline]
    pub(crate) fn pop_front(&mut self, list: &mut TaskList) -> Option<TaskId> {
        match list.only() {
            Some(only) => {
                *list = TaskList::EMPTY;
                Some(only)
            }
            None => self.pop_linked(list),
        }
    }

    fn pop_linked(&mut self, list: &mut TaskList) -> Option<TaskId> {
        let slot = list.head;
        let link = self.links.get(slot as usize)?;
        match self.get(link.next) {
            Some(next) if link.next == list.rest => *list = TaskList::of(next),
            Some(_) => list.head = link.next,
            None => *list = TaskList::EMPTY,
        }
        Some(TaskId::new(slot, link.generation))
    }

    /// The task of a slot that has a link.
    #[inline]
    fn get(&self, slot: u32) -> Option<TaskId> {
        self.links.get(slot as usize).map(|link| TaskId::new(slot, link.generation))
    }

    /// The task `n` places behind the head of `list`. O(n).
    #[inline]
    pub(crate) fn nth(&self, list: TaskList, n: usize) -> Option<TaskId> {
        match list.only() {
            Some(only) => (n == 0).then_some(only),
            None => self.nth_linked(list.head, n),
        }
    }

    fn nth_linked(&self, mut slot: u32, n: usize) -> Option<TaskId> {
        for _ in 0..n {
            slot = self.links.get(slot as usize)?.next;
        }
        self.get(slot)
    }

    /// Gives memory back but that of `slots` slots, where all lists are empty.
    pub(crate) fn shrink_to(&mut self, slots: usize) {
        if self.links.capacity() > slots {
            self.links.clear();
            self.links.shrink_to(slots);
        }
    }

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
        let [one, other] = [TaskId::new(99_999, 3), TaskId::new(7, 1)];
        links.push_back(&mut list, one);
        assert_eq!((links.pop_front(&mut list), links.capacity()), (Some(one), 0), "it was alone");
        for _ in 0..2 {
            links.push_back(&mut list, one);
            links.push_back(&mut list, other);
            assert_eq!((links.pop_front(&mut list), links.pop_front(&mut list)), (Some(one), Some(other)));
            links.shrink_to(64);
            assert_eq!((list.is_empty(), links.capacity()), (true, 64));
        }
    }
}
