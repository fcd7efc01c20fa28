//! One of the combinations, and how it must end.

/// Where the task panics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Panics {
    Nowhere,
    FirstPoll,
    SecondPoll,
    FutureDrop,
    OutputDrop,
}

/// How the task was spawned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spawn {
    OnOwner,
    InGroup,
    Remote,
}

/// When something happens to the task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum When {
    BeforeFirstPoll,
    InFirstPoll,
    /// It is parked.
    BetweenPolls,
    /// It was woken, and is not yet polled again.
    WokenBetweenPolls,
    AfterSecondPoll,
}

/// What becomes of the join handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Join {
    /// Dropped then.
    Detached(When),
    /// Polled then (and so registered, if the task has not finished), and read at the end.
    Awaited(When),
    /// Polled before the first poll, by one waker, then by another, and read on another thread at the end.
    AwaitedElsewhere,
    /// Polled before the first poll, then dropped at that moment, with its waker registered.
    AwaitedThenDropped(When),
    /// Kept until the executor is gone, then read.
    AfterExecutor,
}

/// Who aborts, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Abort {
    Never,
    /// By an abort handle, on the owner thread.
    Here(When),
    /// By an abort handle, on another thread.
    Elsewhere(When),
}

use When::{AfterSecondPoll, BeforeFirstPoll, BetweenPolls, InFirstPoll, WokenBetweenPolls};

pub(super) const WHENS: [When; 5] =
    [BeforeFirstPoll, InFirstPoll, BetweenPolls, WokenBetweenPolls, AfterSecondPoll];
pub(super) const PANICS: [Panics; 5] =
    [Panics::Nowhere, Panics::FirstPoll, Panics::SecondPoll, Panics::FutureDrop, Panics::OutputDrop];
pub(super) const SPAWNS: [Spawn; 3] = [Spawn::OnOwner, Spawn::InGroup, Spawn::Remote];

pub(super) fn joins() -> Vec<Join> {
    let mut joins = vec![Join::AwaitedElsewhere, Join::AfterExecutor];
    joins.extend(WHENS.map(Join::Detached));
    joins.extend(WHENS.map(Join::Awaited));
    joins.extend(WHENS.map(Join::AwaitedThenDropped));
    joins
}

pub(super) fn aborts() -> Vec<Abort> {
    let mut aborts = vec![Abort::Never];
    aborts.extend(WHENS.map(Abort::Here));
    aborts.extend(WHENS.map(Abort::Elsewhere));
    aborts
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    pub(super) panics: Panics,
    pub(super) spawn: Spawn,
    pub(super) join: Join,
    pub(super) abort: Abort,
}

/// How it must end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Completed,
    Cancelled,
    Panicked(&'static str),
}

pub(super) const IN_FIRST_POLL: &str = "in the first poll";
pub(super) const IN_SECOND_POLL: &str = "in the second poll";
pub(super) const IN_FUTURE_DROP: &str = "in the future's drop";
pub(super) const IN_OUTPUT_DROP: &str = "in the output's drop";

impl Case {
    /// When it is aborted, if it is.
    pub(super) fn aborted(self) -> Option<When> {
        match self.abort {
            Abort::Never => None,
            Abort::Here(when) | Abort::Elsewhere(when) => Some(when),
        }
    }

    pub(super) fn expected(self) -> (End, u32) {
        // An abort in the middle of a poll takes effect after it, if the task is not over then.
        let (end, polls) = match (self.aborted(), self.panics) {
            (Some(BeforeFirstPoll), _) => (End::Cancelled, 0),
            (_, Panics::FirstPoll) => (End::Panicked(IN_FIRST_POLL), 1),
            (Some(InFirstPoll | BetweenPolls | WokenBetweenPolls), _) => (End::Cancelled, 1),
            (_, Panics::SecondPoll) => (End::Panicked(IN_SECOND_POLL), 2),
            (Some(AfterSecondPoll) | None, _) => (End::Completed, 2),
        };
        // A future from another thread is made in its first poll; before that there is none to be dropped.
        let made = self.spawn != Spawn::Remote || polls > 0;
        let spoilt = made && self.panics == Panics::FutureDrop;
        (if spoilt { End::Panicked(IN_FUTURE_DROP) } else { end }, polls)
    }

    /// Whether the task is over at that moment.
    pub(super) fn is_over_before(self, when: When) -> bool {
        let (_, polls) = self.expected();
        match polls {
            0 => when > BeforeFirstPoll,
            1 if self.panics == Panics::FirstPoll && self.aborted() != Some(BeforeFirstPoll) => {
                when > InFirstPoll
            }
            1 => self.aborted().is_some_and(|aborted| over_after_abort(aborted, when)),
            _ => when == AfterSecondPoll,
        }
    }
}

/// Whether a task that is aborted at one moment is over at another. It takes the executor a run to get there.
fn over_after_abort(aborted: When, when: When) -> bool {
    match aborted {
        BeforeFirstPoll => when > BeforeFirstPoll,
        InFirstPoll => when > InFirstPoll,
        BetweenPolls | WokenBetweenPolls | AfterSecondPoll => when == AfterSecondPoll,
    }
}
