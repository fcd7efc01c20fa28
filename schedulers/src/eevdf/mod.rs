//! [`Eevdf`]: which queue runs next.
//!
//! `clock` is virtual time, `entry` a queue and where it is placed, `order` who is next; `drained` are queues that have just run out
//! of work, `zero` keeps the numbers small, `questions` change nothing.
//!
//! # Why a queue gets what docs/BOUNDS.md says
//!
//! K, B, P and o are that document's, the rest are [`Eevdf`]'s symbols. f is a queue that always has work, in a stretch in
//! which t goes to queues.
//!
//! A queue *counts* if it is runnable, or *drained*: it has no work, and has not fallen asleep (`drained`) yet. Write Λ for
//! the credits of the sleeping queues, S for Σ w_i·v_i over those that count, W_R for their shares, M = S/W_R for their mean.
//! z_j is what queue j is owed: w_j·(V − v_j) if it counts, or is asleep with v_j > V; its credit if it sleeps with one; else
//! 0. H = Σ z_j over all queues.
//!
//! 1. **V never falls**, and is (S − Λ)/W_R whenever it moves. That is its definition (`VirtualClock`).
//! 2. **Service is accounted for.** While V moves by dV and j receives ds, dz_j ≤ w_j·dV − ds, with equality for a queue that
//!    counts. A sleeping debtor's z rises by w_j·dV, up to 0; a credit stays. Falling asleep cuts z_j to at most K. Waking
//!    leaves it: a drained queue stays where it is, another is placed at V − z_j/w_j. A change of share leaves it, and so
//!    does taking over a place. So in any stretch j receives at most ∫ w_j dV + z_j(begin) − z_j(end). Queue f, which never
//!    sleeps, receives exactly that.
//! 3. **H ≤ 0** at all times. When V last moved, Σ z over those that count was W_R·V − S = −Λ. With Λ of the sleeping
//!    creditors that is 0, and debtors make it less. V has stood still since, so by 2 no z has risen.
//! 4. **A queue owes at most r_j + o_j + K.** It is first picked for a request only while v_j ≤ V or v_j ≤ M. By 1, M ≤ V +
//!    Λ/W_R, and w_j·Λ/W_R ≤ Λ ≤ K, as credits together are cut to K. From there it receives at most r_j and an overrun of
//!    o_j. Nothing else is charged to it, but for the only runnable queue, whose slice has no end. When that has been served
//!    its request, all drained queues fall asleep. It is the only one that counts then, so it owes Λ.
//! 5. **In any case.** Add 2 over all queues: t ≤ ∫ W dV + H(begin) − H(end) ≤ W·ΔV − H(end) by 3. For f: s_f = w_f·ΔV +
//!    z_f(begin) − z_f(end) ≥ (w_f/W)·(t + H(end)) + z_f(begin) − z_f(end). H(end) is z_f(end) and at least −Σ_{j≠f} (r_j +
//!    o_j + K) by 4. If V has moved in the stretch, then when it last did, Σ z over those that count and Λ was 0. So z_f(end)
//!    ≤ Σ_{j≠f} (r_j + o_j + K), again by 4, as z_f has not risen since. Together, s_f ≥ (w_f/W)·t − Σ_{j≠f} (…) +
//!    z_f(begin), and z_f(begin) ≥ −(r_f + o_f + K). If V has not moved, t ≤ −H(end), and z_f(begin) ≥ z_f(end).
//! 6. **No queue runs away from f.** Let shares be constant. While f has work, no other queue is picked that is not eligible.
//!    Whatever j received last while f had work, it was picked for one of two reasons. Either f was eligible and d_j ≤ d_f ≤
//!    v_f + r_f/w_f, so j ended at v_j ≤ v_f + r_f/w_f + o_j/w_j. Or f was not, so v_j was less than v_f, and j ended at less
//!    than v_f + (r_j + o_j)/w_j. So w_j·(v_j − v_f) ≤ P_j = max(r_j, r_f·w_j/w_f) + o_j. It stays so, as v_f only grows.
//! 7. **Where no share changes.** j receives at most w_j·(v_j(end) − v_j(first)), where v_j(first) ≥ V(begin) −
//!    z_j(begin)/w_j by 2, and v_j(end) ≤ v_f(end) + P_j/w_j by 6. Sum over the queues that receive anything, f's own z
//!    included: t ≤ W·(v_f(end) − V(begin)) + Σ P_j + Σ z_j(begin). By 3 the last sum is at most what the queues owe that
//!    receive nothing; each owes at most r_j + o_j + K by 4, where P_j ≥ r_j + o_j is free. So t ≤ W·(v_f(end) − V(begin)) +
//!    Σ_{j≠f} (P_j + K), and s_f = w_f·(v_f(end) − V(begin)) + z_f(begin) ≥ (w_f/W)·(t − Σ (P_j + K)) − (r_f + o_f + K). ∎
//!
//! docs/BOUNDS.md says what the proof needs of the executor. Steps 1 to 4 are tests of `schedulers/tests/eevdf/`.

