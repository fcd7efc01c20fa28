//! [`Timing`]: when a slice ends, and when the clock is read for that.

use std::cell::Cell;

use super::Core;
use super::lots::{Lot, Lots, MOST_IN_MEAN};
use super::meter::{MAX_STRIDE, PollLengths, SAMPLE_NS};
use super::pick::Signal;
use super::queue::RunQueue;
use crate::queue::EARNS_NS;

/// Why a slice ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SliceEnd {
    /// The time granted is used up.
    Spent,
    /// A queue woke up that is to be served first.
    Preempted,
    /// No task of the queue is ready.
    Drained,
    /// The host must run: its time is due, or its cooperative budget cannot be renewed.
    HostDue,
    /// The host must run: the poll cap is reached.
    PollCap,
    /// The future given to `run_until` was woken.
    MainWoken,
    /// The clock is to be read: the scheduler gave out many aborted tasks, user code ran between two polls, or there is much to receive.
    Interrupted,
    /// The scheduler broke its contract.
    PolicyFault,
    /// The queue got another scheduler.
    SchedulerChanged,
}

/// How many short polls the future given to `run_until` waits for when it is woken. (It does not wait for polls that together
/// take `SAMPLE_NS`.) Otherwise one that awaits many join handles would end the slice at every poll.
///
/// A future that wakes itself yields, and waits for so many polls whatever they take, as long as there are any to be done: as
/// with tokio's `LocalSet`, which does 61.
pub(crate) const MAIN_PATIENCE: u32 = 64;

/// The most polls of a queue between two readings while others wait: the bound on how far its slice overruns when its polls
/// suddenly take long.
const CONTENDED_STRIDE: u32 = 8;

/// The most polls between two readings where they are timed by lot: as many as there may be until one is timed while others wait.
const UNREAD_BY_LOT: u32 = 2 * CONTENDED_STRIDE - 1;

/// The most that a queue has earned: as much as a group.
const MOST_EARNED_NS: i64 = EARNS_NS as i64 * u16::MAX as i64;

/// Polls of a queue between clock readings, where none is needed after each.
pub(crate) struct Stride {
    polls: Cell<u32>,
    lengths: PollLengths,
    /// Polls since the last reading, at the end of a slice.
    unread: Cell<u32>,
    /// Where the scheduler asks for service: the poll to be timed, counted from the next one. It stays as drawn when a slice ends:
    /// a slice ends more often at the reading just before that poll than elsewhere, so with another draw long polls would
    /// seldom be the ones timed.
    lot: Cell<Lot>,
    /// The same: what the queue's polls took beyond [`EARNS_NS`] each, when that was least. By each `EARNS_NS` that it is more now they have
    /// earned a poll that is timed.
    least_beyond_ns: Cell<i64>,
}

impl Default for Stride {
    fn default() -> Self {
        Self {
            polls: Cell::new(1),
            lengths: PollLengths::default(),
            unread: Cell::new(0),
            lot: Cell::new(Lot::NEXT),
            least_beyond_ns: Cell::new(0),
        }
    }
}

impl Stride {
    /// Whether the last polls of the slice that has just ended were not timed.
    pub(super) fn is_unread(&self) -> bool {
        self.unread.get() > 0
    }

    /// Shortens the stride after a slice that ended before the next reading was due, if its last polls took long. Otherwise
    /// readings would never come sooner, where no slice has as many polls.
    #[inline]
    pub(super) fn shorten(&self, elapsed_ns: u64) {
        let unread = self.unread.take();
        if unread > 0 && elapsed_ns > SAMPLE_NS {
            self.polls.set(self.lengths.note(SAMPLE_NS, unread, elapsed_ns).min(self.polls.get()));
        }
    }

    /// Whether the next poll is timed without a lot, as the queue's polls took long in the mean: so many so far, in `busy_ns`.
    #[inline]
    fn times_next(&self, polls: u64, busy_ns: u64) -> bool {
        let beyond_ns = busy_ns as i64 - (EARNS_NS * polls) as i64;
        let least_ns = self.least_beyond_ns.get().min(beyond_ns).max(beyond_ns - MOST_EARNED_NS);
        self.least_beyond_ns.set(least_ns);
        beyond_ns - least_ns >= EARNS_NS as i64
    }
}

