//! Servers that are measured, each a process of its own, and the client of all of them: what `tcp` and `service` have in
//! common.

pub mod host;

#[cfg(target_os = "linux")]
pub(crate) mod monoio;
pub(crate) mod server;

pub(crate) mod child;
pub(crate) mod client;
pub(crate) mod dialogue;
pub(crate) mod schedule;

pub(crate) mod cell;
