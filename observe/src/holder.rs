//! [`Holder`]: who holds the thread of an executor.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use clockworker::Id;
use clockworker::probe::{PollKind, TaskView};

/// Who holds the thread of an executor, or held it: a poll or a drop, and the task that it is for. `Display` gives one line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Holder {
    /// What runs.
    pub kind: PollKind,
    /// The name of the task's queue. None for the future given to `run_until`.
    pub queue: Option<Arc<str>>,
    /// The key of the task's group, if it is in one.
    pub group: Option<u64>,
    /// The group's name, if it was [given one](clockworker::GroupBuilder::name).
    pub group_name: Option<Arc<str>>,
    /// The task. None for the future given to `run_until`, and for [polls of several tasks](crate::LongTurn::holder).
    pub task: Option<Id>,
    /// The task's name, if it was [given one](clockworker::TaskBuilder::name).
    pub task_name: Option<Arc<str>>,
    /// Where the task was spawned, if there is one.
    pub spawned_at: Option<&'static Location<'static>>,
}

impl Holder {
    /// A poll or drop of that task, or a poll of the future given to `run_until`.
    pub(crate) fn of(kind: PollKind, task: Option<&TaskView<'_>>) -> Self {
        let group = task.and_then(TaskView::group);
        Self {
            kind,
            queue: task.and_then(TaskView::queue_name),
            group: group.as_ref().map(|group| group.key),
            group_name: group.and_then(|group| group.name),
            task: task.map(|task| task.id()),
            task_name: task.and_then(|task| task.name().cloned()),
            spawned_at: task.map(|task| task.location()),
        }
    }

    /// Polls of that queue, of whichever tasks.
    pub(crate) fn of_queue(name: &Arc<str>) -> Self {
        Self { queue: Some(Arc::clone(name)), ..Self::of(PollKind::Task, None) }
    }

    /// What runs, in words.
    pub(crate) fn what(&self) -> &'static str {
        match self.kind {
            PollKind::Drop => "the drop of an aborted task",
            PollKind::Main => "a poll of the main future",
            _ if self.task.is_none() => "polls",
            _ => "a poll",
        }
    }

    /// What is known of the task, in words.
    pub(crate) fn task_in_words(&self) -> Vec<String> {
        let mut known = Vec::new();
        known.extend(self.queue.as_ref().map(|queue| format!("queue '{queue}'")));
        known.extend(self.group.map(|group| format!("group {group}{}", quoted(self.group_name.as_ref()))));
        known.extend(self.task.map(|task| format!("task {task}{}", quoted(self.task_name.as_ref()))));
        known.extend(self.spawned_at.map(|location| format!("spawned at {location}")));
        known
    }
}

/// A name behind a number.
fn quoted(name: Option<&Arc<str>>) -> String {
    name.map(|name| format!(" '{name}'")).unwrap_or_default()
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what())?;
        let task = self.task_in_words().join(", ");
        if task.is_empty() { Ok(()) } else { write!(f, " of {task}") }
    }
}
