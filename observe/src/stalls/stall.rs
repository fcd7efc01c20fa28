//! [`Stall`]: a poll that takes too long.

use std::fmt;
use std::process;
use std::sync::Arc;
use std::time::Duration;

use crate::Holder;

/// A poll that takes too long, and still ran when this was found. What
/// [`on_stall`](super::StallDetector::on_stall)'s function is given; `Display` prints several lines for people.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Stall {
    /// What runs, and for which task.
    pub holder: Holder,
    /// How long it has run so far, at least.
    pub so_far: Duration,
    /// For how long of that its thread had a CPU, to some milliseconds, on Linux. A poll that sleeps or waits for a lock has none.
    pub on_cpu: Option<Duration>,
    /// For how long its thread was ready to run and had no CPU, on Linux: then the machine is busy, and the poll may be short. To a
    /// quarter of the threshold: what a thread sleeps between two looks at it may count too.
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

impl fmt::Display for Stall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, so_far, threshold) = (self.holder.what(), self.so_far, self.threshold);
        writeln!(f, "{what} has taken {so_far:.1?} and goes on (threshold {threshold:?})")?;
        if let (Some(on_cpu), Some(off_cpu)) = (self.on_cpu, self.off_cpu) {
            writeln!(f, "  of that on a CPU {on_cpu:.1?}, waiting for one {off_cpu:.1?}")?;
        }
        let mut known = self.holder.task_in_words();
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
