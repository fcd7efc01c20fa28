//! [`StallStats`]: how many stalls there were.

/// How many stalls a [guard](super::StallGuard) has seen. From [`StallGuard::stats`](super::StallGuard::stats).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StallStats {
    /// Polls that were found running for longer than the threshold.
    pub seen: u64,
    /// Those that were reported. All of `seen` are here or in `suppressed`, unless the detector reports to nobody.
    pub reported: u64,
    /// Those that were not, because of the [rate limit](super::StallDetector::rate_limit).
    pub suppressed: u64,
    /// Calls of [`on_stall`](super::StallDetector::on_stall)'s function that panicked.
    pub hook_panics: u64,
}
