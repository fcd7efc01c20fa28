//! When the requests of an open loop are due: drawn before the window.

use std::time::Duration;

use fastrand::Rng;

use crate::random::{Purpose, random};

/// This part of an open loop, from its start on, does not count: a server that has rested has no backlog yet, and the caches
/// are those of another.
const LEAD_PART: u32 = 6;

/// From one request to the next, which is so long in the mean.
pub(super) type Gap = fn(&mut Rng, Duration) -> Duration;

/// Requests at equal distances.
pub(super) fn even(_random: &mut Rng, mean: Duration) -> Duration {
    mean
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arrival {
    /// From the start of the window.
    pub(super) due: Duration,
    pub(super) connection: usize,
}

pub(super) struct Schedule {
    pub(super) arrivals: Vec<Arrival>,
    pub(super) length: Duration,
}

impl Schedule {
    /// `rate` requests a second in the mean, each on any of the connections with the same probability.
    pub(super) fn draw(
        seed: u64,
        part: u64,
        (rate, gap): (f64, Gap),
        connections: usize,
        length: Duration,
    ) -> Self {
        let mut random = random(seed, Purpose::Arrivals, part);
        let mean = Duration::from_secs_f64(1.0 / rate.max(1.0));
        let mut arrivals = Vec::new();
        let mut due = gap(&mut random, mean);
        while due < length {
            arrivals.push(Arrival { due, connection: random.usize(..connections) });
            due += gap(&mut random, mean);
        }
        Schedule { arrivals, length }
    }

    /// Whether a request that is due then counts.
    pub(super) fn counts(&self, due: Duration) -> bool {
        due >= self.length / LEAD_PART
    }

    pub(super) fn counted(&self) -> usize {
        self.arrivals.iter().filter(|arrival| self.counts(arrival.due)).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::gap;

    #[test]
    fn arrivals_come_in_order_at_the_rate_on_all_connections_and_count_after_the_lead() {
        let draw = |seed, part| Schedule::draw(seed, part, (100_000.0, gap), 10, Duration::from_secs(1));
        let schedule = draw(1, 1);
        assert!(schedule.arrivals == draw(1, 1).arrivals && schedule.arrivals != draw(1, 2).arrivals);
        let arrivals = &schedule.arrivals;
        // A Poisson count of mean 100,000 has a standard deviation of 316.
        assert!((98_700..101_300).contains(&arrivals.len()), "{}", arrivals.len());
        assert!(arrivals.is_sorted_by_key(|arrival| arrival.due));
        let on = |number| arrivals.iter().filter(|arrival| arrival.connection == number).count();
        assert!((0..10).all(|number| (9_600..10_400).contains(&on(number))));
        assert!((82_000..84_700).contains(&schedule.counted()), "{}", schedule.counted());
    }
}
