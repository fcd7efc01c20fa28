//! [`Eevdf`]: which queue runs next.

use core::fmt;

use crate::tournament::Tournament;
use crate::vtime::{FRACTION_BITS, Lag, Share, VirtualTime, div_floor};

// # The numbers stay inside an i128
//
// Symbols as in the documentation of `Eevdf`; units of virtual time throughout; z is the zero point.
//
// - A service or request is cut to 2^60 ns (`MAX_NS`), and inverse_i · w_i ≤ 2^40, so one charge moves v_i by at most
//   2^100 and w_i·v_i by at most 2^100. Saved lag and requests are below 2^102 times w_i in the same way.
// - `confine` keeps |w_i·(v_i − z)| ≤ 2^101 (`REACH`). Time on one thread cannot get there: 2^64 ns is 584 years. It
//   takes a caller who charges what was not served, and is then merely treated as one who charged less.
// - There are at most 2^24 queues (`MAX_QUEUES`), hence |S| ≤ 2^125, and 2^126 with a charge in flight; W ≤ 2^44.
// - Eligibility needs (v_i − z)·W. If |v_i − z| < 2^80 (`NEAR`), this is below 2^124. Otherwise the product is checked,
//   and where it overflows it is beyond any S, so its sign decides: still exact.
// - `near_v` is within `NEAR`, so S − near_v·W is below 2^127.
// - V − z is kept below 2^79 by `rebase`, which moves z to V. At share 1 alone that is due after 2^39 ns, 9 minutes, of
//   service, so its O(n) is nothing per charge. Only a queue far from V is outside `NEAR`.
// - Placement scales a lag of at most 2^102 by (W + w)/W, as vl + ⌊vl/W⌋·w + ⌊(vl mod W)·w/W⌋: below 2^123.

/// The longest service or request that is counted: 2⁶⁰ ns, 36 years.
const MAX_NS: u64 = 1 << 60;

/// The greatest distance of w·v from w·zero.
const REACH: i128 = 1 << 101;

/// Distances of v from zero below this are multiplied without a check.
const NEAR: i128 = 1 << 80;

/// Where only one in so many seats is taken, and there are more than a few, the ranks are closed.
const SPARSE: usize = 4;

/// The most queues at a time.
const MAX_QUEUES: usize = 1 << 24;

/// A queue, as [`Eevdf`] knows it: a small dense index, reused after [`Eevdf::remove`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QueueId(u32);

impl QueueId {
    /// The dense index, usable as an index into a `Vec`.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Debug for QueueId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "queue {}", self.0)
    }
}

