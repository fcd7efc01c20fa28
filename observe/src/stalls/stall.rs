//! [`Stall`]: a poll that takes too long.

use std::fmt;
use std::panic::Location;
use std::process;
use std::sync::Arc;
use std::time::Duration;

use clockworker::Id;

/// A poll that takes too long, and still ran when this was found. What
/// [`on_stall`](super::StallDetector::on_stall)'s function is given; `Display` prints several lines for people.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Stall {
    /// What runs.
    pub kind: StallKind,
    /// The name of the task's queue. None for the future given to `run_until`.
    pub queue: Option<Arc<str>>,
    /// The key of the task's group, if it is in one.
    pub group: Option<u64>,
    /// The group's name, if it was [given one](clockworker::GroupBuilder::name).
    pub group_name: Option<Arc<str>>,
    /// The task. None for the future given to `run_until`.
    pub task: Option<Id>,
    /// The task's name, if it was [given one](clockworker::TaskBuilder::name).
    pub task_name: Option<Arc<str>>,
    /// Where the task was spawned. None for the future given to `run_until`.
    pub spawned_at: Option<&'static Location<'static>>,
    /// How long it has run so far, at least.
    pub so_far: Duration,
    /// For how long of that its thread had a CPU, to some milliseconds, on Linux. A poll that sleeps or waits for a lock has none.
    pub on_cpu: Option<Duration>,
    /// For how long its thread was ready to run and had no CPU, on Linux: then the machine is busy, and the poll may be short.
    pub off_cpu: Option<Duration>,
    /// The detector's threshold.
    pub threshold: Duration,
    /// The name of the executor's thread, if it has one.
    pub thread: Option<Arc<str>>,
    /// The kernel's number of that thread, on Linux.
    pub thread_id: Option<u32>,
    /// Stalls of this executor that were not reported since the last that was, because of the rate limit.
    pub suppressed: u64,
}

/// What takes too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StallKind {
    /// A poll of a task.
    Poll,
    /// The drop of an aborted task's future.
    Drop,
    /// A poll of the future given to [`run_until`](clockworker::Executor::run_until) or
    /// [`block_on`](clockworker::Executor::block_on).
    Main,
}

impl fmt::Display for StallKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            StallKind::Poll => "a poll",
            StallKind::Drop => "the drop of an aborted task",
            StallKind::Main => "a poll of the main future",
        })
    }
}

/// A name behind a number.
fn quoted(name: Option<&Arc<str>>) -> String {
    name.map(|name| format!(" '{name}'")).unwrap_or_default()
}

impl fmt::Display for Stall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, so_far, threshold) = (self.kind, self.so_far, self.threshold);
        writeln!(f, "{kind} has taken {so_far:.1?} and goes on (threshold {threshold:?})")?;
        if let (Some(on_cpu), Some(off_cpu)) = (self.on_cpu, self.off_cpu) {
            writeln!(f, "  of that on a CPU {on_cpu:.1?}, waiting for one {off_cpu:.1?}")?;
        }
        let mut known = Vec::new();
        known.extend(self.queue.as_ref().map(|queue| format!("queue '{queue}'")));
        known.extend(self.group.map(|group| format!("group {group}{}", quoted(self.group_name.as_ref()))));
        known.extend(self.task.map(|task| format!("task {task}{}", quoted(self.task_name.as_ref()))));
        known.extend(self.spawned_at.map(|location| format!("spawned at {location}")));
        known.extend(self.thread.as_ref().map(|thread| format!("thread '{thread}'")));
        if !known.is_empty() {
            writeln!(f, "  {}", known.join(", "))?;
        }
        if self.suppressed > 0 {
            writeln!(f, "  stalls before it that the rate limit kept back: {}", self.suppressed)?;
        }
        if let Some(thread) = self.thread_id {
            let process = process::id();
            writeln!(
                f,
                "  its stack: perf record -g -t {thread} -- sleep 1; or gdb -p {process}, if it hangs"
            )?;
        }
        Ok(())
    }
}