/// Polls until the host must run, and which of them are timed.
#[derive(Default)]
pub(super) struct Pace {
    polls_left: Cell<u32>,
    lots: Lots,
}

/// What is known of the time that a poll took. Nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Timed {
    /// Since the last reading of the clock, or 0 if it was not read after this poll.
    pub(super) elapsed_ns: u64,
    /// What the scheduler is told that the poll took. None if it is told nothing.
    pub(super) service_ns: Option<u64>,
    /// How many polls this one stands for, if it was timed by itself; else 0.
    pub(super) stands_for: u32,
    /// Whether the clock was read after it.
    pub(super) is_read: bool,
}

impl Timed {
    pub(super) const NOT: Timed = Timed { elapsed_ns: 0, service_ns: None, stands_for: 0, is_read: false };
}

impl Pace {
    /// Begins a turn, which may have so many polls.
    pub(super) fn begin_turn(&self, polls: u32) {
        self.polls_left.set(polls);
    }

    /// Polls of the turn that are left.
    pub(super) fn polls_left(&self) -> u32 {
        self.polls_left.get()
    }

    /// Counts a poll that is not of a task.
    pub(super) fn count_one(&self) {
        self.polls_left.set(self.polls_left.get().saturating_sub(1));
    }
}

/// When to read the clock in a slice, what the last reading was, and how many polls there may be.
pub(super) struct Timing<'a> {
    core: &'a Core,
    queue: &'a RunQueue,
    started: u64,
    last: u64,
    /// Polls of the slice after which the host must run.
    cap: u32,
    /// Polls until there is more to do than after any.
    countdown: u32,
    /// Polls of the slice by then: `due` or `cap`, whichever comes first.
    look_at: u32,
    /// Polls of the slice after which the clock is read next.
    due: u32,
    /// Where the scheduler asks for service: polls of the slice once the one that is timed has been done.
    timed_at: u32,
    /// Polls between readings, chosen so that they are some `SAMPLE_NS` apart; or one in so many is timed, in the mean.
    stride: u32,
    /// How many polls the timed one stands for.
    stands_for: u32,
    /// Whether it was drawn. Else its group has each of its polls timed, and it says nothing of the others.
    is_drawn: bool,
    /// Polls when the clock was read last.
    read_at: u32,
    /// Polls and time when the lot was drawn.
    drawn_at: (u32, u64),
}

/// How many polls of one slice may go by without a reading.
#[inline]
fn most_unread(core: &Core) -> u32 {
    match () {
        // Slices end on time: a queue with a cap is served, or another one waits for its next period.
        () if core.slice.is_exact() || core.shared.times_every_poll() => 1,
        () if core.slice.is_limited() => CONTENDED_STRIDE,
        () => MAX_STRIDE,
    }
}

impl<'a> Timing<'a> {
    /// Begins a slice of a queue whose scheduler asks for service, or not.
    pub(super) fn start(core: &'a Core, queue: &'a RunQueue, needed: bool) -> Self {
        let stride = queue.stride.polls.get().min(most_unread(core));
        let now = core.meter.now();
        let cap = core.pace.polls_left.get();
        let mut timing = Self {
            core,
            queue,
            started: now,
            last: now,
            cap,
            countdown: 0,
            look_at: 0,
            due: 0,
            timed_at: 0,
            stride,
            stands_for: 1,
            is_drawn: true,
            read_at: 0,
            drawn_at: (0, now),
        };
        if needed {
            timing.await_lot(if most_unread(core) == 1 { Lot::NEXT } else { queue.stride.lot.get() });
        } else {
            timing.read_after(stride);
        }
        timing
    }

