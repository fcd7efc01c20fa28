//! [`Meter`]: the last clock reading, whether it is out of date, and the account that time is billed to.
//!
//! Every nanosecond since the executor was made is billed to exactly one account: a queue, the future given to `run_until`,
//! the executor itself, or the host. Closing an account bills it up to the last reading. A reading costs as much as a short
//! poll does, so an account may be closed without one if only work of the executor lies in between: the next account pays for
//! that.

use std::cell::Cell;

use crate::base::Clock;
use crate::queue::Counter;

/// Clock readings are about this far apart where the time is not needed after each poll. Nanoseconds.
pub(crate) const SAMPLE_NS: u64 = 2_000;

/// And at most this many polls: the bound on how long the host waits when polls suddenly take long.
pub(super) const MAX_STRIDE: u32 = 32;

/// The mean length of polls is taken over about so many.
const RECENT: u64 = 64;

/// A longer time counts for so much there, so that its like is not expected for ever. Nanoseconds.
const LONGEST_NS: u64 = RECENT * SAMPLE_NS * 64;

/// How long the last polls took in the mean, and so how many may go by without a reading of the clock.
///
/// A few short ones among long ones change little. Where polls become long, the first reading that comes late says so at once.
#[derive(Debug)]
pub(super) struct PollLengths {
    /// `RECENT` times the mean, in which those that came last count most. Nanoseconds.
    recent_ns: Cell<u64>,
}

impl Default for PollLengths {
    fn default() -> Self {
        // They are taken to be long at first.
        Self { recent_ns: Cell::new(RECENT * SAMPLE_NS) }
    }
}

impl PollLengths {
    /// Notes that so many polls, `RECENT` at most, took so long. How many to do until the next reading, for readings to be some
    /// `window_ns` apart.
    #[inline]
    pub(super) fn note(&self, window_ns: u64, polls: u32, elapsed_ns: u64) -> u32 {
        let before_ns = self.recent_ns.get();
        let recent_ns = before_ns - before_ns * u64::from(polls) / RECENT + elapsed_ns.min(LONGEST_NS);
        self.recent_ns.set(recent_ns);
        // Long polls each have their reading as it is: no need to divide.
        if recent_ns >= RECENT * window_ns {
            return 1;
        }
        let mut fit = RECENT * window_ns / recent_ns.max(1);
        if elapsed_ns > window_ns {
            fit = fit.min(window_ns * u64::from(polls) / elapsed_ns);
        }
        fit.clamp(1, MAX_STRIDE.into()) as u32
    }
}

/// To whom time is billed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Account {
    /// The host: between turns.
    Host,
    /// The future given to `run_until`: its polls.
    Main,
    /// The executor: admission of many tasks, and what belongs to no other account.
    Own,
    /// A slice of the running queue: polls and drops of its tasks, and the work between them.
    Queue,
}

/// See the [module docs](self).
#[derive(Debug)]
pub(crate) struct Meter {
    clock: Clock,
    /// The last clock reading. Never goes back.
    now: Cell<u64>,
    /// The clock reading up to which time was billed.
    billed_until: Cell<u64>,
    /// Whether user code ran since the last reading.
    is_stale: Cell<bool>,
    open: Cell<Account>,
    /// Polls of the future given to `run_until` since the last reading.
    main_unread: Cell<u32>,
    /// The most of these, if nothing else comes between them.
    main_stride: Cell<u32>,
    main_lengths: PollLengths,
    pub(super) main_ns: Counter,
    pub(super) own_ns: Counter,
    pub(super) host_ns: Counter,
}

impl Meter {
    /// Its clock.
    pub(super) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// A meter whose host's account is open.
    pub(super) fn new(clock: Clock) -> Self {
        let now = clock.now();
        Self {
            clock,
            now: Cell::new(now),
            billed_until: Cell::new(now),
            is_stale: Cell::new(false),
            open: Cell::new(Account::Host),
            main_unread: Cell::new(0),
            main_stride: Cell::new(1),
            main_lengths: PollLengths::default(),
            main_ns: Counter::default(),
            own_ns: Counter::default(),
            host_ns: Counter::default(),
        }
    }

    /// The last clock reading.
    #[inline]
    pub(crate) fn now(&self) -> u64 {
        self.now.get()
    }