mod clock;
mod drained;
mod entry;
mod id;
mod order;
mod questions;
mod share;
#[cfg(test)]
mod tests;
mod tournament;
mod vtime;
mod zero;

use core::num::NonZeroU32;

pub use id::QueueId;
pub use share::{Share, ShareError};
pub use vtime::{Lag, VirtualTime};

use clock::{NEAR, REACH, VirtualClock, is_near_zero};
use entry::{Entry, MAX_NS, State};
use order::Order;

/// What is left of the request of a queue that is to be served soon.
const NEXT_TO_NOTHING_NS: u64 = 1;

/// The most queues at a time.
const MAX_QUEUES: usize = 1 << 24;

/// Earliest eligible virtual deadline first: proportional shares among queues, with a bound on how far any queue is from
/// what it is owed.
///
/// After Stoica and Abdel-Wahab, *Earliest Eligible Virtual Deadline First*, TR-95-22, Old Dominion University 1995. Virtual
/// time that never falls is this library's own; docs/BOUNDS.md says what follows from it, and this module's source proves it.
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
/// | W | shares of the queues that count: runnable or drained | Σ w_i | `VirtualClock::shares` |
/// | S | | Σ w_i·v_i over the same | `VirtualClock::sum` |
/// | V | virtual time: where an ideal server has every queue | the greatest S/W so far | [`virtual_time`](Eevdf::virtual_time) |
/// | lag_i | service that i is owed | w_i·(V − v_i) | [`lag`](Eevdf::lag); asleep: at most `Entry::credit` |
/// | eligible | | lag_i ≥ 0 ⇔ v_i ≤ V | [`is_eligible`](Eevdf::is_eligible) |
/// | r_i | request: service asked for per turn | | `Entry::request_ns` |
/// | | what is left of it | r_i at the start, minus each service | `Entry::left_ns` |
/// | d_i | virtual deadline | v_i + r_i/w_i at the start of a request, then fixed | `Entry::deadline` |
///
/// # Invariants
///
/// - **V never falls.** S/W falls when a queue that is ahead falls asleep, or one that is owed something wakes up. V stays
///   where it was until service has lifted S/W again. Whatever is placed is placed relative to V, so no sequence of sleeping
///   and waking can bring a queue back to where it was before. (Relative to S/W alone it could: a queue with credit wakes and
///   lowers S/W, a second is placed there, the first leaves, and S/W springs back; each round takes from the others.)
/// - Over the queues that count Σ lag_i ≥ 0, and 0 when V last moved. The least v_i is at most V, so while anything is
///   runnable something is eligible, or the drained queues are to fall asleep.
/// - Only a charge makes a queue ineligible, as V never falls.
/// - A runnable queue is in exactly one of two tournaments: `waiting` (by v) or `eligible` (by deadline).
///   [`pick`](Eevdf::pick) moves what has become eligible from the one to the other, and moves the first back if it was
///   charged past V. A drained queue leaves them when it comes to the top. One that wakes up alone gets its key when there is
///   another.
/// - In a steady interval, one that begins with no queue owed anything and in which none comes, goes or changes its share,
///   with s_i the longest poll of queue i,
///   −(1 − w_i/W)·(r_i + s_i) ≤ lag_i ≤ (w_i/W)·Σ_{j≠i} (max(r_j, r_i·w_j/w_i) + s_j).
///   (TR-95-22 proves the like for service in quanta. An executor cannot cut a poll short, so each of the others may
///   overrun its request by a poll before i is served. docs/BOUNDS.md derives it; the tests hold it to this.)
///
/// # Sleeping and waking
///
/// A queue that has run out of work is [drained](Eevdf::drain) at first, and counts as before. Where it wakes up soon, it has not been
/// away: it goes on where it was, with its request. (Linux does so with queues that are ahead: `DELAY_DEQUEUE`.) It falls asleep when
/// another has had a request served, when no queue with work is eligible, or when another wakes up that was asleep, or is given another
/// share.
///
/// What a queue is owed, and what it owes, survives its sleep:
///
/// - **Owed** (lag > 0): kept as a credit, at most two turns of its own or of the longest that any queue has had in this busy
///   period: nothing can be hoarded, and a queue that naps beside polls longer than its request loses nothing. It is placed at
///   V − credit/w, but not before the point where it was: where nothing has happened meanwhile it is there again.
/// - **Owing** (lag < 0): kept. The queue is placed where it was, or at V once V is past that point. Sleeping for a moment
///   gains nothing; sleeping long is forgiven, as the others have been served meanwhile.
/// - Where nothing is runnable, all is forgiven, both ways: an idle CPU has nothing to be fair about. V goes on to the
///   greatest v there is. A *busy period* lasts from one such moment to the next.
/// - A **removed** queue's debt stays with its place, and the queue that is added next takes both over: removing and adding
///   is no way out of a debt. (Of several places, the one that was left last.)
/// - Waking from sleep begins a new request.
///
/// # Costs
///
/// For n runnable queues: [`charge`](Eevdf::charge) is two multiplications, and O(log n) where it ends a request.
/// [`pick`](Eevdf::pick) is O(log n), amortised over charges, and does no work at all while one queue is runnable.
/// [`drain`](Eevdf::drain), and a [`wake`](Eevdf::wake) soon after it, are O(1), or O(log n) if a pick came to the queue between them. Other
/// wakes, and [`sleep`](Eevdf::sleep), are O(log n), and divide where V has moved or a credit is kept; a sleep is O(n) where three queues in four
/// have fallen asleep since the last that was. About once per nine minutes of service all queues are renumbered, in O(n)
/// for n queues in all.
///
/// # Wrong calls
///
/// No method panics on a stale or misplaced id: unknown ids, a wake of the runnable, a sleep of the sleeping are
/// ignored, and questions about unknown ids are answered with a neutral value that each method names.
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
    /// Indices of removed queues, to be reused, last removed first.
    vacant: Vec<u32>,
    /// The generation of the queue that was added last.
    added: u32,
    clock: VirtualClock,
    order: Order,
    /// How many queues are runnable.
    runnable: usize,
    /// The index of the queue that woke up last: while one is runnable it often is that one.
    woken_last: u32,
    /// Whether that one was alone, so that it has got no key in its tournament.
    woken_alone: bool,
    /// The queues that were drained, but for those that have left since. Some of them may be runnable again, or asleep.
    drained: Vec<u32>,
    /// The greatest v of a queue that was drained.
    furthest: i128,
    /// Counts the moments at which nothing was runnable any more.
    busy_period: u64,
    /// The longest service that was charged at a time while queues contended, in this busy period.
    longest_turn_ns: u64,
}

