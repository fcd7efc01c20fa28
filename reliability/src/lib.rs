//! Programs that try to break what Clockworker promises, and print the figure of each promise.
//!
//! Every subcommand measures one thing and returns [figures](figure::Figure); the program prints them as a table, writes
//! them as JSON with `--json`, and fails if one is out of its bound. `RELIABILITY.md` lists all of them. A subcommand is a
//! file or folder of its name, but for `host`, which is [`turns`].

#![forbid(unsafe_code)]

mod aborts;
pub mod adversary;
mod cases;
pub mod command;
mod containment;
mod cuts;
mod defects;
pub mod delay;
pub mod figure;
mod growth;
mod idle;
pub mod lag;
mod mutants;
mod orderings;
pub mod replay;
mod scenarios;
mod scratch;
pub mod soak;
mod trial;
pub mod turns;
mod wake_cost;
mod wakes;
pub mod watchdog;

/// The command itself cannot be carried out, for a reason that its user can mend: exit status 2.
#[derive(Debug)]
pub struct BadRequest(pub String);

impl std::fmt::Display for BadRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}
