//! What an executor, its queues and their groups have done so far, and between two looks.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use clockworker_schedulers::{Attributes, CapCounts};

use super::Core;
use super::meter::Account;
use super::queue::RunQueue;
use crate::queue::{Counters, GroupIndex, PolicyFault};

/// What the tree of queues counts for a queue.
#[derive(Clone, Copy, Default)]
pub(super) struct TreeCounts {
    /// Time billed to the queues below it, those that are gone included.
    below_ns: u64,
    /// What its caps have done.
    capped: CapCounts,
}

/// What one queue has done since it was created. From [`Queue::stats`](crate::Queue::stats).
///
/// `spawned == completed + cancelled + panicked + moved + live` at every moment between polls.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueueStats {
    /// The queue's name.
    pub name: String,
    /// A number that tells the queues of an executor apart, also those that had a name one after the other. It grows in the order in
    /// which they are created.
    pub number: u32,
    /// Its parent's name, if it has one.
    pub parent: Option<String>,
    /// Its share of the CPU, relative to the other queues' shares.
    pub share: u32,
    /// The service it asks for at a time.
    pub request: Duration,
    /// Tasks ready to be polled now. Those that other threads have woken or spawned since the last poll are not counted yet.
    pub ready: usize,
    /// Tasks that have not finished.
    pub live: usize,
    /// Calls of `Future::poll`. One that tokio's budget cut short, and its repetition at once, count as one.
    pub polls: u64,
    /// Time its slices took: polls and drops of its tasks, and the executor's work around them.
    pub busy: Duration,
    /// Time of its branch: `busy`, and that of the queues below it, those that are gone included. What its share and those of
    /// its siblings divide.
    pub branch_busy: Duration,
    /// Slices it got.
    pub slices: u64,
    /// Slices that ended later than granted while other queues had work, whatever ended them: polls cannot be cut short.
    pub overruns: u64,
    /// By how much these overran, in all. Divided by `overruns` it is about half a long poll; much more means that polls are
    /// too long.
    pub overrun_time: Duration,
    /// Slices cut short because a queue woke up that was to be served first.
    pub preemptions: u64,
    /// Tasks spawned here, or [moved](crate::move_to()) here.
    pub spawned: u64,
    /// Tasks that gave an output.
    pub completed: u64,
    /// Tasks that were aborted, or cancelled at shutdown.
    pub cancelled: u64,
    /// Tasks that panicked.
    pub panicked: u64,
    /// Tasks that moved to another queue.
    pub moved: u64,
    /// Spawns refused because the queue or group was full, the queue was closed, or the executor stopped: whether or
    /// not the caller looked at the result. A task from another thread that was refused when it arrived is also counted as
    /// spawned and cancelled.
    pub refused: u64,
    /// Calls of [`spawn_when_room`](crate::Queue::spawn_when_room) that wait for room.
    pub waiting: usize,
    /// Periods of its [cap](crate::Cap) in which it had work: `nr_periods` of a cgroup.
    pub periods: u64,
    /// Of these, the ones in which it was throttled: it had work, and its cap was used up. `nr_throttled` of a cgroup.
    pub throttled_periods: u64,
    /// Time that it was throttled: `throttled_usec` of a cgroup.
    pub throttled_time: Duration,
    /// How the queue's scheduler broke its contract, if it did: FIFO has replaced it, until
    /// [`set_scheduler`](crate::Queue::set_scheduler).
    pub policy_fault: Option<PolicyFault>,
}

