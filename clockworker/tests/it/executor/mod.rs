//! Executors: used from destructors and other threads, dropped in any order; a million tasks.

mod asked;
mod drop_thread;
mod executor_drop;
mod finding;
#[cfg(unix)]
mod fork;
mod lifetimes;
mod reentrancy;
mod remote;
mod scale;
mod traits;
