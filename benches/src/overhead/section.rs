//! The sections of `overhead`.

use clap::ValueEnum;
use serde::Serialize;

/// A part of the suite, which can be run by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
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
    /// Every section, in the order in which they run.
    pub const ALL: [Section; 7] = [
        Section::Polls,
        Section::Spawn,
        Section::Wake,
        Section::Queues,
        Section::Groups,
        Section::Memory,
        Section::Idle,
    ];

    /// The heading, and the name beside the progress bar.
    pub fn title(self) -> &'static str {
        match self {
            Section::Polls => "polls",
            Section::Spawn => "spawn",
            Section::Wake => "wake",
            Section::Queues => "queues",
            Section::Groups => "groups",
            Section::Memory => "memory",
            Section::Idle => "idle",
        }
    }
}
