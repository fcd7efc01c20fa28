//! [`Latency`]: how long the tasks of a queue wait and run.

use std::panic::Location;
use std::time::Duration;

use super::Histogram;
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

/// How long turns of an executor are, and how long its host has the thread between them. Part of
/// [`Observed`](crate::Observed).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TurnLatency {
    /// Turns: for so long I/O and timers of the host wait.
    pub turn: Histogram,
    /// Between turns, while the executor had work left: what the host did with the thread.
    pub visit: Histogram,
    /// For how long the thread was ready to run and had no processor, since it began, whatever it would have done: other threads had it,
    /// or other machines. Linux tells, at the cost of some microseconds per look at the stats; `None` elsewhere.
    pub off_cpu: Option<Duration>,
}

impl TurnLatency {
    /// What was counted since `earlier`, a copy of this.
    pub fn since(&self, earlier: &TurnLatency) -> TurnLatency {
        TurnLatency {
            turn: self.turn.since(&earlier.turn),
            visit: self.visit.since(&earlier.visit),
            off_cpu: self.off_cpu.map(|now| now.saturating_sub(earlier.off_cpu.unwrap_or_default())),
        }
    }
}
