//! [`Heard`]: what was heard of an executor: how long tasks wait and run, and how often they are woken.
//!
//! Where polls are short, reading the clock around each of them would cost as much as they do: one in [`SAMPLED`] is timed then, drawn
//! by lot and with a chance that does not depend on it, and stands for as many.
//!
//! The atomics are the executor's thread's, but for [`Heard::stamp_elsewhere`], which reads the clock alone. All their orderings are
//! Relaxed: nothing is published with them.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use clockworker::probe::{
    ExecutorClock, Poll, PollKind, Polled, QueueView, SliceEnded, TaskView, TurnBegan, TurnEnded, WokenBy,
};

use crate::beacon::Turn;
use crate::hooks::HookCalls;
use crate::observed::{Counts, Timed};
use crate::quietly::lock;
use crate::{LongPoll, LongTurn, Observation, Observed};

/// The word of a task that became ready at an unknown time.
pub(crate) const UNKNOWN: u64 = u64::MAX;

/// Where short polls are not timed by the executor, one in so many is, in the mean.
pub(crate) const SAMPLED: u32 = 256;

/// No reading.
const NONE: u64 = u64::MAX;

/// See the [module docs](self).
pub(crate) struct Heard {
    pub(crate) clock: ExecutorClock,
    /// When the turn under way began, or [`NONE`] if there is none, or that was not heard.
    turn_began: AtomicU64,
    /// When the task of the poll under way had become ready.
    ready_at: AtomicU64,
    /// When that poll began, if it is a sample; or else [`NONE`].
    sampled_from: AtomicU64,
    counts: Mutex<Counts>,
    pub(crate) hook_calls: HookCalls,
}

impl Heard {
    pub(crate) fn new(clock: ExecutorClock) -> Self {
        Self {
            clock,
            turn_began: AtomicU64::new(NONE),
            ready_at: AtomicU64::new(UNKNOWN),
            sampled_from: AtomicU64::new(NONE),
            counts: Mutex::default(),
            hook_calls: HookCalls::default(),
        }
    }

    /// Begins to count anew what is asked for, and forgets what is not.
    pub(crate) fn ask(&self, asked: &Observation) {
        let mut counts = lock(&self.counts);
        counts.forget_holder();
        if !asked.latency_of_groups {
            counts.forget_groups();
        }
    }

    /// What was heard, as far as that is asked for.
    pub(crate) fn observed(&self, asked: &Observation) -> Observed {
        lock(&self.counts).observed(asked, self.hook_calls.panics.load(Ordering::Relaxed))
    }

    /// Whether a turn is under way. One whose beginning was not heard is taken for the host's time, which begins now.
    pub(crate) fn turn(&self) -> Turn {
        match self.turn_began.load(Ordering::Relaxed) {
            NONE => Turn { is_under_way: false, since_ns: self.clock.now_ns() },
            since_ns => Turn { is_under_way: true, since_ns },
        }
    }

    /// The longest turn so far.
    pub(crate) fn longest_turn(&self) -> Option<LongTurn> {
        lock(&self.counts).turns.longest_turn.clone()
    }

    /// The time of what the executor's thread wakes or spawns now: of the last reading, which while it runs is some 2 µs ago at most, or
    /// one poll; or else of one that is made for that.
    fn stamp(&self, asked: &Observation, last_ns: u64) -> u64 {
        match () {
            () if !asked.has_stamps() => UNKNOWN,
            () if self.turn_began.load(Ordering::Relaxed) != NONE && !asked.every_poll => last_ns,
            // As the executor's readings: none goes back.
            () => self.clock.now_ns().max(last_ns),
        }
    }

    /// Stamps a task that another thread wakes or spawns, on that thread.
    pub(crate) fn stamp_elsewhere(&self, asked: &Observation, word: &AtomicU64) {
        let now = if asked.has_stamps() { self.clock.now_ns() } else { UNKNOWN };
        word.store(now, Ordering::Relaxed);
    }

    /// Stamps a task that has become ready, unless it was stamped then. When that was, as far as anybody knows.
    pub(crate) fn stamp_ready(&self, asked: &Observation, task: &TaskView<'_>, was_stamped: bool) -> u64 {
        let stamped = task.word().load(Ordering::Relaxed);
        let at = match was_stamped {
            // At the last reading at the latest, as the executor counts from there what it does next.
            true if stamped != UNKNOWN => stamped.min(task.now_ns()),
            true => UNKNOWN,
            false => self.stamp(asked, task.now_ns()),
        };
        task.word().store(at, Ordering::Relaxed);
        if at == UNKNOWN { task.now_ns() } else { at }
    }

