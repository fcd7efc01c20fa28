//! [`RateLimit`]: how many reports there may be within a period.

use std::collections::VecDeque;
use std::time::Duration;

/// At most so many reports within any period.
#[derive(Clone, Debug)]
pub(super) struct RateLimit {
    pub(super) most: usize,
    pub(super) period: Duration,
    /// When the last reports were: `most` at most.
    times: VecDeque<Duration>,
}

impl RateLimit {
    pub(super) fn new(most: usize, period: Duration) -> Self {
        Self { most, period, times: VecDeque::new() }
    }

    /// Whether there may be a report now, which then counts.
    pub(super) fn allows(&mut self, now: Duration) -> bool {
        if self.times.len() >= self.most {
            let is_past = |time: &Duration| now.saturating_sub(*time) >= self.period;
            if !self.times.front().is_some_and(is_past) {
                return false;
            }
            self.times.pop_front();
        }
        self.times.push_back(now);
        true
    }
}

#[cfg(all(test, not(clockworker_loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_period_has_so_many_reports_at_most_wherever_it_begins() {
        let second = Duration::from_secs;
        let mut limit = RateLimit::new(2, second(60));
        let allowed: Vec<u64> = (0..200).filter(|now| limit.allows(second(*now))).collect();
        assert_eq!(allowed, [0, 1, 60, 61, 120, 121, 180, 181]);
        let mut limit = RateLimit::new(2, second(60));
        let allowed: Vec<u64> =
            [0, 59, 60, 61, 119, 120].into_iter().filter(|now| limit.allows(second(*now))).collect();
        assert_eq!(allowed, [0, 59, 60, 119, 120]);
    }
}