    /// Counts a poll of the queue, and reads the clock if that is due.
    #[inline(always)] // a call would keep the whole of it in memory
    pub(super) fn after_poll(&mut self, needed: bool) -> Timed {
        self.countdown -= 1;
        if self.countdown > 0 {
            return Timed::NOT;
        }
        self.core.slice.look_at_time();
        // Otherwise the cap is reached.
        if self.look_at < self.due { Timed::NOT } else { self.read_in_turn(needed) }
    }

    /// Polls done in this slice.
    #[inline]
    fn polls(&self) -> u32 {
        self.look_at - self.countdown
    }

    /// Reads the clock, and says when it is read next.
    #[inline(always)] // as `after_poll`
    fn read_in_turn(&mut self, needed: bool) -> Timed {
        let elapsed_ns = self.read(true);
        self.core.coop_budget.renew_in_time(self.queue.counters.polls.get() + 1);
        if needed && self.look_at < self.timed_at {
            self.await_timed();
            return Timed { elapsed_ns, service_ns: None, stands_for: 0, is_read: true };
        }
        if needed {
            let stands_for = self.stands_for;
            return Timed {
                elapsed_ns,
                service_ns: Some(self.sample(elapsed_ns)),
                stands_for,
                is_read: true,
            };
        }
        let stands_for = u32::from(self.stride == 1);
        let next = self.queue.stride.lengths.note(self.window_ns(), self.stride, elapsed_ns);
        self.stride = next.min(most_unread(self.core));
        self.queue.stride.polls.set(self.stride);
        self.read_after(self.stride);
        Timed { elapsed_ns, service_ns: None, stands_for, is_read: true }
    }

    /// Has the clock be read after so many polls.
    #[inline]
    fn read_after(&mut self, polls: u32) {
        let done = self.polls();
        self.due = done.saturating_add(polls);
        self.look_at = self.due.min(self.cap).max(done + 1);
        self.countdown = self.look_at - done;
    }

    /// Reads the clock, after a poll or not; the nanoseconds since the last reading.
    #[inline]
    fn read(&mut self, after_poll: bool) -> u64 {
        self.core.slice.look_at_time();
        self.read_at = self.polls();
        let now = self.core.meter.read_after(after_poll);
        now - std::mem::replace(&mut self.last, now)
    }

    /// What the scheduler is told of a poll that was timed.
    #[inline]
    fn sample(&mut self, elapsed_ns: u64) -> u64 {
        let service_ns = elapsed_ns.saturating_mul(u64::from(self.stands_for));
        // As for the stride: no need to divide.
        let window_ns = self.window_ns();
        if self.is_drawn && (self.stride > 1 || elapsed_ns < window_ns) {
            let (polls, since) = self.drawn_at;
            let fit = window_ns * u64::from(self.polls() - polls) / (self.last - since).max(1);
            let most = MOST_IN_MEAN.min(2 * self.stride).min(most_unread(self.core));
            self.stride = fit.clamp(1, u64::from(most)) as u32;
            self.queue.stride.polls.set(self.stride);
        }
        self.draw();
        service_ns
    }

    /// How far readings are to be apart. Nanoseconds.
    #[inline]
    fn window_ns(&self) -> u64 {
        // Other queues wait for the end of the slice: one of a short request is to end in time.
        if self.core.slice.is_limited() { SAMPLE_NS.min(self.queue.request_ns.get() / 8) } else { SAMPLE_NS }
    }

    /// Draws which poll is timed next.
    #[inline]
    fn draw(&mut self) {
        // The poll that has just ended is counted afterwards.
        let polls = self.queue.counters.polls.get() + 1;
        let busy_ns = self.queue.counters.busy_ns.get() + self.core.meter.unbilled();
        let one_in = if self.queue.stride.times_next(polls, busy_ns) { 1 } else { self.stride };
        self.await_lot(self.core.pace.lots.draw(one_in));
    }

    /// Has the poll be timed that a lot says.
    #[inline]
    fn await_lot(&mut self, lot: Lot) {
        self.stands_for = lot.stands_for;
        self.timed_at = self.polls().saturating_add(lot.poll);
        self.is_drawn = true;
        self.drawn_at = (self.polls(), self.last);
        self.await_timed();
    }

