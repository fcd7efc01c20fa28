//! A random workload in virtual time: queues, their tasks, and how long polls and sleeps take.

use fastrand::Rng;

use super::formula::{HostTime, Queue, Setting};
use crate::cases::log_uniform;

/// Everything about a workload that is drawn before it begins.
#[derive(Clone, Debug)]
pub(super) struct Workload {
    pub(super) queues: Vec<Queue>,
    /// By queue: how restless its tasks are.
    pub(super) manners: Vec<Manner>,
    /// The longest poll, in nanoseconds.
    pub(super) longest_poll: u64,
    pub(super) lengths: Lengths,
    pub(super) host: HostTime,
    /// Sleeps last up to this, in nanoseconds.
    pub(super) longest_sleep: u64,
    /// After so many polls the tasks finish.
    pub(super) polls: u64,
}

/// What tasks of a queue do after a poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// They yield: their queue always contends.
    Busy,
    /// They sleep once in so many polls.
    Restless(u64),
}

/// How long polls take.
#[derive(Clone, Copy, Debug)]
pub(super) enum Lengths {
    /// The longest, all of them.
    Longest,
    /// Anything up to the longest.
    Any,
    /// Next to nothing, and the longest once in so many.
    Seldom(u64),
}

impl Workload {
    pub(super) fn draw(rng: &mut Rng) -> Self {
        let longest_poll = log_uniform(rng, 1_000, 1_000_000);
        let count = if rng.u8(..4) == 0 { rng.usize(1..=8) } else { rng.usize(1..=3) };
        let widest = [1, 10, 1_000][rng.usize(..3)];
        let crowd = [2, 8, 64][rng.usize(..3)];
        let request = log_uniform(rng, 1_000, 2_000_000);
        let alike = rng.bool();
        let queues: Vec<Queue> = (0..count)
            .map(|_| Queue {
                share: log_uniform(rng, 1, widest) as u32,
                request: if alike { request } else { log_uniform(rng, 1_000, 2_000_000) },
                tasks: rng.u64(1..=crowd),
            })
            .collect();
        let restless = rng.u64(1..=4);
        let all_restless = rng.bool();
        let manners = queues.iter().enumerate().map(|(index, _)| match index {
            0 => Manner::Restless(restless),
            _ if all_restless => Manner::Restless(rng.u64(1..=20)),
            _ => Manner::Busy,
        });
        let manners = manners.collect();
        let lengths = match rng.u8(..3) {
            0 => Lengths::Longest,
            1 => Lengths::Any,
            _ => Lengths::Seldom(rng.u64(2..=20)),
        };
        let budget = if rng.bool() { u64::MAX } else { log_uniform(rng, 10_000, 10_000_000) };
        let host = HostTime { budget, away: if rng.bool() { 0 } else { log_uniform(rng, 1, 200_000) } };
        let longest_sleep = log_uniform(rng, longest_poll, 100 * longest_poll);
        let polls = rng.u64(200..=2_000);
        Workload { queues, manners, longest_poll, lengths, host, longest_sleep, polls }
    }

    /// Whether all queues but the first contend all the time.
    pub(super) fn is_steady(&self) -> bool {
        self.manners[1..].iter().all(|&manner| manner == Manner::Busy)
    }

    pub(super) fn setting(&self) -> Setting<'_> {
        Setting { queues: &self.queues, longest_poll: self.longest_poll, host: self.host }
    }

    pub(super) fn length(&self, rng: &mut Rng) -> u64 {
        match self.lengths {
            Lengths::Longest => self.longest_poll,
            Lengths::Any => rng.u64(..=self.longest_poll),
            Lengths::Seldom(once_in) if rng.u64(..once_in) == 0 => self.longest_poll,
            Lengths::Seldom(_) => rng.u64(..=self.longest_poll / 100),
        }
    }

    /// How long a task of that queue sleeps after a poll; none if it yields.
    pub(super) fn sleep(&self, queue: usize, rng: &mut Rng) -> Option<u64> {
        match self.manners[queue] {
            Manner::Restless(once_in) if rng.u64(..once_in) == 0 => Some(rng.u64(..=self.longest_sleep)),
            _ => None,
        }
    }
}
