//! Promises 4 and 11: a panic stays where it belongs, wherever it strikes.
//!
//! One task meets a panic: in its poll, in the drop of its future or output, in the waker of who awaits it, or in the
//! scheduler of its queue. Eight others are on the same executor. They must complete, and every join handle must resolve,
//! whatever becomes of the handle, and whenever the task is aborted or the executor dropped.

mod stage;
mod victim;

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use anyhow::ensure;
use clap::Args;
use clockworker::{Executor, Queue, QueueError};
use clockworker_testing::hostile::{Call, Fault, Faulty, Hostile};
use clockworker_testing::policy::Policy;

use crate::cases::bar;
use crate::figure::{Figure, exactly, none, told};
use crate::watchdog::{Patience, Pulse};
use stage::Stage;
use victim::Place;

/// Panics everywhere, and counts who survives.
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

/// How the task is spawned.
#[derive(Clone, Copy, Debug)]
enum Spawn {
    Here,
    InGroup,
    FromElsewhere,
}

/// What becomes of the join handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// It is polled at the end.
    Kept,
    /// A task of the same executor awaits it.
    AwaitedHere,
    /// Another thread does.
    AwaitedElsewhere,
    /// It is dropped at the moment.
    Dropped,
}

/// What happens at the moment.
#[derive(Clone, Copy, Debug)]
enum Event {
    Nothing,
    Abort,
    DropExecutor,
}

/// When it happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    BeforeFirstPoll,
    Asleep,
    Woken,
    AfterTheEnd,
}

const PLACES: [Place; 6] = [
    Place::FirstPoll,
    Place::SecondPoll,
    Place::FutureDrop,
    Place::OutputDrop,
    Place::WakerWake,
    Place::WakerDrop,
];
const CALLS: [Call; 5] = [Call::Push, Call::Pop, Call::Served, Call::Finished, Call::GroupClosed];
const SPAWNS: [Spawn; 3] = [Spawn::Here, Spawn::InGroup, Spawn::FromElsewhere];
const FATES: [Fate; 4] = [Fate::Kept, Fate::AwaitedHere, Fate::AwaitedElsewhere, Fate::Dropped];
const EVENTS: [Event; 3] = [Event::Nothing, Event::Abort, Event::DropExecutor];
const MOMENTS: [Moment; 4] = [Moment::BeforeFirstPoll, Moment::Asleep, Moment::Woken, Moment::AfterTheEnd];

/// One combination of where the panic strikes and what happens to the task besides.
#[derive(Clone, Copy, Debug)]
struct Case {
    place: Place,
    /// The scheduler of its queue, unless that is to panic.
    policy: Policy,
    spawn: Spawn,
    fate: Fate,
    event: Event,
    moment: Moment,
}

/// What came of cases.
#[derive(Clone, Copy, Debug, Default)]
struct Outcome {
    panics: u64,
    /// Other tasks that were to complete, and that did.
    survivors: u64,
    survived: u64,
    handles: u64,
    resolved: u64,
    /// Cases in which the executor's books do not balance, or an output was not dropped once.
    unbalanced: u64,
}

/// Every combination. A place in a scheduler goes with the scheduler that panics there, the others with each of those that
/// come with the crate.
fn all(policies: &[Policy]) -> Vec<Case> {
    let of_task = PLACES.iter().flat_map(|&place| policies.iter().map(move |&policy| (place, policy)));
    let faults = CALLS.into_iter().map(Fault::Panics).chain([Fault::PanicsInDrop]);
    let of_scheduler = faults.map(|fault| (Place::Scheduler(fault), policies[0]));
    let mut cases = Vec::new();
    for (place, policy) in of_task.chain(of_scheduler) {
        for spawn in SPAWNS {
            for fate in FATES {
                for moment in MOMENTS {
                    cases.extend(EVENTS.map(|event| Case { place, policy, spawn, fate, event, moment }));
                }
            }
        }
    }
    cases
}

impl Case {
    /// Plays it, and counts it too.
    fn play(self, sum: &mut Outcome) -> anyhow::Result<()> {
        let mut stage = Stage::set(self)?;
        for moment in MOMENTS {
            match moment {
                Moment::BeforeFirstPoll => {}
                Moment::Asleep | Moment::AfterTheEnd => stage.settle(),
                Moment::Woken => stage.traces.wake(),
            }
            if moment == self.moment {
                stage.happen(self);
            }
        }
        stage.end(sum)
    }

    /// Its queue, and a count of its scheduler's panics.
    fn queue(self, ex: &Executor) -> Result<(Queue, Rc<Cell<u32>>), QueueError> {
        let queue = ex.new_queue("queue");
        let Place::Scheduler(fault) = self.place else {
            return Ok((self.policy.create(queue)?, Rc::default()));
        };
        // Sooner or later, as everything else happens sooner or later.
        let faulty = Faulty::for_ever(fault, 2 * self.moment as u32);
        let struck = faulty.struck();
        Ok((queue.scheduler(Hostile::<Faulty>::new(faulty)).create()?, struck))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_survive_in_every_case() {
        let cases = all(Policy::ALL);
        let sum = try_all(&cases, &Pulse::default()).unwrap();
        // Not each case gets as far as its panic, but most do.
        assert!(sum.panics > cases.len() as u64 / 2, "{sum:?} in {} cases", cases.len());
    }
}