/// Earliest eligible virtual deadline first: proportional shares among queues, with a bound on how far any queue is from
/// what it is owed.
///
/// After Stoica and Abdel-Wahab, *Earliest Eligible Virtual Deadline First*, TR-95-22, Old Dominion University 1995,
/// with the placement and reweighting rules of Linux (`kernel/sched/fair.c`, 6.6 and later).
///
/// # How it decides
///
/// A queue is *eligible* if it has received no more than it is owed. Of the eligible queues the one with the earliest
/// *virtual deadline* is picked, ties by lower id. A deadline is set when a *request* begins and stands until the
/// request has been served, so a queue with a smaller request is served earlier and oftener, in smaller turns, at the
/// same long-run share.
///
/// # Formulas and fields
///
/// | Symbol | Meaning | Formula | Where |
/// |---|---|---|---|
/// | w_i | share of queue i | | `Entry::share` |
/// | v_i | its virtual runtime: service received, per share | grows by s·⌊2⁴⁰/w_i⌋ for s ns | `Entry::v` |
/// | W | shares of the runnable queues | Σ w_i | `shares` |
/// | S | | Σ w_i·v_i over the runnable | `sum` |
/// | V | virtual time: where an ideal server has every queue | S/W; where nothing is runnable, the last V | [`virtual_time`](Eevdf::virtual_time), `idle_v` |
/// | lag_i | service that i is owed | w_i·(V − v_i) | [`lag`](Eevdf::lag); asleep: `Entry::saved_lag` |
/// | eligible | | lag_i ≥ 0 ⇔ v_i·W ≤ S | [`is_eligible`](Eevdf::is_eligible) |
/// | r_i | request: service asked for per turn | | `Entry::request_ns` |
/// | | what is left of it | r_i at the start, minus each service | `Entry::left_ns` |
/// | d_i | virtual deadline | v_i + r_i/w_i at the start of a request, then fixed | `Entry::deadline` |
///
/// # Invariants
///
/// - Over the runnable queues Σ lag_i = 0, by the definition of V. Joining, leaving and re-sharing keep it so: whoever
///   comes or goes with a lag shifts V for those that stay.
/// - The least v_i is at most V, so while anything is runnable something is eligible.
/// - A runnable queue is in exactly one of two tournaments: `waiting` (by v) or `eligible` (by deadline).
///   [`pick`](Eevdf::pick) moves what has become eligible from the one to the other, and moves the first back where V has
///   fallen since.
/// - In a steady interval, one that begins with no queue owed anything and in which none comes, goes or changes its share,
///   with s_i the longest poll of queue i,
///   −(1 − w_i/W)·(r_i + s_i) ≤ lag_i ≤ (w_i/W)·Σ_{j≠i} (max(r_j, r_i·w_j/w_i) + s_j).
///   (TR-95-22 proves the like for service in quanta. An executor cannot cut a poll short, so each of the others may
///   overrun its request by a poll before i is served. docs/BOUNDS.md derives it; the tests hold it to this.)
///
/// # Sleeping and waking
///
/// What a queue is owed, and what it owes, survives its sleep:
///
/// - **Owed** (lag > 0): kept, but at most two requests' worth, so nothing can be hoarded.
/// - **Owing** (lag < 0): kept, and worked off while V passes: the queue is placed where it was, or at V once V is past
///   that point. Sleeping for a moment gains nothing; sleeping long is forgiven, as there is nothing left to work off.
/// - A queue that joins shifts V towards itself, so for its lag to be *vl* afterwards it is placed at V − vl·(W + w)/W.
/// - Where nothing is runnable a queue is placed at V: an idle CPU has nothing to be fair about.
/// - Waking begins a new request.
///
/// # Costs
///
/// For n runnable queues: [`charge`](Eevdf::charge) is two multiplications, and O(log n) where it ends a request.
/// [`pick`](Eevdf::pick) is O(log n), amortised over charges, and does no work at all while one queue is runnable.
/// [`wake`](Eevdf::wake) and [`sleep`](Eevdf::sleep) are O(log n) and divide; a sleep is O(n) where three queues in four
/// have fallen asleep since the last that was. About once per nine minutes of service all queues are renumbered, in O(n)
/// for n queues in all.
///
/// # Wrong calls
///
/// No method panics on a stale or misplaced id: unknown ids, a wake of the runnable, a sleep of the sleeping are
/// ignored, and questions about unknown ids are answered with a neutral value that each method names. An id of a removed
/// queue may name a newer queue, as its index is reused.
///
/// # Example
///
/// ```
/// use clockworker_schedulers::{Eevdf, Share};
///
/// let mut eevdf = Eevdf::new();
/// let foreground = eevdf.add(Share::new(3).unwrap(), 100_000);
/// let background = eevdf.add(Share::new(1).unwrap(), 100_000);
/// eevdf.wake(foreground);
/// eevdf.wake(background);
///
/// let mut foreground_ns = 0;
/// for _ in 0..4_000 {
///     let queue = eevdf.pick().unwrap();
///     eevdf.charge(queue, 10_000); // a poll of 10 µs
///     if queue == foreground {
///         foreground_ns += 10_000;
///     }
/// }
/// assert_eq!(foreground_ns, 30_000_000); // three quarters of 40 ms
/// ```
#[derive(Clone, Default)]
pub struct Eevdf {
    entries: Vec<Entry>,
    /// Indices of removed queues, to be reused.
    vacant: Vec<u32>,
    /// Runnable queues by deadline that were eligible when put here. Only the first is known to be so still, and only
    /// during a pick.
    eligible: Tournament,
    /// The other runnable queues, by v as it was when put here.
    waiting: Tournament,
    /// How many are in either.
    runnable: usize,
    /// The seats in use, in both: those of the runnable queues, and `free_seats`.
    seats: usize,
    free_seats: Vec<u32>,
    /// W.
    shares: u64,
    /// S.
    sum: i128,
    /// V while nothing is runnable.
    idle_v: i128,
    /// V as it was lately, within `NEAR`. Any point would do; from a near one the way to V is a division of 64 bits.
    near_v: i128,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Vacant,
    Asleep,
    Runnable,
}