    pub(crate) fn turn_began(&self, asked: &Observation, turn: TurnBegan) {
        self.turn_began.store(turn.now_ns, Ordering::Relaxed);
        if turn.was_visit && asked.latency {
            lock(&self.counts).turns.visit.record(Duration::from_nanos(turn.host_ns));
        }
    }

    pub(crate) fn turn_ended(&self, asked: &Observation, turn: TurnEnded) {
        let began = self.turn_began.swap(NONE, Ordering::Relaxed);
        if asked.latency && began != NONE {
            lock(&self.counts).turn_ended(Duration::from_nanos(turn.now_ns - began));
        }
    }

    pub(crate) fn slice_ended(
        &self,
        asked: &Observation,
        (queue, began_ns): (&QueueView, u64),
        ended: SliceEnded,
    ) {
        if asked.latency {
            let took = Duration::from_nanos(ended.now_ns - began_ns);
            lock(&self.counts).slice_ended(queue, took);
        }
    }

    /// A task was spawned. When it became ready.
    pub(crate) fn spawned(&self, asked: &Observation, task: &TaskView<'_>) -> u64 {
        let number = task.queue_number().unwrap_or_default();
        lock(&self.counts).queue(task.place().queue, number);
        let was_stamped = task.word().load(Ordering::Relaxed) != UNKNOWN;
        self.stamp_ready(asked, task, was_stamped)
    }

    /// A task was woken. When it became ready.
    pub(crate) fn woken(&self, asked: &Observation, task: &TaskView<'_>, by: WokenBy) -> u64 {
        lock(&self.counts).woken(task.place().queue, by);
        self.stamp_ready(asked, task, by == WokenBy::Remote)
    }

    /// Runs what is no poll of a task: a drop, or a poll of the future given to `run_until`.
    pub(crate) fn run_other(&self, asked: &Observation, poll: Poll<'_>) {
        if !asked.latency {
            return poll.run();
        }
        let (kind, task, from) = (poll.kind(), poll.task(), self.clock.now_ns());
        poll.run();
        let took = Duration::from_nanos(self.clock.now_ns().saturating_sub(from));
        lock(&self.counts).held_alone(kind, took, task.as_ref());
    }

    /// A poll of a task begins.
    #[inline]
    pub(crate) fn poll_begins(&self, poll: &Poll<'_>, task: &TaskView<'_>) {
        self.ready_at.store(task.word().load(Ordering::Relaxed), Ordering::Relaxed);
        if poll.is_sample() {
            self.sampled_from.store(self.clock.now_ns(), Ordering::Relaxed);
        }
    }

    /// A poll of a task is over. How long the task had waited for it, if that is known and was counted.
    #[inline]
    pub(crate) fn polled(&self, asked: &Observation, polled: &Polled<'_>) -> Option<Duration> {
        let sampled_from = self.sampled_from.load(Ordering::Relaxed);
        if !asked.latency || polled.stands_for == 0 && sampled_from == NONE {
            return None;
        }
        self.sampled_from.store(NONE, Ordering::Relaxed);
        let (from, took, times) = match polled.stands_for {
            0 => (sampled_from, self.clock.now_ns().saturating_sub(sampled_from), u64::from(SAMPLED)),
            stands_for => (polled.now_ns - polled.took_ns, polled.took_ns, u64::from(stands_for)),
        };
        self.count(asked, polled, (from, took, times))
    }

    #[cold]
    fn count(
        &self,
        asked: &Observation,
        polled: &Polled<'_>,
        (from, took, times): (u64, u64, u64),
    ) -> Option<Duration> {
        let task = &polled.task;
        let long = LongPoll { took: Duration::from_nanos(took), task: task.id(), location: task.location() };
        // Unknown of a task that became ready before anything was observed.
        let ready_at = self.ready_at.load(Ordering::Relaxed);
        let wait = (ready_at != UNKNOWN).then(|| Duration::from_nanos(from.saturating_sub(ready_at)));
        let group = if asked.latency_of_groups { task.group() } else { None };
        let number = task.queue_number().unwrap_or_default();
        let timed = Timed { long, wait, times };
        let mut counts = lock(&self.counts);
        counts.held_alone(PollKind::Task, long.took, Some(task));
        counts.queue(task.place().queue, number).count(group.as_ref(), &timed);
        wait
    }
}
