//! When a slice ends, and when the clock is read for that.

use std::cell::Cell;

use super::Core;
use super::meter::{SAMPLE_NS, stride};
use super::queue::RunQueue;

/// Why a slice ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SliceEnd {
    /// The time granted is used up.
    Spent,
    /// A queue woke up that is to be served first.
    Preempted,
    /// No task of the queue is ready.
    Drained,
    /// The host must run: its time is due, or there is no cooperative budget to renew.
    HostBudget,
    /// The host must run: there were as many polls as may be without it.
    PollCap,
    /// The future given to `run_until` was woken.
    MainWoken,
    /// The scheduler gave out tasks that had been aborted: the time is to be looked at.
    Tombstones,
    /// The scheduler broke its contract.
    PolicyFault,
}

/// How many short polls the future given to `run_until` waits for when it is woken. (Polls that together take
/// `SAMPLE_NS` it does not wait for.) Otherwise one that awaits many join handles would end the slice at every poll.
///
/// One that wakes itself yields, and waits for so many polls whatever they take, as long as there are any to be done. It
/// is then as with tokio's `LocalSet`, which does 61.
pub(crate) const MAIN_PATIENCE: u32 = 64;

/// A slice has ended before the next reading was due. If its last polls took long, readings must come sooner: or they would
/// never come, where no slice has as many polls.
#[inline]
pub(crate) fn shorten_stride(core: &Core, elapsed_ns: u64) {
    let polls = core.pace.polls_unread.take();
    if polls > 0 && elapsed_ns > SAMPLE_NS {
        core.pace.stride.set(stride(polls, elapsed_ns).min(core.pace.stride.get()));
    }
}

/// Polls between clock readings, and until the host must run.
pub(super) struct Pace {
    /// How many polls to do between clock readings, where none is needed after each.
    stride: Cell<u32>,
    /// How many there have been since the last, at the end of a slice.
    polls_unread: Cell<u32>,
    /// Polls left until the host must run.
    polls_left: Cell<u32>,
}

impl Default for Pace {
    fn default() -> Self {
        Self { stride: Cell::new(1), polls_unread: Cell::new(0), polls_left: Cell::new(0) }
    }
}

impl Pace {
    /// A turn begins, which may have so many polls.
    pub(super) fn begin_turn(&self, polls: u32) {
        self.polls_left.set(polls);
    }

    /// Whether there were as many polls as may be without the host.
    pub(super) fn is_over(&self) -> bool {
        self.polls_left.get() == 0
    }

    /// Counts what is no poll of a task.
    pub(super) fn count_one(&self) {
        self.polls_left.set(self.polls_left.get().saturating_sub(1));
    }
}

/// When to read the clock, what the last reading was, and how many polls there may be.
pub(super) struct Timing<'a> {
    core: &'a Core,
    started: u64,
    last: u64,
    /// Polls done in this slice.
    polls: u32,
    /// Polls that there may be before the host must run.
    cap: u32,
    /// Polls that the future being run waits for when it is woken, or time in place of them.
    main_waits_for: u32,
    main_waits_ns: u64,
    /// Polls until the next reading, where none is needed after each.
    countdown: u32,
    /// Polls between readings, chosen so that they are some `SAMPLE_NS` apart.
    stride: u32,
    /// Whether there is more to ask than after any poll: the clock was read, or tasks were admitted.
    looking: bool,
}

impl<'a> Timing<'a> {
    pub(super) fn start(core: &'a Core) -> Self {
        let stride = core.pace.stride.get();
        let now = core.meter.now();
        let (main_waits_for, main_waits_ns) = match core.main.waits_for() {
            0 => (MAIN_PATIENCE, SAMPLE_NS),
            yielded => (yielded, u64::MAX),
        };
        let cap = core.pace.polls_left.get();
        Self {
            core,
            started: now,
            last: now,
            polls: 0,
            cap,
            main_waits_for,
            main_waits_ns,
            countdown: stride,
            stride,
            looking: false,
        }
    }

    /// Counts a poll of the queue, and reads the clock if somebody needs it; the time since the last reading.
    #[inline(always)] // a call would keep the whole of it in memory
    pub(super) fn after_poll(&mut self, needed: bool, queue: &RunQueue) -> u64 {
        self.polls += 1;
        self.countdown -= 1;
        let exact = needed || self.core.queues.are_contended();
        if !exact && self.countdown > 0 {
            return 0;
        }
        self.looking = true;
        let now = self.core.meter.read();
        let elapsed = now - std::mem::replace(&mut self.last, now);
        // Long polls each have their reading as it is: no need to divide.
        if !exact && (self.stride > 1 || elapsed < SAMPLE_NS) {
            self.stride = stride(self.stride, elapsed);
            self.core.pace.stride.set(self.stride);
        }
        self.countdown = self.stride;
        self.core.budget.renew_in_time(queue.counters.polls.get() + 1);
        elapsed
    }

    /// Counts a drop, which is as a poll, and reads the clock; the time since the last reading.
    pub(super) fn after_drop(&mut self) -> u64 {
        self.polls += 1;
        self.looking = true;
        let now = self.core.meter.read();
        now - std::mem::replace(&mut self.last, now)
    }

    /// Tasks were admitted: one of a queue that is to be served first may be among them.
    #[inline]
    pub(super) fn look_again(&mut self) {
        self.looking = true;
    }

    /// Whether the slice is over.
    #[inline(always)]
    pub(super) fn end(&mut self) -> Option<SliceEnd> {
        let core = self.core;
        let looking = std::mem::take(&mut self.looking);
        // Nothing but an admission, or a poll in which queues began to contend, preempts.
        if looking && core.is_preempted() {
            return Some(SliceEnd::Preempted);
        }
        if core.main.is_woken()
            && (self.polls >= self.main_waits_for || self.last - self.started >= self.main_waits_ns)
        {
            return Some(SliceEnd::MainWoken);
        }
        if self.polls >= self.cap {
            return Some(SliceEnd::PollCap);
        }
        if looking { core.time_is_up(self.last, self.polls) } else { None }
    }
}

impl Drop for Timing<'_> {
    fn drop(&mut self) {
        self.core.pace.polls_left.set(self.cap.saturating_sub(self.polls));
        self.core.polled(self.polls);
        self.core.pace.polls_unread.set(self.stride - self.countdown);
        self.core.main.waited(self.polls);
    }
}
