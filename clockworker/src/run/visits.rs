//! [`Visits`]: when to visit the host, that is, give it the thread although there is work left.
//!
//! During a visit the host sees to its I/O and its timers, and runs its own tasks. [`Visits`] measures what a visit costs
//! that finds nothing to do, and has the executor run for [`TURNS_WORTH`] times as long before the next. So visits in vain
//! take a twentieth of the thread at most, or more where one takes over 10 µs: no turn is longer than 200. And I/O waits no
//! longer than that makes necessary. With each visit in vain after another they become rarer, down to a sixty-fourth.
//!
//! One visit for many requests costs less than one for every few of them. So the tasks that a visit woke are polled before
//! the next visit, where that does not take long: a turn has a poll for each of them, while a poll takes [`SHORT_NS`] at most
//! in the mean, and up to 200 µs. (Tasks that compute and await the host's own `yield_now` are among them.)
//!
//! A task that has answered wants its answer sent, and the next question is often near. So the host is visited at once when a
//! queue has drained whose tasks the last visit woke, while others have work left: an [early](Early) visit. After an early
//! visit the next turn has none, so the others have a slice in between, unless the host is due by then. Where more than half
//! of the early visits are in vain they stop for a while. They do not count for the twentieth.
//!
//! Only visits in vain are measured: neither the I/O of a visit that brought something, which had to be done in any case
//! (monoio's driver does it all inside the visit), nor what the host's own tasks do may count as cost. And of visits in vain
//! the cheap ones count: one in eight costs less than what is taken for the cost. The others may have sent what tasks had
//! written, and do not count for the twentieth.

use std::cell::Cell;
use std::ops::RangeInclusive;
use std::time::Duration;

/// The bounds of a [host budget](crate::Builder::host_budget) that tunes itself.
pub const HOST_BUDGETS: RangeInclusive<Duration> = Duration::from_micros(10)..=Duration::from_micros(200);

const LEAST_NS: u64 = HOST_BUDGETS.start().as_nanos() as u64;
const MOST_NS: u64 = HOST_BUDGETS.end().as_nanos() as u64;

/// How many times as long as a visit in vain a turn takes; once more for each visit in vain after another,
const TURNS_WORTH: u64 = 20;
/// up to so many times.
const TURNS_WORTH_RARE: u64 = 64;

/// The cost of a visit before one was measured. Nanoseconds: some system calls.
const FIRST_GUESS_NS: u64 = 1_000;

/// Each visit in vain moves the measured cost by such a part of itself: up by one, or down by [`STEPS_DOWN`].
const STEP: u64 = 128;
const STEPS_DOWN: u64 = 7;

/// Early visits in vain, or more if others were not, after which they stop
const EARLY_IN_VAIN: i32 = 16;
/// for so many occasions.
const WITHOUT_EARLY: i32 = 1_000;

/// Where polls take no longer than this, in the mean, all tasks that a visit woke are polled before the next.
const SHORT_NS: u64 = 16_000;

/// What visits cost, and when the next is due. See the [module docs](self).
#[derive(Debug)]
pub(super) struct Visits {
    /// The fixed host budget. None if the cost is measured.
    fixed_ns: Option<u64>,
    /// Whether the last turn ended although there was work left.
    under_way: Cell<bool>,
    /// What a cheap visit in vain costs. Nanoseconds.
    cost_ns: Cell<u64>,
    /// Visits in vain, one after another.
    in_vain: Cell<u32>,
    early: Early,
    turn: TurnLimit,
}

/// Whether visits pay that come as soon as a queue has drained. monoio sends during a visit what tasks have written, and
/// under load the next requests have come meanwhile, on every host.
#[derive(Debug)]
struct Early {
    /// Above 0: of the last early visits, at least half found something. Else early visits are left out on so many occasions,
    /// less one.
    score: Cell<i32>,
    under_way: Cell<bool>,
}

/// How long the turn under way may take. Times are clock readings, in nanoseconds.
#[derive(Debug)]
struct TurnLimit {
    began: Cell<u64>,
    /// When the next visit is worth it.
    due: Cell<u64>,
    /// When the host is visited in any case.
    last: Cell<u64>,
    /// Tasks that the visit before the turn woke.
    woken: Cell<u32>,
    /// Polls in slices that are over.
    polls: Cell<u32>,
    /// Whether the visit before the turn was an early one.
    is_early: Cell<bool>,
}

