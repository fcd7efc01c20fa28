//! Time and who pays for it: the last clock reading, whether it is out of date, and whose account is open.
//!
//! Every nanosecond since the executor was made is billed to exactly one account: a queue, the future given to `run_until`,
//! the executor itself, or the host. Time is billed when an account is closed, up to the last reading. A reading costs as
//! much as a short poll does, so an account may be closed without one, where only work of the executor lies in between: the
//! next account pays for that.

use std::cell::Cell;

use crate::clock::Clock;
use crate::stats::Counter;

/// To whom time is billed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Account {
    /// Between turns.
    Host,
    /// The future given to `run_until` is being polled.
    Main,
    /// Admission of many, and what belongs to nobody else.
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
    /// Up to when time has been billed.
    billed_until: Cell<u64>,
    /// User code ran since the last reading.
    is_stale: Cell<bool>,
    open: Cell<Account>,
    pub(super) main_ns: Counter,
    pub(super) own_ns: Counter,
    pub(super) host_ns: Counter,
}

impl Meter {
    /// Begins with the host's account.
    pub(super) fn new(clock: Clock) -> Self {
        let now = clock.now();
        Self {
            clock,
            now: Cell::new(now),
            billed_until: Cell::new(now),
            is_stale: Cell::new(false),
            open: Cell::new(Account::Host),
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

    /// Reads the clock. One that goes back by a little, as between two processors, stands still until it has
    /// caught up. (None goes back by much: a [`ManualClock`](crate::ManualClock) that is set back goes on.)
    #[cfg_attr(clockworker_profiling, inline(never))]
    #[cfg_attr(not(clockworker_profiling), inline)]
    pub(crate) fn read(&self) -> u64 {
        let now = self.clock.now().max(self.now.get());
        self.now.set(now);
        self.is_stale.set(false);
        now
    }

    /// User code is about to run, or has: the last reading is out of date.
    pub(super) fn mark_stale(&self) {
        self.is_stale.set(true);
    }

    pub(super) fn is_stale(&self) -> bool {
        self.is_stale.get()
    }

    /// Takes what has not been billed up to the last reading.
    #[inline]
    pub(super) fn take(&self) -> u64 {
        let now = self.now.get();
        now - self.billed_until.replace(now)
    }

    /// Opens the next account. If user code ran since the last reading, that was on the executor's own.
    #[inline]
    pub(crate) fn begin(&self, next: Account) {
        if self.is_stale.get() {
            self.bill_own();
        }
        self.open.set(next);
    }

    /// Bills the time up to now to the executor.
    #[cold]
    pub(super) fn bill_own(&self) {
        self.read();
        self.own_ns.add(self.take());
    }

    /// The host has had the time up to now: now it is the executor's turn. What time it is, and how long the host had.
    pub(super) fn end_host(&self) -> (u64, u64) {
        let now = self.read();
        let took_ns = self.take();
        self.host_ns.add(took_ns);
        self.open.set(Account::Own);
        (now, took_ns)
    }

    /// The future given to `run_until` has had the time up to now.
    pub(crate) fn end_main(&self) {
        self.read();
        self.main_ns.add(self.take());
        self.open.set(Account::Own);
    }

    /// The queue has been billed.
    #[inline]
    pub(super) fn end_slice(&self) {
        self.open.set(Account::Own);
    }

    /// The account that is open, and what it owes by now.
    pub(super) fn pending(&self) -> (Account, u64) {
        let now = self.clock.now().max(self.now.get());
        (self.open.get(), now - self.billed_until.get())
    }
}
