//! Links between tasks, by slot: the lists that groups keep of their ready tasks.

use crate::TaskId;

/// Says in a list that there is no next slot.
pub(crate) const END: u32 = u32::MAX;

/// A link for each slot. Only meaningful while the slot's task is in a list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Links(Vec<Link>);

#[derive(Clone, Copy, Debug)]
struct Link {
    next: u32,
    /// To make the task's id from the slot again.
    generation: u32,
}

impl Link {
    const UNUSED: Self = Self { next: END, generation: 0 };
}

impl Links {
    /// Of no slots.
    pub(crate) const fn new() -> Self {
        Self(Vec::new())
    }

    /// The task becomes the last of a list.
    #[inline]
    pub(crate) fn end_with(&mut self, task: TaskId) {
        let slot = task.slot();
        if slot >= self.0.len() {
            self.grow(slot);
        }
        self.0[slot] = Link { next: END, generation: task.generation() };
    }

    #[cold]
    fn grow(&mut self, slot: usize) {
        self.0.resize(slot + 1, Link::UNUSED);
    }

    /// Puts a slot behind another, which was the last.
    #[inline]
    pub(crate) fn put_behind(&mut self, last: u32, slot: u32) {
        self.0[last as usize].next = slot;
    }

    /// The task in a slot, and the slot of the one behind it.
    #[inline]
    pub(crate) fn get(&self, slot: u32) -> Option<(TaskId, u32)> {
        let link = self.0.get(slot as usize)?;
        Some((TaskId::new(slot, link.generation), link.next))
    }
}
