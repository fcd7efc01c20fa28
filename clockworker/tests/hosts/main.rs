//! The executor inside every host that it names: spawning, the host's timers and sockets beside computation, wakes from
//! other threads, and idling.
//!
//! Nothing here depends on how long anything takes. What is broken hangs, or polls too often.

#[path = "../support/mod.rs"]
mod support;

mod beside;
mod futures_spawn;
mod host;
#[cfg(target_os = "linux")]
mod on_monoio;
mod on_smol;
mod on_tokio;
mod timers;
mod wakes;
#[cfg(all(target_os = "linux", feature = "monoio"))]
mod with_timers;
