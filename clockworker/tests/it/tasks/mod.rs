//! Tasks: polls, wakes, aborts, panics, and what their handles say of the end.

mod abort;
mod abort_delay;
mod abort_on_drop;
mod faults;
mod join_set;
mod large;
mod matrix;
mod moves;
mod panics;
mod ready_awaits;
mod unhandled_panic;
mod waker_panics;
mod wakers;
