//! Promise 7: the host gets its thread back after as many polls as the cap says, or its time budget and one poll.
//!
//! `exact` measures turns on a manual clock, `lateness` the timers of real hosts.

mod exact;
mod lateness;

use clap::Args;
use clockworker_testing::host::Host;

use crate::cases::Cases;
use crate::figure::{Figure, at_most, told};

/// Measures how long each host waits for the end of the executor's turns, and how late its timers are.
#[derive(Clone, Debug, Args)]
pub struct Options {
    #[command(flatten)]
    cases: Cases,
}

/// Plays on all hosts.
pub fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let sleeps = if options.cases.quick { 200 } else { 10_000 };
    let mut figures = Vec::new();
    for &host in Host::ALL {
        let mut gaps = exact::Gaps::default();
        options.cases.play(2_000, 100, |seed| exact::play(host, seed, &mut gaps))?;
        figures.extend([
            told(7, format!("turns on a manual clock, {host}"), gaps.turns),
            told(7, format!("seed of the longest turn, {host}"), gaps.read.seed),
        ]);
        let held = [
            ("longest turn / (budget + longest poll)", gaps.read),
            ("longest turn / (budget + 32 polls), one queue, clock not read after each", gaps.unread),
            ("polls in a turn / poll cap", gaps.polls),
        ];
        figures.extend(held.map(|(what, worst)| at_most(7, format!("{what}, {host}"), worst.value, 1.0)));
        let Some(late) = lateness::measure(host, sleeps)? else { continue };
        figures.extend([("p50", 500), ("p99.9", 999)].map(|(name, per_mille)| {
            let what = format!("lateness of 1 ms timers beside busy tasks, {name}, µs, {host}");
            told(7, what, late.at(per_mille))
        }));
    }
    Ok(figures)
}
