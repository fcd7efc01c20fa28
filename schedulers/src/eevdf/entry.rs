//! One queue: where it is in virtual time, and where it is placed when it wakes up.

use core::num::NonZeroU32;

use super::clock::{REACH, is_near};
use super::share::Share;
use super::vtime::{FRACTION_BITS, div_floor};

/// The longest service or request that is counted: 2⁶⁰ ns, 36 years.
pub(super) const MAX_NS: u64 = 1 << 60;

/// Where a queue is that has had no service yet: before any V.
const NOWHERE: i128 = -REACH;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Removed. The next queue that is added takes the place, with what is still owed from it.
    Vacant,
    Asleep,
    /// Without work, but counted with those that have any. See `drained`.
    Drained,
    Runnable,
}

/// The seat of a queue that has none.
pub(super) const NO_SEAT: u32 = u32::MAX;

/// One queue. All points in virtual time are relative to a zero that `Eevdf::rebase` moves.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) state: State,
    /// Tells it from the queues that have had its place before.
    pub(super) generation: NonZeroU32,
    /// Where it is in the tournaments, or `NO_SEAT`.
    pub(super) seat: u32,
    /// Whether it is in the list of those that were drained.
    pub(super) is_listed: bool,
    pub(super) share: Share,
    /// ⌊2⁴⁰ / share⌋: what 1 ns adds to v.
    inverse: u64,
    pub(super) request_ns: u64,
    /// What is left of the current request. Above 0.
    pub(super) left_ns: u64,
    /// v. It never falls but by a change of share.
    pub(super) v: i128,
    /// Valid while it counts, and something is runnable.
    pub(super) deadline: i128,
    /// What it was owed when it fell asleep, as far as it may keep it. In service and not in virtual time, so that a change
    /// of share leaves it as it is. Void in another busy period.
    credit: i128,
    /// The busy period that `credit` is of, see `Eevdf::busy_period`.
    busy_period: u64,
}

impl Entry {
    /// A sleeping queue that has had nothing and is owed nothing.
    pub(super) fn new(generation: NonZeroU32, share: Share, request_ns: u64) -> Self {
        let request_ns = request_ns.clamp(1, MAX_NS);
        Self {
            state: State::Asleep,
            generation,
            seat: NO_SEAT,
            is_listed: false,
            share,
            inverse: share.inverse(),
            request_ns,
            left_ns: request_ns,
            v: NOWHERE,
            deadline: 0,
            credit: 0,
            busy_period: 0,
        }
    }

    #[inline]
    pub(super) fn is_seated(&self) -> bool {
        self.seat != NO_SEAT
    }

    /// Whether it is counted in the sums.
    pub(super) fn counts(&self) -> bool {
        matches!(self.state, State::Runnable | State::Drained)
    }

    /// The seat it has.
    #[inline]
    pub(super) fn seat(&self) -> usize {
        self.seat as usize
    }

    #[inline]
    pub(super) fn w(&self) -> i128 {
        i128::from(self.share.get())
    }

    /// How far `ns` of service move v.
    #[inline]
    pub(super) fn virtual_of(&self, ns: u64) -> i128 {
        (u128::from(ns) * u128::from(self.inverse)) as i128
    }

    #[inline]
    pub(super) fn start_request(&mut self) {
        self.left_ns = self.request_ns;
        self.set_deadline();
    }

    #[inline]
    pub(super) fn set_deadline(&mut self) {
        self.deadline = self.v + self.virtual_of(self.left_ns);
    }

    /// w·(now − v): what it is owed while it is runnable.
    pub(super) fn lag(&self, now: i128) -> i128 {
        (now - self.v) * self.w()
    }

    /// What it is owed while it sleeps: its credit, or less than nothing while V has not reached v.
    pub(super) fn lag_asleep(&self, now: i128, busy_period: u64) -> i128 {
        match self.credit(busy_period) {
            0 => self.lag(now).min(0),
            credit => credit,
        }
    }

    fn credit(&self, busy_period: u64) -> i128 {
        if self.busy_period == busy_period { self.credit } else { 0 }
    }

    /// Falls asleep with at most `most` of what it is owed now; with how much.
    pub(super) fn keep_credit(&mut self, now: i128, most: i128, busy_period: u64) -> i128 {
        self.credit = self.lag(now).clamp(0, most);
        self.busy_period = busy_period;
        self.credit
    }

    /// Takes its credit away.
    pub(super) fn take_credit(&mut self, busy_period: u64) -> i128 {
        let credit = self.credit(busy_period);
        self.credit = 0;
        credit
    }

    /// Moves to where a queue with that credit is to be, but never back.
    pub(super) fn place(&mut self, now: i128, credit: i128) {
        let before = if credit == 0 { 0 } else { div_floor(credit, self.w()) };
        self.v = self.confine((now - before).max(self.v));
    }

    /// Changes its share, and moves it to where it is owed, or owes, as much as before. What is left of its request stays.
    pub(super) fn reshare(&mut self, share: Share, now: i128) {
        let lag = self.lag(now);
        self.share = share;
        self.inverse = share.inverse();
        self.v = self.confine(now - div_floor(lag, self.w()));
        self.set_deadline();
    }

    /// Is charged for service while it sleeps, which uses up its credit first; how much of that.
    pub(super) fn charge_asleep(&mut self, service_ns: u64, now: i128, busy_period: u64) -> i128 {
        let lag = self.lag_asleep(now, busy_period) - self.virtual_of(service_ns) * self.w();
        self.v = self.confine(now - div_floor(lag, self.w()));
        let before = self.credit(busy_period);
        self.credit = lag.max(0);
        self.busy_period = busy_period;
        before - self.credit
    }

    /// Becomes a new queue, which takes over what the one that had this place still owes.
    pub(super) fn succeed(&mut self, generation: NonZeroU32, share: Share, request_ns: u64, now: i128) {
        let owing = self.lag(now).min(0);
        *self = Self::new(generation, share, request_ns);
        if owing < 0 {
            self.v = self.confine(now - div_floor(owing, self.w()));
        }
    }

    /// `v` moved to within reach of zero.
    pub(super) fn confine(&self, v: i128) -> i128 {
        // No share is above 2^20, so what is near is in reach. A division of 128 bits is as long as all else in a wake.
        if is_near(v) {
            return v;
        }
        let reach = REACH / self.w();
        v.clamp(-reach, reach)
    }

    /// Sees zero moved to `zero`.
    pub(super) fn rebase(&mut self, zero: i128) {
        let v = self.v - zero;
        let v = if self.counts() { self.confine(v) } else { v.clamp(-REACH, REACH) };
        self.deadline += v - self.v;
        self.v = v;
    }
}

/// The most service that sleeping queues keep of what they are owed: two turns, of the one that falls asleep or the longest
/// that any queue has had.
pub(super) fn most_credit(request_ns: u64, longest_turn_ns: u64) -> i128 {
    2 * (i128::from(request_ns.max(longest_turn_ns)) << FRACTION_BITS)
}
