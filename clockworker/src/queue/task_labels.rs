//! [`TaskLabels`]: what a dump says of tasks, by slot.

use std::time::Duration;

use super::Records;
use crate::task::{Id, Label, LiveTask};

/// What is known of each task of a queue while it has a record: also of the one that is being polled, which its record lacks then.
/// Nothing without the feature `observe`.
///
/// Beside the records and not in them, as a poll touches these and not this.
#[derive(Default)]
pub(super) struct TaskLabels {
    by_slot: Vec<Option<TaskLabel>>,
}

/// What is known of a task.
#[derive(Clone)]
pub(crate) struct TaskLabel {
    pub(crate) id: Id,
    pub(crate) label: Label,
    /// The executor's last clock reading when it was spawned, or came in from another thread.
    pub(crate) spawned_at: u64,
    /// What its scheduler was told that it took.
    pub(crate) service: Duration,
}

impl TaskLabels {
    #[inline]
    pub(super) fn insert(&mut self, slot: usize, live: &LiveTask) {
        if Records::KEEPS_LABELS {
            self.insert_label(slot, live);
        }
    }

    fn insert_label(&mut self, slot: usize, live: &LiveTask) {
        if slot >= self.by_slot.len() {
            self.by_slot.resize(slot + 1, None);
        }
        self.by_slot[slot] = Some(TaskLabel {
            id: live.id(),
            label: live.label().clone(),
            spawned_at: 0,
            service: Duration::ZERO,
        });
    }

    pub(super) fn set_spawned(&mut self, slot: usize, now: u64) {
        if let Some(Some(known)) = self.by_slot.get_mut(slot) {
            known.spawned_at = now;
        }
    }

    pub(super) fn get(&self, slot: usize) -> Option<&TaskLabel> {
        self.by_slot.get(slot)?.as_ref()
    }

    /// Adds what a poll took.
    #[inline]
    pub(super) fn served(&mut self, slot: usize, service_ns: u64) {
        if Records::KEEPS_LABELS
            && let Some(Some(known)) = self.by_slot.get_mut(slot)
        {
            known.service = known.service.saturating_add(Duration::from_nanos(service_ns));
        }
    }

    pub(super) fn take(&mut self, slot: usize) -> Option<TaskLabel> {
        self.by_slot.get_mut(slot)?.take()
    }

    pub(super) fn put(&mut self, slot: usize, label: TaskLabel) {
        if let Some(known) = self.by_slot.get_mut(slot) {
            *known = Some(label);
        }
    }

    /// Forgets a task that has finished.
    #[inline]
    pub(super) fn remove(&mut self, slot: usize) {
        if Records::KEEPS_LABELS
            && let Some(known) = self.by_slot.get_mut(slot)
        {
            *known = None;
        }
    }

    /// Forgets all tasks, and gives the memory back.
    pub(super) fn clear(&mut self) {
        self.by_slot = Vec::new();
    }
}
