//! [`Observed`]: what was observed of an executor, and of its queues and groups.

use std::collections::HashMap;
use std::time::Duration;

use clockworker::probe::{GroupView, PollKind, QueueView, TaskView, WokenBy};

use crate::{GroupLatency, Histogram, Holder, Latency, LongPoll, LongTurn, Observation, TurnLatency};

/// What was observed of an executor. From [`Observe::observed`](crate::Observe::observed) and, on any thread,
/// [`Observer::observed`](crate::Observer::observed).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Observed {
    /// How often tasks were woken since it was first observed, and from where; also in queues that are gone.
    pub wakes: Wakes,
    /// How long turns and visits of the host are, if that is asked for.
    pub latency: Option<TurnLatency>,
    /// Calls of [hooks](crate::TaskHooks) that panicked.
    pub hook_panics: u64,
    /// The queues whose tasks were heard of, in no order. Those that are gone may be among them, until others have their places.
    pub queues: Vec<ObservedQueue>,
}

/// What was observed of a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ObservedQueue {
    /// Its [number](clockworker::QueueStats::number).
    pub number: u32,
    /// How often its tasks were woken, and from where.
    pub wakes: Wakes,
    /// How long its tasks wait and run, if that is asked for.
    pub latency: Option<Box<Latency>>,
    /// Its groups of which a poll was timed, where that is asked for, in no order. A group that has closed may be among them, until
    /// another has its place.
    pub groups: Vec<ObservedGroup>,
}

/// What was observed of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ObservedGroup {
    /// Its [number](clockworker::GroupStats::number).
    pub number: u32,
    /// The key that it was opened with.
    pub key: u64,
    /// How long its tasks wait and run.
    pub latency: Box<GroupLatency>,
}

/// How often tasks were woken that waited, and from where. Part of [`Observed`].
///
/// A wake on another thread counts once it has come in, between polls. Several of one task until it is polled are one, and one of a task
/// that has ended is none. A task that wakes itself while it is polled yields, and has not waited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wakes {
    /// On the executor's thread: by a task, by the future given to `run_until`, or by the host, with its I/O and timers.
    pub local: u64,
    /// On other threads.
    pub remote: u64,
}

impl Observed {
    /// The queue of that [number](clockworker::QueueStats::number), if any of its tasks was heard of.
    pub fn queue(&self, number: u32) -> Option<&ObservedQueue> {
        self.queues.iter().find(|queue| queue.number == number)
    }

    /// What was observed since `earlier`, which was observed of the same executor.
    pub fn since(&self, earlier: &Observed) -> Observed {
        let queues =
            self.queues.iter().map(|queue| since(queue, earlier.queue(queue.number), ObservedQueue::since));
        let latency = self.latency.as_ref();
        Observed {
            wakes: self.wakes.since(earlier.wakes),
            latency: latency.map(|now| since(now, earlier.latency.as_ref(), TurnLatency::since)),
            hook_panics: self.hook_panics.saturating_sub(earlier.hook_panics),
            queues: queues.collect(),
        }
    }
}

impl ObservedQueue {
    /// The group of that [number](clockworker::GroupStats::number), if a poll of it was timed.
    pub fn group(&self, number: u32) -> Option<&ObservedGroup> {
        self.groups.iter().find(|group| group.number == number)
    }

    fn since(&self, earlier: &ObservedQueue) -> ObservedQueue {
        let groups =
            self.groups.iter().map(|group| since(group, earlier.group(group.number), ObservedGroup::since));
        let latency = self.latency.as_deref();
        let latency = latency.map(|now| since(now, earlier.latency.as_deref(), Latency::since));
        ObservedQueue {
            number: self.number,
            wakes: self.wakes.since(earlier.wakes),
            latency: latency.map(Box::new),
            groups: groups.collect(),
        }
    }
}

impl ObservedGroup {
    fn since(&self, earlier: &ObservedGroup) -> ObservedGroup {
        ObservedGroup { latency: Box::new(self.latency.since(&earlier.latency)), ..*self }
    }
}

impl Wakes {
    /// What was counted since `earlier`.
    pub fn since(self, earlier: Wakes) -> Wakes {
        Wakes {
            local: self.local.saturating_sub(earlier.local),
            remote: self.remote.saturating_sub(earlier.remote),
        }
    }

    /// These and others.
    pub(crate) fn plus(self, other: Wakes) -> Wakes {
        Wakes { local: self.local + other.local, remote: self.remote + other.remote }
    }
}

/// What came since `earlier`, or all.
fn since<T: Clone>(now: &T, earlier: Option<&T>, difference: fn(&T, &T) -> T) -> T {
    earlier.map_or_else(|| now.clone(), |earlier| difference(now, earlier))
}

/// What is counted of an executor.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) turns: TurnLatency,
    /// Who held the thread for longest in the turn under way, and for how long.
    held: Option<(Holder, Duration)>,
    /// What was timed by itself in the slice under way.
    timed: Duration,
    /// By index.
    queues: Vec<QueueCounts>,
    /// Those in queues that are gone.
    removed_wakes: Wakes,
}

/// What is counted of a queue.
#[derive(Default)]
pub(crate) struct QueueCounts {
    /// 0 until a task of it was heard of.
    number: u32,
    wakes: Wakes,
    /// Boxed, as it is some 15 KiB.
    latency: Option<Box<Latency>>,
    /// By index.
    groups: HashMap<u32, ObservedGroup>,
}

