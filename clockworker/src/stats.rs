//! Counters: what an executor and its queues have done so far. Each has one writer, the owner thread.

use std::cell::Cell;
use std::time::Duration;

use crate::policy::PolicyFault;
use crate::task::Finish;

/// A counter. Wraps after 584 years of nanoseconds.
#[derive(Debug, Default)]
pub(crate) struct Counter(Cell<u64>);

impl Counter {
    #[inline]
    pub(crate) fn add(&self, n: u64) {
        self.0.set(self.0.get().wrapping_add(n));
    }

    #[inline]
    pub(crate) fn get(&self) -> u64 {
        self.0.get()
    }
}

/// The counters of a queue.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) polls: Counter,
    pub(crate) busy_ns: Counter,
    pub(crate) slices: Counter,
    pub(crate) overruns: Counter,
    pub(crate) overrun_ns: Counter,
    pub(crate) preemptions: Counter,
    pub(crate) spawned: Counter,
    pub(crate) completed: Counter,
    pub(crate) cancelled: Counter,
    pub(crate) panicked: Counter,
}

impl Counters {
    pub(crate) fn finished(&self, finish: Finish) {
        match finish {
            Finish::Completed => self.completed.add(1),
            Finish::Cancelled => self.cancelled.add(1),
            Finish::Panicked => self.panicked.add(1),
        }
    }
}

/// What one queue has done since it was created. From [`Queue::stats`](crate::Queue::stats).
///
/// `spawned == completed + cancelled + panicked + live` at every moment between polls.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueueStats {
    /// The queue's name.
    pub name: String,
    /// Its share of the CPU, relative to the other queues' shares.
    pub share: u32,
    /// The service it asks for per turn.
    pub request: Duration,
    /// Tasks ready to be polled now. Tasks woken since the last poll, or on other threads, are not counted yet.
    pub ready: usize,
    /// Tasks that have not finished.
    pub live: usize,
    /// Calls of `Future::poll`.
    pub polls: u64,
    /// Time its slices took: polls and drops of its tasks, and the executor's work around them.
    pub busy: Duration,
    /// Slices it got.
    pub slices: u64,
    /// Slices beside other queues with work that ended later than granted, whatever ended them: polls cannot be cut short.
    pub overruns: u64,
    /// By how much, in all. Divided by `overruns` it is about half a long poll; much more means that polls are too long.
    pub overrun_time: Duration,
    /// Slices cut short because a queue woke up that was to be served first.
    pub preemptions: u64,
    /// Tasks spawned.
    pub spawned: u64,
    /// Tasks that gave an output.
    pub completed: u64,
    /// Tasks that were aborted, or cancelled at shutdown.
    pub cancelled: u64,
    /// Tasks that panicked.
    pub panicked: u64,
    /// Set if the queue's scheduler broke its contract and was replaced by FIFO.
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
    /// Calls of `Future::poll` on tasks.
    pub polls: u64,
    /// Time that went to queues: the sum of their [`busy`](QueueStats::busy).
    pub busy: Duration,
    /// Time in polls of the future given to `run_until`, or of several.
    pub main: Duration,
    /// The executor's own: to admit what arrived where that was much at once, and the ends of turns. (What it does around
    /// polls is in the account that comes next, as a clock reading would take longer.)
    pub own: Duration,
    /// The host's: what passed between turns, asleep or not.
    pub host: Duration,
    /// Slices given to queues.
    pub slices: u64,
    /// Slices beside other queues with work that ended later than granted, because polls cannot be cut short.
    pub overruns: u64,
    /// By how much, in all.
    pub overrun_time: Duration,
    /// Slices cut short by a queue that woke up.
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
    /// The queues there are now, in the order in which they were created.
    pub queues: Vec<QueueStats>,
}

impl Counters {
    /// Adds another queue's counts to these.
    pub(crate) fn absorb(&self, other: &Counters) {
        for (to, from) in self.all().into_iter().zip(other.all()) {
            to.add(from.get());
        }
    }

    fn all(&self) -> [&Counter; 10] {
        let Counters {
            polls,
            busy_ns,
            slices,
            overruns,
            overrun_ns,
            preemptions,
            spawned,
            completed,
            cancelled,
            panicked,
        } = self;
        [polls, busy_ns, slices, overruns, overrun_ns, preemptions, spawned, completed, cancelled, panicked]
    }
}
