//! Where two runs of a program part.

use std::fmt;

use super::event::Entry;

/// The first place where two runs of a program part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// In what was seen.
    Trace {
        /// What both saw before, its last part.
        common: Vec<Entry>,
        /// What Clockworker did then, if anything.
        ours: Option<Entry>,
        /// What the reference did.
        theirs: Option<Entry>,
    },
    /// In how often each queue's tasks were polled: by the queue's statistics, and by the trace.
    Polls {
        /// `QueueStats::polls`.
        counted: Vec<u64>,
        /// What was seen.
        seen: Vec<u64>,
    },
}

/// How much of what is common is kept.
const CONTEXT: usize = 20;

impl Difference {
    /// The first in two traces, which `from` on are to be equal.
    pub(super) fn between(ours: &[Entry], theirs: &[Entry], from: usize) -> Option<Self> {
        let same = |at: usize| ours.get(at) == theirs.get(at);
        let at = (from..ours.len().max(theirs.len())).find(|&at| !same(at))?;
        let common = ours[at.saturating_sub(CONTEXT).min(ours.len())..at.min(ours.len())].to_vec();
        Some(Difference::Trace { common, ours: ours.get(at).copied(), theirs: theirs.get(at).copied() })
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Difference::Trace { common, ours, theirs } => {
                for entry in common {
                    writeln!(f, "  {entry}")?;
                }
                let show = |entry: &Option<Entry>| {
                    entry.map_or_else(|| "nothing more".to_owned(), |e| e.to_string())
                };
                write!(f, "then Clockworker: {}\n      reference: {}", show(ours), show(theirs))
            }
            Difference::Polls { counted, seen } => {
                write!(f, "polls by queue: {counted:?} in the statistics, {seen:?} seen")
            }
        }
    }
}

impl std::error::Error for Difference {}
