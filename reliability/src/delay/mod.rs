//! Promise 5: the delay from a wake to the poll that it causes has a bound, and docs/BOUNDS.md has its formula.
//!
//! Random workloads in virtual time, on the real executor. Each delay is divided by what the [`formula`] gives for the
//! task's queue.

pub mod formula;
mod scene;
mod workload;

use clap::Args;
use fastrand::Rng;

use crate::cases::{Cases, Worst};
use crate::failure::Failure;
use crate::figure::{Bound, Figure};
use crate::progress;
use workload::Workload;

/// Holds the delay from wake to poll against its formula, in random workloads on a virtual clock.
#[derive(Clone, Debug, Args)]
pub struct Options {
    #[command(flatten)]
    cases: Cases,
}

impl Options {
    /// The quick form.
    pub fn quick() -> Self {
        Options { cases: Cases::quick() }
    }
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
pub fn measure(options: &Options) -> Result<Vec<Figure>, Failure> {
    let seeds = options.cases.seeds(100_000, 1_000);
    let count = seeds.end - seeds.start;
    let bar = progress::bar(count);
    let mut tally = Tally::default();
    for seed in seeds {
        play(seed, &mut tally)?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(figures(count, &tally))
}

fn play(seed: u64, tally: &mut Tally) -> Result<(), Failure> {
    let mut rng = Rng::with_seed(seed);
    let workload = Workload::draw(&mut rng);
    let (lone, steady) = (workload.queues.len() == 1, workload.is_steady());
    let outcome =
        scene::play(workload, rng).map_err(|failure| Failure::run(format!("seed {seed}: {failure}")))?;
    tally.wakes += outcome.wakes;
    match (lone, steady) {
        (true, _) => tally.one_queue.add(outcome.worst, seed),
        (_, true) => tally.steady.add(outcome.first_beside_contenders, seed),
        _ => {}
    }
    if !lone {
        tally.restless.add(outcome.worst, seed);
        tally.restless_by_steady.add(outcome.any_beside_contenders, seed);
    }
    Ok(())
}

fn figures(count: u64, tally: &Tally) -> Vec<Figure> {
    let mut figures = vec![
        Figure::told(5, "workloads in virtual time", count as f64),
        Figure::told(5, "wakes", tally.wakes as f64),
    ];
    let kinds = [
        ("one queue", tally.one_queue),
        ("queues that always contend", tally.steady),
        ("queues that come and go", tally.restless),
    ];
    for (kind, worst) in kinds {
        let what = format!("greatest delay from wake to poll / bound, {kind}");
        figures.push(Figure::held(5, what, worst.value, Bound::AtMost(1.0)));
        figures.push(Figure::told(5, format!("its seed, {kind}"), worst.seed as f64));
    }
    let what =
        "greatest delay from wake to poll, queues that come and go / bound of queues that always contend";
    figures.push(Figure::told(5, what, tally.restless_by_steady.value));
    figures
}
