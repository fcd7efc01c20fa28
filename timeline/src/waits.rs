//! [`Waits`]: which tasks are ready, and since when.

use std::collections::HashMap;
use std::panic::Location;
use std::time::Duration;

use clockworker::observe::{Event, EventKind, PollOutcome, TaskRef};

/// Follows the tasks of a timeline, event by event.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    ready_since: HashMap<TaskRef, Duration>,
    locations: HashMap<TaskRef, &'static Location<'static>>,
}

/// A task that waited, from when it was ready until it was polled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wait {
    pub(crate) task: TaskRef,
    pub(crate) from: Duration,
    pub(crate) to: Duration,
}

impl Waits {
    /// Takes note of the next event; the wait that it ends. None where a poll's wait began before the timeline.
    pub(crate) fn next(&mut self, event: &Event) -> Option<Wait> {
        match event.kind {
            EventKind::Spawned { task, location, .. } => {
                self.locations.insert(task, location);
                self.ready_since.insert(task, event.at);
                None
            }
            EventKind::Ready { task, .. } => {
                // If it is there, it was polled meanwhile, and that is cut off.
                self.ready_since.insert(task, event.at);
                None
            }
            EventKind::Polled { task, took, outcome, .. } => {
                let wait = self.ready_since.remove(&task).map(|from| Wait { task, from, to: event.at });
                if outcome == PollOutcome::Yielded {
                    self.ready_since.insert(task, event.at + took);
                }
                wait
            }
            _ => None,
        }
    }

    /// Where a task was spawned, if the timeline has that.
    pub(crate) fn location(&self, task: TaskRef) -> Option<&'static Location<'static>> {
        self.locations.get(&task).copied()
    }

    /// The tasks that are ready, and have been for so long.
    pub(crate) fn unfinished(&self, now: Duration) -> Vec<Wait> {
        let waits = self.ready_since.iter().map(|(&task, &from)| Wait { task, from, to: now.max(from) });
        let mut waits: Vec<Wait> = waits.collect();
        waits.sort_by_key(|wait| (wait.from, wait.task));
        waits
    }
}