impl Eevdf {
    /// Makes one with no queues.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes one whose virtual clock starts at `raw`, to test what happens far from zero.
    #[doc(hidden)]
    pub fn starting_at(raw: i128) -> Self {
        let raw = raw.clamp(-REACH, REACH);
        Self { clock: VirtualClock::at(raw), furthest: raw, ..Self::default() }
    }

    /// Adds a queue, asleep, that asks for `request_ns` nanoseconds of service per turn. It is owed nothing, and owes what
    /// the queue owed that was removed last and has no successor yet.
    ///
    /// The request is taken as 1 ns if it is 0, and as 2⁶⁰ ns (36 years) if it is longer.
    ///
    /// # Panics
    ///
    /// If there are 16,777,216 queues already.
    pub fn add(&mut self, share: Share, request_ns: u64) -> QueueId {
        let generation = NonZeroU32::new(self.added.wrapping_add(1)).unwrap_or(NonZeroU32::MIN);
        self.added = generation.get();
        if let Some(index) = self.vacant.pop() {
            let now = self.note_v();
            let entry = &mut self.entries[index as usize];
            entry.succeed(generation, share, request_ns, now);
            self.furthest = self.furthest.max(entry.v);
            return QueueId { index, generation };
        }
        assert!(self.entries.len() < MAX_QUEUES, "more than {MAX_QUEUES} queues");
        self.entries.push(Entry::new(generation, share, request_ns));
        self.order.reserve(self.entries.len());
        self.drained.reserve(self.entries.len().saturating_sub(self.drained.len()));
        QueueId { index: self.entries.len() as u32 - 1, generation }
    }

