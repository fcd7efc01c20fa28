//! [`HostPacer`]: when the host gets the thread although there is work left.
//!
//! That is a *visit*: the host sees to its I/O and its timers, and runs its own tasks. A visit can only help if it can change
//! what is polled next. Time is an argument here, in nanoseconds of any clock.
//!
//! * **A turn polls what is ready before it makes a visit.** What a visit brings goes behind the tasks that are ready already,
//!   but for those that have merely yielded. So once a visit is due, the turn polls as many tasks as are ready by then and have
//!   not yielded: its *round*. It does so while polls take [`SHORT_NS`] at most in the mean, and up to 200 µs in all. Counted
//!   are the tasks of the queue with the largest claim, which a visit can put first: see
//!   [`Queues::round`](super::queues::Queues::round).
//! * **A visit is due after [`TURNS_WORTH`] times what an empty one costs**, 10 µs at least: a twentieth of the
//!   thread. With each empty visit after another they become rarer, down to a sixty-fourth.
//! * **But not before half as long as the last visit took**: the host's own tasks get two thirds of the thread at most.
//! * **A visit comes early when a queue has drained that the last one woke**, while others have work: monoio sends what tasks have
//!   written during a visit. An early visit is followed by one in time.
//!
//! An empty visit woke no task and took no longer than [`EMPTY`] times the cheapest of late: a longer one had work of the
//! host's own.

use std::cell::Cell;
use std::ops::RangeInclusive;
use std::time::Duration;

/// The bounds of a [host budget](crate::Builder::host_budget) that tunes itself.
pub const HOST_BUDGETS: RangeInclusive<Duration> = Duration::from_micros(10)..=Duration::from_micros(200);

const LEAST_NS: u64 = HOST_BUDGETS.start().as_nanos() as u64;
const MOST_NS: u64 = HOST_BUDGETS.end().as_nanos() as u64;

/// How many times as long as an empty visit a turn takes; once more for each empty visit after another,
const TURNS_WORTH: u32 = 20;
/// up to so many times.
const TURNS_WORTH_RARE: u32 = 64;

/// A round goes on while its polls take no longer than this, in the mean.
const SHORT_NS: u64 = 32_000;

/// A visit that takes so many times as long as the cheapest had work of the host's own.
const EMPTY: u64 = 4;

/// See the [module docs](self).
#[derive(Debug)]
pub(super) struct HostPacer {
    /// The fixed host budget. None if it tunes itself.
    fixed_ns: Option<u64>,
    /// Whether the last turn ended although there was work left.
    is_visiting: Cell<bool>,
    cost: VisitCost,
    /// How long the last visit took.
    last_visit_ns: Cell<u64>,
    /// Empty visits, one after another. Early ones do not count.
    empty: Cell<u32>,
    /// Whether the next visit, or the one under way, is early.
    is_early: Cell<bool>,
    /// Whether the turn may end early.
    may_be_early: Cell<bool>,
    turn: Turn,
}

/// The turn under way.
#[derive(Debug)]
struct Turn {
    began: Cell<u64>,
    /// When the next visit is worth it.
    due: Cell<u64>,
    /// When the host is visited in any case.
    last: Cell<u64>,
    /// Polls of the turn when its round is over. None until a visit is due.
    round_end: Cell<Option<u32>>,
}

impl HostPacer {
    /// Paces by this host budget, or by one that tunes itself.
    pub(super) fn new(budget: Option<Duration>) -> Self {
        Self {
            fixed_ns: budget.map(|budget| u64::try_from(budget.as_nanos()).unwrap_or(u64::MAX)),
            is_visiting: Cell::new(false),
            cost: VisitCost::default(),
            last_visit_ns: Cell::new(0),
            empty: Cell::new(0),
            is_early: Cell::new(false),
            may_be_early: Cell::new(false),
            turn: Turn {
                began: Cell::new(0),
                due: Cell::new(u64::MAX),
                last: Cell::new(u64::MAX),
                round_end: Cell::new(None),
            },
        }
    }

    /// Begins a turn; says after how long a visit is due.
    #[inline]
    pub(super) fn begin_turn(&self, now: u64) -> u64 {
        let (budget_ns, longest_ns) = (self.budget_ns(), self.fixed_ns.unwrap_or(MOST_NS));
        let turn = &self.turn;
        turn.began.set(now);
        turn.due.set(now.saturating_add(budget_ns));
        turn.last.set(now.saturating_add(longest_ns));
        turn.round_end.set(None);
        budget_ns
    }

    /// Has the turn that began end at this time, and not before.
    pub(super) fn end_turn_at(&self, end: u64) {
        self.turn.due.set(end);
        self.turn.last.set(end);
        self.may_be_early.set(false);
    }

    /// Makes the host due, whatever time it is.
    pub(super) fn make_due(&self) {
        self.turn.due.set(0);
        self.turn.last.set(0);
    }

    /// Notes that a queue has drained while others have work.
    pub(super) fn queue_drained(&self) {
        if self.may_be_early.replace(false) {
            self.is_early.set(true);
            self.make_due();
        }
    }

