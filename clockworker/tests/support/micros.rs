//! Lengths of time, written short.

use std::time::Duration;

/// Microseconds.
pub(crate) const fn us(n: u64) -> Duration {
    Duration::from_micros(n)
}