    /// Reads the clock. If the clock goes back by a little, as between two processors, the reading stands still until the
    /// clock has caught up. (None goes back by much: a [`ManualClock`](crate::ManualClock) that is set back goes on.)
    #[cfg_attr(clockworker_profiling, inline(never))]
    #[cfg_attr(not(clockworker_profiling), inline)]
    pub(crate) fn read(&self) -> u64 {
        self.read_after(false)
    }

    /// The same, after a poll of a task or not.
    #[inline]
    pub(super) fn read_after(&self, poll: bool) -> u64 {
        let now = self.clock.read(poll).max(self.now.get());
        self.now.set(now);
        self.is_stale.set(false);
        now
    }

    /// Looks at the clock without noting it as the last reading, so that no account changes.
    pub(super) fn look(&self) -> u64 {
        self.clock.now().max(self.now.get())
    }

    /// The last clock reading, unless user code may have run since: then a look at the clock.
    #[inline]
    pub(super) fn fresh(&self) -> u64 {
        let by_others = matches!(self.open.get(), Account::Host | Account::Main);
        if by_others || self.is_stale.get() { self.look() } else { self.now() }
    }

    /// The time not billed yet, up to the last reading. Nanoseconds.
    #[inline]
    pub(super) fn unbilled(&self) -> u64 {
        self.now.get() - self.billed_until.get()
    }

    /// Whether time passes by itself, and not only when a [`ManualClock`](crate::ManualClock) is told to advance.
    pub(super) fn runs(&self) -> bool {
        self.clock.runs()
    }

    /// Notes that user code is about to run, or has: the last reading is out of date.
    pub(super) fn mark_stale(&self) {
        self.is_stale.set(true);
    }

    pub(super) fn is_stale(&self) -> bool {
        self.is_stale.get()
    }

    /// Takes the time not billed yet, up to the last reading, for the caller to bill. Nanoseconds.
    #[inline]
    pub(super) fn take(&self) -> u64 {
        let now = self.now.get();
        now - self.billed_until.replace(now)
    }

    /// Opens the next account. If user code ran since the last reading, it ran on the executor's account or on that of the
    /// future given to `run_until`, and is billed there.
    #[inline]
    pub(crate) fn begin(&self, next: Account) {
        if self.is_stale.get() && next != self.open.get() {
            self.bill_stale();
        }
        self.open.set(next);
    }

    #[cold]
    fn bill_stale(&self) {
        match self.open.get() {
            Account::Main => self.bill_main(),
            _ => self.bill_own(),
        }
    }

    /// Bills the time up to now to the executor.
    #[cold]
    pub(super) fn bill_own(&self) {
        self.read();
        self.own_ns.add(self.take());
    }

    /// Bills the time up to now to the host, and opens the executor's account. Returns the time now, and how long the host
    /// had.
    pub(super) fn end_host(&self) -> (u64, u64) {
        let now = self.read();
        let took_ns = self.take();
        self.host_ns.add(took_ns);
        self.open.set(Account::Own);
        (now, took_ns)
    }

    /// Ends a poll of the future given to `run_until`. Its account stays open if the future `goes_on` at once, unless a
    /// reading is due.
    pub(crate) fn end_main(&self, goes_on: bool) {
        let polls = self.main_unread.get() + 1;
        self.main_unread.set(polls);
        if goes_on && polls < self.main_stride.get() {
            self.mark_stale();
        } else {
            self.bill_main();
        }
    }

    /// Bills the time up to now to the future given to `run_until`.
    fn bill_main(&self) {
        self.read();
        let took_ns = self.take();
        self.main_ns.add(took_ns);
        self.main_stride.set(self.main_lengths.note(SAMPLE_NS, self.main_unread.take(), took_ns));
        self.open.set(Account::Own);
    }

    /// Closes the account of a queue that has been billed.
    #[inline]
    pub(super) fn end_slice(&self) {
        self.open.set(Account::Own);
    }

    /// Whether the account of the future given to `run_until` is open.
    pub(super) fn is_main(&self) -> bool {
        self.open.get() == Account::Main
    }

    /// The open account, and the nanoseconds it owes by now.
    pub(super) fn pending(&self) -> (Account, u64) {
        (self.open.get(), self.look() - self.billed_until.get())
    }
}
