//! [`Hub`]: the probe of this crate, which passes on what happens to all who asked for it.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clockworker::Executor;
use clockworker::probe::{
    AnyTask, Interest, Poll, PollKind, PollOutcome, Polled, Probe, Slice, TaskEnd, TaskRef, TaskView,
    TurnBegan, TurnEnded, WakerOp, WokenBy,
};

use crate::beacon::{Beacon, Shown, Turn};
use crate::frames::{poll_framed, run_framed};
use crate::heard::{Heard, SAMPLED};
use crate::ring::Ring;
#[cfg(feature = "tracing")]
use crate::task_spans::TaskSpans;
use crate::{LongTurn, Observation, TaskHooks};

/// See the [module docs](self). What it has is changed by putting another hub in its place, so nothing of it is behind a lock.
#[derive(Clone)]
pub(crate) struct Hub {
    pub(crate) asked: Observation,
    pub(crate) heard: Arc<Heard>,
    pub(crate) timeline: Option<Arc<Ring>>,
    pub(crate) hooks: Option<Arc<dyn TaskHooks>>,
    /// Whether futures were dropped in the slice under way since its beginning, or the last poll.
    has_dropped: Arc<AtomicBool>,
    #[cfg(feature = "tracing")]
    pub(crate) spans: Option<Arc<TaskSpans>>,
    /// Shows other threads the poll under way, once activity was asked for or a stall detector has watched.
    pub(crate) shown: Option<Arc<Shown>>,
}

impl Hub {
    /// The hub of an executor, or one that passes nothing on.
    pub(crate) fn of(executor: &Executor) -> Hub {
        Hub::in_probe(executor.probe()).unwrap_or_else(|| Hub::new(executor))
    }

    /// The hub that this is, if it is one.
    pub(crate) fn in_probe(probe: Option<Arc<dyn Probe>>) -> Option<Hub> {
        (&*probe? as &dyn Any).downcast_ref::<Hub>().cloned()
    }

    /// The longest turn so far, if latency is asked for.
    pub(crate) fn longest_turn(&self) -> Option<LongTurn> {
        self.asked.latency.then(|| self.heard.longest_turn())?
    }

    fn new(executor: &Executor) -> Hub {
        Hub {
            asked: Observation::new(),
            heard: Arc::new(Heard::new(executor.clock())),
            timeline: None,
            hooks: None,
            has_dropped: Arc::default(),
            #[cfg(feature = "tracing")]
            spans: None,
            shown: None,
        }
    }

    /// Puts this hub in place of the executor's probe.
    pub(crate) fn set(self, executor: &Executor) {
        executor.set_probe(Some(Arc::new(self)));
    }

    /// Whether anybody wants to be told of each poll.
    fn wants_all_polls(&self) -> bool {
        let is_shown = self.asked.activity || self.shown.as_ref().is_some_and(|shown| shown.is_watched());
        let is_noted = self.timeline.is_some() || self.hooks.is_some();
        is_shown || is_noted || self.asked.frames_of_groups || self.asked.spans
    }

    /// Shows what the executor does from now on, or no more, as is asked for.
    pub(crate) fn show_activity(&mut self) {
        if !self.asked.activity {
            return self.shown.iter().for_each(|shown| shown.beacon.set_turn(None));
        }
        let beacon = &self.shown.get_or_insert_default().beacon;
        beacon.set_turn(beacon.turn().or_else(|| Some(self.heard.turn())));
    }

    /// What shows activity, if it is asked for.
    fn beacon(&self) -> Option<&Beacon> {
        self.shown.as_ref().filter(|_| self.asked.activity).map(|shown| &*shown.beacon)
    }

    fn tell_hooks(&self, task: &TaskView<'_>, hook: impl FnOnce(&dyn TaskHooks, &crate::TaskMeta)) {
        if let Some(hooks) = &self.hooks {
            self.heard.hook_calls.call(&**hooks, task, hook);
        }
    }

    /// Polls a task for all who listen to that.
    fn poll_task(&self, poll: Poll<'_>, task: &TaskView<'_>) {
        self.tell_hooks(task, |hooks, meta| hooks.before_poll(meta));
        if let Some(ring) = &self.timeline
            && self.has_dropped.load(Ordering::Relaxed)
        {
            self.has_dropped.store(false, Ordering::Relaxed);
            // Polls begin now: in the ring that is the slice once more.
            ring.slice_began(poll.now_ns(), task.place().queue, 0);
        }
        self.heard.poll_begins(&poll, task);
        #[cfg(feature = "tracing")]
        let entered = self.spans.as_ref().map(|spans| (spans, spans.enter(task.id())));
        if self.asked.frames_of_groups {
            poll_framed(poll)
        } else {
            poll.run()
        }
        #[cfg(feature = "tracing")]
        if let Some((spans, entered)) = entered {
            spans.leave(task.id(), entered);
        }
        self.tell_hooks(task, |hooks, meta| hooks.after_poll(meta));
    }
}