    /// Removes a queue, runnable or not. Its index may be reused from now on. What it was owed is forgotten; what it owes
    /// stays with its place (see the type's docs).
    pub fn remove(&mut self, id: QueueId) {
        self.drain(id);
        match self.state(id) {
            State::Vacant => return,
            State::Drained | State::Runnable => {
                self.clock.note();
                self.leave(id.index);
            }
            State::Asleep => {
                self.take_credit(id);
            }
        }
        self.entries[id.index()].state = State::Vacant;
        self.vacant.push(id.index);
    }

    /// Makes a queue runnable: a sleeping one where its credit or its debt places it (see the type's docs), with a new request; a
    /// [drained](Eevdf::drain) one where it was, unless all others were drained, too.
    pub fn wake(&mut self, id: QueueId) {
        match self.state(id) {
            State::Runnable | State::Vacant => return,
            State::Drained if self.runnable > 0 => return self.resume(id),
            State::Drained if is_near_zero(self.clock.reached()) => return self.resume_alone(id),
            State::Drained | State::Asleep => self.settle(),
        }
        let now = self.note_v();
        let credit = self.take_credit(id);
        let entry = &mut self.entries[id.index()];
        entry.place(now, credit);
        entry.start_request();
        self.join(id);
    }

    /// Makes a runnable or drained queue sleep at once. (The last one stays drained: nothing is owed to it then.)
    pub fn sleep(&mut self, id: QueueId) {
        match self.state(id) {
            State::Runnable if self.runnable > 1 => {
                self.stop(id);
                self.fall_asleep(id.index);
            }
            // Where nobody stays awake, nothing is kept.
            State::Runnable => self.drain(id),
            State::Drained if self.runnable > 0 => self.fall_asleep(id.index),
            State::Drained | State::Asleep | State::Vacant => {}
        }
    }