impl Visits {
    /// Visits with this host budget, or one that tunes itself.
    pub(super) fn new(budget: Option<Duration>) -> Self {
        Self {
            fixed_ns: budget.map(|budget| u64::try_from(budget.as_nanos()).unwrap_or(u64::MAX)),
            under_way: Cell::new(false),
            cost_ns: Cell::new(FIRST_GUESS_NS),
            in_vain: Cell::new(0),
            early: Early { score: Cell::new(EARLY_IN_VAIN), under_way: Cell::new(false) },
            turn: TurnLimit {
                began: Cell::new(0),
                due: Cell::new(u64::MAX),
                last: Cell::new(u64::MAX),
                woken: Cell::new(0),
                polls: Cell::new(0),
                is_early: Cell::new(false),
            },
        }
    }

    /// Begins a turn. How long it may take, if the visit has woken few tasks. Nanoseconds.
    #[inline]
    pub(super) fn begin_turn(&self, now: u64) -> u64 {
        let (budget_ns, longest_ns) = (self.budget_ns(), self.fixed_ns.unwrap_or(MOST_NS));
        let turn = &self.turn;
        turn.began.set(now);
        turn.due.set(now.saturating_add(budget_ns));
        turn.last.set(now.saturating_add(longest_ns));
        turn.woken.set(0);
        turn.polls.set(0);
        budget_ns
    }

    /// Notes that the visit woke so many more tasks.
    pub(super) fn woke(&self, tasks: usize) {
        let woken = u64::from(self.turn.woken.get()) + tasks as u64;
        self.turn.woken.set(u32::try_from(woken).unwrap_or(u32::MAX));
    }

    /// Notes a slice of so many polls.
    #[inline]
    pub(super) fn polled(&self, polls: u32) {
        self.turn.polls.set(self.turn.polls.get().saturating_add(polls));
    }

    /// Notes that no task is ready any more: all that the visit woke were polled.
    pub(super) fn all_drained(&self) {
        self.turn.woken.set(0);
    }

    /// Notes that a queue has drained while others have work left: the host may be due for an early visit.
    pub(super) fn queue_drained(&self) {
        let turn = &self.turn;
        if self.fixed_ns.is_none() && turn.woken.get() > 0 && !turn.is_early.get() && self.early.pays() {
            self.early.under_way.set(true);
            self.make_due();
        }
    }

    /// Makes the host due, whatever time it is.
    pub(super) fn make_due(&self) {
        self.turn.due.set(0);
        self.turn.last.set(0);
    }

    /// Whether the host is due at `now`, so many polls after the last slice that is over.
    #[inline]
    pub(super) fn is_due(&self, now: u64, polls: u32) -> bool {
        now >= self.turn.due.get() && !self.turn.goes_on(now, polls)
    }

    /// Begins a visit: the turn ends, and there is work left.
    pub(super) fn begin(&self) {
        self.under_way.set(true);
    }

    /// Whether a visit is under way.
    #[inline]
    pub(super) fn are_under_way(&self) -> bool {
        self.under_way.get()
    }

    /// Ends the visit, if one was under way. The host had the thread for `took_ns`, and the visit brought nothing to do if
    /// `in_vain`.
    #[inline]
    pub(super) fn end(&self, took_ns: u64, in_vain: impl FnOnce() -> bool) {
        if self.under_way.replace(false) && self.fixed_ns.is_none() {
            let in_vain = in_vain();
            let early = self.early.under_way.replace(false);
            self.turn.is_early.set(early);
            if early {
                self.early.book(in_vain);
            } else {
                self.book(took_ns, in_vain);
            }
        }
    }

    fn book(&self, took_ns: u64, in_vain: bool) {
        if !in_vain {
            self.in_vain.set(0);
            return;
        }
        self.in_vain.set(self.in_vain.get().saturating_add(1));
        // The cost settles where seven visits cost more for each that costs less.
        let cost = self.cost_ns.get();
        let step = (cost / STEP).max(1);
        let next = if took_ns > cost { cost + step } else { cost.saturating_sub(STEPS_DOWN * step) };
        self.cost_ns.set(next.clamp(1, MOST_NS / TURNS_WORTH));
    }

