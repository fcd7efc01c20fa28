//! [`TaskDump`]: the tasks of an executor at one moment.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use crate::task::Id;

/// The tasks of an executor at one moment. From [`Executor::dump`](crate::Executor::dump) and
/// [`Handle::dump`](crate::Handle::dump).
///
/// `{}` prints a table, a task a line.
///
/// Tasks from other threads that have not come in yet are not in it, and neither are those that a shutdown is just cancelling.
///
/// # Example
///
/// ```
/// use clockworker::observe::TaskState;
///
/// let ex = clockworker::Executor::new();
/// ex.default_queue().new_task().name("upload").spawn(std::future::pending::<()>());
/// let dump = ex.dump();
/// println!("{dump}");
/// let task = &dump.tasks[0];
/// assert_eq!((task.name.as_deref(), &*task.queue, task.state), (Some("upload"), "default", TaskState::Ready));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskDump {
    /// The time since the executor was made, on its clock.
    pub at: Duration,
    /// By queue, in the order in which those were created; in a queue in no order.
    pub tasks: Vec<DumpedTask>,
    /// Queues whose tasks are missing, as the caller is one of their schedulers, which is being called.
    pub busy_queues: Vec<Arc<str>>,
}

/// A task in a [`TaskDump`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DumpedTask {
    /// Its id.
    pub id: Id,
    /// Its name, if it was given one.
    pub name: Option<Arc<str>>,
    /// The name of its queue.
    pub queue: Arc<str>,
    /// The key of its group, if it has one.
    pub group: Option<u64>,
    /// The name of its group, if that was given one.
    pub group_name: Option<Arc<str>>,
    /// What it does.
    pub state: TaskState,
    /// How long ago it was spawned, or came in from another thread: from the executor's last clock reading before that.
    pub age: Duration,
    /// What it has had of the CPU, as far as its scheduler was told: where polls are short,
    /// [an estimate](crate::schedulers::Scheduler::served). None where the scheduler does not need to know
    /// ([`NEEDS_SERVICE`](crate::schedulers::Scheduler::NEEDS_SERVICE)).
    pub service: Option<Duration>,
    /// How long ago it became ready last. None while nothing is [observed](crate::Executor::observe), and of the task that is being
    /// polled.
    pub last_ready: Option<Duration>,
    /// Where it was spawned.
    pub location: &'static Location<'static>,
}

/// What a task does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TaskState {
    /// It waits for a wake.
    Waiting,
    /// It waits to be polled.
    Ready,
    /// It is being polled, or its future dropped.
    BeingPolled,
    /// It was aborted, and its future is still to be dropped.
    Aborted,
}

impl fmt::Display for TaskState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            TaskState::Waiting => "waiting",
            TaskState::Ready => "ready",
            TaskState::BeingPolled => "being polled",
            TaskState::Aborted => "aborted",
        })
    }
}

const HEADINGS: [&str; 8] =
    ["id", "queue", "group", "state", "age", "service", "last ready", "name, location"];

impl DumpedTask {
    fn cells(&self) -> [String; 8] {
        let time = |time: Option<Duration>| time.map_or_else(|| "-".to_owned(), |time| format!("{time:.1?}"));
        let group = match (self.group, &self.group_name) {
            (Some(key), Some(name)) => format!("{key} {name}"),
            (Some(key), None) => key.to_string(),
            (None, _) => "-".to_owned(),
        };
        let name = self.name.as_ref().map_or_else(String::new, |name| format!("{name}, "));
        [
            self.id.to_string(),
            self.queue.to_string(),
            group,
            self.state.to_string(),
            time(Some(self.age)),
            time(self.service),
            time(self.last_ready),
            format!("{name}{}", self.location),
        ]
    }
}

impl fmt::Display for TaskDump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headings = HEADINGS.map(str::to_owned);
        let lines: Vec<_> =
            std::iter::once(headings).chain(self.tasks.iter().map(DumpedTask::cells)).collect();
        let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
        let widths: [usize; 7] = std::array::from_fn(width);
        for line in &lines {
            let padded = line.iter().zip(widths);
            padded.into_iter().try_for_each(|(cell, width)| write!(f, "{cell:width$}  "))?;
            writeln!(f, "{}", line[7])?;
        }
        self.busy_queues.iter().try_for_each(|queue| writeln!(f, "queue busy: {queue}"))
    }
}