/// One queue. All points in virtual time are relative to a zero that `Eevdf::rebase` moves.
#[derive(Clone, Debug)]
struct Entry {
    state: State,
    /// Where it is in the tournaments. Valid while runnable.
    seat: u32,
    share: Share,
    /// ⌊2⁴⁰ / share⌋: what 1 ns adds to v.
    inverse: u64,
    request_ns: u64,
    /// What is left of the current request. Above 0.
    left_ns: u64,
    /// Valid while runnable.
    v: i128,
    /// Valid while runnable.
    deadline: i128,
    /// w·(V − v), from just before the queue fell asleep. In service and not in virtual time, so that a change of share
    /// leaves it as it is.
    saved_lag: i128,
    /// V just after the queue fell asleep, or when it was added.
    slept_at: i128,
}

impl Entry {
    /// A queue that fell asleep, owed nothing, when V was `now`.
    fn new(share: Share, request_ns: u64, now: i128) -> Self {
        let request_ns = request_ns.clamp(1, MAX_NS);
        Self {
            state: State::Asleep,
            seat: 0,
            share,
            inverse: share.inverse(),
            request_ns,
            left_ns: request_ns,
            v: 0,
            deadline: 0,
            saved_lag: 0,
            slept_at: now,
        }
    }

    #[inline]
    fn seat(&self) -> usize {
        self.seat as usize
    }

    #[inline]
    fn w(&self) -> i128 {
        i128::from(self.share.get())
    }

    /// How far `ns` of service move v.
    #[inline]
    fn virtual_of(&self, ns: u64) -> i128 {
        (u128::from(ns) * u128::from(self.inverse)) as i128
    }

    #[inline]
    fn start_request(&mut self) {
        self.left_ns = self.request_ns;
        self.set_deadline();
    }

    #[inline]
    fn set_deadline(&mut self) {
        self.deadline = self.v + self.virtual_of(self.left_ns);
    }

    /// The most lag that survives a sleep.
    fn max_saved_lag(&self) -> i128 {
        2 * (i128::from(self.request_ns) << FRACTION_BITS)
    }

    /// `v` moved to within reach of zero.
    fn confine(&self, v: i128) -> i128 {
        // No share is above 2^20, so what is near is in reach. A division of 128 bits is as long as all else in a wake.
        if is_near(v) {
            return v;
        }
        let reach = REACH / self.w();
        v.clamp(-reach, reach)
    }
}

#[inline]
fn is_near(v: i128) -> bool {
    (-NEAR..NEAR).contains(&v)
}

impl Eevdf {
    /// Makes one with no queues.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes one whose virtual clock starts at `raw`, to test what happens far from zero.
    #[doc(hidden)]
    pub fn starting_at(raw: i128) -> Self {
        Self { idle_v: raw.clamp(-REACH, REACH), ..Self::default() }
    }

    /// Adds a queue, asleep, owed nothing, that asks for `request_ns` nanoseconds of service per turn.
    ///
    /// The request is taken as 1 ns if it is 0, and as 2⁶⁰ ns (36 years) if it is longer.
    ///
    /// # Panics
    ///
    /// If there are 16,777,216 queues already.
    pub fn add(&mut self, share: Share, request_ns: u64) -> QueueId {
        let entry = Entry::new(share, request_ns, self.v_now());
        if let Some(index) = self.vacant.pop() {
            self.entries[index as usize] = entry;
            return QueueId(index);
        }
        assert!(self.entries.len() < MAX_QUEUES, "more than {MAX_QUEUES} queues");
        self.entries.push(entry);
        self.make_room();
        QueueId(self.entries.len() as u32 - 1)
    }

