//! What uses nothing else of the executor: the clock, alarms, forks, panics in foreign code.

mod alarm;
mod clock;
#[allow(unsafe_code, reason = "one function of the C library is declared")]
mod fork;
mod panics;
mod unhandled_panic;

pub use clock::{ManualClock, delay_readings};
pub use unhandled_panic::UnhandledPanic;

pub(crate) use alarm::Alarm;
pub(crate) use clock::Clock;
#[cfg(unix)]
pub(crate) use fork::interrupt_in_children;
pub(crate) use fork::{FORKED, Process};
pub(crate) use panics::{drop_quietly, wake_quietly};
