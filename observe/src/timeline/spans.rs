//! [`Spans`]: who had the thread, and who waited for it, from when to when; and how many tasks were ready.

use std::collections::{BTreeMap, HashMap};
use std::panic::Location;
use std::time::Duration;

use crate::{Event, EventKind, PollOutcome, SliceEndReason, TaskRef, Timeline};

/// What a timeline has from when to when. What it has the end of only is left out; what it has the beginning of only goes up to its end.
#[derive(Debug, Default)]
pub(crate) struct Spans {
    /// By index.
    pub(crate) queues: BTreeMap<u32, QueueSpans>,
    /// Turns of the executor, and what the host had between them: `turn`, `visit`, or `idle` where nothing was left to do.
    pub(crate) turns: Vec<Turn>,
    pub(crate) ended: Duration,
    ready_since: HashMap<TaskRef, Duration>,
    locations: HashMap<TaskRef, &'static Location<'static>>,
    /// The queue of the slice under way, and since when.
    slice: Option<(u32, Duration)>,
    turn: Option<(&'static str, Duration)>,
    /// The longest poll in it so far.
    longest: Option<Span>,
    /// A task that is ready again once its poll is over, and when that is.
    yielding: Option<(TaskRef, Duration)>,
}

/// What a queue had, each kind in the order in which it ended.
#[derive(Debug, Default)]
pub(crate) struct QueueSpans {
    /// Its index, if it is gone.
    pub(crate) name: String,
    /// None if it is gone.
    pub(crate) share: Option<u32>,
    pub(crate) slices: Vec<Slice>,
    pub(crate) polls: Vec<Poll>,
    pub(crate) waits: Vec<Span>,
    /// How many tasks were ready from when on, the one that was being polled not among them.
    pub(crate) ready: Vec<(Duration, u32)>,
}

impl QueueSpans {
    /// So many tasks are ready from `at` on, which is not before the last time.
    fn set_ready(&mut self, at: Duration, tasks: u32) {
        self.ready.pop_if(|last| last.0 == at);
        if self.ready.last().is_none_or(|last| last.1 != tasks) {
            self.ready.push((at, tasks));
        }
    }

    fn add_ready(&mut self, at: Duration, tasks: i32) {
        let before = self.ready.last().map_or(0, |last| last.1);
        self.set_ready(at, before.saturating_add_signed(tasks));
    }
}

/// What an executor or its host had the thread for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    pub(crate) name: &'static str,
    pub(crate) from: Duration,
    pub(crate) to: Duration,
    /// Its longest poll; of equal ones the first.
    pub(crate) longest: Option<Span>,
}

