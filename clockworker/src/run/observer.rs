//! [`Observer`]: notes how long tasks wait and run, and what happens when, as far as the user asked for it.
//!
//! [`SliceObserver`] is its part in the hot loop. Where polls are short, reading the clock around each of them would cost as much as
//! they do: one in [`SAMPLED`] is timed then, drawn by lot and with a chance that does not depend on it, and stands for as many.

use std::cell::{Cell, RefCell};
use std::panic::Location;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use clockworker_schedulers::{Task, TaskId};

use super::Core;
use super::frames::call_framed;
use super::queue::RunQueue;
use super::timing::{SliceEnd, Timed, Timing};
use crate::observe::{GroupLatency, Histogram, Latency, LongPoll, Observation, TurnLatency, Wakes, off_cpu};
use crate::queue::{GroupIndex, NO_GROUP, group_of};
use crate::task::{Id, LiveTask, Polling, Ran, Ring, Runnable, Stamping, UNKNOWN};

/// Where polls are short one in so many is timed, in the mean.
const SAMPLED: u64 = 256;

/// See the [module docs](self).
pub(crate) struct Observer {
    asked: Cell<Observation>,
    /// Short polls until one is timed. Never, where latency is not asked for: that is the only question a poll pays for.
    until_sample: Cell<u64>,
    /// The state of the lots (see [`Lots`](super::lots::Lots)).
    lots: Cell<u64>,
    turns: RefCell<TurnLatency>,
    in_turn: Cell<bool>,
    turn_began: Cell<u64>,
    slice_began: Cell<u64>,
    /// Those in queues that are gone.
    removed_wakes: Cell<Wakes>,
}

impl Default for Observer {
    fn default() -> Self {
        Self {
            asked: Cell::default(),
            until_sample: Cell::new(u64::MAX),
            lots: Cell::new(0x9E37_79B9_7F4A_7C15),
            turns: RefCell::default(),
            in_turn: Cell::new(false),
            turn_began: Cell::new(0),
            slice_began: Cell::new(0),
            removed_wakes: Cell::default(),
        }
    }
}

impl Observer {
    fn has_latency(&self) -> bool {
        self.asked.get().has_latency()
    }

    /// Whether the clock is read after each poll.
    #[inline]
    pub(super) fn times_every_poll(&self) -> bool {
        self.asked.get().times_every_poll()
    }

    /// Draws how many short polls come until one is timed: 1 to 511, each with the same chance.
    fn draw(&self) {
        let mut state = self.lots.get();
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        self.lots.set(state);
        self.until_sample.set(1 + (((state >> 32) * (2 * SAMPLED - 1)) >> 32));
    }

    pub(super) fn turn_latency(&self) -> Option<TurnLatency> {
        self.has_latency().then(|| TurnLatency { off_cpu: off_cpu(), ..self.turns.borrow().clone() })
    }
}

impl RunQueue {
    /// How often its tasks were woken.
    pub(super) fn wakes(&self) -> Wakes {
        Wakes::new(self.all_wakes.get(), self.remote_wakes.get())
    }

    /// Forgets what was observed of its groups. Not while its scheduler is called, who may be the caller.
    fn forget_group_latencies(&self) {
        if let Ok(mut records) = self.records.try_borrow_mut() {
            records.forget_group_latencies();
        }
    }
}

impl Core {
    /// Observes what is asked for from now on. A timeline begins anew, latencies go on.
    pub(crate) fn observe(&self, asked: Observation) {
        let observer = &self.observer;
        observer.asked.set(asked);
        if asked.has_latency() {
            observer.draw();
        } else {
            observer.until_sample.set(u64::MAX);
        }
        let ring = asked.timeline_words().map(|words| Arc::new(Ring::new(words)));
        if let Some(local) = self.shared.local() {
            drop(local.ring.replace(ring));
        }
        if !asked.has_latency_of_groups() {
            self.all_queues().iter().for_each(|queue| queue.forget_group_latencies());
        }
        self.set_stamping();
    }

    /// Says how exactly tasks are stamped: outside of turns the last reading may be long ago.
    fn set_stamping(&self) {
        let asked = self.observer.asked.get();
        self.shared.ticks.set_stamping(match () {
            () if !asked.has_latency() && asked.timeline_words().is_none() => Stamping::Off,
            () if self.observer.in_turn.get() && !asked.times_every_poll() => Stamping::Last,
            () => Stamping::Read,
        });
    }

    fn ring(&self) -> Option<Arc<Ring>> {
        self.shared.local().and_then(|local| local.ring.borrow().clone())
    }

    /// What was observed of the queue.
    pub(super) fn latency_of(&self, queue: &RunQueue) -> Option<Box<Latency>> {
        self.observer.has_latency().then(|| queue.latency.borrow().clone().unwrap_or_default())
    }

