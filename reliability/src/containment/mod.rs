//! Promises 4 and 11: a panic stays where it belongs, wherever it strikes.
//!
//! One task meets a panic: in its poll, in the drop of its future or output, in the waker of who awaits it, or in the
//! scheduler of its queue. Eight others are on the same executor. They must complete, and every join handle must resolve,
//! whatever becomes of the handle, and whenever the task is aborted or the executor dropped.

mod case;
mod stage;
mod victim;

use std::sync::Arc;

use anyhow::ensure;
use clap::Args;
use clockworker_testing::policy::Policy;

use crate::cases::bar;
use crate::figure::{Figure, exactly, none, told};
use crate::watchdog::{Patience, Pulse};
use case::{Case, Outcome};

/// Panics everywhere, and counts who survives.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// A fifth of the cases: only those on the first of the schedulers. Both take seconds.
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    patience: Patience,
}

/// Tries every combination.
pub(crate) fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let cases = case::all(if options.quick { &Policy::ALL[..1] } else { Policy::ALL });
    let (bar, tried) = (bar(cases.len() as u64), cases.clone());
    let work = move |pulse: Arc<Pulse>| try_all(&tried, &pulse);
    let stuck = |done| format!("{:?}", cases.get(done as usize));
    let sum = options.patience.watch(|done| bar.set_position(done), work, stuck)?;
    bar.finish_and_clear();
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
        let whole = sum.survived == sum.survivors && sum.resolved == sum.handles && sum.unbalanced == 0;
        ensure!(whole, "{case:?}: with the cases before, {sum:?}");
        pulse.beat(1);
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_survive_in_every_case() {
        let cases = case::all(Policy::ALL);
        let sum = try_all(&cases, &Pulse::default()).unwrap();
        // Not each case gets as far as its panic, but most do.
        assert!(sum.panics > cases.len() as u64 / 2, "{sum:?} in {} cases", cases.len());
    }
}
