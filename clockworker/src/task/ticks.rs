//! [`Ticks`]: the time at which a task becomes ready, for those who ask how long it waits.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use crate::base::Clock;

/// A time that nobody took.
pub(crate) const UNKNOWN: u64 = u64::MAX;

/// Stamps what is woken or spawned, on any thread. Times are nanoseconds since the executor was made.
///
/// All orderings are Relaxed: the numbers are all there is, and what is published with a wake is published by its task's state.
#[derive(Debug)]
pub(crate) struct Ticks {
    clock: Clock,
    /// The executor's last clock reading.
    last: AtomicU64,
    stamping: AtomicU8,
}

/// How exactly tasks are stamped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Stamping {
    /// Not at all.
    Off,
    /// With the executor's last clock reading: while it runs, that is some 2 µs ago at most, or one poll.
    Last,
    /// With a reading of their own.
    Read,
}

impl Ticks {
    pub(crate) fn new(clock: Clock) -> Self {
        let last = AtomicU64::new(clock.now());
        Self { clock, last, stamping: AtomicU8::new(Stamping::Off as u8) }
    }

    pub(crate) fn set_stamping(&self, stamping: Stamping) {
        self.stamping.store(stamping as u8, Ordering::Relaxed);
    }

    /// Notes the executor's last clock reading.
    #[inline]
    pub(crate) fn note(&self, now: u64) {
        self.last.store(now, Ordering::Relaxed);
    }

    /// The executor's last clock reading.
    #[inline]
    pub(crate) fn last(&self) -> u64 {
        self.last.load(Ordering::Relaxed)
    }

    /// The time of what the owner thread wakes or spawns now.
    #[inline]
    fn here(&self) -> u64 {
        match self.stamping.load(Ordering::Relaxed) {
            OFF => UNKNOWN,
            LAST => self.last(),
            _ => self.read(),
        }
    }

    /// The time of what another thread wakes or spawns now.
    fn elsewhere(&self) -> u64 {
        if self.stamping.load(Ordering::Relaxed) == OFF { UNKNOWN } else { self.clock.now() }
    }

    #[cold]
    fn read(&self) -> u64 {
        // As the meter's readings: none goes back.
        self.clock.now().max(self.last.load(Ordering::Relaxed))
    }
}

/// When a task became ready last.
#[derive(Debug)]
pub(super) struct Stamp(AtomicU64);

impl Stamp {
    /// That of a task which the owner thread spawns.
    #[inline]
    pub(super) fn here(ticks: &Ticks) -> Self {
        Self(AtomicU64::new(ticks.here()))
    }

    /// That of a task which another thread spawns.
    pub(super) fn elsewhere(ticks: &Ticks) -> Self {
        Self(AtomicU64::new(ticks.elsewhere()))
    }

    #[inline]
    pub(super) fn set_here(&self, ticks: &Ticks) {
        self.set(ticks.here());
    }

    pub(super) fn set_elsewhere(&self, ticks: &Ticks) {
        self.set(ticks.elsewhere());
    }

    /// The executor takes in what another thread stamped: at its last reading at the latest, as it counts from there what it does
    /// next. It has not read the clock since.
    pub(super) fn take_in(&self, ticks: &Ticks) {
        let at = self.get();
        if at != UNKNOWN {
            self.set(at.min(ticks.last()));
        }
    }

    #[inline]
    pub(super) fn set(&self, now: u64) {
        self.0.store(now, Ordering::Relaxed);
    }

    /// The time, or [`UNKNOWN`].
    #[inline]
    pub(super) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

const OFF: u8 = Stamping::Off as u8;
const LAST: u8 = Stamping::Last as u8;