    /// Observes the beginning of a turn. The host had the thread for `host_ns` before, for a visit or because there was nothing to do.
    pub(super) fn observe_turn(&self, now: u64, host_ns: u64, visited: bool) {
        self.observer.turn_began.set(now);
        self.observer.in_turn.set(true);
        self.set_stamping();
        if visited && self.observer.has_latency() {
            self.observer.turns.borrow_mut().visit.record_ns(host_ns, 1);
        }
        if let Some(ring) = self.ring() {
            ring.turn_began(now);
        }
    }

    /// Observes the end of a turn, which leaves work for the next unless it is `idle`.
    pub(super) fn observe_turn_end(&self, idle: bool) {
        let now = self.meter.now();
        if self.observer.has_latency() {
            let took = now - self.observer.turn_began.get();
            self.observer.turns.borrow_mut().turn.record_ns(took, 1);
        }
        if let Some(ring) = self.ring() {
            ring.turn_ended(now, idle);
        }
        self.observer.in_turn.set(false);
        self.set_stamping();
    }

    /// Observes the end of a slice, up to the last reading.
    pub(super) fn observe_slice_end(&self, queue: &RunQueue, end: SliceEnd) {
        let now = self.meter.now();
        if self.observer.has_latency() {
            let took = now - self.observer.slice_began.get();
            queue.latency.borrow_mut().get_or_insert_default().slice.record_ns(took, 1);
        }
        if let Some(ring) = self.ring() {
            ring.slice_ended(now, queue.key.index, end as u8);
        }
    }

    /// Observes a task that was spawned, and is ready.
    pub(super) fn observe_spawn(&self, queue: &RunQueue, task: Task) {
        if let Some(ring) = self.ring()
            && let Some(live) = queue.records.borrow().live(task.id)
        {
            let place = (live.location(), group_of(task));
            ring.spawned(live.ready_since(), queue.key.index, slot_and_generation(task.id), place);
        }
    }

    /// Observes that a task is ready again, whose poll is over.
    #[inline(always)]
    pub(super) fn observe_yield(&self, live: &LiveTask) {
        live.set_ready_at(self.meter.now());
    }

    /// Observes a wake from another thread.
    pub(super) fn observe_remote_wake(&self, queue: &RunQueue) {
        queue.remote_wakes.add(1);
    }

    /// Observes that a queue is gone.
    pub(super) fn observe_removal(&self, queue: &RunQueue) {
        let removed = &self.observer.removed_wakes;
        removed.set(removed.get().plus(queue.wakes()));
    }

    /// All wakes in these queues, and in those that are gone.
    pub(super) fn all_wakes(&self, queues: &[Rc<RunQueue>]) -> Wakes {
        queues.iter().fold(self.observer.removed_wakes.get(), |sum, queue| sum.plus(queue.wakes()))
    }

    /// Stops the timeline if a task of the queue has waited for as long as is asked for.
    fn stop_after(&self, wait_ns: u64, queue: &RunQueue) {
        if self.observer.asked.get().stops_after(Duration::from_nanos(wait_ns), queue.key.generation) {
            self.ring().into_iter().for_each(|ring| ring.stop());
        }
    }
}

fn slot_and_generation(id: TaskId) -> (u32, u32) {
    (id.slot() as u32, id.generation())
}

/// Observes the polls of one slice.
pub(super) struct SliceObserver<'a> {
    core: &'a Core,
    queue: &'a RunQueue,
    ring: Option<Arc<Ring>>,
    /// The poll under way, if it is timed by itself.
    timed: Option<TimedPoll>,
    /// Groups of indices below that have stack frames of their own: all or none.
    framed_below: GroupIndex,
    /// Whether there is a ring, or the poll under way is timed: the only question after a poll otherwise.
    is_noting: bool,
}

/// A poll that is timed by itself.
#[derive(Clone, Copy)]
struct TimedPoll {
    /// When it began, if it is timed although it is short; else it began when the clock was read last.
    sampled_from: Option<u64>,
    task: Id,
    location: &'static Location<'static>,
    /// When the task became ready.
    ready_at: u64,
    group: GroupIndex,
}

impl<'a> SliceObserver<'a> {
    pub(super) fn begin(core: &'a Core, queue: &'a RunQueue) -> Self {
        let (now, ring) = (core.meter.now(), core.ring());
        core.observer.slice_began.set(now);
        if let Some(ring) = &ring {
            ring.slice_began(now, queue.key.index, queue.ready.get());
        }
        let is_noting = ring.is_some();
        let has_frames = core.observer.asked.get().has_frames_of_groups();
        let framed_below = if has_frames { NO_GROUP } else { 0 };
        Self { core, queue, ring, timed: None, framed_below, is_noting }
    }

