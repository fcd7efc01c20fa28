//! Tasks and their handles, the executor's life, and its runs.

#[path = "../support/mod.rs"]
mod support;

mod executor;
mod runs;
mod tasks;
