//! [`Groups`]: the open groups of a simulated queue.

use std::collections::HashMap;

use crate::GroupId;

/// The groups that jobs of a queue belong to, with indices as the executor gives them: the one that was freed last, or a new one.
#[derive(Debug, Default)]
pub(super) struct Groups {
    /// By the user's key.
    open: HashMap<u32, Open>,
    /// Indices to be taken, the next one last.
    free: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    index: u32,
    /// Its unfinished tasks.
    tasks: u32,
}

impl Open {
    /// As schedulers know it: odd, as even ones are those of tasks without a group.
    fn id(self) -> GroupId {
        GroupId::new(self.index << 1 | 1)
    }
}

/// A group that has one more task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Joined {
    pub(super) group: GroupId,
    /// Whether it was not open before.
    pub(super) is_new: bool,
}

impl Groups {
    /// Counts one more task of the group of that key, which is opened if it is not open.
    pub(super) fn join(&mut self, key: u32) -> Joined {
        let (free, opened) = (&mut self.free, self.open.len() as u32);
        let open = self.open.entry(key).or_insert_with(|| {
            // As many as are open, and none is free, have the indices below.
            Open { index: free.pop().unwrap_or(opened), tasks: 0 }
        });
        open.tasks += 1;
        Joined { group: open.id(), is_new: open.tasks == 1 }
    }

    /// Counts one task less. The group, if that was its last and it is closed.
    pub(super) fn leave(&mut self, key: u32) -> Option<GroupId> {
        let open = self.open.get_mut(&key)?;
        open.tasks -= 1;
        if open.tasks > 0 {
            return None;
        }
        let closed = self.open.remove(&key)?;
        self.free.push(closed.index);
        Some(closed.id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_used_again_last_freed_first() {
        let mut groups = Groups::default();
        let joined = |index: u32, is_new| Joined { group: GroupId::new(2 * index + 1), is_new };
        assert_eq!([70, 71, 72].map(|key| groups.join(key)), [0, 1, 2].map(|index| joined(index, true)));
        assert_eq!(groups.join(71), joined(1, false));
        assert_eq!(
            [70, 71, 72].map(|key| groups.leave(key)),
            [Some(GroupId::new(1)), None, Some(GroupId::new(5))]
        );
        assert_eq!([73, 70, 74].map(|key| groups.join(key)), [2, 0, 3].map(|index| joined(index, true)));
        assert_eq!(groups.leave(99), None);
    }
}