    /// Futures of aborted tasks were dropped: polls begin now. In the ring that is the same slice once more.
    pub(super) fn after_drops(&self) {
        if let Some(ring) = &self.ring {
            ring.slice_began(self.core.meter.now(), self.queue.key.index, self.queue.ready.get());
        }
    }

    /// Polls the task.
    #[inline(always)]
    pub(super) fn run(
        &self,
        runnable: Runnable,
        group: GroupIndex,
        take_out: impl FnOnce() -> Option<LiveTask>,
    ) -> Ran {
        let within = |poll: Polling<'_>| {
            if group < self.framed_below { call_framed(poll, group) } else { poll.call() }
        };
        runnable.run_within(within, take_out)
    }

    /// The task is polled next; `timing` says which polls are timed anyway.
    #[inline(always)]
    pub(super) fn before_poll(&mut self, live: &LiveTask, timing: &Timing<'_>, needed: bool) {
        let left = self.core.observer.until_sample.get() - 1;
        self.core.observer.until_sample.set(left);
        let is_timed = timing.times_next(needed);
        if left == 0 || is_timed {
            self.note(live, is_timed, left == 0 && !needed);
        }
    }

    /// Notes the task of a poll that `is_timed` anyway, or else is to be timed if it `may_be`.
    #[inline(never)]
    fn note(&mut self, live: &LiveTask, is_timed: bool, may_be: bool) {
        if self.core.observer.until_sample.get() == 0 {
            self.core.observer.draw();
        }
        let sampled_from = (may_be && !is_timed).then(|| self.core.meter.look());
        if is_timed || may_be {
            let (task, location, ready_at) = (live.id(), live.location(), live.ready_at());
            let group = self.core.slice.current().group;
            self.timed = Some(TimedPoll { sampled_from, task, location, ready_at, group });
            self.is_noting = true;
        }
    }

    /// The poll is over, and nobody has touched the task since.
    #[inline(always)]
    pub(super) fn after_poll(&mut self, ran: &Ran, id: TaskId, timed: Timed) {
        if !self.is_noting {
            return;
        }
        if self.timed.is_some() {
            self.record(timed);
        }
        if let Some(ring) = &self.ring {
            let outcome = match ran {
                Ran::Pending(_) => 0,
                Ran::Yielded(_) => 1,
                Ran::Finished(_) => 2,
            };
            ring.polled(self.core.meter.now(), slot_and_generation(id), outcome, timed.is_read);
        }
    }

    #[inline(never)]
    fn record(&mut self, timed: Timed) {
        self.is_noting = self.ring.is_some();
        let Some(TimedPoll { sampled_from, task, location, ready_at, group }) = self.timed.take() else {
            return;
        };
        if !self.core.observer.has_latency() {
            return;
        }
        let (from, took, times) = match sampled_from {
            Some(from) => (from, self.core.meter.look() - from, SAMPLED),
            None => (self.core.meter.now() - timed.elapsed_ns, timed.elapsed_ns, timed.stands_for.into()),
        };
        let long = LongPoll { took: Duration::from_nanos(took), task, location };
        // Unknown of a task that became ready before anything was observed.
        let wait = (ready_at != UNKNOWN).then(|| from.saturating_sub(ready_at));
        let counted = Counted { long, wait, took, times };
        let mut latency = self.queue.latency.borrow_mut();
        let Latency { wait: waits, poll, longest_poll, .. } = &mut **latency.get_or_insert_default();
        counted.add_to((waits, poll, longest_poll));
        self.record_in_group(group, &counted);
        if let Some(wait) = wait {
            self.core.stop_after(wait, self.queue);
        }
    }

    /// Counts a poll of a task in its group, if it has one and that is asked for.
    fn record_in_group(&self, group: GroupIndex, counted: &Counted) {
        if !self.core.observer.asked.get().has_latency_of_groups() {
            return;
        }
        let mut records = self.queue.records.borrow_mut();
        if let Some(GroupLatency { wait, poll, longest_poll }) = records.group_latency_mut(group) {
            counted.add_to((wait, poll, longest_poll));
        }
    }
}

/// A poll that is counted.
struct Counted {
    long: LongPoll,
    wait: Option<u64>,
    took: u64,
    /// For how many polls it stands.
    times: u64,
}

impl Counted {
    /// Counts it in histograms of waits and polls.
    fn add_to(&self, (waits, polls, longest): (&mut Histogram, &mut Histogram, &mut Option<LongPoll>)) {
        polls.record_ns(self.took, self.times);
        if longest.is_none_or(|longest| longest.took < self.long.took) {
            *longest = Some(self.long);
        }
        if let Some(wait) = self.wait {
            waits.record_ns(wait, self.times);
        }
    }
}