    /// How long the executor may run before the next visit. Nanoseconds.
    #[inline]
    fn budget_ns(&self) -> u64 {
        self.fixed_ns.unwrap_or_else(|| {
            let worth = (TURNS_WORTH + u64::from(self.in_vain.get())).min(TURNS_WORTH_RARE);
            self.cost_ns.get().saturating_mul(worth).clamp(LEAST_NS, MOST_NS)
        })
    }
}

impl Early {
    /// Whether an early visit pays on this occasion. Counts the occasion if not.
    fn pays(&self) -> bool {
        let score = self.score.get();
        if score <= 0 {
            self.score.set(score + 1);
        }
        score > 0
    }

    fn book(&self, in_vain: bool) {
        let score = self.score.get();
        let next = if in_vain { score - 1 } else { (score + 1).min(EARLY_IN_VAIN) };
        self.score.set(if next > 0 { next } else { 1 - WITHOUT_EARLY });
    }
}

impl TurnLimit {
    /// Whether the tasks that the visit woke are polled first, as that does not take long.
    #[cold]
    fn goes_on(&self, now: u64, polls: u32) -> bool {
        let polls = self.polls.get().saturating_add(polls);
        let passed_ns = now.saturating_sub(self.began.get());
        // One more, as one long poll says little of the next.
        let are_short = passed_ns <= SHORT_NS * (u64::from(polls) + 1);
        polls < self.woken.get() && are_short && now < self.last.get()
    }
}

#[cfg(all(test, not(any(clockworker_loom, clockworker_shuttle))))]
mod tests {
    use super::*;

    fn visit(visits: &Visits, took_ns: u64, in_vain: bool) -> u64 {
        visits.begin();
        visits.end(took_ns, || in_vain);
        visits.budget_ns()
    }

    /// The budget after a thousand visits in vain, each followed by one that is not.
    fn settled(took_ns: impl Fn(u64) -> u64) -> u64 {
        let visits = Visits::new(None);
        for round in 0..1_000 {
            visit(&visits, took_ns(round), true);
            visit(&visits, 5_000, false);
        }
        visits.budget_ns()
    }

    #[test]
    fn a_turn_is_worth_twenty_visits_in_vain() {
        assert_eq!(Visits::new(None).budget_ns(), 20_000, "a first guess");
        for cost in [600, 1_000, 1_500, 4_000] {
            let budget = settled(|_| cost);
            assert!(budget.abs_diff(20 * cost) <= 20 * cost / 16, "{budget} for {cost}");
        }
        assert_eq!(settled(|_| 100), 10_000, "the least");
    }

    #[test]
    fn what_the_hosts_own_tasks_take_now_and_then_does_not_count() {
        let budget = settled(|round| if round % 3 == 0 { 250_000 } else { 1_000 });
        assert!((18_000..=23_000).contains(&budget), "{budget}");
    }

    #[test]
    fn visits_that_send_what_tasks_had_written_do_not_count_where_one_in_six_does_not() {
        let budget = settled(|round| if round % 6 == 0 { 1_000 } else { 30_000 });
        assert!((18_000..=23_000).contains(&budget), "{budget}");
    }

    #[test]
    fn the_io_of_a_visit_does_not_count() {
        let visits = Visits::new(None);
        for _ in 0..1_000 {
            assert_eq!(visit(&visits, 120_000, false), 20_000);
        }
    }

    #[test]
    fn a_host_that_is_slow_itself_is_visited_every_200_us() {
        assert_eq!(settled(|_| 30_000), 200_000);
    }

    #[test]
    fn one_visit_after_another_in_vain_makes_them_rarer_until_one_is_not() {
        let visits = Visits::new(None);
        let budgets: Vec<u64> = (0..100).map(|_| visit(&visits, 1_000, true)).collect();
        for (before, budget) in budgets.iter().enumerate() {
            let worth = (TURNS_WORTH + 1 + before as u64).min(TURNS_WORTH_RARE) * 1_000;
            assert!(budget.abs_diff(worth) <= worth / 16, "{budget} after {before} for {worth}");
        }
        assert!(visit(&visits, 5_000, false) < 23_000);
    }

    #[test]
    fn a_fixed_budget_stays_what_it_is() {
        let visits = Visits::new(Some(Duration::ZERO));
        assert_eq!(visit(&visits, 3_000, true), 0);
        assert_eq!(Visits::new(Some(Duration::MAX)).budget_ns(), u64::MAX);
    }

