//! What clockworker costs and what it buys, measured against tokio's [`LocalSet`](tokio::task::LocalSet).
//!
//! The program is `clockworker-benches compare`, for two tables in two minutes; `overhead`, for everything that the
//! executor costs beside many others; `service`, for what a plain service gains and loses by it; `tcp`, for what it does
//! to an echo server on several hosts; `tail` and `priority`, for what scheduling does to latency; `tenants`, for what it does among
//! tenants; `sessions`, for what a session manager gains; `actions`, for what it does to a durable queue; `programs`, for what
//! whole programs take with their imports changed; `report` makes one page of what they and `clockworker-simulate`
//! found, and `docs` writes the tables of the project's documents. This library is its parts, each above what it uses: the
//! command line, the report of everything, what is measured, the harness that measures, how a chapter looks, statistics, and
//! the arms with their workloads. The criterion bench `polls` uses the same arms and workloads.

#![deny(unsafe_code)]
#![allow(missing_docs, reason = "only the program uses this library; its docs say what names do not")]

pub mod cli;
pub mod docs;
pub mod report;

pub mod measurements;

pub mod beside;
pub mod harness;
pub mod serving;

pub mod page;
pub mod stats;

pub mod arms;
pub mod workload;

pub use clockworker_terminal::{failure, program as terminal, whole_file};

pub mod allocations;
pub mod numbers;
pub(crate) mod process;
pub mod random;
pub mod stopwatch;
