//! [`Latency`]: how long the tasks of a queue wait and run.

use std::fmt;
use std::panic::Location;
use std::time::Duration;

use super::{Histogram, Holder};
use clockworker::Id;

/// How long the tasks of a queue wait and run, since [`latency`](super::Observation::latency) was asked for. Part of
/// [`ObservedQueue`](crate::ObservedQueue).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Latency {
    /// From the wake (or spawn, or the poll in which the task yielded) to the poll. A wake in a poll counts from the executor's last
    /// clock reading before it, some 2 µs too early at most, or as much as that poll had taken by then; one from the host or from
    /// another thread counts from that moment.
    pub wait: Histogram,
    /// Polls.
    pub poll: Histogram,
    /// Slices: all of them, exactly.
    pub slice: Histogram,
    /// The longest of the polls that were timed.
    pub longest_poll: Option<LongPoll>,
}

impl Latency {
    /// What was counted since `earlier`, a copy of this. The longest poll stays if it is another than then.
    pub fn since(&self, earlier: &Latency) -> Latency {
        Latency {
            wait: self.wait.since(&earlier.wait),
            poll: self.poll.since(&earlier.poll),
            slice: self.slice.since(&earlier.slice),
            longest_poll: self.longest_poll.filter(|poll| Some(*poll) != earlier.longest_poll),
        }
    }
}

/// How long the tasks of a group wait and run, where [`latency_of_groups`](super::Observation::latency_of_groups) was asked for. Part of
/// [`ObservedGroup`](crate::ObservedGroup).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GroupLatency {
    /// As [`Latency::wait`].
    pub wait: Histogram,
    /// Polls.
    pub poll: Histogram,
    /// The longest of the polls that were timed.
    pub longest_poll: Option<LongPoll>,
}

impl GroupLatency {
    /// What was counted since `earlier`, a copy of this of the same group. The longest poll stays if it is another than then.
    pub fn since(&self, earlier: &GroupLatency) -> GroupLatency {
        GroupLatency {
            wait: self.wait.since(&earlier.wait),
            poll: self.poll.since(&earlier.poll),
            longest_poll: self.longest_poll.filter(|poll| Some(*poll) != earlier.longest_poll),
        }
    }
}

/// A poll that took long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LongPoll {
    /// How long it took.
    pub took: Duration,
    /// Of which task.
    pub task: Id,
    /// Where that was spawned.
    pub location: &'static Location<'static>,
}

/// A turn that took long, and who held the thread for longest in it. `Display` gives one line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LongTurn {
    /// How long it took: for so long the host was not looked at.
    pub took: Duration,
    /// What took longest in it. Where the polls of a slice were too short to be timed each, they count as one, of which the queue alone is
    /// known. None if nothing was polled or dropped.
    pub holder: Option<Holder>,
    /// How long that took.
    pub held: Duration,
}

impl fmt::Display for LongTurn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1?}", self.took)?;
        self.holder.iter().try_for_each(|holder| write!(f, ", of that {:.1?} {holder}", self.held))
    }
}

/// How long turns of an executor are, and how long its host has the thread between them. Part of
/// [`Observed`](crate::Observed).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TurnLatency {
    /// Turns: for so long the host is not looked at, and its I/O and timers wait.
    pub turn: Histogram,
    /// The longest turn.
    pub longest_turn: Option<LongTurn>,
    /// Between turns, while the executor had work left: what the host did with the thread.
    pub visit: Histogram,
    /// For how long the thread was ready to run and had no processor, since it began, whatever it would have done: other threads had it,
    /// or other machines. Linux tells, at the cost of some microseconds per look at the stats; `None` elsewhere.
    pub off_cpu: Option<Duration>,
}

impl TurnLatency {
    /// What was counted since `earlier`, a copy of this. The longest turn stays if it is another than then.
    pub fn since(&self, earlier: &TurnLatency) -> TurnLatency {
        TurnLatency {
            turn: self.turn.since(&earlier.turn),
            longest_turn: self
                .longest_turn
                .clone()
                .filter(|turn| Some(turn) != earlier.longest_turn.as_ref()),
            visit: self.visit.since(&earlier.visit),
            off_cpu: self.off_cpu.map(|now| now.saturating_sub(earlier.off_cpu.unwrap_or_default())),
        }
    }
}
