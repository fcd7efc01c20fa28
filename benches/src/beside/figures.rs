//! The figures that `compare` and `priority` have in common.

use super::trial::Outcome;
use crate::harness::report::Arm;
use crate::harness::sample::Sample;
use crate::numbers::{grouped, micros};
use crate::stats::latencies::TOLERABLE_LATENESS_NS;
use crate::stats::spread::Values;

/// Intended arrival until first poll.
pub const QUEUEING_DELAY: &str = "queueing_delay_ns";

/// Intended arrival until the end of the last segment.
pub const TOTAL_LATENCY: &str = "total_latency_ns";

/// Intended arrival until the generator sent it.
const LATENESS: &str = "lateness_ns";

impl Outcome {
    /// What the foreground had to wait.
    pub fn waits(&self) -> Sample {
        let values = |nanos: &[Option<u64>]| Values::of_nanos(nanos.iter().copied());
        Sample::default()
            .with_values(QUEUEING_DELAY, values(&self.queueing_delays))
            .with_values(TOTAL_LATENCY, values(&self.total_latencies))
            .with_values(LATENESS, Values::of_nanos(self.lateness.iter().copied().map(Some)))
    }
}

/// How many foreground tasks ended, of how many, for a table.
pub fn ended(arm: &Arm) -> String {
    let (offered, unfinished) = arm.counts(TOTAL_LATENCY);
    format!("{} / {}", grouped(offered - unfinished), grouped(offered))
}

/// What to say of an arm of that name if arrivals were sent late in any round.
pub fn lateness(name: &str, arm: &Arm) -> Option<String> {
    let late = arm.worst(&format!("{LATENESS}.p99")) as u64;
    let doubt = || {
        format!("{name}: arrivals were sent up to {} µs late (p99): the machine was not quiet", micros(late))
    };
    (late > TOLERABLE_LATENESS_NS).then(doubt)
}