    /// Reserves a seat for every queue, so that no wake or sleep allocates.
    fn make_room(&mut self) {
        let seats = self.entries.len();
        self.eligible.reserve(seats);
        self.waiting.reserve(seats);
        self.free_seats.reserve(seats - self.free_seats.len());
    }

    /// Removes a queue, runnable or not. Its id may be reused from now on, and what it was owed is forgotten.
    pub fn remove(&mut self, id: QueueId) {
        match self.state(id) {
            State::Vacant => return,
            State::Asleep => {}
            State::Runnable => self.leave(id),
        }
        self.entries[id.index()].state = State::Vacant;
        self.vacant.push(id.0);
    }

    /// Makes a sleeping queue runnable, with the lag it fell asleep with (see the type's docs), and begins a new
    /// request.
    pub fn wake(&mut self, id: QueueId) {
        if self.state(id) != State::Asleep {
            return;
        }
        let now = self.note_v();
        let placed = self.placed_lag(&self.entries[id.index()], now);
        let entry = &mut self.entries[id.index()];
        entry.v = entry.confine(now - placed);
        entry.start_request();
        self.join(id);
    }

    /// Makes a runnable queue sleep, and saves its lag.
    pub fn sleep(&mut self, id: QueueId) {
        if self.state(id) != State::Runnable {
            return;
        }
        // V is where a lone queue is, so there is nothing to divide.
        let lag = if self.runnable == 1 { 0 } else { self.lag(id).raw() };
        self.leave(id);
        let now = self.note_v();
        let entry = &mut self.entries[id.index()];
        entry.saved_lag = lag.min(entry.max_saved_lag());
        entry.slept_at = now;
    }

    /// Charges a queue for service received, and begins its next request where this one has been served.
    ///
    /// More than 2⁶⁰ ns count as 2⁶⁰. A sleeping queue may be charged too: it counts as if charged just before it fell
    /// asleep.
    #[inline(always)] // calls of this and of a pick were 51 of 711 instructions in a turn of one poll
    pub fn charge(&mut self, id: QueueId, service_ns: u64) {
        let Some(entry) = self.entries.get_mut(id.index()) else { return };
        let service_ns = service_ns.min(MAX_NS);
        if entry.state != State::Runnable {
            let lag = entry.saved_lag - entry.virtual_of(service_ns) * entry.w();
            entry.saved_lag = lag.max(-REACH);
            return;
        }
        let moved = entry.virtual_of(service_ns);
        entry.v += moved;
        self.sum += moved * entry.w();
        let served = service_ns >= entry.left_ns;
        if served {
            entry.start_request();
        } else {
            entry.left_ns -= service_ns;
        }
        let (v, deadline, seat) = (entry.v, entry.deadline, entry.seat());
        // A key in `waiting` may stay: it is then too low, so the queue is moved to `eligible` too soon, and the pick that
        // finds it there moves it back.
        if served && self.eligible.is_taken(seat) {
            self.eligible.put(seat, deadline, id.0);
        }
        if v >= NEAR {
            self.draw_near(id);
        }
    }

    /// The queue to serve next: of the eligible ones that with the earliest virtual deadline, ties by lower id. `None` if
    /// and only if none is runnable.
    ///
    /// It takes nothing out: asked again with nothing changed, it gives the same answer.
    #[inline]
    pub fn pick(&mut self) -> Option<QueueId> {
        if self.runnable() > 1 {
            return self.pick_contended();
        }
        if self.runnable == 0 {
            return None;
        }
        let (_, id) = self.eligible.peek().or_else(|| self.waiting.peek())?;
        Some(QueueId(id))
    }

    /// Whether `woken` should cut the slice of `running` short: it is eligible and its virtual deadline is earlier. O(1).
    ///
    /// That `running` may have ceased to be eligible does not count: it may finish the request that it was picked for.
    /// `false` where either is not runnable.
    #[inline]
    pub fn preempts(&self, woken: QueueId, running: QueueId) -> bool {
        if !self.is_eligible(woken) || !self.is_runnable(running) {
            return false;
        }
        (self.entries[woken.index()].deadline, woken) < (self.entries[running.index()].deadline, running)
    }

