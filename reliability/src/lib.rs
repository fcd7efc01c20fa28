//! Programs that try to break what Clockworker promises, and print the figure of each promise.
//!
//! Every subcommand measures one thing and returns [figures](figure::Figure); the program prints them as a table, writes
//! them as JSON with `--json`, and fails if one is out of its bound. `RELIABILITY.md` lists all of them. A subcommand is a
//! file or folder of its name, but for `host`, which is [`turns`].

#![forbid(unsafe_code)]

pub mod aborts;
pub mod adversary;
mod bounds;
pub mod cases;
pub mod command;
pub mod containment;
pub mod cuts;
pub mod defects;
pub mod delay;
pub mod figure;
pub mod growth;
pub mod idle;
pub mod lag;
pub mod mutants;
pub mod orderings;
pub mod replay;
pub mod scenarios;
pub mod scratch;
pub mod soak;
pub mod turns;
pub mod wake_cost;
pub mod wakes;
pub mod watchdog;

/// The command itself cannot be carried out, for a reason that its user can mend: exit status 2.
#[derive(Debug)]
pub struct BadRequest(pub String);

impl std::fmt::Display for BadRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadRequest {}
