//! [`OwnOrGroup`]: one attribute, of tasks and of groups.

use crate::{GroupId, Task, TaskId};

/// What was said of each task, or else of its group: one attribute of the two.
///
/// As long as nothing is said it takes no memory. Then it takes so much for each slot, or group index, up to the highest of
/// which something was said.
#[derive(Clone, Debug)]
pub(crate) struct OwnOrGroup<T> {
    /// By slot.
    own: Vec<Option<T>>,
    /// By index.
    groups: Vec<Option<T>>,
}

impl<T: Copy + PartialEq> OwnOrGroup<T> {
    /// Of tasks and groups of which nothing was said.
    pub(crate) const fn new() -> Self {
        Self { own: Vec::new(), groups: Vec::new() }
    }

    /// What was said of the task, or else of its group.
    #[inline]
    pub(crate) fn of(&self, task: Task) -> Option<T> {
        self.own(task.id).or_else(|| self.groups.get(task.group.index()).copied().flatten())
    }

    /// Whether the task has what its group has.
    pub(crate) fn follows_group(&self, task: Task) -> bool {
        self.own(task.id).is_none()
    }

    #[inline]
    fn own(&self, task: TaskId) -> Option<T> {
        self.own.get(task.slot()).copied().flatten()
    }

    /// Says it of a task, or with `None` that the task has what its group has.
    #[inline]
    pub(crate) fn set_own(&mut self, task: TaskId, value: Option<T>) {
        set(&mut self.own, task.slot(), value);
    }

    /// Says it of a group, or takes back what was said. What it was before.
    pub(crate) fn set_group(&mut self, group: GroupId, value: Option<T>) -> Option<T> {
        set(&mut self.groups, group.index(), value)
    }
}

/// Sets an entry of a table that ends before the entries that were never set. What it was.
#[inline]
fn set<T: Copy>(table: &mut Vec<Option<T>>, index: usize, value: Option<T>) -> Option<T> {
    if index >= table.len() {
        value?; // nothing there, and nothing to put there
        table.resize(index + 1, None);
    }
    core::mem::replace(&mut table[index], value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(slot: u32, group: u32) -> Task {
        Task { id: TaskId::new(slot, 0), group: GroupId::new(group) }
    }

    #[test]
    fn a_tasks_own_hides_its_groups() {
        let mut said = OwnOrGroup::new();
        assert_eq!(said.of(task(0, 0)), None);
        assert_eq!(said.set_group(GroupId::new(3), Some('g')), None);
        said.set_own(TaskId::new(1, 0), Some('o'));
        let all = || [task(1, 3), task(2, 3), task(1, 0), task(2, 0)];
        assert_eq!(all().map(|task| said.of(task)), [Some('o'), Some('g'), Some('o'), None]);
        assert_eq!(all().map(|task| said.follows_group(task)), [false, true, false, true]);
        said.set_own(TaskId::new(1, 0), None);
        assert_eq!(said.set_group(GroupId::new(3), Some('h')), Some('g'));
        assert_eq!(all().map(|task| said.of(task)), [Some('h'), Some('h'), None, None]);
        assert_eq!(said.set_group(GroupId::new(3), None), Some('h'));
        assert_eq!(all().map(|task| said.of(task)), [None; 4]);
    }

    #[test]
    fn takes_no_memory_before_something_is_said() {
        let mut said = OwnOrGroup::<u64>::new();
        said.set_own(TaskId::new(1_000_000, 0), None);
        said.set_group(GroupId::new(1_000_000), None);
        assert_eq!((said.own.capacity(), said.groups.capacity()), (0, 0));
    }
}
