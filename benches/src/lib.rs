//! What clockworker costs and what it buys, measured against tokio's [`LocalSet`](tokio::task::LocalSet).
//!
//! A measurement is a command of `clockworker-benches`: `micro` for what spawns, polls, wakes and hops take; `compare` for the
//! headline of each measurement. This library is its parts, each above what it uses: the command line, what is measured, the
//! [harness] that measures, and the [arms] with their workloads. The criterion bench `polls` runs the bodies of `micro`.

#![allow(
    missing_docs,
    missing_debug_implementations,
    reason = "only the program and its bench use this library"
)]

pub mod cli;

pub mod measurements;

pub mod harness;

pub mod arms;
pub mod workload;

pub mod process;
pub mod random;
pub mod stopwatch;