impl Probe for Hub {
    fn interest(&self) -> Interest {
        let mut interest = Interest::default();
        if self.asked.latency {
            interest = interest.samples(SAMPLED);
        }
        if !self.wants_all_polls() {
            interest = interest.only_timed();
        }
        if self.asked.every_poll {
            interest = interest.every_poll();
        }
        if self.asked.spans {
            interest = interest.wakers();
        }
        interest
    }

    fn turn_began(&self, turn: TurnBegan) {
        self.heard.turn_began(&self.asked, turn);
        if let Some(beacon) = self.beacon() {
            beacon.set_turn(Some(Turn { is_under_way: true, since_ns: turn.now_ns }));
        }
        if let Some(ring) = &self.timeline {
            ring.turn_began(turn.now_ns);
        }
    }

    fn turn_ended(&self, turn: TurnEnded) {
        self.heard.turn_ended(&self.asked, turn);
        if let Some(beacon) = self.beacon() {
            beacon.set_turn(Some(Turn { is_under_way: false, since_ns: turn.now_ns }));
        }
        if let Some(ring) = &self.timeline {
            ring.turn_ended(turn.now_ns, turn.is_idle);
        }
    }

    fn slice(&self, slice: Slice<'_>) {
        let (queue, began_ns) = (slice.queue().clone(), slice.now_ns());
        if let Some(ring) = &self.timeline {
            ring.slice_began(began_ns, queue.index, queue.ready);
        }
        let ended = run_framed(slice);
        self.has_dropped.store(false, Ordering::Relaxed);
        self.heard.slice_ended(&self.asked, (&queue, began_ns), ended);
        if let Some(ring) = &self.timeline {
            ring.slice_ended(ended.now_ns, queue.index, ended.reason);
        }
    }

    fn spawned(&self, task: &TaskView<'_>) {
        let at = self.heard.spawned(&self.asked, task);
        if let Some(ring) = &self.timeline {
            let group = task.group().map(|group| group.index);
            ring.spawned(at, task.place(), (task.location(), group));
        }
        #[cfg(feature = "tracing")]
        if let Some(spans) = &self.spans {
            spans.open(task);
        }
        self.tell_hooks(task, |hooks, meta| hooks.spawned(meta));
    }

    fn moved(&self, task: &TaskView<'_>, from: TaskRef, was_ready: bool) {
        let at = self.heard.stamp_ready(&self.asked, task, was_ready);
        if let Some(ring) = &self.timeline {
            if was_ready {
                ring.left(task.now_ns(), from);
            }
            let group = task.group().map(|group| group.index);
            ring.spawned(at, task.place(), (task.location(), group));
        }
    }

    fn woken(&self, task: &TaskView<'_>, by: WokenBy) {
        let at = self.heard.woken(&self.asked, task, by);
        if let Some(ring) = &self.timeline {
            ring.ready(at, task.place(), by == WokenBy::Remote);
        }
    }

    fn woken_elsewhere(&self, task: &AnyTask<'_>) {
        self.heard.stamp_elsewhere(&self.asked, task.word());
    }

    fn poll(&self, poll: Poll<'_>) {
        let clock = self.asked.activity.then_some(&self.heard.clock);
        let _lit = self.shown.as_ref().and_then(|shown| shown.show(&poll, clock));
        match poll.task() {
            Some(task) if poll.kind() == PollKind::Task => self.poll_task(poll, &task),
            task => {
                self.heard.run_other(&self.asked, poll);
                if task.is_some() {
                    self.has_dropped.store(true, Ordering::Relaxed);
                }
            }
        }
    }

    fn polled(&self, polled: &Polled<'_>) {
        if polled.outcome == PollOutcome::Yielded {
            polled.task.word().store(polled.now_ns, Ordering::Relaxed);
        }
        let wait = self.heard.polled(&self.asked, polled);
        let Some(ring) = &self.timeline else { return };
        ring.polled(polled.now_ns, polled.task.place(), polled.outcome, polled.is_read);
        if let Some(wait) = wait
            && self.asked.stops_after(wait, || polled.task.queue_number())
        {
            ring.stop();
        }
    }

    fn ended(&self, task: &TaskView<'_>, how: TaskEnd) {
        self.tell_hooks(task, |hooks, meta| hooks.ended(meta, how));
        #[cfg(feature = "tracing")]
        if let Some(spans) = &self.spans {
            spans.close(task.id());
        }
    }

    fn waker(&self, task: &AnyTask<'_>, op: WakerOp) {
        #[cfg(feature = "tracing")]
        if let Some(spans) = &self.spans {
            spans.say(task, op);
        }
        #[cfg(not(feature = "tracing"))]
        let _ = (task, op);
    }
}