/// A poll that is counted.
pub(crate) struct Timed {
    pub(crate) long: LongPoll,
    /// How long its task had waited, if that is known.
    pub(crate) wait: Option<Duration>,
    /// For how many polls it stands.
    pub(crate) times: u64,
}

impl Counts {
    fn at(&mut self, index: u32) -> &mut QueueCounts {
        let index = index as usize;
        if index >= self.queues.len() {
            self.queues.resize_with(index + 1, QueueCounts::default);
        }
        &mut self.queues[index]
    }

    /// The queue of that index, which has that number: if another had the index before, that is gone.
    pub(crate) fn queue(&mut self, index: u32, number: u32) -> &mut QueueCounts {
        if self.at(index).number != number {
            let gone = std::mem::replace(self.at(index), QueueCounts { number, ..QueueCounts::default() });
            // One whose tasks were woken before any was heard of otherwise is this one.
            match gone.number {
                0 => self.at(index).wakes = gone.wakes,
                _ => self.removed_wakes = self.removed_wakes.plus(gone.wakes),
            }
        }
        self.at(index)
    }

    /// A poll or a drop held the thread for so long, by itself.
    pub(crate) fn held_alone(&mut self, kind: PollKind, time: Duration, task: Option<&TaskView<'_>>) {
        // The main future is polled between slices.
        if kind != PollKind::Main {
            self.timed += time;
        }
        self.held(time, || Holder::of(kind, task));
    }

    fn held(&mut self, time: Duration, holder: impl FnOnce() -> Holder) {
        if self.held.as_ref().is_none_or(|(_, longest)| *longest < time) {
            self.held = Some((holder(), time));
        }
    }

    /// Begins to count anew who holds the thread.
    pub(crate) fn forget_holder(&mut self) {
        self.held = None;
        self.timed = Duration::ZERO;
    }

    /// A slice is over. What was not timed by itself in it held the thread as one.
    pub(crate) fn slice_ended(&mut self, queue: &QueueView, took: Duration) {
        self.queue(queue.index, queue.number).latency().slice.record(took);
        let untimed = took.saturating_sub(std::mem::take(&mut self.timed));
        self.held(untimed, || Holder::of_queue(&queue.name));
    }

    /// A turn is over.
    pub(crate) fn turn_ended(&mut self, took: Duration) {
        let TurnLatency { turn, longest_turn, .. } = &mut self.turns;
        turn.record(took);
        let (holder, held) = self.held.take().unzip();
        if longest_turn.as_ref().is_none_or(|longest| longest.took < took) {
            *longest_turn = Some(LongTurn { took, holder, held: held.unwrap_or_default() });
        }
    }

    pub(crate) fn woken(&mut self, queue: u32, by: WokenBy) {
        let wakes = &mut self.at(queue).wakes;
        match by {
            WokenBy::Remote => wakes.remote += 1,
            _ => wakes.local += 1,
        }
    }

    pub(crate) fn forget_groups(&mut self) {
        self.queues.iter_mut().for_each(|queue| queue.groups = HashMap::default());
    }

    pub(crate) fn observed(&self, asked: &Observation, hook_panics: u64) -> Observed {
        let heard_of = self.queues.iter().filter(|queue| queue.number != 0);
        let queues = heard_of.map(|queue| ObservedQueue {
            number: queue.number,
            wakes: queue.wakes,
            latency: asked.latency.then(|| queue.latency.clone().unwrap_or_default()),
            groups: queue.groups.values().cloned().collect(),
        });
        Observed {
            wakes: self.queues.iter().fold(self.removed_wakes, |sum, queue| sum.plus(queue.wakes)),
            latency: asked.latency.then(|| self.turns.clone()),
            hook_panics,
            queues: queues.collect(),
        }
    }
}

impl QueueCounts {
    pub(crate) fn latency(&mut self) -> &mut Latency {
        self.latency.get_or_insert_default()
    }

    /// Counts a poll of a task in that group, if it has one and groups are counted.
    pub(crate) fn count(&mut self, group: Option<&GroupView>, timed: &Timed) {
        let Latency { wait, poll, longest_poll, .. } = self.latency();
        timed.add_to((wait, poll, longest_poll));
        if let Some(group) = group {
            let GroupLatency { wait, poll, longest_poll } = self.group(group);
            timed.add_to((wait, poll, longest_poll));
        }
    }

    /// How long the tasks of a group wait and run: anew, if another group had its place.
    fn group(&mut self, group: &GroupView) -> &mut GroupLatency {
        let GroupView { number, key, .. } = *group;
        let fresh = || ObservedGroup { number, key, latency: Box::default() };
        let counted = self.groups.entry(group.index).or_insert_with(fresh);
        if counted.number != number {
            *counted = fresh();
        }
        &mut counted.latency
    }
}

impl Timed {
    /// Counts it in histograms of waits and polls.
    fn add_to(&self, (waits, polls, longest): (&mut Histogram, &mut Histogram, &mut Option<LongPoll>)) {
        polls.record_times(self.long.took, self.times);
        if longest.is_none_or(|longest| longest.took < self.long.took) {
            *longest = Some(self.long);
        }
        if let Some(wait) = self.wait {
            waits.record_times(wait, self.times);
        }
    }
}
