//! One case: what is done with a task of two polls, and how it must end.

/// How the task is spawned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spawn {
    Local,
    InGroup,
    /// By another thread.
    Remote,
}

/// The moments of the task's life at which something can be done, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Moment {
    Spawned,
    /// After the turn of the first poll, if there is no first poll.
    InFirstPoll,
    Parked,
    /// It is woken, and not yet polled again.
    Woken,
    /// Its result, if it gave one, is not yet read.
    Over,
    /// Its result is read, if the join handle is still there.
    Read,
}

use Moment::{InFirstPoll, Over, Parked, Read, Spawned, Woken};

pub(super) const MOMENTS: [Moment; 6] = [Spawned, InFirstPoll, Parked, Woken, Over, Read];

/// Where the task panics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Panics {
    /// In its first or its second poll.
    pub(super) poll: Option<u32>,
    pub(super) future_drop: bool,
    pub(super) output_drop: bool,
}

/// What becomes of the join handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Join {
    DroppedAt(Moment),
    ReadElsewhere,
    /// The executor is dropped at that moment. The handle is read in the end.
    ReadAfterExecutor(Moment),
}

/// Who aborts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    JoinHandle,
    AbortHandle,
    /// An abort handle on another thread.
    Elsewhere,
}

/// Who aborts the task, and when.
pub(super) type Abort = (By, Moment);

#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    pub(super) spawn: Spawn,
    pub(super) panics: Panics,
    /// When the join handle is polled first. It waits from then on, if the task is not over.
    pub(super) polled: Option<Moment>,
    pub(super) join: Join,
    /// At one moment, the abort comes before handles are dropped.
    pub(super) aborted: Option<Abort>,
    /// When the abort handle is dropped, if there is one.
    pub(super) abort_handle_dropped: Option<Moment>,
}

/// How the task must end.
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
    /// All cases of one way of spawning.
    pub(super) fn all(spawn: Spawn) -> Vec<Self> {
        let mut cases = Vec::new();
        for panics in all_panics() {
            for (polled, join) in all_joins() {
                for (aborted, abort_handle_dropped) in all_aborts() {
                    cases.push(Self { spawn, panics, polled, join, aborted, abort_handle_dropped });
                }
            }
        }
        cases
    }

    /// How the task ends, and after how many polls.
    pub(super) fn expected(self) -> (End, u32) {
        let (end, polls) = match (self.stopped(), self.panics.poll) {
            (Some(Spawned), _) => (End::Cancelled, 0),
            // An abort in the middle of a poll takes effect after it, if the task is not over then.
            (_, Some(1)) => (End::Panicked(IN_FIRST_POLL), 1),
            (Some(InFirstPoll | Parked | Woken), _) => (End::Cancelled, 1),
            (_, Some(_)) => (End::Panicked(IN_SECOND_POLL), 2),
            (Some(Over | Read) | None, None) => (End::Completed, 2),
        };
        // Of two panics the first is reported.
        let spoilt = self.panics.future_drop && self.is_made(polls) && !matches!(end, End::Panicked(_));
        (if spoilt { End::Panicked(IN_FUTURE_DROP) } else { end }, polls)
    }

    /// The first moment at which it is aborted or its executor dropped.
    fn stopped(self) -> Option<Moment> {
        let aborted = self.aborted.and_then(|(by, when)| match (by, self.join) {
            (By::JoinHandle, Join::DroppedAt(dropped)) if dropped < when => None,
            _ => Some(when),
        });
        aborted.into_iter().chain(self.executor_dropped()).min()
    }

    pub(super) fn executor_dropped(self) -> Option<Moment> {
        match self.join {
            Join::ReadAfterExecutor(when) => Some(when),
            _ => None,
        }
    }

    /// Whether there was a future. One from another thread is made in its first poll.
    pub(super) fn is_made(self, polls: u32) -> bool {
        self.spawn != Spawn::Remote || polls > 0
    }

    /// Whether there was an output: also if the future's drop spoilt it.
    pub(super) fn has_output(self) -> bool {
        self.expected().1 == 2 && self.panics.poll.is_none()
    }

    /// Whether the task is over at that moment.
    pub(super) fn is_over(self, when: Moment) -> bool {
        let aborted = self.stopped().filter(|&stopped| Some(stopped) != self.executor_dropped());
        let ended = match (aborted, self.expected().1) {
            (Some(Spawned), 0) => InFirstPoll,
            (Some(InFirstPoll), 1) => Parked,
            (_, 1) if self.panics.poll == Some(1) => Parked,
            _ => Over,
        };
        when >= ended || self.executor_dropped().is_some_and(|dropped| when > dropped)
    }

    /// Whether the join handle waits, with a waker, when the task ends.
    pub(super) fn is_waited_for(self) -> bool {
        let is_there = !matches!(self.join, Join::DroppedAt(when) if !self.is_over(when));
        is_there && self.polled.is_some_and(|polled| !self.is_over(polled))
    }

    /// Whether the join handle gives the result.
    pub(super) fn is_read(self) -> bool {
        !matches!(self.join, Join::DroppedAt(when) if when < Read)
            || self.polled.is_some_and(|polled| self.is_over(polled))
    }
}

fn all_panics() -> Vec<Panics> {
    let mut all = Vec::new();
    for future_drop in [false, true] {
        // A poll that panics gives no output.
        for (poll, output_drop) in [(None, false), (None, true), (Some(1), false), (Some(2), false)] {
            all.push(Panics { poll, future_drop, output_drop });
        }
    }
    all
}

/// When the join handle is polled, and what becomes of it afterwards.
fn all_joins() -> Vec<(Option<Moment>, Join)> {
    let mut ends = vec![Join::ReadElsewhere];
    ends.extend(MOMENTS.map(Join::DroppedAt));
    ends.extend([Spawned, Parked, Woken, Over].map(Join::ReadAfterExecutor));
    let mut all: Vec<_> = ends.into_iter().flat_map(|end| [(None, end), (Some(Spawned), end)]).collect();
    all.extend([InFirstPoll, Parked, Woken, Over].map(|when| (Some(when), Join::DroppedAt(Read))));
    all
}

/// How the task is aborted, and when the abort handle is dropped. One that aborts is kept to the end.
fn all_aborts() -> Vec<(Option<Abort>, Option<Moment>)> {
    let mut all = Vec::new();
    for dropped in [None, Some(Spawned), Some(Parked), Some(Over), Some(Read)] {
        all.push((None, dropped));
        all.extend(MOMENTS.map(|when| (Some((By::JoinHandle, when)), dropped)));
    }
    for by in [By::AbortHandle, By::Elsewhere] {
        all.extend(MOMENTS.map(|when| (Some((by, when)), Some(Read))));
    }
    all
}
