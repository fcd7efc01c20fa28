//! Reports polls that take too long, while they run: which queue, group and task it is, and on which thread.
//!
//! A [`StallDetector`] watches executors. One thread of the process, the *lookout*, looks at all that are watched, four times
//! per threshold. A poll that it finds running for longer than the threshold is a [`Stall`], and is reported once, to
//! standard error or to a function of yours. The poll need not end for that: an endless loop or a deadlock is reported too.
//!
//! ```
//! use clockworker::Executor;
//! use clockworker_observe::stalls::StallDetector;
//! use std::time::Duration;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let ex = Executor::new();
//! let guard = StallDetector::new(Duration::from_millis(100)).to_stderr().watch(&ex)?;
//! ex.block_on(async { /* the service */ });
//! assert_eq!(guard.stats().reported, 0);
//! # Ok(())
//! # }
//! ```
//!
//! # What counts
//!
//! Each poll of a task, with the drop of its future or output and the wake of its join handle where the poll ends it; each poll of
//! the future given to [`run_until`](clockworker::Executor::run_until); and the drop of an aborted task's future. Not what is dropped
//! at shutdown, or when a task from another thread is refused.
//!
//! Time is that of the wall: a thread that waits for its CPU, for a page or for a lock inside a poll stalls its tasks too. The report
//! says for how long the thread [had a CPU](Stall::on_cpu), and for how long it [waited for one](Stall::off_cpu): the second is the
//! machine's fault. Time in which the lookout slept too, as in a process that is stopped, counts for half a threshold at most.
//!
//! A poll is timed from the lookout's first sight of it, so a report never overstates, and is due after at most 1.25 thresholds
//! (more, if the lookout has to wait for a CPU). A poll that takes less than the threshold is never reported. One that takes
//! between 1 and 1.25 thresholds may be missed.
//!
//! An executor run inside a task of another one, both watched, stalls both: each is reported.
//!
//! # The stack
//!
//! A report has no stack. A thread can be asked for its stack by a signal only, and walking it there is not safe: a poll that unwinds
//! at that moment crashed the process. So a report names the place of the spawn, and on Linux the commands that show the stack from
//! outside: `perf` for a poll that is often long, `gdb` for one that hangs.
//!
//! # What it costs
//!
//! A poll goes through the executor's [probe](clockworker::probe) once a detector has watched, and reads no clock. While
//! one watches, it writes seven words that the lookout reads; names are copied when they change.
//!
//! The lookout wakes up four times per threshold, whatever the executors do, which costs what a timer costs: with 34 µs of CPU
//! time for each look, of which a bare timer takes 28 (2026-11-23, a virtual machine, Linux 6.18), some 0.15 % of a CPU at a
//! threshold of 100 ms, and 3 % at 5 ms. On Linux a look at a poll reads a file of `/proc` too, or two if its thread sleeps.

mod decide;
mod detector;
mod error;
mod guard;
mod limit;
mod lookout;
mod per_process;
mod stall;
mod watch;

pub use detector::{StallDetector, THRESHOLDS};
pub use error::StallError;
pub use guard::{StallGuard, StallStats};
pub use stall::Stall;

/// The operating system's monotonic time.
#[allow(clippy::disallowed_methods, reason = "what a poll takes is wall time")]
fn instant() -> std::time::Instant {
    std::time::Instant::now()
}