/// What an executor has done since it was made. From [`Executor::stats`](crate::Executor::stats).
///
/// The sums include queues that were closed and are gone.
///
/// # Where the time went
///
/// `busy + main + own + host` is all the time since the executor was made: every nanosecond is in exactly one of the four.
///
/// ```
/// use clockworker::{Executor, ManualClock};
/// use std::time::Duration;
///
/// let clock = ManualClock::new();
/// let ex = Executor::builder().clock(clock.clone()).build().unwrap();
/// let us = Duration::from_micros;
/// ex.block_on(async {
///     clock.advance(us(3)); // the future given to `run_until`
///     let clock = clock.clone();
///     clockworker::spawn_local(async move { clock.advance(us(5)) }).await.unwrap(); // a task
/// });
/// clock.advance(us(7)); // nothing runs
/// let stats = ex.stats();
/// assert_eq!((stats.main, stats.busy, stats.own, stats.host), (us(3), us(5), us(0), us(7)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExecutorStats {
    /// Calls of `Future::poll` on tasks, as in [`QueueStats::polls`].
    pub polls: u64,
    /// Time billed to queues: the sum of their [`busy`](QueueStats::busy).
    pub busy: Duration,
    /// Time in polls of the future given to `run_until`, or of several.
    pub main: Duration,
    /// The executor's own time: to receive what other threads send, between slices, to drop what is refused then, and at the
    /// ends of turns. (What it does around polls is billed to the account that comes next, as a clock reading would take longer.)
    pub own: Duration,
    /// The host's time: between turns, asleep or not.
    pub host: Duration,
    /// Slices given to queues.
    pub slices: u64,
    /// Slices that ended later than granted while other queues had work, as polls cannot be cut short.
    pub overruns: u64,
    /// By how much these overran, in all.
    pub overrun_time: Duration,
    /// Slices cut short because a queue woke up that was to be served first.
    pub preemptions: u64,
    /// Times the host polled the executor.
    pub host_polls: u64,
    /// Times the executor went back to its host with work left, so that the host could do its own.
    pub host_yields: u64,
    /// Tasks ready to be polled now.
    pub ready: usize,
    /// Tasks that have not finished.
    pub live: usize,
    /// Tasks spawned.
    pub spawned: u64,
    /// Tasks that gave an output.
    pub completed: u64,
    /// Tasks that were aborted, refused by a closed queue on their way from another thread, or cancelled at shutdown.
    pub cancelled: u64,
    /// Tasks that panicked.
    pub panicked: u64,
    /// Spawns refused, those by a [`Handle`](crate::Handle) included that named no open queue.
    pub refused: u64,
    /// The queues there are now, in the order in which they were created.
    pub queues: Vec<QueueStats>,
    /// Calls of [probes](crate::probe::Probe) that panicked.
    pub probe_panics: u64,
}

impl ExecutorStats {
    /// How many tasks were completed, cancelled, and panicked.
    pub(crate) fn finished(&self) -> [u64; 3] {
        [self.completed, self.cancelled, self.panicked]
    }
}

impl Core {
    pub(crate) fn stats(&self) -> ExecutorStats {
        let mut queues = self.all_queues();
        queues.sort_by_key(|queue| queue.id.generation());
        queues
            .iter()
            .filter(|queue| queue.closed.get())
            .for_each(|queue| self.collect_refused(&queue.name.borrow()));
        self.queues.removed_counters.refused.add(self.shared.take_refused_elsewhere());
        let sum = Counters::default();
        sum.absorb(&self.queues.removed_counters);
        queues.iter().for_each(|queue| sum.absorb(&queue.counters));
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
            host_polls: self.turn.host_polls.get(),
            host_yields: self.turn.host_yields.get(),
            ready: queues.iter().map(|queue| queue.count_ready()).sum(),
            live: queues.iter().map(|queue| queue.live.get()).sum(),
            spawned: sum.spawned.get().wrapping_sub(sum.moved.get()),
            completed: sum.completed.get(),
            cancelled: sum.cancelled.get(),
            panicked: sum.panicked.get(),
            refused: sum.refused.get(),
            queues: queues.iter().map(|queue| self.queue_stats(queue)).collect(),
            probe_panics: self.shared.probe_panics(),
        }
    }

    /// The nanoseconds that the account owes by now, if it is the open one.
    fn pending(&self, account: Account) -> u64 {
        match self.meter.pending() {
            (open, owed) if open == account => owed,
            _ => 0,
        }
    }

    /// What the tree of queues has counted for the queue up to now.
    pub(super) fn tree_counts(&self, queue: &RunQueue) -> TreeCounts {
        let tree = self.queues.tree.borrow();
        if !tree.is_known(queue.id) {
            return queue.ended.get();
        }
        // Where there is no cap now, none of it depends on the time.
        let now = if queue.cap.get().is_some() { self.meter.look() } else { 0 };
        TreeCounts { below_ns: tree.below_ns(queue.id), capped: tree.cap_counts(queue.id, now) }
    }

    pub(crate) fn queue_stats(&self, queue: &RunQueue) -> QueueStats {
        let counters = &queue.counters;
        if queue.closed.get() {
            self.collect_refused(&queue.name.borrow());
        }
        let pending = if self.runs(queue) { self.pending(Account::Queue) } else { 0 };
        let TreeCounts { below_ns, capped } = self.tree_counts(queue);
        QueueStats {
            name: queue.name(),
            number: queue.id.generation(),
            parent: queue.parent.as_ref().map(|parent| parent.name()),
            share: queue.share.get().get(),
            request: Duration::from_nanos(queue.request_ns.get()),
            ready: queue.count_ready(),
            live: queue.live.get(),
            polls: counters.polls.get(),
            busy: Duration::from_nanos(counters.busy_ns.get() + pending),
            branch_busy: Duration::from_nanos(counters.busy_ns.get() + pending + below_ns),
            slices: counters.slices.get(),
            overruns: counters.overruns.get(),
            overrun_time: Duration::from_nanos(counters.overrun_ns.get()),
            preemptions: counters.preemptions.get(),
            spawned: counters.spawned.get(),
            completed: counters.completed.get(),
            cancelled: counters.cancelled.get(),
            panicked: counters.panicked.get(),
            moved: counters.moved.get(),
            refused: counters.refused.get(),
            waiting: queue.waiters.borrow().len(),
            periods: capped.periods,
            throttled_periods: capped.throttled_periods,
            throttled_time: Duration::from_nanos(capped.throttled_ns),
            policy_fault: queue.fault.get(),
        }
    }
}

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
            moved: self.moved.saturating_sub(earlier.moved),
            refused: self.refused.saturating_sub(earlier.refused),
            periods: self.periods.saturating_sub(earlier.periods),
            throttled_periods: self.throttled_periods.saturating_sub(earlier.throttled_periods),
            throttled_time: self.throttled_time.saturating_sub(earlier.throttled_time),
            ..self.clone()
        }
    }
}

