//! Reports polls that take too long, while they run: which queue, group and task it is, where the thread stands.
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
//! Time is that of the wall: a thread that waits for its CPU, for a page or for a lock inside a poll stalls its tasks too. A
//! poll is timed from the lookout's first sight of it, so a report never overstates, and is due after at most 1.25 thresholds
//! (more, if the lookout has to wait for a CPU). A poll that takes less than the threshold is never reported. One that takes
//! between 1 and 1.25 thresholds may be missed.
//!
//! An executor run inside a task of another one, both watched, stalls both: each is reported.
//!
//! # The stack
//!
//! On Linux the lookout sends the stalled thread a signal, whose handler walks the thread's stack; the lookout names the functions
//! afterwards, which may take a second the first time. Frames have names where the program has symbols, lines where it has
//! debug information. Elsewhere, and [where you say so](StallDetector::without_stacks), a report has [no stack](NoStack).
//!
//! What to know of the signal:
//!
//! * It is a real-time signal that nothing else in the process may use, [by default](StallDetector::signal) the fifth from the
//!   end. It is sent to stalled threads only. A handler of somebody else is an [error](StallError::is_signal_in_use), not
//!   replaced. When nobody watches any more the signal is what it was before.
//! * System calls that can be restarted are (`SA_RESTART`). The others, `poll`, `epoll_wait`, `nanosleep` and the like, return
//!   `EINTR` if they are under way in a stalled poll. `errno` is kept.
//! * A thread that blocks the signal, or is inside the kernel and cannot be interrupted, gives no stack. The lookout waits for a
//!   stack for a second at most, and for no longer than the poll runs.
//! * The handler runs on the stack of the thread, not on an alternate one: of the standard library's 8 KiB the kernel may
//!   take half for the registers alone, and of what others install little is known. It needs some 5 KiB (4.4 on x86-64 with
//!   AVX2); a thread with less left overflows its stack.
//! * The handler allocates nothing and takes no lock of its own. The walk is libgcc's `_Unwind_Backtrace`, which POSIX does
//!   not list as async-signal-safe. With glibc 2.35 and libgcc 12, or later, it takes no lock either. Before, and on musl, it takes the
//!   dynamic linker's: a thread that is stalled *in* `dlopen` or `dlclose` may then deadlock. And it believes the unwind tables:
//!   wrong ones, of assembly or of generated code, can crash the process. Whoever cannot take that risk goes
//!   [without stacks](StallDetector::without_stacks).
//!
//! # What it costs
//!
//! A poll goes through the executor's [probe](clockworker::probe) once a detector has watched, and reads no clock. While
//! one watches, it writes six words that the lookout reads; names are copied when they change.
//!
//! The lookout wakes up four times per threshold, whatever the executors do, which costs what a timer costs: with 34 µs of CPU
//! time for each look, of which a bare timer takes 28 (2026-11-23, a virtual machine, Linux 6.18), some 0.15 % of a CPU at a
//! threshold of 100 ms, and 3 % at 5 ms.

#[allow(unsafe_code, reason = "a reference that goes through an atomic pointer")]
mod atomic_location;
mod beacon;
mod decide;
mod detector;
#[cfg_attr(
    any(not(target_os = "linux"), all(test, clockworker_loom)),
    allow(dead_code, reason = "without signals")
)]
mod error;
mod guard;
mod limit;
mod lookout;
mod per_process;
#[cfg(any(not(target_os = "linux"), all(test, clockworker_loom)))]
#[path = "stalls/no_signal.rs"]
mod signal;
#[cfg(all(target_os = "linux", not(all(test, clockworker_loom))))]
#[allow(unsafe_code, reason = "a signal handler, and the calls that install it and send the signal")]
mod signal;
mod stack;
mod stall;
#[cfg(target_os = "linux")]
#[cfg_attr(all(test, clockworker_loom), allow(dead_code, reason = "a model does not fork"))]
mod table;
mod watch;

#[cfg(all(test, clockworker_loom))]
pub(crate) use beacon::Beacon;
pub(crate) use beacon::Shown;
pub use detector::{StallDetector, THRESHOLDS};
pub use error::StallError;
pub use guard::{StallGuard, StallStats};
pub use stack::{Frame, NoStack, Stack};
pub use stall::{Stall, StallKind};

#[cfg(all(test, clockworker_loom))]
pub(crate) use table::{GivenUp, StackTable, Walked};

/// The operating system's monotonic time.
#[allow(clippy::disallowed_methods, reason = "what a poll takes is wall time")]
fn instant() -> std::time::Instant {
    std::time::Instant::now()
}
