//! What the tests of `clockworker`, `schedulers` and this crate, and the targets of `fuzz/`, share.
//!
//! Nothing here sleeps, and only [`effort`] reads a clock. The feature `hosts` brings the hosts that need other crates.

#![forbid(unsafe_code)]

pub mod climb;
pub mod driving;
pub mod effort;
pub mod host;
pub mod hostile;
pub mod memory;
pub mod panics;
pub mod policy;
pub mod programs;
pub mod tape;
pub mod trial;
pub mod virtual_time;
pub mod watchdog;