    /// Whether a visit is due at `now`, though the turn may go on with its round.
    #[inline]
    pub(super) fn is_visit_due(&self, now: u64) -> bool {
        now >= self.turn.due.get()
    }

    /// Whether the round is over too, at `now`, after so many polls of the turn. Its tasks are those that are `ready` when this is
    /// asked for the first time.
    pub(super) fn is_round_over(&self, now: u64, polls: u32, ready: impl FnOnce() -> usize) -> bool {
        let turn = &self.turn;
        if now >= turn.last.get() {
            return true;
        }
        let end = turn.round_end.get().unwrap_or_else(|| {
            let end = polls.saturating_add(u32::try_from(ready()).unwrap_or(u32::MAX));
            turn.round_end.set(Some(end));
            end
        });
        // One more, as one long poll says little of the next.
        let short_ns = SHORT_NS * (u64::from(polls) + 1);
        polls >= end || now.saturating_sub(turn.began.get()) > short_ns
    }

    /// Begins a visit: the turn ends, and there is work left.
    pub(super) fn begin_visit(&self) {
        self.is_visiting.set(true);
    }

    /// Whether a visit is under way.
    #[inline]
    pub(super) fn is_visiting(&self) -> bool {
        self.is_visiting.get()
    }

    /// Ends the visit, if one was under way: the host had the thread for `took_ns`, and woke no task if `in_vain`. A host to which
    /// the executor left nothing to do has slept, unless `it_deferred` tasks: then that was a visit, too.
    #[inline]
    pub(super) fn end_visit(&self, took_ns: u64, it_deferred: bool, in_vain: impl FnOnce() -> bool) {
        if !self.is_visiting.get() && !it_deferred {
            return self.last_visit_ns.set(0);
        }
        self.is_visiting.set(false);
        if self.fixed_ns.is_some() {
            return;
        }
        self.last_visit_ns.set(took_ns);
        self.cost.note(took_ns);
        let (in_vain, was_early) = (in_vain(), self.is_early.replace(false));
        self.may_be_early.set(!in_vain && !was_early);
        let is_empty = in_vain && took_ns <= EMPTY * self.cost.ns();
        if !is_empty {
            self.empty.set(0);
        } else if !was_early {
            self.empty.set(self.empty.get().saturating_add(1));
        }
    }

    /// How long the executor may run before the next visit, apart from its round.
    #[inline]
    fn budget_ns(&self) -> u64 {
        self.fixed_ns.unwrap_or_else(|| {
            let worth = TURNS_WORTH.saturating_add(self.empty.get()).min(TURNS_WORTH_RARE);
            let worth_ns = self.cost.ns() * u64::from(worth);
            worth_ns.max(self.last_visit_ns.get() / 2).clamp(LEAST_NS, MOST_NS)
        })
    }
}

/// What an empty visit costs: the least that one of the last visits took.
#[derive(Debug)]
struct VisitCost {
    /// The least of a window of visits,
    before: Cell<u64>,
    /// and of the one under way,
    now: Cell<u64>,
    /// which has so many.
    visits: Cell<u32>,
}

impl VisitCost {
    /// Before a visit was measured: some system calls.
    const FIRST_GUESS_NS: u64 = 500;
    /// What an empty visit is taken to cost at most.
    const MOST_NS: u64 = 1_000;
    /// Visits in a window.
    const WINDOW: u32 = 64;

    fn note(&self, took_ns: u64) {
        self.now.set(self.now.get().min(took_ns));
        self.visits.set(self.visits.get() + 1);
        if self.visits.get() == Self::WINDOW {
            self.before.set(self.now.replace(u64::MAX));
            self.visits.set(0);
        }
    }

    fn ns(&self) -> u64 {
        self.before.get().min(self.now.get()).clamp(1, Self::MOST_NS)
    }
}

impl Default for VisitCost {
    fn default() -> Self {
        Self { before: Cell::new(Self::FIRST_GUESS_NS), now: Cell::new(u64::MAX), visits: Cell::new(0) }
    }
}

#[cfg(all(test, not(any(clockworker_loom, clockworker_shuttle))))]
mod tests {
    use super::*;

    fn visit(pacer: &HostPacer, took_ns: u64, in_vain: bool) -> u64 {
        pacer.begin_visit();
        pacer.end_visit(took_ns, false, || in_vain);
        pacer.budget_ns()
    }

    /// After two windows of visits that took so long, and one that woke a task.
    fn settled(took_ns: impl Fn(u32) -> u64) -> u64 {
        let pacer = HostPacer::new(None);
        for number in 0..2 * VisitCost::WINDOW {
            visit(&pacer, took_ns(number), true);
        }
        visit(&pacer, took_ns(0), false)
    }

    #[test]
    fn a_turn_is_worth_twenty_times_the_cheapest_visit() {
        assert_eq!(HostPacer::new(None).budget_ns(), LEAST_NS, "a first guess");
        for (cost, budget) in [(100, 10_000), (600, 12_000), (1_000, 20_000), (4_000, 20_000)] {
            assert_eq!(settled(|_| cost), budget, "{cost}");
        }
        let mostly_long = |number: u32| if number.is_multiple_of(60) { 700 } else { 9_000 };
        assert_eq!(settled(mostly_long), 14_000, "the cheapest counts");
    }

