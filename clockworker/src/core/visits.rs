//! When to visit the host: the host gets the thread, although there is work left, once that pays.
//!
//! A visit has the host look at its I/O and its timers, and run its own tasks. What it costs if there is nothing to be seen to
//! is measured, and the executor runs for [`TURNS_WORTH`] times as long before the next. So visits in vain take a twentieth of
//! the thread at most, or more where one takes over 10 µs: no turn is longer than 200. And I/O waits no longer than that makes
//! necessary. With each visit in vain after another they are made rarer, down to a sixty-fourth.
//!
//! What a visit brought goes before the next: a turn has a poll for each task that it woke, unless that takes longer than
//! [`TURNS_WORTH_RARE`] visits in vain. One visit for many requests costs less than one for every few of them.
//!
//! Nothing else may count as cost: neither the I/O of a visit that brought something, which had to be done in any case
//! (monoio's driver does it all inside the visit), nor what the host's own tasks do. So only visits in vain are measured, and
//! their median counts.

use std::cell::Cell;
use std::ops::RangeInclusive;
use std::time::Duration;

/// The bounds of a [host budget](crate::Builder::host_budget) that tunes itself.
pub const HOST_BUDGETS: RangeInclusive<Duration> = Duration::from_micros(10)..=Duration::from_micros(200);

const LEAST_NS: u64 = HOST_BUDGETS.start().as_nanos() as u64;
const MOST_NS: u64 = HOST_BUDGETS.end().as_nanos() as u64;

/// A turn takes so many times as long as a visit in vain, and once more for each visit in vain since one was not,
const TURNS_WORTH: u64 = 20;
/// up to so many times.
const TURNS_WORTH_RARE: u64 = 64;

/// What a visit costs before one was measured. Nanoseconds: some system calls.
const FIRST_GUESS_NS: u64 = 1_000;

/// Each visit in vain moves the median by such a part of itself.
const STEP: u64 = 16;

/// What visits cost, and what follows from that. See the [module docs](self).
#[derive(Debug)]
pub(super) struct Visits {
    /// None if it is measured.
    fixed_ns: Option<u64>,
    /// The last turn ended although there was work left.
    under_way: Cell<bool>,
    /// What a visit in vain costs, the median. Nanoseconds.
    cost_ns: Cell<u64>,
    /// Visits in vain since one was not.
    in_vain: Cell<u32>,
}

impl Visits {
    /// With this host budget, or one that tunes itself.
    pub(super) fn new(budget: Option<Duration>) -> Self {
        Self {
            fixed_ns: budget.map(|budget| u64::try_from(budget.as_nanos()).unwrap_or(u64::MAX)),
            under_way: Cell::new(false),
            cost_ns: Cell::new(FIRST_GUESS_NS),
            in_vain: Cell::new(0),
        }
    }

    /// A turn ends, and there is work left.
    pub(super) fn begin(&self) {
        self.under_way.set(true);
    }

    /// Whether the host has the thread although there is work left.
    #[cfg(feature = "tokio")]
    pub(super) fn are_under_way(&self) -> bool {
        self.under_way.get()
    }

    /// A turn begins. The host had the thread for so long, and has brought nothing to do if it was `in_vain`.
    #[inline]
    pub(super) fn end(&self, took_ns: u64, in_vain: impl FnOnce() -> bool) {
        if self.under_way.replace(false) && self.fixed_ns.is_none() {
            self.book(took_ns, in_vain());
        }
    }

    fn book(&self, took_ns: u64, in_vain: bool) {
        if !in_vain {
            self.in_vain.set(0);
            return;
        }
        self.in_vain.set(self.in_vain.get().saturating_add(1));
        // As many steps up as down: where as many visits cost more as cost less.
        let cost = self.cost_ns.get();
        let step = (cost / STEP).max(1);
        let next = if took_ns > cost { cost + step } else { cost - step };
        self.cost_ns.set(next.clamp(1, MOST_NS / TURNS_WORTH));
    }

    /// For how long the executor may run before the next. Nanoseconds.
    #[inline]
    pub(super) fn budget_ns(&self) -> u64 {
        self.fixed_ns.unwrap_or_else(|| {
            self.worth_ns((TURNS_WORTH + u64::from(self.in_vain.get())).min(TURNS_WORTH_RARE))
        })
    }

    /// And for how long while tasks that the last one woke are still to be polled. Nanoseconds.
    #[inline]
    pub(super) fn longest_ns(&self) -> u64 {
        self.fixed_ns.unwrap_or_else(|| self.worth_ns(TURNS_WORTH_RARE))
    }

    fn worth_ns(&self, visits: u64) -> u64 {
        self.cost_ns.get().saturating_mul(visits).clamp(LEAST_NS, MOST_NS)
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

    /// The budget after a thousand visits in vain, with one that was not after each.
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
            assert!(budget.abs_diff(20 * cost) <= 20 * cost / STEP, "{budget} for {cost}");
        }
        assert_eq!(settled(|_| 100), 10_000, "the least");
    }

    #[test]
    fn what_the_hosts_own_tasks_take_now_and_then_does_not_count() {
        let budget = settled(|round| if round % 3 == 0 { 250_000 } else { 1_000 });
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
            assert!(budget.abs_diff(worth) <= worth / STEP, "{budget} after {before} for {worth}");
        }
        assert!(visit(&visits, 5_000, false) < 23_000);
    }

    #[test]
    fn a_fixed_budget_stays_what_it_is() {
        let visits = Visits::new(Some(Duration::ZERO));
        assert_eq!(visit(&visits, 3_000, true), 0);
        assert_eq!(Visits::new(Some(Duration::MAX)).budget_ns(), u64::MAX);
    }

    #[test]
    fn only_a_turn_that_ended_with_work_left_begins_a_visit() {
        let visits = Visits::new(None);
        visits.end(10, || true);
        assert_eq!(visits.budget_ns(), 20_000);
    }
}
