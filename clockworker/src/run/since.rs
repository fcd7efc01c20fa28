//! What happened between two looks at the counters.

use super::stats::{ExecutorStats, QueueStats};

impl ExecutorStats {
    /// What happened since `earlier`, which the same executor said: counts and times are differences; what is a state (`ready`, `live`,
    /// and of queues all but their counts) is as it is now. A queue that was not there then is as it is; one that has gone
    /// since is not in it, but in the sums.
    ///
    /// None of the differences is negative: they are zero if `earlier` is later, or another executor's.
    ///
    /// # Example
    ///
    /// ```
    /// let ex = clockworker::Executor::new();
    /// ex.block_on(ex.spawn(async {})).unwrap();
    /// let before = ex.stats();
    /// let task = ex.spawn(std::future::pending::<()>());
    /// let since = ex.stats().since(&before);
    /// assert_eq!((since.spawned, since.completed, since.live), (1, 0, 1));
    /// ```
    pub fn since(&self, earlier: &ExecutorStats) -> ExecutorStats {
        let queue_since = |queue: &QueueStats| {
            let before = earlier.queues.iter().find(|before| before.number == queue.number);
            before.map_or_else(|| queue.clone(), |before| queue.since(before))
        };
        ExecutorStats {
            polls: self.polls.saturating_sub(earlier.polls),
            busy: self.busy.saturating_sub(earlier.busy),
            main: self.main.saturating_sub(earlier.main),
            own: self.own.saturating_sub(earlier.own),
            host: self.host.saturating_sub(earlier.host),
            slices: self.slices.saturating_sub(earlier.slices),
            overruns: self.overruns.saturating_sub(earlier.overruns),
            overrun_time: self.overrun_time.saturating_sub(earlier.overrun_time),
            preemptions: self.preemptions.saturating_sub(earlier.preemptions),
            host_polls: self.host_polls.saturating_sub(earlier.host_polls),
            host_yields: self.host_yields.saturating_sub(earlier.host_yields),
            ready: self.ready,
            live: self.live,
            spawned: self.spawned.saturating_sub(earlier.spawned),
            completed: self.completed.saturating_sub(earlier.completed),
            cancelled: self.cancelled.saturating_sub(earlier.cancelled),
            panicked: self.panicked.saturating_sub(earlier.panicked),
            refused: self.refused.saturating_sub(earlier.refused),
            queues: self.queues.iter().map(queue_since).collect(),
            probe_panics: self.probe_panics.saturating_sub(earlier.probe_panics),
        }
    }
}

impl QueueStats {
    /// What happened since `earlier`, which the same queue said: counts and times are differences, all else is as it is now. If
    /// `earlier` is [another](QueueStats::number) queue's, this is as it is.
    ///
    /// None of the differences is negative.
    pub fn since(&self, earlier: &QueueStats) -> QueueStats {
        if self.number != earlier.number {
            return self.clone();
        }
        QueueStats {
            polls: self.polls.saturating_sub(earlier.polls),
            busy: self.busy.saturating_sub(earlier.busy),
            branch_busy: self.branch_busy.saturating_sub(earlier.branch_busy),
            slices: self.slices.saturating_sub(earlier.slices),
            overruns: self.overruns.saturating_sub(earlier.overruns),
            overrun_time: self.overrun_time.saturating_sub(earlier.overrun_time),
            preemptions: self.preemptions.saturating_sub(earlier.preemptions),
            spawned: self.spawned.saturating_sub(earlier.spawned),
            completed: self.completed.saturating_sub(earlier.completed),
            cancelled: self.cancelled.saturating_sub(earlier.cancelled),
            panicked: self.panicked.saturating_sub(earlier.panicked),
            refused: self.refused.saturating_sub(earlier.refused),
            periods: self.periods.saturating_sub(earlier.periods),
            throttled_periods: self.throttled_periods.saturating_sub(earlier.throttled_periods),
            throttled_time: self.throttled_time.saturating_sub(earlier.throttled_time),
            ..self.clone()
        }
    }
}
