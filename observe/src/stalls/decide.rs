//! [`Decide`]: whether a poll has run for too long. Knows numbers and times only.

use std::time::Duration;

/// Says of each poll once that it has run for the threshold, if it is seen to run for so long.
///
/// The poll's time is counted from after the first look at it to before the last, so it has run for at least that long, however
/// long the lookout itself was kept from its CPU between two readings. The time between two looks counts for half a threshold at
/// most, which is twice what the lookout sleeps: it overslept, and the poll may have had no CPU either. (The process was
/// stopped, say.)
#[derive(Debug)]
pub(super) struct Decide {
    threshold: Duration,
    /// The poll seen last, or an even number.
    poll: u64,
    /// When the last look was over.
    looked: Duration,
    so_far: Duration,
    is_told: bool,
}

impl Decide {
    pub(super) fn new(threshold: Duration) -> Self {
        Self { threshold, poll: 0, looked: Duration::ZERO, so_far: Duration::ZERO, is_told: false }
    }

    /// How long the poll has run, if that is too long and was not said before. `sequence` is what was seen between two readings of the
    /// clock: odd while a poll runs, and no two polls have the same.
    pub(super) fn look(&mut self, before: Duration, sequence: u64, after: Duration) -> Option<Duration> {
        let passed = before.saturating_sub(std::mem::replace(&mut self.looked, after));
        if sequence != self.poll {
            (self.poll, self.so_far, self.is_told) = (sequence, Duration::ZERO, false);
            return None;
        }
        self.so_far += passed.min(self.threshold / 2);
        if self.poll.is_multiple_of(2) || self.is_told || self.so_far < self.threshold {
            return None;
        }
        self.is_told = true;
        Some(self.so_far)
    }

    /// How long the poll has run that was said to run for too long, if it has been seen to run since.
    pub(super) fn too_long(&self) -> Option<Duration> {
        self.is_told.then_some(self.so_far)
    }

    /// How long the poll has run by the last look, if it goes on and was not said to run for too long.
    pub(super) fn goes_on(&self) -> Option<Duration> {
        let goes_on = !self.poll.is_multiple_of(2) && !self.so_far.is_zero() && !self.is_told;
        goes_on.then_some(self.so_far)
    }

    /// Whether the last look was the first at a poll.
    pub(super) fn has_begun(&self) -> bool {
        !self.poll.is_multiple_of(2) && self.so_far.is_zero()
    }
}

#[cfg(all(test, not(clockworker_loom)))]
mod tests {
    use super::*;

    const fn us(us: u64) -> Duration {
        Duration::from_micros(us)
    }

    /// Looks each quarter of 5 ms at an executor whose polls, with gaps of `gap_us`, begin and end so; when it says so, and
    /// for how long the poll has run then, in microseconds.
    fn told(polls: u64, poll_us: u64, gap_us: u64, offset_us: u64) -> Vec<(u64, u64)> {
        let mut decide = Decide::new(us(5_000));
        let end = polls * (poll_us + gap_us) + 20_000;
        let looks = (offset_us..end).step_by(1_250);
        looks
            .filter_map(|now| {
                let (number, within) = (now / (poll_us + gap_us), now % (poll_us + gap_us));
                let sequence = match number {
                    _ if number >= polls => 2 * polls,
                    number => 2 * number + if within < poll_us { 1 } else { 2 },
                };
                let so_far = decide.look(us(now), sequence, us(now))?;
                Some((now, so_far.as_micros() as u64))
            })
            .collect()
    }

    #[test]
    fn a_poll_of_fifty_milliseconds_is_told_once() {
        for offset in 0..1_250 {
            let told = told(1, 50_000, 0, offset);
            assert_eq!(told, [(offset + 5_000, 5_000)], "looking from {offset} us on");
        }
    }

    #[test]
    fn a_thousand_polls_of_a_millisecond_are_not_told() {
        for offset in 0..1_250 {
            // Back to back, and apart.
            assert_eq!(told(1_000, 1_000, 0, offset), []);
            assert_eq!(told(1_000, 1_000, 250, offset), []);
        }
    }

    #[test]
    fn each_long_poll_is_told_also_back_to_back() {
        for offset in 0..1_250 {
            assert_eq!(told(10, 6_250, 0, offset).len(), 10);
            assert_eq!(told(10, 4_999, 0, offset), []);
        }
    }

    /// A lookout that is late sees less than there was, never more.
    #[test]
    fn time_is_counted_between_looks() {
        let mut decide = Decide::new(us(5_000));
        let mut look = |before, sequence, after| {
            decide.look(us(before), sequence, us(after)).map(|so_far| so_far.as_micros())
        };
        // It was kept from its CPU within a look: when it saw poll 1, between 0 and 9 ms, is not known.
        assert_eq!(look(0, 1, 9_000), None);
        assert_eq!(look(11_499, 1, 30_000), None);
        assert_eq!(look(32_500, 1, 40_000), None);
        assert_eq!(look(40_001, 1, 40_001), Some(5_000));
        assert_eq!(look(90_000, 1, 90_000), None, "once is enough");
        // Nothing runs, for long.
        assert_eq!(look(91_000, 2, 91_000), None);
        assert_eq!(look(99_000, 2, 99_000), None);
        // Another poll.
        assert_eq!(look(99_100, 3, 99_100), None);
        assert_eq!(look(101_600, 3, 101_600), None);
        assert_eq!(look(104_100, 3, 104_100), Some(5_000));
    }

    /// A process that is stopped in a poll for a second is not told of; one that stalls afterwards is.
    #[test]
    fn a_lookout_that_oversleeps_counts_half_a_threshold() {
        let mut decide = Decide::new(us(5_000));
        let mut look =
            |now, sequence| decide.look(us(now), sequence, us(now)).map(|so_far| so_far.as_micros());
        assert_eq!((look(0, 1), look(1_250, 1)), (None, None));
        assert_eq!(look(1_000_000, 1), None);
        assert_eq!(look(1_001_249, 1), None);
        assert_eq!(look(1_001_250, 1), Some(5_000));
    }
}
