//! Promise 5: the delay from a wake to the poll that it causes has a bound, and docs/BOUNDS.md has its formula.
//!
//! Random workloads in virtual time, on the real executor. Each delay is divided by what the [`formula`] gives for the
//! task's queue.

pub mod formula;
mod scene;
mod workload;

use anyhow::Context;
use clap::Args;
use fastrand::Rng;

use crate::cases::{Cases, Worst};
use crate::figure::{Figure, told};
use workload::Workload;

/// Holds the delay from wake to poll against its formula, in random workloads on a virtual clock.
#[derive(Clone, Debug, Args)]
pub struct Options {
    #[command(flatten)]
    cases: Cases,
}

/// The worst delay of each kind of workload, in parts of its bound.
#[derive(Debug, Default)]
struct Tally {
    wakes: u64,
    one_queue: Worst,
    steady: Worst,
    restless: Worst,
    /// The same in parts of the bound that holds where queues always contend.
    restless_by_steady: Worst,
}

/// Plays all workloads.
pub fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let mut tally = Tally::default();
    let count = options.cases.play(100_000, 1_000, |seed| tally.play(seed))?;
    let mut figures = vec![told(5, "workloads in virtual time", count), told(5, "wakes", tally.wakes)];
    let kinds = [
        ("one queue", tally.one_queue),
        ("queues that always contend", tally.steady),
        ("queues that come and go", tally.restless),
    ];
    figures.extend(kinds.into_iter().flat_map(|(kind, worst)| {
        worst.figures(5, &format!("greatest delay from wake to poll / bound, {kind}"), 1.0)
    }));
    let what =
        "greatest delay from wake to poll, queues that come and go / bound of queues that always contend";
    figures.push(told(5, what, tally.restless_by_steady.value));
    Ok(figures)
}

impl Tally {
    fn play(&mut self, seed: u64) -> anyhow::Result<()> {
        let mut rng = Rng::with_seed(seed);
        let workload = Workload::draw(&mut rng);
        let (lone, steady) = (workload.queues.len() == 1, workload.is_steady());
        let outcome = scene::play(workload, rng, seed).with_context(|| format!("seed {seed}"))?;
        self.wakes += outcome.wakes;
        match (lone, steady) {
            (true, _) => self.one_queue.take(outcome.worst),
            (_, true) => self.steady.take(outcome.first_beside_contenders),
            _ => {}
        }
        if !lone {
            self.restless.take(outcome.worst);
            self.restless_by_steady.take(outcome.any_beside_contenders);
        }
        Ok(())
    }
}
