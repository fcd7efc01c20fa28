//! Promise 9: `wake()` waits for nobody, runs no user code and allocates nothing.
//!
//! `suspended` wakes while nobody drives the executor, so that whoever waited for it would wait for ever; `locked` wakes
//! under a lock that the poll and the drop of the woken task take.

mod locked;
mod suspended;

use std::sync::Arc;
use std::time::Duration;

use clap::Args;

use crate::failure::Failure;
use crate::figure::{Bound, Figure};
use crate::watchdog::{self, Pulse};

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
    #[arg(long, value_name = "N", default_value_t = 8)]
    threads: usize,
    /// How many tasks they wake.
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    tasks: usize,
}

impl Options {
    /// The quick form.
    pub fn quick() -> Self {
        Options { wakes: 0, quick: true, threads: 8, tasks: 1_000 }
    }
}

/// How long nothing may move before it is called a deadlock.
const PATIENCE: Duration = Duration::from_secs(60);

/// Measures both.
///
/// # Errors
///
/// If a wake does not return, or nothing counts allocations in this program.
pub fn measure(options: &Options) -> Result<Vec<Figure>, Failure> {
    let Options { threads, tasks, .. } = *options;
    if threads == 0 || tasks == 0 || threads > 1_000 {
        return Err(Failure::request("--threads takes a number from 1 to 1000, --tasks one above 0"));
    }
    let wakes = if options.quick { 500_000 } else { options.wakes };
    let each = wakes.div_ceil(threads as u64);
    let pulse = Arc::new(Pulse::default());
    let stuck = || format!("a wake does not return: {} rounds were done", pulse.count());
    let at_work = Arc::clone(&pulse);
    let work = move || suspended::measure(threads, tasks, each, &at_work);
    let cost = watchdog::watch(&pulse, PATIENCE, |_| {}, work, stuck)?;
    let at_work = Arc::clone(&pulse);
    let work = move || locked::measure(threads, each / 10, &at_work);
    let clash = watchdog::watch(&pulse, PATIENCE, |_| {}, work, stuck)?;
    Ok(figures(&cost, &clash))
}

fn figures(cost: &suspended::Cost, clash: &locked::Clash) -> Vec<Figure> {
    let none = Bound::Exactly(0.0);
    vec![
        Figure::told(
            9,
            "wakes while the executor is suspended, by value and by reference",
            cost.wakes as f64,
        ),
        Figure::held(9, "allocations by them", cost.allocations as f64, none),
        Figure::held(9, "most wakes of the host in one park", cost.host_wakes as f64, Bound::AtMost(1.0)),
        Figure::held(9, "polls less woken tasks, afterwards", cost.polls_off as f64, none),
        Figure::told(9, "longest wake, ns (the operating system's pauses included)", cost.longest_ns as f64),
        Figure::told(9, "wake, mean, ns", cost.mean_ns),
        Figure::told(
            9,
            "wakes, aborts and drops of wakers under a lock that the tasks need, about",
            clash.wakes as f64,
        ),
        Figure::held(9, "polls and drops of tasks inside of them", clash.inside as f64, none),
        Figure::held(9, "tasks that did not end", clash.left as f64, none),
    ]
}
