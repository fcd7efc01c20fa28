//! What a group has done so far.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use clockworker_schedulers::Attributes;

use super::queue::RunQueue;
use crate::queue::GroupIndex;

/// What one group has done since it was opened. From [`Group::stats`](crate::Group::stats) and
/// [`Queue::group_stats`](crate::Queue::group_stats).
///
/// `spawned == completed + cancelled + panicked + live` at every moment between polls. A group that closes is forgotten; one that is
/// opened later under its key begins at zero.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GroupStats {
    /// The key that the group was opened with.
    pub key: u64,
    /// A number that tells the groups of a queue apart, also those that had a key one after the other.
    pub number: u32,
    /// The name that it was given, if any.
    pub name: Option<Arc<str>>,
    /// What its scheduler was told of it last.
    pub attributes: Attributes,
    /// Tasks ready to be polled now. Those that other threads have woken or spawned since the last poll are not counted yet.
    pub ready: usize,
    /// Tasks that have not finished.
    pub live: u64,
    /// Calls of `Future::poll`. None where the queue's scheduler does not need to know the service
    /// ([`NEEDS_SERVICE`](crate::schedulers::Scheduler::NEEDS_SERVICE)): nothing is counted per poll there,
    /// nor later made up for if the [scheduler is changed](crate::Queue::set_scheduler).
    pub polls: Option<u64>,
    /// Time that polls and drops of its tasks took, with the executor's work around them, as far as the scheduler was told: where
    /// polls are short, [an estimate](crate::schedulers::Scheduler::served). None where `polls` is.
    pub busy: Option<Duration>,
    /// Tasks spawned.
    pub spawned: u64,
    /// Tasks that gave an output.
    pub completed: u64,
    /// Tasks that were aborted, or cancelled at shutdown.
    pub cancelled: u64,
    /// Tasks that panicked.
    pub panicked: u64,
}

impl RunQueue {
    /// What the group of that index and key has done.
    pub(crate) fn group_stats(&self, group: GroupIndex, key: u64) -> GroupStats {
        let ready = self.records.borrow().groups_of_ready().filter(|&of| of == group).count();
        self.stats_of(group, key, ready)
    }

    /// What each group has done that is open.
    pub(crate) fn all_group_stats(&self) -> Vec<GroupStats> {
        let records = self.records.borrow();
        let mut ready: HashMap<GroupIndex, usize> = HashMap::new();
        records.groups_of_ready().for_each(|group| *ready.entry(group).or_default() += 1);
        let ready_of = |group| ready.get(&group).copied().unwrap_or(0);
        records.groups().map(|(group, key)| self.stats_of(group, key, ready_of(group))).collect()
    }

    fn stats_of(&self, group: GroupIndex, key: u64, ready: usize) -> GroupStats {
        let records = self.records.borrow();
        let counters = records.group_counters(group);
        let is_counted = self.needs_service();
        GroupStats {
            key,
            number: records.group_number(group),
            name: records.group_name(group),
            attributes: records.group_attributes(group),
            ready,
            live: counters.live(),
            polls: is_counted.then_some(counters.polls),
            busy: is_counted.then_some(Duration::from_nanos(counters.busy_ns)),
            spawned: counters.spawned,
            completed: counters.completed,
            cancelled: counters.cancelled,
            panicked: counters.panicked,
        }
    }
}
