//! Looks at all tasks, for a [`TaskDump`].
//!
//! It may be called from anywhere that user code runs, so it panics nowhere: what is borrowed is left out, and named.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use super::Core;
use super::queue::RunQueue;
use crate::observe::{DumpedTask, TaskDump, TaskState};
use crate::queue::TaskLook;
use crate::task::UNKNOWN;

impl Core {
    /// The tasks there are now.
    pub(crate) fn dump(&self) -> TaskDump {
        let now = self.meter.look();
        let mut queues = self.all_queues();
        queues.sort_by_key(|queue| queue.key.generation);
        let mut dump = TaskDump { at: Duration::from_nanos(now), ..TaskDump::default() };
        for queue in queues {
            let name: Arc<str> = queue.name.borrow().as_ref().into();
            if !queue.dump(&name, now, &mut dump.tasks) {
                dump.busy_queues.push(name);
            }
        }
        dump
    }
}

impl RunQueue {
    /// Adds its tasks. False if it cannot tell, as its scheduler is being called.
    fn dump(&self, name: &Arc<str>, now: u64, tasks: &mut Vec<DumpedTask>) -> bool {
        let (Ok(records), Some(dropped_soon)) = (self.records.try_borrow(), self.slots_of_aborted()) else {
            return false;
        };
        let counts_service = self.needs_service();
        let ago = |time: u64| Duration::from_nanos(now.saturating_sub(time));
        tasks.extend(records.look().filter_map(|task: TaskLook<'_>| {
            let known = task.known?;
            Some(DumpedTask {
                id: known.id,
                name: known.label.name().cloned(),
                queue: Arc::clone(name),
                group: records.group_key(task.group),
                group_name: records.group_name(task.group),
                state: state_of(&task, &dropped_soon)?,
                age: ago(known.spawned_at),
                service: counts_service.then_some(known.service),
                last_ready: task.ready_at.filter(|&at| at != UNKNOWN).map(ago),
                location: known.label.location(),
            })
        }));
        true
    }
}

/// None of a task that is over, although its scheduler has it.
fn state_of(task: &TaskLook<'_>, dropped_soon: &HashSet<usize>) -> Option<TaskState> {
    match task {
        _ if dropped_soon.contains(&task.slot) => Some(TaskState::Aborted),
        TaskLook { is_aborted: true, .. } => Some(TaskState::Aborted),
        TaskLook { is_there: true, is_ready: true, .. } => Some(TaskState::Ready),
        TaskLook { is_there: true, is_ready: false, .. } => Some(TaskState::Waiting),
        TaskLook { is_there: false, is_ready: true, .. } => None,
        TaskLook { is_there: false, is_ready: false, .. } => Some(TaskState::BeingPolled),
    }
}