/// What one group has done since it was opened. From [`Group::stats`](crate::Group::stats) and
/// [`Queue::group_stats`](crate::Queue::group_stats).
///
/// `spawned == completed + cancelled + panicked + moved + live` at every moment between polls. A group that closes is forgotten; one that is
/// opened later under its key begins at zero.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GroupStats {
    /// The key that the group was opened with.
    pub key: u64,
    /// A number that tells the groups of a queue apart, also those that had a key one after the other.
    pub number: u32,
    /// The name that it was given, if any.
    pub name: Option<Arc<str>>,
    /// What its scheduler was told of it last.
    pub attributes: Attributes,
    /// Tasks ready to be polled now. Those that other threads have woken or spawned since the last poll are not counted yet.
    pub ready: usize,
    /// Tasks that have not finished.
    pub live: u64,
    /// Calls of `Future::poll`. None where the queue's scheduler does not ask for the service of tasks
    /// ([`CLOCK`](crate::schedulers::Scheduler::CLOCK)): nothing is counted per poll there,
    /// nor later made up for if the [scheduler is changed](crate::Queue::set_scheduler).
    pub polls: Option<u64>,
    /// CPU time of the group: polls and drops of its tasks, and the executor's work around them. For polls under 2 µs it is
    /// [an estimate](crate::schedulers::Served::Task) from samples. None where `polls` is.
    pub busy: Option<Duration>,
    /// Tasks spawned here, or [moved](crate::move_to()) here.
    pub spawned: u64,
    /// Tasks that gave an output.
    pub completed: u64,
    /// Tasks that were aborted, or cancelled at shutdown.
    pub cancelled: u64,
    /// Tasks that panicked.
    pub panicked: u64,
    /// Tasks that moved to another queue.
    pub moved: u64,
}

impl RunQueue {
    /// What the group of that index and key has done.
    pub(crate) fn group_stats(&self, group: GroupIndex, key: u64) -> GroupStats {
        let ready = self.records.borrow().groups_of_ready().filter(|&of| of == group).count();
        self.stats_of(group, key, ready)
    }

    /// What each group has done that is open.
    pub(crate) fn all_group_stats(&self) -> Vec<GroupStats> {
        let records = self.records.borrow();
        let mut ready: HashMap<GroupIndex, usize> = HashMap::new();
        records.groups_of_ready().for_each(|group| *ready.entry(group).or_default() += 1);
        let ready_of = |group| ready.get(&group).copied().unwrap_or(0);
        records.groups().map(|(group, key)| self.stats_of(group, key, ready_of(group))).collect()
    }

    fn stats_of(&self, group: GroupIndex, key: u64, ready: usize) -> GroupStats {
        let records = self.records.borrow();
        let counters = records.group_counters(group);
        let is_counted = self.times_tasks();
        GroupStats {
            key,
            number: records.group_number(group),
            name: records.group_name(group),
            attributes: records.group_attributes(group),
            ready,
            live: counters.live(),
            polls: is_counted.then_some(counters.polls),
            busy: is_counted.then_some(Duration::from_nanos(counters.busy_ns)),
            spawned: counters.spawned,
            completed: counters.completed,
            cancelled: counters.cancelled,
            panicked: counters.panicked,
            moved: counters.moved,
        }
    }
}
