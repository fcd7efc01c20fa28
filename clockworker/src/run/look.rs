//! Looks at all queues and tasks, for those who show them.
//!
//! It may be called from anywhere that user code runs, so it panics nowhere: what is borrowed is left out, and named.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use super::Core;
use super::queue::RunQueue;
use crate::queue::TaskRecordLook;
use crate::task::probe::{QueueLook, TaskLook, TaskState, TasksLook};

impl Core {
    /// The queues there are now, in the order of their indices.
    pub(crate) fn look_at_queues(&self) -> Vec<QueueLook> {
        self.all_queues().iter().map(|queue| queue.look()).collect()
    }

    /// The tasks there are now.
    pub(crate) fn look_at_tasks(&self) -> TasksLook {
        let mut queues = self.all_queues();
        queues.sort_by_key(|queue| queue.id.generation());
        let mut look = TasksLook { now_ns: self.meter.look(), ..TasksLook::default() };
        for queue in queues {
            if !queue.look_at_tasks(&mut look.tasks) {
                look.busy_queues.push(Arc::clone(&queue.name.borrow()));
            }
        }
        look
    }
}

impl RunQueue {
    fn look(&self) -> QueueLook {
        let groups = match self.records.try_borrow() {
            Ok(records) => records.groups().filter_map(|(group, _)| records.group_view(group)).collect(),
            Err(_) => Vec::new(),
        };
        QueueLook {
            index: self.index(),
            number: self.id.generation(),
            name: Arc::clone(&self.name.borrow()),
            share: self.share.get().get(),
            request: Duration::from_nanos(self.request_ns.get()),
            groups,
        }
    }

    /// Adds its tasks. False if it cannot tell, as its scheduler is being called.
    fn look_at_tasks(&self, tasks: &mut Vec<TaskLook>) -> bool {
        let (Ok(records), Some(dropped_soon)) = (self.records.try_borrow(), self.slots_of_aborted()) else {
            return false;
        };
        let (name, counts_service) = (Arc::clone(&self.name.borrow()), self.times_tasks());
        tasks.extend(records.look().filter_map(|task: TaskRecordLook<'_>| {
            let known = task.known?;
            Some(TaskLook {
                id: known.id,
                name: known.label.name().cloned(),
                location: known.label.place(),
                queue: Arc::clone(&name),
                group: records.group_view(task.group),
                state: state_of(&task, &dropped_soon)?,
                spawned_ns: known.spawned_at,
                service: counts_service.then_some(known.service),
                word: task.word,
            })
        }));
        true
    }
}

/// None of a task that is over, although its scheduler has it.
fn state_of(task: &TaskRecordLook<'_>, dropped_soon: &HashSet<usize>) -> Option<TaskState> {
    match task {
        _ if dropped_soon.contains(&task.slot) => Some(TaskState::Aborted),
        TaskRecordLook { is_aborted: true, .. } => Some(TaskState::Aborted),
        TaskRecordLook { is_there: true, is_ready: true, .. } => Some(TaskState::Ready),
        TaskRecordLook { is_there: true, is_ready: false, .. } => Some(TaskState::Waiting),
        TaskRecordLook { is_there: false, is_ready: true, .. } => None,
        TaskRecordLook { is_there: false, is_ready: false, .. } => Some(TaskState::BeingPolled),
    }
}
