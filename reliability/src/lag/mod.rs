//! Promise 6: no queue is further from what it is owed than EEVDF allows.
//!
//! `steady` holds the lags of `Eevdf`'s choices against an oracle; `shares` looks at what queues of the executor have
//! got after a second.

mod shares;
mod steady;

use clap::Args;

use crate::cases::{Cases, Worst};
use crate::failure::Failure;
use crate::figure::{Bound, Figure};
use crate::progress;

/// Holds every queue's lag against its bound, by exact arithmetic, and shares after a second against what was owed.
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

/// Runs all cases.
pub fn measure(options: &Options) -> Result<Vec<Figure>, Failure> {
    let intervals = options.cases.seeds(10_000, 200);
    let seconds = options.cases.seeds(1_000, 20);
    let (interval_count, second_count) = (intervals.end - intervals.start, seconds.end - seconds.start);
    let bar = progress::bar(interval_count + second_count);
    let mut lags = steady::Lags::default();
    for seed in intervals {
        steady::serve(seed, &mut lags);
        bar.inc(1);
    }
    let mut errors = shares::Errors::default();
    for seed in seconds {
        shares::run_a_second(seed, &mut errors)?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    let mut figures = vec![
        Figure::told(6, "steady intervals, random shares, requests and polls", interval_count as f64),
        Figure::told(6, "times every lag was looked at", lags.looks as f64),
    ];
    held(&mut figures, "greatest lag / bound of a queue that is behind", lags.behind, 1.0);
    held(&mut figures, "greatest lag / bound of a queue that is ahead", lags.ahead, 1.0);
    figures.push(Figure::told(6, "greatest |lag| / (largest request + longest poll)", lags.simple.value));
    held(&mut figures, "greatest error of a lag in ns per second of service", lags.error, 1_000.0);
    figures.push(Figure::told(6, "seconds of virtual time on the executor", second_count as f64));
    held(
        &mut figures,
        "share error after 1 s, % of what a queue of 10 % or more is owed",
        errors.of_owed,
        1.0,
    );
    held(&mut figures, "share error after 1 s, % of the second, any queue", errors.of_second, 1.0);
    Ok(figures)
}

fn held(figures: &mut Vec<Figure>, what: &str, worst: Worst, bound: f64) {
    figures.push(Figure::held(6, what, worst.value, Bound::AtMost(bound)));
    figures.push(Figure::told(6, format!("its seed, {what}"), worst.seed as f64));
}
