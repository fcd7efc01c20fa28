//! What the manager counts of itself, by the names of the report that it is modelled on.

use serde::Serialize;

/// Counts and sums of one run. `_nanos_` are in real time; `_last` is what the last event found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Counters {
    pub(super) checkpoint_ticks_total: u64,
    pub(super) checkpoint_skips_focused_total: u64,
    pub(super) checkpoint_send_attempts_total: u64,
    pub(super) checkpoint_send_failures_total: u64,
    pub(super) checkpoint_loop_read_lock_wait_nanos_total: u64,
    pub(super) checkpoint_send_nanos_total: u64,
    pub(super) events_received_total: u64,
    pub(super) events_forwarded_session_total: u64,
    pub(super) events_forwarded_global_total: u64,
    /// Copies of an event that the dispatch makes; those that receivers make are not in it.
    pub(super) event_clone_ops_total: u64,
    pub(super) event_dispatch_nanos_total: u64,
    pub(super) session_receiver_count_last: u64,
    pub(super) global_receiver_count_last: u64,
    pub(super) subscribe_session_calls_total: u64,
    pub(super) subscribe_global_calls_total: u64,
    pub(super) subscribe_session_failures_total: u64,
    pub(super) subscriber_lagged_errors_session_total: u64,
    pub(super) subscriber_lagged_errors_global_total: u64,
    pub(super) subscriber_closed_session_total: u64,
    pub(super) subscriber_closed_global_total: u64,
}

impl Counters {
    /// All of them, by name, in the order of their names.
    pub(super) fn all(&self) -> Vec<(String, u64)> {
        let counted = serde_json::to_value(self).expect("numbers are JSON");
        let counted = counted.as_object().into_iter().flatten();
        counted.map(|(name, count)| (name.clone(), count.as_u64().unwrap_or_default())).collect()
    }

    /// Those that a seed decides: whoever runs the tasks, they are the same.
    pub(super) fn decided(&self) -> Vec<(String, u64)> {
        let is_decided =
            |name: &str| !["_nanos_", "_last", "_lagged_"].iter().any(|part| name.contains(part));
        self.all().into_iter().filter(|(name, _)| is_decided(name)).collect()
    }
}