    #[test]
    fn a_host_with_tasks_of_its_own_gets_two_thirds_at_most() {
        let pacer = HostPacer::new(None);
        visit(&pacer, 600, true);
        assert_eq!(visit(&pacer, 90_000, false), 45_000);
        assert_eq!(visit(&pacer, 90_000, true), 45_000);
        assert_eq!(visit(&pacer, 9_000_000, true), MOST_NS);
        assert_eq!(visit(&pacer, 600, false), 10_000);
        pacer.end_visit(90_000, true, || false);
        assert_eq!(pacer.budget_ns(), 45_000, "it did not sleep");
        pacer.end_visit(90_000, false, || unreachable!("it slept"));
        assert_eq!(pacer.budget_ns(), 10_000);
    }

    #[test]
    fn empty_visits_after_another_make_them_rarer_until_one_is_not() {
        let pacer = HostPacer::new(None);
        for number in 1..100 {
            let worth = (TURNS_WORTH + number).min(TURNS_WORTH_RARE);
            assert_eq!(visit(&pacer, 1_000, true), u64::from(worth) * if number < 64 { 500 } else { 1_000 });
        }
        assert_eq!(visit(&pacer, 4_001, true), 20_000, "the host had work of its own");
        assert_eq!(visit(&pacer, 4_000, true), 21_000);
        assert_eq!(visit(&pacer, 1_000, false), 20_000, "it woke a task");
    }

    /// Whether the turn ends early when a queue drains after a visit.
    fn is_early(pacer: &HostPacer, in_vain: bool) -> bool {
        visit(pacer, 500, in_vain);
        pacer.begin_turn(0);
        pacer.queue_drained();
        pacer.is_visit_due(0) && pacer.is_round_over(0, 1, || 10)
    }

    #[test]
    fn a_queue_that_a_visit_woke_ends_the_turn_when_it_drains() {
        let pacer = HostPacer::new(None);
        assert!(is_early(&pacer, false));
        assert!(!is_early(&pacer, false), "not twice in a row");
        assert!(is_early(&pacer, false));
        assert!(!is_early(&pacer, true) && !is_early(&pacer, true), "nothing was woken");
        assert_eq!(pacer.empty.get(), 1, "an early one does not count");
        assert!(!is_early(&HostPacer::new(Some(Duration::MAX)), false));
    }

    #[test]
    fn a_fixed_budget_stays_what_it_is() {
        let pacer = HostPacer::new(Some(Duration::ZERO));
        assert_eq!(visit(&pacer, 3_000, true), 0);
        assert_eq!(HostPacer::new(Some(Duration::MAX)).budget_ns(), u64::MAX);
    }

    /// After how many polls a turn ends in which so many tasks wait for their first, with polls that take `poll_ns`.
    fn polls_of_turn(pacer: &HostPacer, ready: u32, poll_ns: u64) -> u32 {
        pacer.begin_turn(1_000_000);
        let is_over = |polls: u32| {
            let now = 1_000_000 + u64::from(polls) * poll_ns;
            pacer.is_visit_due(now)
                && pacer.is_round_over(now, polls, || ready.saturating_sub(polls) as usize)
        };
        (1..).find(|&polls| is_over(polls)).unwrap()
    }

    #[test]
    fn a_turn_polls_what_was_ready_where_polls_are_short() {
        let pacer = HostPacer::new(None);
        assert_eq!(polls_of_turn(&pacer, 0, 3_000), 4, "worth 10 µs");
        assert_eq!(polls_of_turn(&pacer, 3, 3_000), 4);
        assert_eq!(polls_of_turn(&pacer, 30, 3_000), 30);
        assert_eq!(polls_of_turn(&pacer, 1_000, 3_000), 67, "no more than 200 µs");
        assert_eq!(polls_of_turn(&pacer, 30, 32_000), 7, "no more than 200 µs");
        assert_eq!(polls_of_turn(&pacer, 30, 48_000), 3, "two of them are no longer than three short ones");
        assert_eq!(polls_of_turn(&pacer, 30, 100_000), 1);
        assert_eq!(polls_of_turn(&HostPacer::new(Some(Duration::from_micros(9))), 30, 3_000), 3);
    }

    #[test]
    fn tasks_that_become_ready_in_a_round_do_not_make_it_longer() {
        let pacer = HostPacer::new(None);
        pacer.begin_turn(0);
        assert!(!pacer.is_visit_due(9_999) && pacer.is_visit_due(10_000));
        let is_over = |now, polls| pacer.is_round_over(now, polls, || 10);
        assert!(!is_over(10_000, 20), "the round begins once a visit is due");
        assert!(!is_over(60_000, 29) && is_over(60_000, 30));
        pacer.begin_turn(60_000);
        assert!(!is_over(70_000, 30), "each turn has its own");
        pacer.make_due();
        assert!(pacer.is_visit_due(0) && is_over(0, 0));
    }
}
