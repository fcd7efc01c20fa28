//! What is made of timelines, of executors on a manual clock and made up.

#![forbid(unsafe_code)]
#![allow(missing_docs, reason = "tests")]

#[cfg(feature = "dial9")]
mod dial9;
#[cfg(all(target_os = "linux", feature = "samply-markers"))]
mod samply;
mod support;
mod trace;
mod workload;
