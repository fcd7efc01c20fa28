//! The promises of `RELIABILITY.md`, each attacked by a test that tries to break it, and prints its figures.
//!
//! `clockworker_testing::effort` says how to try more, or one case again. What counts the allocations or the panics of
//! the process has a program of its own: `wake_cost`, `growth`, `soak` and `programs`.

#![allow(clippy::print_stdout, reason = "the figures of RELIABILITY.md, shown by `--nocapture`")]

mod adversary;
mod bounds;
mod cuts;
mod delay;
mod host;
mod idle;
mod lag;
mod tenants;
mod wakes;

use fastrand::Rng;

/// A number from `least` to `most`, each order of magnitude as likely as any other. Both are above 0.
fn log_uniform(rng: &mut Rng, least: u64, most: u64) -> u64 {
    let (least_ln, most_ln) = ((least as f64).ln(), (most as f64).ln());
    ((least_ln + rng.f64() * (most_ln - least_ln)).exp() as u64).clamp(least, most)
}

/// The greatest part of a bound that was reached.
#[derive(Debug, Default)]
struct Reached(std::cell::Cell<f64>);

impl Reached {
    /// Takes a part in. More than all of the bound is a broken promise, and so is what is no number.
    fn note(&self, part: f64) {
        assert!(part <= 1.0, "{part} times the bound");
        self.0.set(self.0.get().max(part));
    }

    /// A bound that nothing comes near is tested by nothing. (One case alone may be far from it.)
    fn assert_near(&self, least: f64) {
        let reached = self.0.get();
        assert!(reached > least || clockworker_testing::effort::seed().is_some(), "no more than {reached}");
    }
}

impl std::fmt::Display for Reached {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.3}", self.0.get())
    }
}
