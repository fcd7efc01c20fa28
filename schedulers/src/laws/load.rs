//! What the tasks of a check do: the loads, and the parts that tasks play in them.

use core::fmt;

use crate::random::Random;

/// A load that the kit puts on a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Load {
    /// Many tasks in some groups that yield, sleep, spawn and finish at random.
    Mixed,
    /// A task that has run for long, against new short ones that never stop coming.
    OldAgainstNew,
    /// Tasks that yield for ever, and others that come after them.
    Yielders,
    /// A task that sleeps after every poll and is woken at once, among some that yield for ever.
    Sleeper,
    /// Tasks and groups that come and go at once, so that every slot and group index is used over and over.
    Churn,
}

impl Load {
    pub(super) const ALL: [Load; 5] =
        [Load::Mixed, Load::OldAgainstNew, Load::Yielders, Load::Sleeper, Load::Churn];

    /// The tasks that are there from the start.
    pub(super) fn cast(self) -> &'static [Part] {
        match self {
            Self::Mixed | Self::Churn => &[],
            Self::OldAgainstNew => &[Part::Heavy],
            Self::Yielders => &[Part::Yielder, Part::Heavy, Part::Yielder, Part::Yielder],
            Self::Sleeper => &[Part::Yielder, Part::Sleeper, Part::Heavy, Part::Yielder],
        }
    }

    /// What is spawned afterwards, to make up the numbers.
    pub(super) fn extra(self) -> Part {
        match self {
            Self::Mixed | Self::Yielders => Part::Mixed,
            Self::OldAgainstNew => Part::Short,
            Self::Sleeper | Self::Churn => Part::Fleeting,
        }
    }

    /// The most tasks at a time, where a mixed load has `tasks`.
    pub(super) fn tasks(self, tasks: usize) -> usize {
        match self {
            Self::Mixed => tasks,
            Self::OldAgainstNew => 3,
            Self::Sleeper => 5,
            Self::Yielders | Self::Churn => 6,
        }
    }

    /// How soon tasks that have finished are made up for: each before this many polls on average.
    pub(super) fn spawns_one_in(self) -> usize {
        match self {
            // So many are gone at times that queues run empty.
            Self::Mixed => 64,
            Self::Churn => 8,
            Self::Yielders | Self::Sleeper => 4,
            // Without a break.
            Self::OldAgainstNew => 1,
        }
    }

    /// Whether all tasks are taken out and pushed again now and then, which ends their waits.
    pub(super) fn takes_all(self) -> bool {
        matches!(self, Self::Mixed | Self::Churn)
    }

    /// How often a task joins a group that is there already: once in this many times; 0 for never.
    pub(super) fn joins_one_in(self) -> usize {
        match self {
            Self::Mixed => 1,
            Self::OldAgainstNew => 0,
            Self::Yielders | Self::Sleeper | Self::Churn => 4,
        }
    }
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Mixed => "mixed",
            Self::OldAgainstNew => "old against new",
            Self::Yielders => "yielders",
            Self::Sleeper => "sleeper",
            Self::Churn => "churn",
        })
    }
}

/// What a task does.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    /// Anything.
    Mixed,
    /// Yields for ever; short polls.
    Yielder,
    /// Yields for ever; long polls.
    Heavy,
    /// Finishes after a few short polls.
    Short,
    /// Finishes at its first poll, or is cancelled before.
    Fleeting,
    /// Sleeps after each poll.
    Sleeper,
}

/// How a poll ended.
#[derive(Clone, Copy, Debug)]
pub(super) enum End {
    Yielded,
    Asleep,
    Finished,
}

impl Part {
    pub(super) fn service_ns(self, random: &mut Random) -> u64 {
        match self {
            Self::Mixed => {
                let magnitude = random.below(12);
                random.around(100 << magnitude)
            }
            Self::Heavy => random.around(1_000_000),
            Self::Yielder | Self::Short | Self::Fleeting | Self::Sleeper => random.around(2_000),
        }
    }

    pub(super) fn end(self, random: &mut Random) -> End {
        match self {
            Self::Yielder | Self::Heavy => End::Yielded,
            Self::Sleeper => End::Asleep,
            Self::Fleeting => End::Finished,
            Self::Short if random.one_in(2) => End::Finished,
            Self::Short => End::Yielded,
            Self::Mixed => match random.below(20) {
                0..9 => End::Yielded,
                9..17 => End::Asleep,
                _ => End::Finished,
            },
        }
    }
}
