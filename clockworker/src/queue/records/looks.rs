//! Looks: what each record says of its task, for a dump.

use super::{GroupIndex, Records};
use crate::queue::task_labels::TaskLabel;
use crate::task::LiveTask;

/// What a record says of its task.
pub(crate) struct TaskRecordLook<'a> {
    pub(crate) slot: usize,
    pub(crate) known: Option<&'a TaskLabel>,
    pub(crate) group: GroupIndex,
    /// Whether the task is in its record: it is not being polled, and its future was not taken out to be dropped.
    pub(crate) is_there: bool,
    /// Whether it is among arrivals, or its scheduler has it.
    pub(crate) is_ready: bool,
    pub(crate) is_aborted: bool,
    /// The word of a probe. None of one that is not there.
    pub(crate) word: Option<u64>,
}

impl Records {
    /// All records, in the order of their slots. Nothing is `known` of a group.
    pub(crate) fn look(&self) -> impl Iterator<Item = TaskRecordLook<'_>> {
        self.tasks.iter().map(|(slot, record)| {
            let live = record.at_rest();
            TaskRecordLook {
                slot,
                known: self.labels.get(slot),
                group: record.standing.group(),
                is_there: live.is_some(),
                is_ready: record.is_ready() || live.is_some_and(LiveTask::has_arrived),
                is_aborted: live.is_some_and(LiveTask::is_aborted),
                word: live.map(LiveTask::word),
            }
        })
    }
}
