//! [`ReadyList`]: ready tasks in the order of becoming ready.

use crate::Task;
use crate::parts::ring::Ring;

/// A ready task and its number in the order of becoming ready.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadyTask {
    /// From 1 on, and never given twice.
    pub(super) number: u64,
    pub(super) task: Task,
}

/// Ready tasks, the one first that became ready first.
pub(super) type ReadyList = Ring<ReadyTask>;

impl ReadyList {
    /// Takes out those for which `moves` says so. O(n).
    pub(super) fn take_those(&mut self, moves: impl Fn(Task) -> bool) -> Vec<ReadyTask> {
        let all = core::iter::from_fn(|| self.pop_front());
        let (moved, stay): (Vec<_>, Vec<_>) = all.partition(|ready| moves(ready.task));
        stay.into_iter().for_each(|ready| self.push_back(ready));
        moved
    }

    /// Puts these where they would be if they had become ready here. O(n·log n) of all.
    pub(super) fn merge(&mut self, mut others: Vec<ReadyTask>) {
        if others.is_empty() {
            return;
        }
        others.extend(core::iter::from_fn(|| self.pop_front()));
        others.sort_unstable_by_key(|ready| ready.number);
        others.into_iter().for_each(|ready| self.push_back(ready));
    }
}