    /// Changes a queue's share.
    ///
    /// Its lag, in service, stays what it was, and so does what is left of its request; the others' V shifts by what it
    /// takes to keep Σ lag = 0.
    pub fn set_share(&mut self, id: QueueId, share: Share) {
        let Some(entry) = self.entries.get(id.index()) else { return };
        let (state, old) = (entry.state, entry.share);
        if state == State::Vacant || share == old {
            return;
        }
        let lag = self.lag(id).raw();
        if state == State::Runnable {
            self.leave(id);
        }
        let entry = &mut self.entries[id.index()];
        entry.share = share;
        entry.inverse = share.inverse();
        if state == State::Runnable {
            self.rejoin(id, lag);
        }
    }

    /// Changes a queue's request, from its next request on: a deadline once given stands.
    ///
    /// Clamped as in [`add`](Eevdf::add).
    pub fn set_request(&mut self, id: QueueId, request_ns: u64) {
        if let Some(entry) = self.entries.get_mut(id.index()) {
            entry.request_ns = request_ns.clamp(1, MAX_NS);
        }
    }

    /// What is left of the current request, in nanoseconds: the slice to grant. Above 0 while runnable; 0 if unknown.
    #[inline]
    pub fn left_ns(&self, id: QueueId) -> u64 {
        self.known(id).map_or(0, |entry| entry.left_ns)
    }

    /// The service the queue is owed, w·(V − v); if asleep, what it saved, before any of that is worked off; zero if
    /// unknown.
    ///
    /// V is rounded down to a unit of virtual time, so the result is low by less than w units: 10⁻⁶ ns at most.
    pub fn lag(&self, id: QueueId) -> Lag {
        match self.known(id) {
            Some(entry) if entry.state == State::Runnable => {
                Lag::from_raw((self.v_now() - entry.v) * entry.w())
            }
            Some(entry) => Lag::from_raw(entry.saved_lag),
            None => Lag::ZERO,
        }
    }

    /// Whether the queue is runnable and has received no more than it is owed. Exact.
    #[inline]
    pub fn is_eligible(&self, id: QueueId) -> bool {
        self.is_runnable(id) && self.has_reached(self.entries[id.index()].v)
    }

    /// Whether the queue is runnable.
    #[inline]
    pub fn is_runnable(&self, id: QueueId) -> bool {
        self.state(id) == State::Runnable
    }

    /// The number of runnable queues.
    #[inline]
    pub fn runnable(&self) -> usize {
        self.runnable
    }

    /// The queue's share; `None` if unknown.
    pub fn share(&self, id: QueueId) -> Option<Share> {
        self.known(id).map(|entry| entry.share)
    }

    /// The queue's request in nanoseconds, as it will be from the next one on; 0 if unknown.
    pub fn request_ns(&self, id: QueueId) -> u64 {
        self.known(id).map_or(0, |entry| entry.request_ns)
    }

    /// V, rounded down; while nothing is runnable, the last V.
    pub fn virtual_time(&self) -> VirtualTime {
        VirtualTime::from_raw(self.v_now())
    }

    /// The queue's virtual runtime v; `None` unless it is runnable.
    pub fn virtual_runtime(&self, id: QueueId) -> Option<VirtualTime> {
        let entry = self.known(id)?;
        (entry.state == State::Runnable).then_some(VirtualTime::from_raw(entry.v))
    }

    /// The queue's virtual deadline; `None` unless it is runnable.
    pub fn virtual_deadline(&self, id: QueueId) -> Option<VirtualTime> {
        let entry = self.known(id)?;
        (entry.state == State::Runnable).then_some(VirtualTime::from_raw(entry.deadline))
    }

    #[inline]
    fn state(&self, id: QueueId) -> State {
        self.entries.get(id.index()).map_or(State::Vacant, |entry| entry.state)
    }

    #[inline]
    fn known(&self, id: QueueId) -> Option<&Entry> {
        self.entries.get(id.index()).filter(|entry| entry.state != State::Vacant)
    }

