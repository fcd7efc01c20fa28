//! [`Activity`]: what an executor does at a moment.

use std::fmt;
use std::time::Duration;

use crate::Holder;
use crate::beacon::Beacon;

/// What an executor does at a moment. From [`Observer::activity`](crate::Observer::activity); `Display` gives one line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Activity {
    /// What it does.
    pub kind: ActivityKind,
    /// Since when: a reading of the [executor's clock](clockworker::Executor::clock).
    pub since: Duration,
    /// How long that was ago.
    pub so_far: Duration,
}

/// What an executor does.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ActivityKind {
    /// It polls a task or the future given to `run_until`, or drops the future of an aborted task.
    Poll(Holder),
    /// It has the thread of its host, since its turn began, and polls nothing.
    BetweenPolls,
    /// Its host has the thread, asleep or not.
    Host,
}

impl Activity {
    /// What the beacon shows after the time `now_ns`. None if activity is not shown.
    pub(crate) fn shown(beacon: &Beacon, now_ns: u64) -> Option<Self> {
        // First, as a detector may still have polls shown.
        let turn = beacon.turn()?;
        let (kind, since_ns) = match beacon.read(beacon.sequence()) {
            Some((holder, since_ns)) => (ActivityKind::Poll(holder), since_ns),
            None if turn.is_under_way => (ActivityKind::BetweenPolls, turn.since_ns),
            None => (ActivityKind::Host, turn.since_ns),
        };
        let so_far = Duration::from_nanos(now_ns.saturating_sub(since_ns));
        Some(Self { kind, since: Duration::from_nanos(since_ns), so_far })
    }
}

impl fmt::Display for Activity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "for {:.1?}: ", self.so_far)?;
        match &self.kind {
            ActivityKind::Poll(holder) => holder.fmt(f),
            ActivityKind::BetweenPolls => f.write_str("a turn of the executor, between polls"),
            ActivityKind::Host => f.write_str("the host has the thread"),
        }
    }
}
