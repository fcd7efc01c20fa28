//! [`StallError`]: why an executor cannot be watched.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use super::THRESHOLDS;

/// Why an executor cannot be watched. From [`StallDetector::watch`](super::StallDetector::watch).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StallError(pub(super) Kind);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Threshold(Duration),
    RateLimit { most: usize, period: Duration },
    Thread(String),
}

impl StallError {
    /// Whether the threshold is not among [`THRESHOLDS`].
    pub fn is_threshold(&self) -> bool {
        matches!(self.0, Kind::Threshold(_))
    }

    /// Whether the rate limit allows no report ever, or is of no time.
    pub fn is_rate_limit(&self) -> bool {
        matches!(self.0, Kind::RateLimit { .. })
    }

    /// Whether the operating system has started no thread for the lookout.
    pub fn is_thread(&self) -> bool {
        matches!(self.0, Kind::Thread(_))
    }
}

impl fmt::Display for StallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Threshold(given) => {
                let (least, most) = (THRESHOLDS.start(), THRESHOLDS.end());
                write!(f, "a stall's threshold of {given:?}: it must be from {least:?} to {most:?}")
            }
            Kind::RateLimit { most, period } => {
                write!(f, "a rate limit of {most} stalls in {period:?}: both must be greater than 0")
            }
            Kind::Thread(error) => write!(f, "no thread to look for stalls: {error}"),
        }
    }
}

impl Error for StallError {}