    /// Charges a queue for service received, and begins its next request where this one has been served.
    ///
    /// More than 2⁶⁰ ns count as 2⁶⁰. A sleeping queue may be charged too: it counts as if charged just before it fell
    /// asleep.
    #[inline(always)] // calls of this and of a pick were 51 of 711 instructions in a turn of one poll
    pub fn charge(&mut self, id: QueueId, service_ns: u64) {
        let Some(entry) = self.entries.get_mut(id.index()) else { return };
        let service_ns = service_ns.min(MAX_NS);
        if entry.state != State::Runnable || entry.generation != id.generation {
            return self.charge_asleep(id, service_ns);
        }
        let moved = entry.virtual_of(service_ns);
        entry.v += moved;
        self.clock.advance(entry.w(), moved);
        let served = service_ns >= entry.left_ns;
        if served {
            entry.start_request();
        } else {
            entry.left_ns -= service_ns;
        }
        let (v, deadline, seat) = (entry.v, entry.deadline, entry.seat);
        // A key in `waiting` may stay: it is then too low, so the queue is moved to `eligible` too soon, and the pick that
        // finds it there moves it back.
        if service_ns > self.longest_turn_ns && self.runnable > 1 {
            self.longest_turn_ns = service_ns;
        }
        if served {
            if self.order.eligible.is_taken(seat as usize) {
                self.order.eligible.put(seat as usize, deadline, id.index);
            }
            self.settle();
        }
        if v >= NEAR {
            self.draw_near(id);
        }
    }

    #[cold]
    fn charge_asleep(&mut self, id: QueueId, service_ns: u64) {
        if self.state(id) == State::Vacant {
            return;
        }
        self.settle();
        let now = self.note_v();
        let entry = &mut self.entries[id.index()];
        let used = entry.charge_asleep(service_ns, now, self.busy_period);
        self.clock.release(used);
        self.furthest = self.furthest.max(entry.v);
    }

    /// The queue to serve next: of the eligible ones that with the earliest virtual deadline, ties by lower id. `None` if
    /// and only if none is runnable.
    ///
    /// It takes nothing out: asked again with nothing changed, it gives the same answer.
    #[inline(always)]
    pub fn pick(&mut self) -> Option<QueueId> {
        match self.runnable {
            2.. => self.pick_contended(),
            1 if self.may_go_on_alone() => Some(self.id_at(self.woken_last)),
            1 => self.pick_behind(),
            0 => None,
        }
    }

    /// Changes a queue's share.
    ///
    /// What it is owed or owes, in service, stays what it was, and so does what is left of its request.
    pub fn set_share(&mut self, id: QueueId, share: Share) {
        if self.state(id) == State::Vacant || self.share(id) == Some(share) {
            return;
        }
        self.settle();
        self.give_key();
        let now = self.note_v();
        let entry = &mut self.entries[id.index()];
        if entry.state == State::Asleep {
            entry.reshare(share, now);
            self.furthest = self.furthest.max(entry.v);
            return;
        }
        self.order.lift(entry);
        self.clock.leave(entry.share.get(), entry.v);
        entry.reshare(share, now);
        self.clock.join(share.get(), entry.v);
        self.order.put(id, entry, self.clock.has_reached(entry.v));
        self.draw_near(id);
    }

    /// Changes a queue's request. A shorter one counts at once: what is left of the present request is cut down to it, and
    /// the virtual deadline comes nearer accordingly. A longer one counts from the next request on, as a deadline once given
    /// is not put off.
    ///
    /// Clamped as in [`add`](Eevdf::add).
    pub fn set_request(&mut self, id: QueueId, request_ns: u64) {
        if self.state(id) == State::Vacant {
            return;
        }
        let request_ns = request_ns.clamp(1, MAX_NS);
        let entry = &mut self.entries[id.index()];
        entry.request_ns = request_ns;
        if entry.left_ns > request_ns {
            self.cut_request(id, request_ns);
        }
    }

    /// Has a queue served soon, unless it is in debt: cuts what is left of its present request down to next to nothing, which
    /// brings its virtual deadline near. Its next request is as long as before.
    pub fn hasten(&mut self, id: QueueId) {
        if self.state(id) != State::Vacant && self.entries[id.index()].left_ns > NEXT_TO_NOTHING_NS {
            self.cut_request(id, NEXT_TO_NOTHING_NS);
        }
    }

