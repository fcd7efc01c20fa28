//! Promise 7: the host gets its thread back after as many polls as the cap says, or its time budget and one poll.
//!
//! `exact` measures turns on a manual clock, `lateness` the timers of real hosts.

mod exact;
mod lateness;
pub(crate) mod metered;

use clap::Args;

use crate::cases::Cases;
use crate::failure::Failure;
use crate::figure::{Bound, Figure};
use crate::host::Host;
use crate::progress;

/// Measures how long each host waits for the end of the executor's turns, and how late its timers are.
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

/// Plays on all hosts.
pub fn measure(options: &Options) -> Result<Vec<Figure>, Failure> {
    let seeds = options.cases.seeds(2_000, 100);
    let sleeps = if options.cases.quick { 200 } else { 10_000 };
    let bar = progress::bar(Host::ALL.len() as u64 * 2);
    let mut figures = Vec::new();
    for &host in Host::ALL {
        bar.set_message(host.to_string());
        let mut gaps = exact::Gaps::default();
        for seed in seeds.clone() {
            exact::play(host, seed, &mut gaps)?;
        }
        bar.inc(1);
        add_gaps(&mut figures, host, &gaps);
        if let Some(late) = lateness::measure(host, sleeps)? {
            for (name, per_mille) in [("p50", 500), ("p99.9", 999)] {
                let what = format!("lateness of 1 ms timers beside busy tasks, {name}, µs, {host}");
                figures.push(Figure::told(7, what, late.at(per_mille)));
            }
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(figures)
}

fn add_gaps(figures: &mut Vec<Figure>, host: Host, gaps: &exact::Gaps) {
    figures.push(Figure::told(7, format!("turns on a manual clock, {host}"), gaps.turns as f64));
    let held = [
        ("longest turn / (budget + longest poll)", gaps.read),
        ("longest turn / (budget + 32 polls), one queue, clock not read after each", gaps.unread),
        ("polls in a turn / poll cap", gaps.polls),
    ];
    for (what, worst) in held {
        figures.push(Figure::held(7, format!("{what}, {host}"), worst.value, Bound::AtMost(1.0)));
    }
    figures.push(Figure::told(7, format!("seed of the longest turn, {host}"), gaps.read.seed as f64));
}
