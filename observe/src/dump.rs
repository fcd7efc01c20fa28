//! [`TaskDump`]: the tasks of an executor at one moment.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use clockworker::probe::{Probe, TaskLook, TaskState, TasksLook};
use clockworker::{GoneError, Handle, Id};

use crate::LongTurn;
use crate::heard::UNKNOWN;
use crate::hub::Hub;

/// The tasks of an executor at one moment. From [`Observe::dump`](crate::Observe::dump) and, on any thread,
/// [`TaskDump::ask`].
///
/// `{}` prints a table, a task a line, and below it the longest turn.
///
/// Tasks from other threads that have not come in yet are not in it, and neither are those that a shutdown is just cancelling.
///
/// # Example
///
/// ```
/// use clockworker_observe::{Observe, TaskState};
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
    /// The longest turn so far, if [latency](crate::Observation::latency) is observed: for so long the host was not looked at, and who held
    /// the thread for longest in that.
    pub longest_turn: Option<LongTurn>,
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
    /// [an estimate](clockworker::schedulers::Scheduler::served). None where the scheduler does not ask
    /// ([`CLOCK`](clockworker::schedulers::Scheduler::CLOCK)).
    pub service: Option<Duration>,
    /// How long ago it became ready last. None while nothing is [observed](crate::Observe::observe), and of the task that is being
    /// polled.
    pub last_ready: Option<Duration>,
    /// Where it was spawned.
    pub location: &'static Location<'static>,
}

impl TaskDump {
    /// What is told of tasks, for a table, and by a probe.
    pub(crate) fn of(look: TasksLook, probe: Option<Arc<dyn Probe>>) -> Self {
        let ago = |ns: u64| Duration::from_nanos(look.now_ns.saturating_sub(ns));
        let dumped = |task: TaskLook| {
            Some(DumpedTask {
                id: task.id,
                name: task.name,
                queue: task.queue,
                group: task.group.as_ref().map(|group| group.key),
                group_name: task.group.and_then(|group| group.name),
                state: task.state,
                age: ago(task.spawned_ns),
                service: task.service,
                last_ready: task.word.filter(|&word| word != UNKNOWN).map(ago),
                location: task.location?,
            })
        };
        Self {
            at: Duration::from_nanos(look.now_ns),
            tasks: look.tasks.into_iter().filter_map(dumped).collect(),
            busy_queues: look.busy_queues,
            longest_turn: Hub::in_probe(probe).and_then(|hub| hub.longest_turn()),
        }
    }

    /// The tasks of the executor of this handle, from any thread. It is answered between two polls, also while nothing else is left to
    /// do.
    ///
    /// # Errors
    ///
    /// As [`Handle::stats`].
    pub async fn ask(handle: &Handle) -> Result<TaskDump, GoneError> {
        let look = handle.look_at_tasks().await?;
        Ok(TaskDump::of(look, handle.probe()))
    }
}

fn shown(state: TaskState) -> &'static str {
    match state {
        TaskState::Waiting => "waiting",
        TaskState::Ready => "ready",
        TaskState::BeingPolled => "being polled",
        TaskState::Aborted => "aborted",
        _ => "?",
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
            shown(self.state).to_owned(),
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
            line.iter().zip(widths).try_for_each(|(cell, width)| write!(f, "{cell:width$}  "))?;
            writeln!(f, "{}", line[7])?;
        }
        self.busy_queues.iter().try_for_each(|queue| writeln!(f, "queue busy: {queue}"))?;
        self.longest_turn.iter().try_for_each(|turn| writeln!(f, "longest turn: {turn}"))
    }
}