    /// When a turn ends whose visit woke `woken` tasks, with polls that take `poll_ns`: after how many polls, and after what
    /// time.
    fn end_of_turn(visits: &Visits, woken: usize, poll_ns: u64) -> (u64, u64) {
        visits.begin_turn(1_000_000);
        visits.woke(woken);
        let polls = (1..).find(|&polls| visits.is_due(1_000_000 + polls * poll_ns, polls as u32)).unwrap();
        (polls, polls * poll_ns)
    }

    #[test]
    fn a_turn_polls_what_the_visit_woke_where_polls_are_short() {
        let visits = Visits::new(None);
        assert_eq!(end_of_turn(&visits, 0, 3_000), (7, 21_000), "worth 20 µs");
        assert_eq!(end_of_turn(&visits, 5, 3_000), (7, 21_000));
        assert_eq!(end_of_turn(&visits, 30, 3_000), (30, 90_000));
        assert_eq!(end_of_turn(&visits, 1_000, 3_000), (67, 201_000), "no more than 200 µs");
        assert_eq!(end_of_turn(&visits, 30, 16_000), (13, 208_000));
        assert_eq!(
            end_of_turn(&visits, 30, 24_000),
            (3, 72_000),
            "two of them are no longer than three short ones"
        );
        assert_eq!(end_of_turn(&visits, 30, 100_000), (1, 100_000));
        assert_eq!(end_of_turn(&Visits::new(Some(Duration::from_micros(9))), 30, 3_000), (3, 9_000));
    }

    #[test]
    fn a_turn_ends_when_nothing_is_left_of_what_the_visit_woke() {
        let visits = Visits::new(None);
        visits.begin_turn(0);
        visits.woke(30);
        visits.polled(20);
        assert!(!visits.is_due(60_000, 9));
        assert!(visits.is_due(60_000, 10));
        visits.all_drained();
        assert!(visits.is_due(60_000, 0) && !visits.is_due(19_999, 0));
        visits.make_due();
        assert!(visits.is_due(0, 0));
    }

    /// Takes a turn whose visit woke a task of a queue that drains at once, and the visit after it. Whether that visit was
    /// early.
    fn early(visits: &Visits, in_vain: bool) -> bool {
        visits.begin_turn(1_000_000);
        visits.woke(1);
        visits.queue_drained();
        let is_early = visits.is_due(1_000_000, 1);
        visit(visits, 1_000, in_vain);
        is_early
    }

    #[test]
    fn a_queue_that_drains_brings_on_a_visit_if_the_last_one_woke_something_and_was_not_early() {
        let visits = Visits::new(None);
        assert!(early(&visits, false) && !early(&visits, false) && early(&visits, false));
        let visits = Visits::new(None);
        visits.begin_turn(1_000_000);
        visits.queue_drained();
        assert!(!visits.is_due(1_000_000, 1), "the visit woke nothing");
        assert!(
            !early(&Visits::new(Some(Duration::from_micros(9))), false),
            "a budget that does not tune itself"
        );
    }

    #[test]
    fn early_visits_stop_where_more_than_half_are_in_vain_and_are_tried_again() {
        let visits = Visits::new(None);
        // Every second turn comes after an early visit, and has none.
        let early_ones = |turns: u32, in_vain: fn(u32) -> bool| {
            (0..turns).filter(|&turn| early(&visits, in_vain(turn / 2))).count()
        };
        assert_eq!(early_ones(2_000, |round| round % 2 == 0), 1_000);
        assert_eq!(early_ones(1_000, |_| true), 16);
        let rest = 1_000 - (1_000 - 2 * 16);
        assert_eq!(early_ones(rest, |_| true), 0);
        assert_eq!(early_ones(3, |_| true), 1, "it is tried again");
        assert_eq!(early_ones(999, |_| true), 0);
    }

    #[test]
    fn early_visits_tell_nothing_of_what_visits_cost() {
        let visits = Visits::new(None);
        for _ in 0..10 {
            visits.begin_turn(0);
            visits.woke(1);
            visits.queue_drained();
            visit(&visits, 9_000, true);
            visits.begin_turn(0);
            visit(&visits, 5_000, false);
        }
        assert_eq!(visits.budget_ns(), 20_000);
    }

    #[test]
    fn only_a_turn_that_ended_with_work_left_begins_a_visit() {
        let visits = Visits::new(None);
        visits.end(10, || true);
        assert_eq!(visits.budget_ns(), 20_000);
    }
}
