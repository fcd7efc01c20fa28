//! A random workload in virtual time: queues, their tasks, and how long polls and sleeps take.

use fastrand::Rng;

use crate::bounds::{self, Others, Queue};
use crate::cases::log_uniform;

/// Everything about a workload that is drawn before it begins. Times are in nanoseconds.
#[derive(Clone, Debug)]
pub(super) struct Workload {
    pub(super) queues: Vec<Queue>,
    /// By queue: how many tasks it has.
    pub(super) tasks: Vec<u64>,
    /// By queue: its tasks sleep once in so many polls; none if they always contend.
    restless: Vec<Option<u64>>,
    longest_poll: u64,
    lengths: Lengths,
    pub(super) host_budget: u64,
    /// The longest that the host is away between two turns.
    pub(super) host_away: u64,
    longest_sleep: u64,
    /// After so many polls the tasks finish.
    pub(super) polls: u64,
}

/// How long polls take.
#[derive(Clone, Copy, Debug)]
enum Lengths {
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
        let queues = (0..count).map(|_| {
            let share = log_uniform(rng, 1, widest) as u32;
            let request = if alike { request } else { log_uniform(rng, 1_000, 2_000_000) };
            (Queue { share, request, longest_poll }, rng.u64(1..=crowd))
        });
        let (queues, tasks): (Vec<_>, Vec<_>) = queues.unzip();
        let first = rng.u64(1..=4);
        let all_restless = rng.bool();
        let others = (1..count).map(|_| all_restless.then(|| rng.u64(1..=20)));
        let restless = [Some(first)].into_iter().chain(others).collect();
        let lengths = match rng.u8(..3) {
            0 => Lengths::Longest,
            1 => Lengths::Any,
            _ => Lengths::Seldom(rng.u64(2..=20)),
        };
        let host_budget = if rng.bool() { u64::MAX } else { log_uniform(rng, 10_000, 10_000_000) };
        let host_away = if rng.bool() { 0 } else { log_uniform(rng, 1, 200_000) };
        let longest_sleep = log_uniform(rng, longest_poll, 100 * longest_poll);
        let polls = rng.u64(200..=2_000);
        Workload {
            queues,
            tasks,
            restless,
            longest_poll,
            lengths,
            host_budget,
            host_away,
            longest_sleep,
            polls,
        }
    }

    /// Whether all queues but the first contend all the time.
    pub(super) fn is_steady(&self) -> bool {
        self.restless[1..].iter().all(Option::is_none)
    }

    /// The longest that a task of that queue waits from its wake to its poll.
    pub(super) fn longest_delay(&self, queue: usize, others: Others) -> f64 {
        let delay = bounds::delay(&self.queues, queue, self.tasks[queue], others);
        bounds::with_host(delay, self.host_budget, self.host_away)
    }

    /// How long a poll takes.
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
        let sleeps = self.restless[queue].is_some_and(|once_in| rng.u64(..once_in) == 0);
        sleeps.then(|| rng.u64(..=self.longest_sleep))
    }
}
