//! What uses nothing else of the executor: the clock, alarms, what a process has once, panics in foreign code.

mod alarm;
mod clock;
mod panics;
mod per_process;
#[cfg(feature = "tokio")]
mod tokio_clock;
mod unhandled_panic;

pub use clock::ManualClock;
#[cfg(feature = "tokio")]
pub use tokio_clock::{DEFAULT_POLL_CHARGE, NoTimersError, TokioClock};
pub use unhandled_panic::UnhandledPanic;

pub(crate) use alarm::{Alarm, Timer};
pub(crate) use clock::Clock;
pub(crate) use panics::{drop_quietly, wake_quietly};
pub(crate) use per_process::PerProcess;
