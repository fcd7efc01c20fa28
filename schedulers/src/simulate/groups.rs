//! [`Groups`]: the open groups of a simulated queue.

use std::collections::HashMap;

use crate::GroupId;

/// The groups that jobs of a queue belong to.
#[derive(Debug, Default)]
pub(super) struct Groups {
    /// By the user's key.
    open: HashMap<u32, Open>,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    id: GroupId,
    /// Its unfinished tasks.
    tasks: u32,
}

/// A group that has one more task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Joined {
    pub(super) group: GroupId,
    /// Whether it was not open before.
    pub(super) is_new: bool,
}

impl Groups {
    /// Counts one more task of the group of that key, which is opened if it is not open: under the number that `take` gives.
    pub(super) fn join(&mut self, key: u32, take: impl FnOnce() -> u32) -> Joined {
        let open = self.open.entry(key).or_insert_with(|| Open { id: GroupId::new(take()), tasks: 0 });
        open.tasks += 1;
        Joined { group: open.id, is_new: open.tasks == 1 }
    }

    /// Counts one task less. The group, if that was its last and it is closed.
    pub(super) fn leave(&mut self, key: u32) -> Option<GroupId> {
        let open = self.open.get_mut(&key)?;
        open.tasks -= 1;
        if open.tasks > 0 {
            return None;
        }
        self.open.remove(&key).map(|closed| closed.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_open_from_its_first_task_to_its_last() {
        let mut groups = Groups::default();
        let joined = |index: u32, is_new| Joined { group: GroupId::new(index), is_new };
        assert_eq!([70, 71].map(|key| groups.join(key, || key + 5)), [joined(75, true), joined(76, true)]);
        assert_eq!(groups.join(71, || panic!("it is open")), joined(76, false));
        assert_eq!([70, 71].map(|key| groups.leave(key)), [Some(GroupId::new(75)), None]);
        assert_eq!(groups.join(70, || 3), joined(3, true));
        assert_eq!(groups.leave(99), None);
    }
}
