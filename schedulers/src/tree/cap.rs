//! [`Cap`]: the most CPU time that a queue may have per period.

use std::error::Error;
use std::fmt;
use std::time::Duration;

/// The most CPU time that a queue may have: a quota per period, and a burst on top of what earlier periods left over.
///
/// As cgroup v2's `cpu.max` and `cpu.max.burst`. The first period begins when the cap is set, each other when the one before
/// it ends. When a period begins the queue gets its quota, and keeps of what is left from earlier ones no more than the burst.
/// A queue that has used all of it is *throttled*: it leaves the thread to others until a period begins in which it has
/// something left.
///
/// A poll cannot be cut short: what one takes too much is paid from the next periods. So in any stretch of time that touches
/// *n* periods the queue has at most *n* quotas, one burst, and what one poll overruns.
///
/// # Example
///
/// ```
/// use clockworker_schedulers::Cap;
/// use std::time::Duration;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let ms = Duration::from_millis;
/// let cap = Cap::new(ms(20), ms(100))?.with_burst(ms(10))?; // a fifth of the thread
/// assert_eq!((cap.quota(), cap.burst()), (ms(20), ms(10)));
/// assert!(Cap::new(ms(20), ms(10)).unwrap_err().is_quota());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cap {
    quota: Duration,
    period: Duration,
    burst: Duration,
}

impl Cap {
    /// At most `quota` of CPU time per `period`, without a burst.
    ///
    /// A short period spreads the queue's work out and has its tasks wait for less; but a quota much shorter than a poll has
    /// the queue pay for each poll in several periods.
    ///
    /// # Errors
    ///
    /// If the period is zero, or the quota is zero or longer than the period.
    pub fn new(quota: Duration, period: Duration) -> Result<Self, CapError> {
        if period.is_zero() {
            return Err(CapError { kind: Kind::Period });
        }
        if quota.is_zero() || quota > period {
            return Err(CapError { kind: Kind::Quota { quota, period } });
        }
        Ok(Self { quota, period, burst: Duration::ZERO })
    }

    /// At most `percent` of each `period`, without a burst.
    ///
    /// # Errors
    ///
    /// If `percent` is not between 1 and 100, the period is zero, or so many percent of it are less than a nanosecond.
    pub fn percent(percent: u32, period: Duration) -> Result<Self, CapError> {
        match percent {
            1..=100 => {
                let hundredth = period / 100;
                Self::new(hundredth * percent + (period - hundredth * 100) * percent / 100, period)
            }
            _ => Err(CapError { kind: Kind::Percent(percent) }),
        }
    }

    /// The same with a burst: how much of what periods left over the queue may keep for later ones.
    ///
    /// # Errors
    ///
    /// If the burst is longer than the quota.
    pub fn with_burst(self, burst: Duration) -> Result<Self, CapError> {
        if burst > self.quota {
            return Err(CapError { kind: Kind::Burst { burst, quota: self.quota } });
        }
        Ok(Self { burst, ..self })
    }

    /// CPU time per period.
    pub fn quota(&self) -> Duration {
        self.quota
    }

    /// The length of a period, in wall time.
    pub fn period(&self) -> Duration {
        self.period
    }

    /// How much of what periods left over may be kept for later ones.
    pub fn burst(&self) -> Duration {
        self.burst
    }
}

/// Why a [`Cap`] makes no sense.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapError {
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Period,
    Quota { quota: Duration, period: Duration },
    Percent(u32),
    Burst { burst: Duration, quota: Duration },
}

impl CapError {
    /// Whether the period was zero.
    pub fn is_period(&self) -> bool {
        self.kind == Kind::Period
    }

    /// Whether the quota, or the percentage, was out of range.
    pub fn is_quota(&self) -> bool {
        matches!(self.kind, Kind::Quota { .. } | Kind::Percent(_))
    }

    /// Whether the burst was out of range.
    pub fn is_burst(&self) -> bool {
        matches!(self.kind, Kind::Burst { .. })
    }
}

impl fmt::Display for CapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Period => f.write_str("a cap's period must be more than zero"),
            Kind::Quota { quota, period } => {
                write!(f, "a cap's quota is more than zero and at most its period, {period:?}, not {quota:?}")
            }
            Kind::Percent(percent) => {
                write!(f, "a cap is between 1 and 100 percent of its period, not {percent}")
            }
            Kind::Burst { burst, quota } => {
                write!(f, "a cap's burst is at most its quota, {quota:?}, not {burst:?}")
            }
        }
    }
}

impl Error for CapError {}
