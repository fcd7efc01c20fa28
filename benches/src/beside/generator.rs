//! The load generator: sends each arrival at its time, whatever has become of those before it.

use std::ops::Range;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedSender;

use crate::beside::loops::Loops;
use crate::stopwatch::{Wait, now, wait_until};
use crate::workload::arrivals::Arrival;

/// What the generator saw.
#[derive(Debug)]
pub struct Sent {
    /// The moment that all times of the schedule count from.
    pub start: Instant,
    /// How late each arrival was sent.
    pub lateness: Vec<Duration>,
    /// Background iterations per second between the end of the warm-up and the end of the schedule.
    pub background_rate: f64,
}

/// The load of one repetition.
#[derive(Debug)]
pub struct Generator<'a> {
    /// What to send, in order of time.
    pub schedule: &'a [Arrival],
    /// When counting of background iterations begins.
    pub warm_up: Duration,
    /// When the schedule ends and counting with it.
    pub end: Duration,
    /// What runs in the background.
    pub background: &'a Loops,
    /// How to wait for the next arrival's time.
    pub wait: Wait,
}

impl Generator<'_> {
    /// Sends the schedule, beginning now, and returns when it is over. The channel is closed then.
    pub fn run(&self, outbox: UnboundedSender<usize>) -> Sent {
        let start = now();
        let warm = self.schedule.partition_point(|arrival| arrival.at < self.warm_up);
        let mut lateness = self.send(start, 0..warm, &outbox);
        let before = self.count_at(start + self.warm_up);
        lateness.extend(self.send(start, warm..self.schedule.len(), &outbox));
        let after = self.count_at(start + self.end);
        Sent { start, lateness, background_rate: rate(before, after) }
    }

    fn send(&self, start: Instant, which: Range<usize>, outbox: &UnboundedSender<usize>) -> Vec<Duration> {
        which
            .map(|number| {
                let intended = start + self.schedule[number].at;
                wait_until(intended, self.wait);
                let lateness = now() - intended;
                // A receiver that is gone has failed, which is known when its thread is joined.
                let _ = outbox.send(number);
                lateness
            })
            .collect()
    }

    fn count_at(&self, moment: Instant) -> (Instant, u64) {
        wait_until(moment, self.wait);
        (now(), self.background.iterations())
    }
}

fn rate((from, before): (Instant, u64), (until, after): (Instant, u64)) -> f64 {
    (after - before) as f64 / (until - from).as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::beside::loops::{Background, Rest};
    use tokio::sync::mpsc::unbounded_channel;

    #[test]
    fn everything_is_sent_in_order_and_never_early() {
        let arrivals: Vec<Arrival> = [0, 300, 300, 900]
            .map(|at| Arrival { at: Duration::from_micros(at), segments: Vec::new() })
            .into();
        let background =
            Loops::new(Background { tasks: 1, poll: Duration::from_micros(100), rest: Rest::Yield });
        let generator = Generator {
            schedule: &arrivals,
            warm_up: Duration::from_micros(300),
            end: Duration::from_millis(1),
            background: &background,
            wait: Wait::SleepThenSpin,
        };
        let (outbox, mut inbox) = unbounded_channel();
        let sent = generator.run(outbox);
        assert!(now() >= sent.start + generator.end);
        assert_eq!(sent.lateness.len(), 4);
        assert_eq!(sent.background_rate, 0.0);
        assert_eq!(std::iter::from_fn(|| inbox.blocking_recv()).collect::<Vec<_>>(), [0, 1, 2, 3]);
    }

    #[test]
    fn the_background_is_counted_between_two_moments() {
        let from = now();
        assert_eq!(rate((from, 100), (from + Duration::from_millis(500), 2_100)), 4_000.0);
    }
}