    /// V, rounded down.
    fn v_now(&self) -> i128 {
        match self.shares {
            0 => self.idle_v,
            // S less its part up to `near_v`, which is a whole multiple of W.
            shares => {
                let shares = i128::from(shares);
                self.near_v + div_floor(self.sum - self.near_v * shares, shares)
            }
        }
    }

    /// V, from where the way to the next V will be short.
    fn note_v(&mut self) -> i128 {
        let now = self.v_now();
        self.near_v = if is_near(now) { now } else { 0 };
        now
    }

    /// Whether V has reached `v`, that is v·W ≤ S: exact, and without a division.
    #[inline]
    fn has_reached(&self, v: i128) -> bool {
        if is_near(v) { v * i128::from(self.shares) <= self.sum } else { self.has_reached_far(v) }
    }

    #[cold]
    fn has_reached_far(&self, v: i128) -> bool {
        // A product that overflows is beyond any S.
        v.checked_mul(i128::from(self.shares)).map_or(v < 0, |product| product <= self.sum)
    }

    #[inline(always)]
    fn pick_contended(&mut self) -> Option<QueueId> {
        while let Some((v, id)) = self.waiting.peek() {
            if !self.has_reached(v) {
                break;
            }
            let entry = &self.entries[id as usize];
            self.waiting.clear(entry.seat());
            self.eligible.put(entry.seat(), entry.deadline, id);
        }
        // Now everything in `waiting` is ineligible; in `eligible`, V may have fallen below the top since it was put
        // there, or v have been charged past V.
        while let Some((_, id)) = self.eligible.peek() {
            let entry = &self.entries[id as usize];
            if self.has_reached(entry.v) {
                return Some(QueueId(id));
            }
            self.eligible.clear(entry.seat());
            self.waiting.put(entry.seat(), entry.v, id);
        }
        // Not reached: the least v is at most V.
        self.waiting.peek().map(|(_, id)| QueueId(id))
    }

    /// V − v as it is to be before the queue joins, for it to have its saved lag afterwards.
    fn placed_lag(&self, entry: &Entry, now: i128) -> i128 {
        if self.shares == 0 {
            return 0;
        }
        let placed = self.before_joining(entry.saved_lag, entry.share);
        if placed >= 0 {
            return placed;
        }
        // Worked off after scaling, not before: had the queue stayed, V would have had to pass as far as v, which is
        // (W + w)/W times the lag it left with, and a large w would otherwise be forgiven in next to no time.
        let passed = now.saturating_sub(entry.slept_at).max(0);
        placed.saturating_add(passed).min(0)
    }

    /// vl·(W + w)/W for a lag w·vl, with W the shares without the queue, above 0.
    fn before_joining(&self, lag: i128, share: Share) -> i128 {
        let (w, shares) = (i128::from(share.get()), i128::from(self.shares));
        let vl = div_floor(lag, w);
        if let Ok(vl) = i64::try_from(vl)
            && let Some(product) = vl.checked_mul(w as i64)
        {
            return i128::from(vl) + div_floor(i128::from(product), shares);
        }
        let whole = div_floor(vl, shares);
        vl + whole * w + div_floor((vl - whole * shares) * w, shares)
    }

    /// Counts a queue in whose v and deadline are set.
    fn join(&mut self, id: QueueId) {
        let seat = self.take_seat();
        let entry = &mut self.entries[id.index()];
        entry.state = State::Runnable;
        entry.seat = seat as u32;
        let (v, deadline) = (entry.v, entry.deadline);
        self.sum += v * entry.w();
        self.shares += u64::from(entry.share.get());
        self.runnable += 1;
        if self.has_reached(v) {
            self.eligible.put(seat, deadline, id.0);
        } else {
            self.waiting.put(seat, v, id.0);
        }
        if !is_near(v) {
            self.draw_near(id);
        }
    }

