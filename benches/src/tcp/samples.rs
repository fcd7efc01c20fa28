//! What windows gave, put together by server and round.

use serde::Serialize;

use crate::serving::client::{Closed, Open};
use crate::serving::command::Usage;
use crate::spread::Values;

/// One server's windows of a closed loop in a round.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClosedSample {
    /// Messages that came back, and how long that took.
    pub closed: Closed,
    /// What the server's process used up meanwhile.
    pub usage: Usage,
}

/// One server's windows of an open loop in a round.
#[derive(Clone, Debug, Default)]
pub struct OpenSample {
    /// What became of the messages.
    pub open: Open,
    /// What the server's process used up meanwhile.
    pub usage: Usage,
}

/// An arm's samples of an open loop.
#[derive(Clone, Debug, Default)]
pub struct OpenSamples {
    /// All latencies.
    pub latencies: Values,
    /// How late all messages were sent.
    pub lateness: Values,
    /// Messages that were not back in time.
    pub unanswered: u64,
    /// By round.
    pub rounds: Vec<OpenRound>,
}

/// What is kept of a round's open loop, for the raw samples.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct OpenRound {
    /// Messages a second that were to be sent.
    pub rate: f64,
    /// How long it took for a message to be back in the mean, in nanoseconds.
    pub mean_ns: f64,
    /// Half of the messages were back within so many nanoseconds.
    pub p50_ns: u64,
    /// 99 of 100 messages were.
    pub p99_ns: u64,
    /// 999 of 1,000 messages were.
    pub p999_ns: u64,
    /// 99 of 100 messages were sent no later than this after their time, in nanoseconds.
    pub late_p99_ns: u64,
    /// Messages that were to be sent.
    pub messages: u64,
    /// Those that were not back in time.
    pub unanswered: u64,
    /// Polls of the background a second.
    pub background_rate: f64,
}

/// What a cell's rounds gave.
#[derive(Debug)]
pub struct Samples {
    /// How each server's host did its I/O.
    pub drivers: Vec<String>,
    /// By arm and round.
    pub closed: Vec<Vec<ClosedSample>>,
    /// By load, arm and round.
    pub open: Vec<Vec<OpenSamples>>,
}

impl ClosedSample {
    /// Adds another window.
    pub fn add(&mut self, closed: Closed, usage: Usage) {
        self.closed.echoes += closed.echoes;
        self.closed.elapsed += closed.elapsed;
        self.usage.add(usage);
    }
}

impl OpenSample {
    /// Adds another window.
    pub fn add(&mut self, open: &Open, usage: Usage) {
        self.open.latencies.merge(&open.latencies);
        self.open.lateness.merge(&open.lateness);
        self.open.unanswered += open.unanswered;
        self.open.elapsed += open.elapsed;
        self.usage.add(usage);
    }
}

impl OpenSamples {
    /// Adds a round, in which so many messages a second were to be sent.
    pub fn add(&mut self, rate: f64, OpenSample { open, usage }: &OpenSample) {
        self.latencies.merge(&open.latencies);
        self.lateness.merge(&open.lateness);
        self.unanswered += open.unanswered;
        self.rounds.push(OpenRound {
            rate,
            mean_ns: open.latencies.mean(),
            p50_ns: open.latencies.at(0.5) as u64,
            p99_ns: open.latencies.at(0.99) as u64,
            p999_ns: open.latencies.at(0.999) as u64,
            late_p99_ns: open.lateness.at(0.99) as u64,
            messages: open.latencies.count(),
            unanswered: open.unanswered,
            background_rate: usage.polls as f64 / open.elapsed.as_secs_f64(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn windows_are_one_sample() {
        let usage = Usage { cpu: Duration::from_secs(1), polls: 3 };
        let mut sample = ClosedSample::default();
        sample.add(Closed { echoes: 10, elapsed: Duration::from_secs(2) }, Usage::default());
        sample.add(Closed { echoes: 30, elapsed: Duration::from_secs(2) }, usage);
        sample.add(Closed::default(), usage);
        assert_eq!((sample.closed.echoes, sample.closed.elapsed), (40, Duration::from_secs(4)));
        assert_eq!(sample.usage, Usage { cpu: Duration::from_secs(2), polls: 6 });
    }
}
