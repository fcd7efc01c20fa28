//! [`OwnOrGroup`]: one attribute, of tasks and of groups.

use crate::{GroupId, Task, TaskId};

/// What was said of each task, or else of its group: one attribute of the two.
#[derive(Clone, Debug)]
pub(super) struct OwnOrGroup<T> {
    /// By slot.
    own: Table<T>,
    /// By index.
    groups: Table<T>,
}

/// What was said, by index.
///
/// As long as nothing is said it takes no memory. Then it takes so much for each index up to the highest of which something was
/// said; and gives it back as others end.
#[derive(Clone, Debug)]
struct Table<T> {
    /// It ends before the entries that were never set.
    said: Vec<Option<T>>,
    /// So many ends have not paid for an entry that was given back: where an index is used again and again, its table
    /// is not to grow and to shrink each time.
    ends: usize,
}

impl<T: Copy + PartialEq> OwnOrGroup<T> {
    /// Of tasks and groups of which nothing was said.
    pub(super) const fn new() -> Self {
        Self { own: Table::new(), groups: Table::new() }
    }

    /// What was said of the task, or else of its group.
    #[inline]
    pub(super) fn of(&self, task: Task) -> Option<T> {
        self.own(task.id).or_else(|| self.groups.get(task.group.index()))
    }

    /// Whether the task has what its group has.
    pub(super) fn follows_group(&self, task: Task) -> bool {
        self.own(task.id).is_none()
    }

    #[inline]
    fn own(&self, task: TaskId) -> Option<T> {
        self.own.get(task.slot())
    }

    /// Says it of a task, or with `None` that the task has what its group has, or has ended.
    #[inline]
    pub(super) fn set_own(&mut self, task: TaskId, value: Option<T>) {
        self.own.set(task.slot(), value);
    }

    /// Says it of a group, or takes back what was said. What it was before.
    pub(super) fn set_group(&mut self, group: GroupId, value: Option<T>) -> Option<T> {
        self.groups.set(group.index(), value)
    }

    /// Gives memory back where it is more than for `kept` tasks or groups: what is behind the last of which something is
    /// said, an entry for each task or group that has ended. O(1) for each of these.
    pub(super) fn give_back(&mut self, kept: usize) {
        self.own.give_back(kept);
        self.groups.give_back(kept);
    }
}

impl<T: Copy> Table<T> {
    const fn new() -> Self {
        Self { said: Vec::new(), ends: 0 }
    }

    #[inline]
    fn get(&self, index: usize) -> Option<T> {
        self.said.get(index).copied().flatten()
    }

    /// Sets an entry. What it was.
    #[inline]
    fn set(&mut self, index: usize, value: Option<T>) -> Option<T> {
        if value.is_none() {
            self.ends = self.ends.saturating_add(1);
        }
        if index >= self.said.len() {
            value?; // nothing there, and nothing to put there
            self.said.resize(index + 1, None);
        }
        core::mem::replace(&mut self.said[index], value)
    }

    fn give_back(&mut self, kept: usize) {
        if self.said.capacity() <= kept {
            return;
        }
        self.ends = self.ends.min(self.said.len());
        while self.ends > 0 && self.said.pop_if(|entry| entry.is_none()).is_some() {
            self.ends -= 1;
        }
        // Half as much again stays, so that the next does not make it grow.
        if self.said.capacity() > 2 * self.said.len() {
            self.said.shrink_to(kept.max(self.said.len() + self.said.len() / 2));
        }
    }
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
        assert_eq!(capacities(&said), [0, 0]);
    }

    fn capacities(said: &OwnOrGroup<u64>) -> [usize; 2] {
        [&said.own, &said.groups].map(|table| table.said.capacity())
    }

    fn say(said: &mut OwnOrGroup<u64>, indices: impl Iterator<Item = u32>, value: Option<u64>) {
        for index in indices {
            said.set_own(TaskId::new(index, 0), value);
            said.set_group(GroupId::new(index), value);
        }
    }

    #[test]
    fn memory_of_a_burst_is_given_back_down_to_the_last_that_is_said() {
        let mut said = OwnOrGroup::new();
        say(&mut said, 0..100_000, Some(7));
        said.give_back(1_000);
        assert!(capacities(&said).iter().all(|&capacity| capacity >= 100_000), "none has ended");
        say(&mut said, (0..100_000).filter(|index| *index != 20_000), None);
        said.give_back(1_000);
        assert!(capacities(&said).iter().all(|capacity| (20_001..=40_002).contains(capacity)));
        assert_eq!([19_999, 20_000, 99_999].map(|slot| said.of(task(slot, slot))), [None, Some(7), None]);
        say(&mut said, 20_000..20_001, None);
        said.give_back(1_000);
        assert!(capacities(&said).iter().all(|&capacity| capacity <= 1_000));
        say(&mut said, 5..6, Some(8));
        assert_eq!([4, 5].map(|slot| said.of(task(slot, slot))), [None, Some(8)]);
    }

    /// Where one comes and ends again and again at the end of a large table, as little is given back as it pays for.
    #[test]
    fn memory_does_not_come_and_go_with_one_of_a_high_index() {
        let mut said = OwnOrGroup::new();
        for _ in 0..100 {
            say(&mut said, 100_000..100_001, Some(7));
            say(&mut said, 100_000..100_001, None);
            said.give_back(1_000);
            assert!(said.own.said.len() == 100_000 && said.own.said.capacity() <= 200_002);
        }
    }
}