    /// Counts a runnable queue out.
    fn leave(&mut self, id: QueueId) {
        let entry = &mut self.entries[id.index()];
        let seat = entry.seat();
        entry.state = State::Asleep;
        self.sum -= entry.v * entry.w();
        self.shares -= u64::from(entry.share.get());
        if self.shares == 0 {
            self.idle_v = entry.v;
        }
        let tournament = if self.eligible.is_taken(seat) { &mut self.eligible } else { &mut self.waiting };
        tournament.clear(seat);
        self.free_seats.push(seat as u32);
        self.runnable -= 1;
        if self.seats > SPARSE * self.runnable.max(SPARSE) {
            self.close_ranks();
        }
    }

    /// A seat for a queue that becomes runnable.
    fn take_seat(&mut self) -> usize {
        if let Some(seat) = self.free_seats.pop() {
            return seat as usize;
        }
        self.seats += 1;
        self.eligible.resize(self.seats);
        self.waiting.resize(self.seats);
        self.seats - 1
    }

    /// Moves everybody to the first seats. So many queues have left since the last time that it is nothing for each.
    #[cold]
    fn close_ranks(&mut self) {
        let mut seats = 0;
        for seat in 0..self.seats {
            for tournament in [&mut self.eligible, &mut self.waiting] {
                if let Some(id) = tournament.shift(seat, seats) {
                    self.entries[id as usize].seat = seats as u32;
                    seats += 1;
                }
            }
        }
        self.seats = seats;
        self.free_seats.clear();
        self.eligible.resize(seats);
        self.waiting.resize(seats);
    }

    /// Counts a queue in with `lag`, keeping what is left of its request.
    fn rejoin(&mut self, id: QueueId, lag: i128) {
        let now = self.v_now();
        let share = self.entries[id.index()].share;
        let placed = if self.shares == 0 { 0 } else { self.before_joining(lag, share) };
        let entry = &mut self.entries[id.index()];
        entry.v = entry.confine(now - placed);
        entry.set_deadline();
        self.join(id);
    }

    /// Deals with a runnable queue that is far from zero: usually because V is, so that it is time to rebase.
    #[cold]
    fn draw_near(&mut self, id: QueueId) {
        let now = self.v_now();
        let entry = &self.entries[id.index()];
        if now.abs() >= NEAR / 2 || entry.confine(entry.v) != entry.v {
            self.rebase(now);
        }
    }

    /// Moves zero to `zero`, for all queues: order and lags stay.
    fn rebase(&mut self, zero: i128) {
        (self.sum, self.near_v) = (0, 0);
        for entry in &mut self.entries {
            // A sleeper is as far from zero as it slept long; that it slept longer than REACH makes no difference.
            entry.slept_at = (entry.slept_at - zero).clamp(-REACH, REACH);
            if entry.state == State::Runnable {
                let v = entry.confine(entry.v - zero);
                entry.deadline += v - entry.v;
                entry.v = v;
                self.sum += v * entry.w();
            }
        }
        let entries = &self.entries;
        self.eligible.rekey(|id| entries[id as usize].deadline);
        self.waiting.rekey(|id| entries[id as usize].v);
    }
}

