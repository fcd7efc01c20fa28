//! What uses nothing else of the executor: the clock, alarms, what a process has once, panics in foreign code.

mod alarm;
mod clock;
mod panics;
mod per_process;
mod unhandled_panic;

pub use clock::ManualClock;
pub use unhandled_panic::UnhandledPanic;

pub(crate) use alarm::Alarm;
pub(crate) use clock::{Clock, instant};
pub(crate) use panics::{drop_quietly, wake_quietly};
pub(crate) use per_process::PerProcess;
