//! Promises 4 and 11: a panic stays where it belongs, wherever it strikes. `testing::containment` has the cases.

use std::sync::Arc;

use anyhow::ensure;
use clap::Args;
use clockworker_testing::containment::{Case, Outcome, all};
use clockworker_testing::policy::Policy;

use crate::cases::bar;
use crate::figure::{Figure, exactly, none, told};
use crate::watchdog::{Patience, Pulse};

#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// A fifth of the cases: only those on the first of the schedulers. Both take seconds.
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    patience: Patience,
}

pub(crate) fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let cases = all(if options.quick { &Policy::ALL[..1] } else { Policy::ALL });
    let (bar, tried) = (bar(cases.len() as u64), cases.clone());
    let work = move |pulse: Arc<Pulse>| try_all(&tried, &pulse);
    let stuck = |done| format!("{:?}", cases.get(done as usize));
    let sum = options.patience.watch(|done| bar.set_position(done), work, stuck)?;
    let percent = |part: u64, whole: u64| 100.0 * part as f64 / whole as f64;
    Ok(vec![
        told(11, "cases (place × scheduler × spawn × handle × event × moment)", cases.len()),
        told(11, "panics", sum.panics),
        told(11, "other tasks that were to complete", sum.survivors),
        exactly(11, "of them completed, %", percent(sum.survived, sum.survivors), 100.0),
        told(4, "join handles", sum.handles),
        exactly(4, "of them resolved, %", percent(sum.resolved, sum.handles), 100.0),
        none(4, "cases in which books or outputs do not balance", sum.unbalanced),
    ])
}

/// Up to the first case that is not as it should be.
fn try_all(cases: &[Case], pulse: &Pulse) -> anyhow::Result<Outcome> {
    let mut sum = Outcome::default();
    for case in cases {
        case.play(&mut sum)?;
        ensure!(sum.is_whole(), "{case:?}: with the cases before, {sum:?}");
        pulse.beat(1);
    }
    Ok(sum)
}
