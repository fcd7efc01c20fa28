//! Promise 6: no queue is further from what it is owed than EEVDF allows.
//!
//! `steady` holds the lags of `Eevdf`'s choices against an oracle; `shares` looks at what queues of the executor have
//! got after a second.

mod shares;
mod steady;

use clap::Args;

use crate::cases::Cases;
use crate::figure::{Figure, told};

/// Holds every queue's lag against its bound, by exact arithmetic, and shares after a second against what was owed.
#[derive(Clone, Debug, Args)]
pub struct Options {
    #[command(flatten)]
    cases: Cases,
}

/// Runs all cases.
pub fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let (mut lags, mut errors) = (steady::Lags::default(), shares::Errors::default());
    let intervals = options.cases.play(10_000, 200, |seed| {
        steady::serve(seed, &mut lags);
        Ok(())
    })?;
    let seconds = options.cases.play(1_000, 20, |seed| shares::run_a_second(seed, &mut errors))?;
    let mut figures = vec![
        told(6, "steady intervals, random shares, requests and polls", intervals),
        told(6, "times every lag was looked at", lags.looks),
        told(6, "greatest |lag| / (largest request + longest poll)", lags.simple.value),
        told(6, "seconds of virtual time on the executor", seconds),
    ];
    let held = [
        ("greatest lag / bound of a queue that is behind", lags.behind, 1.0),
        ("greatest lag / bound of a queue that is ahead", lags.ahead, 1.0),
        ("greatest error of a lag in ns per second of service", lags.error, 1_000.0),
        ("share error after 1 s, % of what a queue of 10 % or more is owed", errors.of_owed, 1.0),
        ("share error after 1 s, % of the second, any queue", errors.of_second, 1.0),
    ];
    figures.extend(held.into_iter().flat_map(|(what, worst, bound)| worst.figures(6, what, bound)));
    Ok(figures)
}
