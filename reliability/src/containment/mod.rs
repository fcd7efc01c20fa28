//! Promises 4 and 11: a panic stays where it belongs, wherever it strikes.
//!
//! One task meets a panic: in its poll, in the drop of its future or output, in the waker of who awaits it, or in the
//! scheduler of its queue. Eight others are on the same executor. They must complete, and every join handle must resolve,
//! whatever becomes of the handle, and whenever the task is aborted or the executor dropped.

mod case;
mod scheduler;
mod stage;
mod victim;

use std::sync::Arc;
use std::time::Duration;

use clap::Args;

use crate::failure::Failure;
use crate::figure::{Bound, Figure};
use crate::progress;
use crate::watchdog::{self, Pulse};
use case::{Case, Event, Fate, Moment, Outcome, Place, Policy, Spawn};

/// Panics everywhere, and counts who survives.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// A fifth of the cases: only those on the first of the schedulers. Both take seconds.
    #[arg(long)]
    quick: bool,
    /// After how many seconds without progress a case is called stuck.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    patience: u64,
}

/// Tries every combination.
pub fn measure(options: &Options) -> Result<Vec<Figure>, Failure> {
    let cases = all(if options.quick { &Policy::ORDINARY[..1] } else { Policy::ORDINARY });
    let (bar, pulse) = (progress::bar(cases.len() as u64), Arc::new(Pulse::default()));
    let (beats, tried) = (Arc::clone(&pulse), cases.clone());
    let stuck = || {
        let case = cases.get(pulse.count() as usize);
        format!("nothing moved for {} s in {case:?}", options.patience)
    };
    let work = move || try_all(&tried, &beats);
    let patience = Duration::from_secs(options.patience);
    let sum = watchdog::watch(&pulse, patience, |done| bar.set_position(done), work, stuck)?;
    bar.finish_and_clear();
    Ok(figures(cases.len(), sum))
}

fn try_all(cases: &[Case], pulse: &Pulse) -> Result<Outcome, Failure> {
    let mut sum = Outcome::default();
    for &case in cases {
        let outcome = case.play()?;
        let whole = outcome.survived == outcome.survivors && outcome.resolved == outcome.handles;
        if !whole || outcome.unbalanced > 0 {
            return Err(Failure::run(format!("{case:?}: {outcome:?}")));
        }
        sum.add(outcome);
        pulse.beat(1);
    }
    Ok(sum)
}

/// Every combination. A place in a scheduler goes with the scheduler that panics there, the others with each of those that
/// come with the crate.
fn all(policies: &[Policy]) -> Vec<Case> {
    let mut cases = Vec::new();
    let schedulers = Place::IN_SCHEDULER.iter().map(|&place| (place, Policy::Panicking));
    let others =
        Place::ELSEWHERE.iter().flat_map(|&place| policies.iter().map(move |&policy| (place, policy)));
    for (place, policy) in others.chain(schedulers) {
        for &spawn in Spawn::ALL {
            for &fate in Fate::ALL {
                for &moment in Moment::ALL {
                    for &event in Event::ALL {
                        cases.push(Case { place, policy, spawn, fate, event, moment });
                    }
                }
            }
        }
    }
    cases
}

impl Outcome {
    fn add(&mut self, other: Outcome) {
        self.panics += other.panics;
        self.survivors += other.survivors;
        self.survived += other.survived;
        self.handles += other.handles;
        self.resolved += other.resolved;
        self.unbalanced += other.unbalanced;
    }
}

fn figures(cases: usize, sum: Outcome) -> Vec<Figure> {
    let percent = |part: u64, whole: u64| 100.0 * part as f64 / whole as f64;
    let all = Bound::Exactly(100.0);
    vec![
        Figure::told(11, "cases (place × scheduler × spawn × handle × event × moment)", cases as f64),
        Figure::told(11, "panics", sum.panics as f64),
        Figure::told(11, "other tasks that were to complete", sum.survivors as f64),
        Figure::held(11, "of them completed, %", percent(sum.survived, sum.survivors), all),
        Figure::told(4, "join handles", sum.handles as f64),
        Figure::held(4, "of them resolved, %", percent(sum.resolved, sum.handles), all),
        Figure::held(
            4,
            "cases in which books or outputs do not balance",
            sum.unbalanced as f64,
            Bound::Exactly(0.0),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_survive_in_every_case() {
        let cases = all(Policy::ORDINARY);
        let sum = try_all(&cases, &Pulse::default()).unwrap();
        // Not each case gets as far as its panic, but most do.
        assert!(sum.panics > cases.len() as u64 / 2, "{sum:?} in {} cases", cases.len());
    }
}
