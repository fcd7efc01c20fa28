//! Numbers as people read them: those of all programs, and estimates.

pub use clockworker_terminal::numbers::*;

use crate::stats::Estimate;

pub fn interval(estimate: &Estimate) -> String {
    format!("{} – {}", ratio(estimate.low), ratio(estimate.high))
}

pub fn with_interval(estimate: &Estimate) -> String {
    format!("{} ({})", ratio(estimate.median), interval(estimate))
}

pub fn compared(estimate: Option<&Estimate>) -> String {
    estimate.map_or_else(|| NOTHING.to_owned(), with_interval)
}
