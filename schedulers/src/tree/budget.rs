//! [`Budget`]: what a capped queue has left, and how often it was throttled.

use std::time::Duration;

use super::cap::Cap;

/// A cap, and what is left of it. Times are clock readings, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    cap: Cap,
    quota_ns: u64,
    period_ns: u64,
    /// What it may have at most: quota and burst.
    most_ns: i128,
    /// When the period under way began. Periods that have passed since are seen by [`advance`](Budget::advance).
    began: u64,
    /// What is left. Less than nothing where a poll has overrun it.
    left_ns: i128,
    /// Whether the queue has work.
    at_work: bool,
    /// Whether the period under way is counted in `counts.periods`,
    is_counted: bool,
    /// and in `counts.throttled_periods`.
    is_throttled_counted: bool,
    throttled: Option<Throttled>,
    counts: CapCounts,
}

/// Since when a queue is throttled, and until when.
#[derive(Clone, Copy, Debug)]
struct Throttled {
    since: u64,
    release: u64,
}

/// What a cap has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CapCounts {
    /// Periods in which the queue had work.
    pub periods: u64,
    /// Of these, the ones in which it was throttled.
    pub throttled_periods: u64,
    /// Nanoseconds in which it had work and was throttled.
    pub throttled_ns: u64,
}

impl CapCounts {
    pub(super) fn plus(self, other: CapCounts) -> CapCounts {
        CapCounts {
            periods: self.periods + other.periods,
            throttled_periods: self.throttled_periods + other.throttled_periods,
            throttled_ns: self.throttled_ns + other.throttled_ns,
        }
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl Budget {
    /// A budget whose first period begins now, for a queue that has nothing to do.
    pub(super) fn new(cap: Cap, now: u64) -> Self {
        let (quota_ns, period_ns) = (nanos(cap.quota()), nanos(cap.period()));
        Self {
            cap,
            quota_ns,
            period_ns,
            most_ns: i128::from(quota_ns) + i128::from(nanos(cap.burst())),
            began: now,
            left_ns: i128::from(quota_ns),
            at_work: false,
            is_counted: false,
            is_throttled_counted: false,
            throttled: None,
            counts: CapCounts::default(),
        }
    }

    pub(super) fn cap(&self) -> Cap {
        self.cap
    }

    /// The budget after a change of the cap, of a queue that is not throttled just now. What the queue has used in the period
    /// under way stays used. The period goes on, unless the new ones are of another length: then the first begins now.
    pub(super) fn with_cap(mut self, cap: Cap, now: u64) -> Self {
        self.advance(now);
        let new = Self::new(cap, now);
        let left_ns = self.left_ns + i128::from(new.quota_ns) - i128::from(self.quota_ns);
        let changed = Self { left_ns: left_ns.min(new.most_ns), counts: self.counts, ..new };
        if new.period_ns == self.period_ns {
            let Self { began, at_work, is_counted, is_throttled_counted, .. } = self;
            return Self { began, at_work, is_counted, is_throttled_counted, ..changed };
        }
        let mut changed = changed;
        if self.at_work {
            changed.begin_work(now);
        }
        changed
    }

    /// What is left, to be used before anything else is looked at. Nanoseconds.
    pub(super) fn left_ns(&self) -> u64 {
        u64::try_from(self.left_ns.max(0)).unwrap_or(u64::MAX)
    }

    /// Whether nothing is left.
    pub(super) fn is_spent(&self) -> bool {
        self.left_ns <= 0
    }

    /// Whether the queue is throttled.
    pub(super) fn is_throttled(&self) -> bool {
        self.throttled.is_some()
    }

    /// Begins the periods that are due by `now`.
    pub(super) fn advance(&mut self, now: u64) {
        let periods = self.periods_until(now);
        if periods > 0 {
            let left_ns = self.left_ns + i128::from(periods) * i128::from(self.quota_ns);
            self.left_ns = left_ns.min(self.most_ns);
            self.begin_periods(periods);
        }
    }

    fn periods_until(&self, now: u64) -> u64 {
        now.saturating_sub(self.began) / self.period_ns
    }

    fn begin_periods(&mut self, periods: u64) {
        self.began += periods * self.period_ns;
        self.is_counted = self.at_work;
        self.is_throttled_counted = false;
        if self.at_work {
            self.counts.periods += periods;
        }
    }

    /// Charges service that the queue has had without a pause up to `now`: each period for its part.
    pub(super) fn charge(&mut self, service_ns: u64, now: u64) {
        let from = now.saturating_sub(service_ns);
        self.advance(from);
        let next = self.began.saturating_add(self.period_ns);
        if now < next {
            self.left_ns -= i128::from(service_ns);
            return;
        }
        self.left_ns -= i128::from(next - from);
        self.advance(next);
        // Periods that the service took all of leave nothing over.
        let whole = self.periods_until(now);
        self.left_ns -= i128::from(whole) * i128::from(self.period_ns - self.quota_ns);
        self.begin_periods(whole);
        self.left_ns -= i128::from(now - self.began);
    }

    /// When the first period begins in which something is left.
    fn release(&self) -> u64 {
        let owed = u128::try_from(-self.left_ns).unwrap_or(0);
        let periods = u64::try_from(owed / u128::from(self.quota_ns) + 1).unwrap_or(u64::MAX);
        // Not the value that stands for never.
        self.began.saturating_add(periods.saturating_mul(self.period_ns)).min(u64::MAX - 1)
    }

    /// Notes that the queue has work.
    pub(super) fn begin_work(&mut self, now: u64) {
        self.advance(now);
        self.at_work = true;
        if !self.is_counted {
            self.is_counted = true;
            self.counts.periods += 1;
        }
    }

    /// Notes that the queue has no work any more.
    pub(super) fn end_work(&mut self) {
        self.at_work = false;
    }

    /// Throttles the queue, which has nothing left: until when.
    pub(super) fn throttle(&mut self, now: u64) -> u64 {
        let release = self.release();
        self.throttled = Some(Throttled { since: now, release });
        if !self.is_throttled_counted {
            self.is_throttled_counted = true;
            self.counts.throttled_periods += 1;
        }
        release
    }

    /// Ends the throttling, if the queue is throttled: until when it would have lasted.
    pub(super) fn end_throttle(&mut self, now: u64) -> Option<u64> {
        let Throttled { since, release } = self.throttled.take()?;
        self.counts.throttled_ns += now.saturating_sub(since);
        // The period in which it goes on is none of them.
        self.counts.throttled_periods += self.periods_until(now.min(release - 1));
        self.advance(now);
        Some(release)
    }

    /// What the cap has done up to now.
    pub(super) fn counts(&self, now: u64) -> CapCounts {
        let mut seen = *self;
        seen.end_throttle(now);
        seen.advance(now);
        seen.counts
    }
}

#[cfg(test)]
mod tests;
