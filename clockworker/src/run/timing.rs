//! [`Timing`]: when a slice ends, and when the clock is read for that.

use std::cell::Cell;

use super::Core;
use super::meter::{MAX_STRIDE, SAMPLE_NS, stride};
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
    /// The host must run: its time is due, or its cooperative budget cannot be renewed.
    HostDue,
    /// The host must run: the poll cap is reached.
    PollCap,
    /// The future given to `run_until` was woken.
    MainWoken,
    /// The scheduler gave out many aborted tasks: the clock is to be read.
    Tombstones,
    /// The scheduler broke its contract.
    PolicyFault,
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

/// Polls of a queue between clock readings, where none is needed after each.
pub(crate) struct Stride {
    polls: Cell<u32>,
    /// Polls since the last reading, at the end of a slice.
    unread: Cell<u32>,
}

impl Default for Stride {
    fn default() -> Self {
        Self { polls: Cell::new(1), unread: Cell::new(0) }
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
            self.polls.set(stride(unread, elapsed_ns).min(self.polls.get()));
        }
    }
}

/// Polls until the host must run.
#[derive(Default)]
pub(super) struct Pace {
    polls_left: Cell<u32>,
}

impl Pace {
    /// Begins a turn, which may have so many polls.
    pub(super) fn begin_turn(&self, polls: u32) {
        self.polls_left.set(polls);
    }

    /// Whether the poll cap is reached.
    pub(super) fn is_over(&self) -> bool {
        self.polls_left.get() == 0
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
    /// Polls done in this slice.
    polls: u32,
    /// Polls of the slice after which the host must run.
    cap: u32,
    /// Polls that the future given to `run_until` waits for when it is woken.
    main_waits_for: u32,
    /// Nanoseconds that it waits for at most. `u64::MAX` if it woke itself.
    main_waits_ns: u64,
    /// Polls until the next reading, where none is needed after each.
    countdown: u32,
    /// Polls between readings, chosen so that they are some `SAMPLE_NS` apart.
    stride: u32,
    /// Whether `end` must check more than after any poll: the clock was read, or tasks were admitted.
    looking: bool,
}

impl<'a> Timing<'a> {
    pub(super) fn start(core: &'a Core, queue: &'a RunQueue) -> Self {
        let most = if core.queues.are_contended() { CONTENDED_STRIDE } else { MAX_STRIDE };
        let stride = queue.stride.polls.get().min(most);
        let now = core.meter.now();
        let (main_waits_for, main_waits_ns) = match core.main.waits_for() {
            0 => (MAIN_PATIENCE, SAMPLE_NS),
            yielded => (yielded, u64::MAX),
        };
        let cap = core.pace.polls_left.get();
        Self {
            core,
            queue,
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

    /// Counts a poll of the queue, and reads the clock if the time is needed or the next reading is due; the nanoseconds since
    /// the last reading, or 0.
    #[inline(always)] // a call would keep the whole of it in memory
    pub(super) fn after_poll(&mut self, needed: bool) -> u64 {
        self.polls += 1;
        self.countdown -= 1;
        if !needed && self.countdown > 0 {
            return 0;
        }
        self.looking = true;
        let now = self.core.meter.read();
        let elapsed = now - std::mem::replace(&mut self.last, now);
        // Long polls each have their reading as it is: no need to divide.
        if !needed && (self.stride > 1 || elapsed < SAMPLE_NS) {
            let most = if self.core.queues.are_contended() { CONTENDED_STRIDE } else { MAX_STRIDE };
            self.stride = stride(self.stride, elapsed).min(most);
            self.queue.stride.polls.set(self.stride);
        }
        self.countdown = self.stride;
        self.core.coop_budget.renew_in_time(self.queue.counters.polls.get() + 1);
        elapsed
    }

    /// Counts a drop as a poll, and reads the clock; the nanoseconds since the last reading.
    pub(super) fn after_drop(&mut self) -> u64 {
        self.polls += 1;
        self.looking = true;
        let now = self.core.meter.read();
        now - std::mem::replace(&mut self.last, now)
    }

    /// Has `end` check more: tasks were admitted, maybe of a queue that is to be served first.
    #[inline]
    pub(super) fn look_again(&mut self) {
        self.looking = true;
    }

    /// Why the slice is over, if it is.
    #[inline(always)]
    pub(super) fn end(&mut self) -> Option<SliceEnd> {
        let core = self.core;
        let looking = std::mem::take(&mut self.looking);
        if core.slice.is_signalled() && self.heed_signal() {
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

    /// Whether the slice is to end for another queue. If not, another one waits from now on, for `CONTENDED_STRIDE` polls at
    /// most until the next reading.
    #[cold]
    fn heed_signal(&mut self) -> bool {
        if self.core.is_preempted() {
            return true;
        }
        self.core.slice.clear_signal();
        let spared = self.countdown.saturating_sub(CONTENDED_STRIDE);
        self.countdown -= spared;
        self.stride -= spared;
        false
    }
}

impl Drop for Timing<'_> {
    fn drop(&mut self) {
        self.core.pace.polls_left.set(self.cap.saturating_sub(self.polls));
        self.core.polled(self.polls);
        self.queue.stride.unread.set(self.stride - self.countdown);
        self.core.main.waited(self.polls);
    }
}
