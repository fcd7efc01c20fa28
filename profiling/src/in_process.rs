//! The profilers inside the process.

pub(crate) mod flamegraph;
mod phase;
pub(crate) mod phases;
#[cfg(feature = "observe")]
pub(crate) mod queues;
#[allow(unsafe_code, reason = "a signal handler reads the interrupted context")]
mod sampler;
mod table;
