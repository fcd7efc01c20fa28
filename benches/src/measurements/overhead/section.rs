//! The sections of `overhead`.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// A part of the suite, which can be run by itself. They run in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Section {
    /// Self-waking polls at 1 to 1,000,000 tasks, and tokio's own yield_now
    Polls,
    /// Spawn and join, spawn and detach, abort
    Spawn,
    /// Wakes from the same thread, from another, and storms of them
    Wake,
    /// 1 to 1,024 queues: all runnable, one runnable, churning (clockworker only)
    Queues,
    /// 1 to 100,000 groups, uniform and Zipf (clockworker only)
    Groups,
    /// Bytes per parked task; allocations per spawn, poll and wake
    Memory,
    /// Host polls and CPU time in an idle second
    Idle,
}

impl Section {
    /// The name on the command line and in tables.
    pub fn name(self) -> String {
        let value = self.to_possible_value().expect("no section is hidden");
        value.get_name().to_owned()
    }

    /// Whether clockworker is compared with itself and not with LocalSet.
    pub fn is_of_itself(self) -> bool {
        matches!(self, Section::Queues | Section::Groups)
    }
}
