//! Programs that try to break what Clockworker promises, and print the figure of each promise.
//!
//! Every subcommand measures one thing and returns [figures](figure::Figure); the program prints them as a table, writes
//! them as JSON with `--json`, and fails if one is out of its bound. `RELIABILITY.md` lists all of them.

#![forbid(unsafe_code)]

pub mod aborts;
pub mod adversary;
pub mod cases;
pub mod containment;
pub mod cuts;
pub mod defects;
pub mod delay;
pub mod failure;
pub mod figure;
pub mod growth;
pub mod host;
pub mod idle;
pub mod lag;
pub mod memory;
pub mod mutants;
pub mod orderings;
pub mod programs;
pub mod progress;
pub mod replay;
pub mod scenarios;
pub mod scratch;
pub mod soak;
pub mod turns;
pub mod virtual_time;
pub mod wake_cost;
pub mod wakes;
pub mod watchdog;
