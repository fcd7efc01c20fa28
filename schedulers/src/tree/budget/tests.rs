//! Every short program of work and rest, held against a model that goes on by one nanosecond at a time; and the counts.

use super::*;

fn cap(quota: u64, period: u64, burst: u64) -> Cap {
    let ns = Duration::from_nanos;
    Cap::new(ns(quota), ns(period)).and_then(|cap| cap.with_burst(ns(burst))).unwrap()
}

/// What is left, nanosecond by nanosecond.
struct Model {
    quota: i128,
    period: u64,
    most: i128,
    now: u64,
    left: i128,
}

impl Model {
    fn new(quota: u64, period: u64, burst: u64) -> Self {
        let (quota, most) = (i128::from(quota), i128::from(quota + burst));
        Self { quota, period, most, now: 0, left: quota }
    }

    fn pass(&mut self, ns: u64, works: bool) {
        for _ in 0..ns {
            self.left -= i128::from(works);
            self.now += 1;
            if self.now.is_multiple_of(self.period) {
                self.left = (self.left + self.quota).min(self.most);
            }
        }
    }
}

/// Work and rest in turn, each for so many nanoseconds.
fn follows_the_model([quota, period, burst]: [u64; 3], steps: [u64; 5]) {
    let (mut model, mut budget) =
        (Model::new(quota, period, burst), Budget::new(cap(quota, period, burst), 0));
    for (step, ns) in steps.into_iter().enumerate() {
        let works = step % 2 == 0;
        model.pass(ns, works);
        if works {
            budget.charge(ns, model.now);
        }
        let mut seen = budget;
        seen.advance(model.now);
        assert_eq!(seen.left_ns, model.left, "{quota} per {period}, burst {burst}: step {step} of {steps:?}");
        // It goes on as soon as something is left, and not before.
        if seen.is_spent() {
            let release = seen.release();
            model_until(&model, release);
        }
    }
}

/// The model has nothing left until `release`, and then it has.
fn model_until(model: &Model, release: u64) {
    let mut model = Model { ..*model };
    model.pass(release - model.now - 1, false);
    assert!(model.left <= 0);
    model.pass(1, false);
    assert!(model.left > 0);
}

#[test]
fn every_short_program_leaves_what_the_model_leaves() {
    let mut programs = 0;
    for [quota, period, burst] in [[1, 1, 0], [1, 3, 0], [1, 3, 1], [2, 3, 2], [3, 3, 1], [2, 4, 1]] {
        let lengths = || [0, 1, 2, 3, 4, 5, 7, 11];
        for (a, b, c) in lengths().into_iter().flat_map(|a| pairs(lengths()).map(move |(b, c)| (a, b, c))) {
            for (d, e) in pairs(lengths()) {
                follows_the_model([quota, period, burst], [a, b, c, d, e]);
                programs += 1;
            }
        }
    }
    assert_eq!(programs, 6 * 8_u32.pow(5));
}

fn pairs(lengths: [u64; 8]) -> impl Iterator<Item = (u64, u64)> {
    lengths.into_iter().flat_map(move |a| lengths.into_iter().map(move |b| (a, b)))
}

fn counted(budget: &Budget, now: u64) -> (u64, u64, u64) {
    let CapCounts { periods, throttled_periods, throttled_ns } = budget.counts(now);
    (periods, throttled_periods, throttled_ns)
}

#[test]
fn periods_with_work_are_counted_and_those_in_which_it_waited() {
    let mut budget = Budget::new(cap(20, 100, 0), 0);
    assert_eq!(counted(&budget, 5_000), (0, 0, 0), "without work there is none");
    budget.begin_work(210);
    budget.charge(10, 220);
    budget.end_work();
    budget.begin_work(230);
    assert_eq!(counted(&budget, 230), (1, 0, 0), "the same");
    budget.charge(15, 245);
    assert!(budget.is_spent());
    assert_eq!(budget.throttle(245), 300);
    assert_eq!(counted(&budget, 299), (1, 1, 54));
    assert_eq!(counted(&budget, 350), (2, 1, 105), "it has not gone on yet, but could have");
    assert_eq!(budget.end_throttle(302), Some(300));
    assert_eq!(counted(&budget, 302), (2, 1, 57));
    // 5 of the 20 were used before. Three periods to pay for it.
    budget.charge(60, 362);
    assert_eq!(budget.throttle(362), 600);
    assert_eq!(budget.end_throttle(600), Some(600));
    assert_eq!(counted(&budget, 600), (5, 4, 57 + 238));
}

#[test]
fn a_throttle_that_ends_before_its_time_counts_what_it_was() {
    let mut budget = Budget::new(cap(10, 100, 0), 0);
    budget.begin_work(0);
    budget.charge(45, 45);
    assert_eq!(budget.throttle(45), 400);
    assert_eq!(budget.end_throttle(250), Some(400));
    budget.end_work();
    assert_eq!(counted(&budget, 1_000), (3, 3, 205));
    assert_eq!(budget.end_throttle(300), None, "it was none any more");
}

#[test]
fn a_change_of_the_cap_leaves_used_what_is_used() {
    let mut budget = Budget::new(cap(50, 100, 50), 0);
    budget.begin_work(0);
    budget.charge(30, 30);
    // Of the same length: the period goes on.
    let more = budget.with_cap(cap(80, 100, 0), 40);
    assert_eq!((more.left_ns, more.began), (50, 0));
    let less = budget.with_cap(cap(10, 100, 0), 40);
    assert_eq!((less.left_ns, less.began), (-20, 0));
    // Of another length: it begins anew, with what is used.
    let other = budget.with_cap(cap(20, 40, 0), 40);
    assert_eq!((other.left_ns, other.began), (-10, 40));
    assert_eq!(counted(&other, 40), (2, 0, 0));
    // A burst that is left is kept as far as the new one allows it.
    let saved = budget.with_cap(cap(50, 100, 5), 400);
    assert_eq!((saved.left_ns, saved.began), (55, 400));
}

#[test]
fn nothing_wraps_at_the_end_of_time() {
    let long = Cap::new(Duration::MAX, Duration::MAX).unwrap();
    let mut budget = Budget::new(long, u64::MAX - 5);
    budget.begin_work(u64::MAX - 5);
    budget.charge(4, u64::MAX - 1);
    assert_eq!(budget.left_ns(), u64::MAX - 4);
    let mut spent = Budget::new(cap(1, u64::MAX, 0), 7);
    spent.charge(u64::MAX - 8, u64::MAX - 1);
    assert_eq!(spent.throttle(u64::MAX - 1), u64::MAX - 1, "a time, and not never");
}
