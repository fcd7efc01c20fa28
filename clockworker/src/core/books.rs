//! What the counters add up to.

use std::time::Duration;

use super::Core;
use super::meter::Account;
use crate::lane::Lane;
use crate::stats::{Counters, ExecutorStats, QueueStats};

impl Core {
    pub(crate) fn stats(&self) -> ExecutorStats {
        let mut lanes = self.lanes();
        lanes.sort_by_key(|lane| lane.key.generation);
        let sum = Counters::default();
        sum.absorb(&self.retired);
        lanes.iter().for_each(|lane| sum.absorb(&lane.counters));
        let (open, owed) = self.meter.pending();
        let pending = |account| if open == account { owed } else { 0 };
        ExecutorStats {
            polls: sum.polls.get(),
            busy: Duration::from_nanos(sum.busy_ns.get() + pending(Account::Queue)),
            main: Duration::from_nanos(self.meter.main_ns.get() + pending(Account::Main)),
            own: Duration::from_nanos(self.meter.own_ns.get() + pending(Account::Own)),
            host: Duration::from_nanos(self.meter.host_ns.get() + pending(Account::Host)),
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
            queues: lanes.iter().map(|lane| self.queue_stats(lane)).collect(),
        }
    }

    /// What the account owes by now, if it is the one that is open.
    fn pending(&self, account: Account) -> u64 {
        match self.meter.pending() {
            (open, owed) if open == account => owed,
            _ => 0,
        }
    }

    pub(crate) fn queue_stats(&self, lane: &Lane) -> QueueStats {
        let counters = &lane.counters;
        let pending = if self.running.get() == Some(lane.id) { self.pending(Account::Queue) } else { 0 };
        QueueStats {
            name: lane.name.to_string(),
            share: lane.share.get().get(),
            request: Duration::from_nanos(lane.request_ns.get()),
            ready: lane.ready.get(),
            live: lane.live.get(),
            polls: counters.polls.get(),
            busy: Duration::from_nanos(counters.busy_ns.get() + pending),
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
