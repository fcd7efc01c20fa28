//! Promise 9: `wake()` waits for nobody, runs no user code and allocates nothing.
//!
//! `suspended` wakes while nobody drives the executor, so that whoever waited for it would wait for ever; `locked` wakes
//! under a lock that the poll and the drop of the woken task take.

mod locked;
mod suspended;

use std::sync::Arc;

use clap::Args;

use crate::figure::{Figure, at_most, none, told};
use crate::watchdog::{Patience, Pulse};

/// Wakes from other threads while the executor is suspended, and under locks that tasks need.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// How many wakes, in all.
    #[arg(long, value_name = "N", default_value_t = 100_000_000)]
    wakes: u64,
    /// Half a million wakes.
    #[arg(long, conflicts_with = "wakes")]
    quick: bool,
    /// How many threads wake at the same time.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..=1_000))]
    threads: u64,
    /// How many tasks they wake.
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..))]
    tasks: u64,
    #[command(flatten)]
    patience: Patience,
}

/// Measures both.
pub fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let Options { threads, tasks, patience, .. } = *options;
    let wakes = if options.quick { 500_000 } else { options.wakes };
    let (threads, tasks) = (threads as usize, tasks as usize);
    let each = wakes.div_ceil(threads as u64);
    let stuck = |rounds| format!("a wake does not return: {rounds} rounds were done");
    let work = move |pulse: Arc<Pulse>| suspended::measure(threads, tasks, each, &pulse);
    let cost = patience.watch(|_| {}, work, stuck)?;
    let work = move |pulse: Arc<Pulse>| locked::measure(threads, each / 10, &pulse);
    let clash = patience.watch(|_| {}, work, stuck)?;
    Ok(vec![
        told(9, "wakes while the executor is suspended, by value and by reference", cost.wakes),
        none(9, "allocations by them", cost.allocations),
        at_most(9, "most wakes of the host in one park", cost.host_wakes, 1.0),
        none(9, "polls less woken tasks, afterwards", cost.polls_off),
        told(9, "longest wake, ns (the operating system's pauses included)", cost.longest_ns),
        told(9, "wake, mean, ns", cost.mean_ns),
        told(9, "wakes, aborts and drops of wakers under a lock that the tasks need, about", clash.wakes),
        none(9, "polls and drops of tasks inside of them", clash.inside),
        none(9, "tasks that did not end", clash.left),
    ])
}