    /// Whether a runnable queue is to be served soon, as [`hasten`](Self::hasten) would have it.
    #[inline]
    pub(crate) fn is_hastened(&self, id: QueueId) -> bool {
        self.is_runnable(id) && self.left_ns(id) <= NEXT_TO_NOTHING_NS
    }

    fn cut_request(&mut self, id: QueueId, left_ns: u64) {
        let entry = &mut self.entries[id.index()];
        entry.left_ns = left_ns;
        entry.set_deadline();
        if entry.is_seated() && self.order.eligible.is_taken(entry.seat()) {
            self.order.put(id, entry, true);
        }
    }

    /// Picks where the only queue with work is to be compared with those without.
    #[inline(never)]
    fn pick_behind(&mut self) -> Option<QueueId> {
        self.give_key();
        self.pick_contended()
    }

    #[inline(always)]
    fn pick_contended(&mut self) -> Option<QueueId> {
        loop {
            if let Some(picked) = self.first_eligible() {
                return Some(picked);
            }
            // Those without work are behind. The only one with work may finish a request that it has begun.
            let only = self.order.waiting.peek().map(|(_, index)| index);
            if self.drained.is_empty()
                || self.runnable == 1 && only.is_some_and(|index| self.may_go_on(index))
            {
                return only.map(|index| self.id_at(index));
            }
            self.settle();
        }
    }

    /// Whether the queue that woke up last is the only runnable one, and may be served beside the drained ones.
    #[inline]
    fn may_go_on_alone(&self) -> bool {
        let is_runnable = self.entries[self.woken_last as usize].state == State::Runnable;
        is_runnable && (self.drained.is_empty() || self.may_go_on(self.woken_last))
    }

    /// Whether a queue that is the only one with work may be served, although those without may be behind: it has begun its request,
    /// or is eligible.
    #[inline]
    fn may_go_on(&self, index: u32) -> bool {
        let entry = &self.entries[index as usize];
        entry.left_ns < entry.request_ns || self.clock.has_reached(entry.v)
    }

    /// Of the eligible queues with work that with the earliest virtual deadline. Those without work lose their seats on the way.
    #[inline(always)]
    fn first_eligible(&mut self) -> Option<QueueId> {
        while let Some((v, index)) = self.order.waiting.peek() {
            let entry = &self.entries[index as usize];
            if entry.state == State::Drained {
                self.order.leave(index, &mut self.entries);
            } else if self.clock.has_reached(v) {
                self.order.waiting.clear(entry.seat());
                self.order.eligible.put(entry.seat(), entry.deadline, index);
            } else {
                break;
            }
        }
        // Now everything in `waiting` is ineligible; in `eligible`, v may have been charged past V.
        while let Some((_, index)) = self.order.eligible.peek() {
            let entry = &self.entries[index as usize];
            if entry.state == State::Drained {
                self.order.leave(index, &mut self.entries);
            } else if self.clock.has_reached(entry.v) {
                return Some(QueueId { index, generation: entry.generation });
            } else {
                self.order.eligible.clear(entry.seat());
                self.order.waiting.put(entry.seat(), entry.v, index);
            }
        }
        None
    }

    /// Takes a sleeping queue's credit out of what is reserved.
    fn take_credit(&mut self, id: QueueId) -> i128 {
        let credit = self.entries[id.index()].take_credit(self.busy_period);
        self.clock.release(credit);
        credit
    }

    /// Counts a queue in whose v and deadline are set.
    fn join(&mut self, id: QueueId) {
        self.give_key();
        let entry = &mut self.entries[id.index()];
        entry.state = State::Runnable;
        self.runnable += 1;
        self.woken_last = id.index;
        self.clock.join(entry.share.get(), entry.v);
        let is_eligible = self.clock.has_reached(entry.v);
        self.order.enter(id, entry, is_eligible);
        self.draw_near(id);
    }
}