impl Turn {
    pub(crate) fn length(&self) -> Duration {
        self.to.saturating_sub(self.from)
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Slice {
    pub(crate) from: Duration,
    pub(crate) to: Duration,
    /// None if it was not over at the end of the timeline.
    pub(crate) ended: Option<SliceEndReason>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Poll {
    pub(crate) span: Span,
    pub(crate) measured_with: u32,
    pub(crate) outcome: PollOutcome,
}

/// A poll of a task, or a wait from when it was ready until it was polled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) task: TaskRef,
    pub(crate) from: Duration,
    pub(crate) to: Duration,
    /// Where the task was spawned, if the timeline has it.
    pub(crate) location: Option<&'static Location<'static>>,
}

impl Span {
    pub(crate) fn length(&self) -> Duration {
        self.to.saturating_sub(self.from)
    }
}

impl Spans {
    pub(crate) fn of(timeline: &Timeline) -> Self {
        let mut spans = Self::default();
        for queue in &timeline.queues {
            let known = spans.queue(queue.index);
            known.name.clone_from(&queue.name);
            known.share = Some(queue.share);
        }
        timeline.events.iter().for_each(|event| spans.read(event));
        spans.end();
        spans
    }

    /// The turns of the executor, and how long its host had the thread for visits.
    pub(crate) fn turns_and_visits(&self) -> (Vec<&Turn>, Duration) {
        let named = |name| self.turns.iter().filter(move |turn| turn.name == name);
        (named("turn").collect(), named("visit").map(Turn::length).sum())
    }

    /// The name of the queue of that index.
    pub(crate) fn queue_name(&self, index: u32) -> &str {
        self.queues.get(&index).map_or("", |queue| &queue.name)
    }

    fn read(&mut self, event: &Event) {
        let at = event.at;
        self.ended = self.ended.max(at);
        self.end_poll(at);
        match event.kind {
            EventKind::Spawned { task, location, .. } => {
                self.locations.insert(task, location);
                self.make_ready(task, at);
            }
            EventKind::Ready { task, .. } => self.make_ready(task, at),
            EventKind::Left { task } => {
                self.ready_since.remove(&task);
                self.queue(task.queue).add_ready(at, -1);
            }
            EventKind::Polled { task, took, measured_with, outcome } => {
                self.add_wait(task, at);
                self.queue(task.queue).add_ready(at, -1);
                if outcome == PollOutcome::Yielded {
                    self.yielding = Some((task, at + took));
                }
                self.ended = self.ended.max(at + took);
                let span = self.span(task, at, at + took);
                if self.longest.is_none_or(|longest| longest.length() < took) {
                    self.longest = Some(span);
                }
                self.queue(task.queue).polls.push(Poll { span, measured_with, outcome });
            }
            EventKind::SliceBegan { queue, ready } => {
                self.slice = Some((queue, at));
                // So tasks count that were ready before the timeline began, and aborted ones no longer.
                self.queue(queue).set_ready(at, ready);
            }
            EventKind::SliceEnded { reason, .. } => self.end_slice(at, Some(reason)),
            EventKind::TurnBegan => self.end_turn(at, "turn"),
            EventKind::TurnEnded { idle } => self.end_turn(at, if idle { "idle" } else { "visit" }),
        }
    }

    /// Ends the poll under way if it was over by then.
    fn end_poll(&mut self, now: Duration) {
        if let Some((task, at)) = self.yielding.take_if(|yielding| yielding.1 <= now) {
            self.make_ready(task, at);
        }
    }

    /// If the task is ready already, it was polled meanwhile, and that is cut off.
    fn make_ready(&mut self, task: TaskRef, at: Duration) {
        self.ready_since.insert(task, at);
        self.queue(task.queue).add_ready(at, 1);
    }

    fn end(&mut self) {
        let ended = self.ended;
        self.end_poll(ended);
        self.end_slice(ended, None);
        let mut waiting: Vec<_> = self.ready_since.iter().map(|(&task, &from)| (from, task)).collect();
        waiting.sort();
        waiting.into_iter().for_each(|(from, task)| self.add_wait(task, ended.max(from)));
        if self.turn.is_some_and(|(name, _)| name == "turn") {
            self.end_turn(ended, "");
        }
    }

    /// Ends the turn or visit under way, and begins the next.
    fn end_turn(&mut self, to: Duration, next: &'static str) {
        let longest = self.longest.take();
        self.turns.extend(self.turn.replace((next, to)).map(|(name, from)| Turn { name, from, to, longest }));
    }

    fn end_slice(&mut self, to: Duration, ended: Option<SliceEndReason>) {
        if let Some((queue, from)) = self.slice.take() {
            self.queue(queue).slices.push(Slice { from, to, ended });
        }
    }

    fn add_wait(&mut self, task: TaskRef, to: Duration) {
        if let Some(from) = self.ready_since.remove(&task) {
            let span = self.span(task, from, to);
            self.queue(task.queue).waits.push(span);
        }
    }

    fn span(&self, task: TaskRef, from: Duration, to: Duration) -> Span {
        Span { task, from, to, location: self.locations.get(&task).copied() }
    }

    fn queue(&mut self, index: u32) -> &mut QueueSpans {
        let gone = || QueueSpans { name: format!("gone ({index})"), ..QueueSpans::default() };
        self.queues.entry(index).or_insert_with(gone)
    }
}

pub(crate) fn place_name(location: &Location<'_>) -> String {
    format!("{}:{}", location.file(), location.line())
}
