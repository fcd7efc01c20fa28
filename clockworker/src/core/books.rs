//! What the counters add up to.

use std::time::Duration;

use super::Core;
use crate::lane::Lane;
use crate::stats::{Counters, ExecutorStats, QueueStats};

impl Core {
    pub(crate) fn stats(&self) -> ExecutorStats {
        let mut lanes = self.lanes();
        lanes.sort_by_key(|lane| lane.key.generation);
        let sum = Counters::default();
        sum.absorb(&self.retired);
        lanes.iter().for_each(|lane| sum.absorb(&lane.counters));
        ExecutorStats {
            polls: sum.polls.get(),
            busy: Duration::from_nanos(sum.busy_ns.get()),
            slices: sum.slices.get(),
            overruns: sum.overruns.get(),
            overrun_time: Duration::from_nanos(sum.overrun_ns.get()),
            preemptions: sum.preemptions.get(),
            host_polls: self.host_polls.get(),
            host_yields: self.host_yields.get(),
            ready: lanes.iter().map(|lane| lane.ready.get()).sum(),
            live: lanes.iter().map(|lane| lane.live.get()).sum(),
            spawned: sum.spawned.get(),
            completed: sum.completed.get(),
            cancelled: sum.cancelled.get(),
            panicked: sum.panicked.get(),
            queues: lanes.iter().map(|lane| Self::queue_stats(lane)).collect(),
        }
    }

    pub(crate) fn queue_stats(lane: &Lane) -> QueueStats {
        let counters = &lane.counters;
        QueueStats {
            name: lane.name.to_string(),
            share: lane.share.get().get(),
            request: Duration::from_nanos(lane.request_ns.get()),
            ready: lane.ready.get(),
            live: lane.live.get(),
            polls: counters.polls.get(),
            busy: Duration::from_nanos(counters.busy_ns.get()),
            slices: counters.slices.get(),
            overruns: counters.overruns.get(),
            overrun_time: Duration::from_nanos(counters.overrun_ns.get()),
            preemptions: counters.preemptions.get(),
            spawned: counters.spawned.get(),
            completed: counters.completed.get(),
            cancelled: counters.cancelled.get(),
            panicked: counters.panicked.get(),
            policy_fault: lane.fault.get(),
        }
    }
}
