//! The host's side: [`RunUntil`] as a future for any host, [`Steps`] inside a loop that is none, [`block_on`] without a host,
//! and what [`monoio`] needs besides.
//!
//! The executor runs inside the host's poll of [`RunUntil`]. It goes back to the host
//!
//! * when nothing is runnable: it parks the [inbox](crate::task) and returns `Pending`; the next wake, from any thread, wakes
//!   the host once;
//! * when the host must run (its time budget is up, or the poll cap is reached): it wakes the host itself and returns
//!   `Pending`, so the host does its I/O and polls again.

mod block_on;
#[cfg(any(all(feature = "monoio", target_os = "linux"), all(test, clockworker_loom)))]
pub(crate) mod gate;
#[cfg(all(feature = "monoio", target_os = "linux"))]
pub mod monoio;
mod run_until;
mod steps;

pub use run_until::RunUntil;
pub use steps::Step;

pub(crate) use block_on::{assert_may_block, block_on};
#[cfg(feature = "tokio")]
pub(crate) use run_until::Run;
pub(crate) use steps::Steps;
