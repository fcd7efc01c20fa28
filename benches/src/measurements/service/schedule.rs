//! When the requests of an open loop are to be sent: drawn before the window.

use std::time::Duration;

use crate::random::{Purpose, gap, random};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arrival {
    /// Nanoseconds from the start of the window.
    pub(super) at: u64,
    pub(super) connection: usize,
}

pub(super) struct Schedule {
    pub(super) arrivals: Vec<Arrival>,
    pub(super) length: Duration,
    /// So long from the start nothing counts: a server that has rested has no backlog yet, and caches are those of another.
    pub(super) lead: Duration,
}

impl Schedule {
    /// A Poisson process of `rate` requests a second, each on any of the connections with the same probability. All count.
    pub(super) fn draw(seed: u64, part: u64, rate: f64, connections: usize, length: Duration) -> Self {
        let mut random = random(seed, Purpose::Arrivals, part);
        let mean = Duration::from_secs_f64(1.0 / rate.max(1.0));
        let mut arrivals = Vec::new();
        let mut at = gap(&mut random, mean);
        while at < length {
            arrivals.push(Arrival { at: at.as_nanos() as u64, connection: random.usize(..connections) });
            at += gap(&mut random, mean);
        }
        Schedule { arrivals, length, lead: Duration::ZERO }
    }

    /// Whether a request that is to be sent at `at` counts: not in the lead.
    pub(super) fn counts(&self, at: u64) -> bool {
        at >= self.lead.as_nanos() as u64
    }

    pub(super) fn counted(&self) -> u64 {
        self.arrivals.iter().filter(|arrival| self.counts(arrival.at)).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_seed_repeats_the_schedule() {
        let draw = |seed, part| Schedule::draw(seed, part, 1_000.0, 10, SECOND).arrivals;
        assert_eq!(draw(1, 1), draw(1, 1));
        assert_ne!(draw(1, 1), draw(1, 2));
        assert_ne!(draw(1, 1), draw(2, 1));
    }

    #[test]
    fn arrivals_come_in_order_at_the_rate_on_all_connections_and_count_after_the_lead() {
        let drawn = Schedule::draw(1, 1, 100_000.0, 10, SECOND);
        let schedule = Schedule { lead: Duration::from_millis(4), ..drawn };
        let arrivals = &schedule.arrivals;
        // A Poisson count of mean 100,000 has a standard deviation of 316.
        assert!((98_700..101_300).contains(&arrivals.len()), "{}", arrivals.len());
        assert!(arrivals.is_sorted_by_key(|arrival| arrival.at));
        let on = |number| arrivals.iter().filter(|arrival| arrival.connection == number).count();
        assert!((0..10).all(|number| (9_600..10_400).contains(&on(number))));
        let early = arrivals.iter().take_while(|arrival| arrival.at < 4_000_000).count();
        assert!(early > 0 && !schedule.counts(3_999_999) && schedule.counts(4_000_000));
        assert_eq!(schedule.counted(), (arrivals.len() - early) as u64);
    }
}