impl fmt::Debug for Eevdf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Eevdf")
            .field("queues", &(self.entries.len() - self.vacant.len()))
            .field("runnable", &self.runnable())
            .field("shares", &self.shares)
            .field("virtual_time", &self.v_now())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(share: u32) -> Share {
        Share::new(share).unwrap()
    }

    #[test]
    fn a_product_beyond_i128_decides_by_its_sign() {
        let mut eevdf = Eevdf::new();
        let far = eevdf.add(share(1), 1);
        let others: Vec<QueueId> = (0..200).map(|_| eevdf.add(Share::MAX, 1)).collect();
        eevdf.wake(far);
        others.iter().for_each(|&id| eevdf.wake(id));
        eevdf.charge(far, u64::MAX);
        let v = eevdf.entries[far.index()].v;
        assert!(v.checked_mul(i128::from(eevdf.shares)).is_none(), "or else this tests nothing");
        assert!(!eevdf.is_eligible(far));
        assert!(others.iter().all(|&id| eevdf.is_eligible(id)));
        assert_eq!(eevdf.pick(), Some(others[0]));
    }

    #[test]
    fn a_negative_product_beyond_i128_decides_by_its_sign_too() {
        let mut eevdf = Eevdf::new();
        let (far, other) = (eevdf.add(share(1), u64::MAX), eevdf.add(share(1), 1));
        let others: Vec<QueueId> = (0..200).map(|_| eevdf.add(Share::MAX, 1)).collect();
        eevdf.wake(far);
        eevdf.wake(other);
        (0..8).for_each(|_| eevdf.charge(other, u64::MAX));
        eevdf.sleep(far);
        eevdf.remove(other);
        others.iter().for_each(|&id| eevdf.wake(id));
        eevdf.wake(far);
        let v = eevdf.entries[far.index()].v;
        assert!(v.checked_mul(i128::from(eevdf.shares)).is_none(), "or else this tests nothing");
        assert!(eevdf.is_eligible(far));
    }

    #[test]
    fn long_lags_are_scaled_as_exactly_as_short_ones() {
        let lags = [1, 7 << 40, 1 << 62, i128::from(i64::MAX), 10 << 62, (3 << 90) + 12_345, 1 << 101];
        for others in [1, 3, 1_000_000] {
            let mut eevdf = Eevdf::new();
            let id = eevdf.add(share(others), 1);
            eevdf.wake(id);
            for (w, lag) in [1, 2, 7, 999_983].into_iter().flat_map(|w| lags.map(|lag| (w, lag))) {
                for lag in [lag, -lag] {
                    let vl = lag.div_euclid(i128::from(w));
                    let scaled = vl + (vl * i128::from(w)).div_euclid(i128::from(others));
                    assert_eq!(eevdf.before_joining(lag, share(w)), scaled, "{w} {others} {lag}");
                }
            }
        }
    }

    #[test]
    fn ranks_are_closed_where_more_than_three_in_four_have_left_and_not_before() {
        let mut eevdf = Eevdf::new();
        let ids: Vec<QueueId> = (0..100).map(|_| eevdf.add(share(1), 1)).collect();
        ids.iter().for_each(|&id| eevdf.wake(id));
        ids[25..].iter().for_each(|&id| eevdf.sleep(id));
        assert_eq!((eevdf.runnable, eevdf.seats), (25, 100));
        eevdf.sleep(ids[0]);
        assert_eq!((eevdf.runnable, eevdf.seats), (24, 24));
        ids[2..].iter().for_each(|&id| eevdf.sleep(id));
        assert_eq!(eevdf.runnable, 1);
        assert!(eevdf.seats <= SPARSE * SPARSE, "few seats are always enough");
        assert_eq!(eevdf.pick(), Some(ids[1]));
    }

    #[test]
    fn a_small_queue_that_runs_away_from_large_ones_stays_in_reach() {
        let mut eevdf = Eevdf::new();
        let far = eevdf.add(share(1), 1);
        let others: Vec<QueueId> = (0..20).map(|_| eevdf.add(Share::MAX, 1)).collect();
        eevdf.wake(far);
        others.iter().for_each(|&id| eevdf.wake(id));
        for _ in 0..8 {
            eevdf.charge(far, u64::MAX);
            assert!(eevdf.v_now() < NEAR / 2, "or else zero is moved for another reason");
            assert!(eevdf.entries[far.index()].v <= REACH);
        }
    }

    #[test]
    fn no_sequence_of_charges_leaves_the_reach() {
        for w in [1, 7, 1_000_000] {
            let mut eevdf = Eevdf::new();
            let ids = [w, 3, 1].map(|w| eevdf.add(share(w), 1));
            ids.iter().for_each(|&id| eevdf.wake(id));
            for _ in 0..50 {
                eevdf.charge(ids[0], u64::MAX);
                let entry = &eevdf.entries[ids[0].index()];
                assert!(entry.v * entry.w() <= REACH);
                let sum: i128 = eevdf.entries.iter().map(|entry| entry.v * entry.w()).sum();
                assert_eq!(eevdf.sum, sum);
                assert_ne!(eevdf.pick(), Some(ids[0]));
            }
        }
    }
}
