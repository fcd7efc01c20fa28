//! The report's changes to its action queue, each of which can be on or off.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// A change, in the order in which the report made them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
pub enum Change {
    /// An instance is claimed by its `started_at`, not found by NOT EXISTS in the queue
    Claim,
    /// Completions are recorded many in a transaction, one of each instance
    BatchedCompletion,
    /// The same with any number of each instance
    AcrossInstances,
    /// Instances are started many in a transaction
    BatchedStart,
    /// A completed action leaves the queue for a queue of log lines; without, it stays there, marked
    DeleteOnComplete,
    /// Instances are started by a loop of its own; without, by the one that dispatches
    OwnStartLoop,
}

/// The changes that are on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Changes(Vec<Change>);

impl Changes {
    pub(super) fn without(off: &[Change]) -> Self {
        let all = Change::value_variants().iter().copied();
        Changes(all.filter(|change| !off.contains(change)).collect())
    }

    pub(super) fn has(&self, change: Change) -> bool {
        self.0.contains(&change)
    }

    /// The baseline, and then one change more each time, with what is new.
    pub(super) fn steps() -> impl Iterator<Item = (&'static str, Self)> {
        const NAMES: [&str; 7] = [
            "baseline",
            "+ claim",
            "+ batched completion",
            "+ across instances",
            "+ batched start",
            "+ delete on complete",
            "+ own start loop",
        ];
        let first = |number| Changes(Change::value_variants()[..number].to_vec());
        NAMES.into_iter().enumerate().map(move |(number, name)| (name, first(number)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steps_go_from_nothing_to_everything() {
        let steps: Vec<Changes> = Changes::steps().map(|(_, changes)| changes).collect();
        assert_eq!((&steps[0], steps.last()), (&Changes(Vec::new()), Some(&Changes::without(&[]))));
        assert_eq!(steps.len(), Change::value_variants().len() + 1);
    }
}