    /// Has the clock be read before the poll that is timed, too; before the first, it was. And sooner if that is far, so that the host,
    /// and others that come, wait no longer.
    #[inline]
    fn await_timed(&mut self) {
        let before = (self.timed_at - self.polls() - 1).max(1);
        self.read_after(before.min(UNREAD_BY_LOT));
    }

    /// Has the next poll be timed, for itself, in place of the one that was drawn. Reads the clock unless that was done after the last
    /// poll.
    ///
    /// So long as this does not depend on which was drawn, each poll before it that was not timed had its chance.
    #[inline(never)]
    pub(super) fn time_next(&mut self) {
        if self.stands_for == 1 && self.timed_at == self.polls() + 1 {
            return; // it is
        }
        if self.read_at != self.polls() {
            self.read(true);
        }
        (self.stands_for, self.timed_at, self.is_drawn) = (1, self.polls() + 1, false);
        self.read_after(1);
    }

    /// Reads the clock after work between two polls that is part of none; the nanoseconds since the last reading.
    #[cold]
    pub(super) fn read_between_polls(&mut self) -> u64 {
        self.read(false)
    }

    /// Counts a drop as a poll, and reads the clock; the nanoseconds since the last reading.
    #[inline(always)] // a call would keep the timing in memory: 40 instructions an abort
    pub(super) fn after_drop(&mut self) -> u64 {
        // As many are left as before until each of these.
        self.look_at += 1;
        self.due += 1;
        self.timed_at += 1;
        self.read(true)
    }

    /// Whether the next poll is timed by itself.
    #[inline(always)]
    pub(super) fn times_next(&self, needed: bool) -> bool {
        if needed { self.polls() + 1 == self.timed_at } else { self.stride == 1 }
    }

    /// Why the slice is over, if it is.
    #[inline(always)]
    pub(super) fn end(&mut self, needed: bool) -> Option<SliceEnd> {
        let is_signalled = self.core.slice.is_signalled();
        if is_signalled {
            match self.core.slice.take_signal() {
                Signal::Preempted => return Some(SliceEnd::Preempted),
                Signal::Interrupted => return Some(SliceEnd::Interrupted),
                Signal::Contended => self.come_sooner(needed),
                Signal::Time | Signal::Nothing => {}
            }
        }
        if self.core.shared.main.is_woken() && self.is_main_due() {
            return Some(SliceEnd::MainWoken);
        }
        if !is_signalled {
            return None;
        }
        if self.polls() >= self.cap {
            return Some(SliceEnd::PollCap);
        }
        self.core.time_is_up(self.last, self.polls())
    }

    /// Whether the future given to `run_until`, which was woken, has waited for as many polls as it does, or for as long.
    fn is_main_due(&self) -> bool {
        match self.core.main.waits_for() {
            0 => self.polls() >= MAIN_PATIENCE || self.last - self.started >= SAMPLE_NS,
            yielded => self.polls() >= yielded,
        }
    }

    /// Has the next reading come sooner, as another queue waits from now on. (Where polls are timed by lot it is near enough.)
    #[cold]
    fn come_sooner(&mut self, needed: bool) {
        if needed && self.core.slice.is_exact() {
            (self.stride, self.stands_for) = (1, 1);
            self.read_after(1);
            self.timed_at = self.due;
        } else if !needed {
            let left = self.due - self.polls();
            let spared = left.saturating_sub(most_unread(self.core));
            self.stride -= spared;
            self.read_after(left - spared);
        }
    }
}

impl Drop for Timing<'_> {
    fn drop(&mut self) {
        let polls = self.polls();
        self.core.pace.polls_left.set(self.cap.saturating_sub(polls));
        self.queue.stride.unread.set(polls - self.read_at);
        let poll = self.timed_at.saturating_sub(polls).max(1);
        self.queue.stride.lot.set(Lot { poll, stands_for: self.stands_for });
        self.core.main.waited(polls);
    }
}
