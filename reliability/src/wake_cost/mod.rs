//! Promise 9: `wake()` waits for nobody, runs no user code and allocates nothing.
//!
//! `suspended` wakes while nobody drives the executor, so that whoever waited for it would wait for ever; `locked` wakes
//! under a lock that the poll and the drop of the woken task take.

mod locked;
mod suspended;

use std::sync::Arc;

use clap::Args;

use crate::figure::Figure;
use crate::watchdog::{Patience, Pulse};

/// Wakes from other threads while the executor is suspended, and under locks that tasks need.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// How many wakes, in all.
    #[arg(long, value_name = "N", default_value_t = 100_000_000)]
    wakes: u64,
    /// Half a million wakes.
    #[arg(long, conflicts_with = "wakes")]
    quick: bool,
    #[command(flatten)]
    patience: Patience,
}

/// Threads that wake at the same time.
const THREADS: usize = 8;

/// Measures both.
pub(crate) fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let wakes = if options.quick { 500_000 } else { options.wakes };
    let stuck = |rounds| format!("a wake does not return: {rounds} rounds were done");
    let work = move |pulse: Arc<Pulse>| suspended::measure(wakes, &pulse);
    let mut figures = options.patience.watch(|_| {}, work, stuck)?;
    let work = move |pulse: Arc<Pulse>| locked::measure(wakes / 10, &pulse);
    figures.extend(options.patience.watch(|_| {}, work, stuck)?);
    Ok(figures)
}
