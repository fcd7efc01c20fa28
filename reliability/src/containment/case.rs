//! One combination of where a panic strikes and what happens to the task besides.

use std::cell::Cell;
use std::rc::Rc;

use clockworker::{Executor, Queue, QueueError};
use clockworker_testing::hostile::{Call, Fault, Faulty, Hostile};
use clockworker_testing::policy::Policy;

use super::stage::Stage;
use super::victim::Place;

/// How the task is spawned.
#[derive(Clone, Copy, Debug)]
pub(super) enum Spawn {
    Here,
    InGroup,
    FromElsewhere,
}

/// What becomes of the join handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
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
pub(super) enum Event {
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
const FAULTS: [Fault; 6] = [
    Fault::Panics(Call::Push),
    Fault::Panics(Call::Pop),
    Fault::Panics(Call::Served),
    Fault::Panics(Call::Finished),
    Fault::Panics(Call::GroupClosed),
    Fault::PanicsInDrop,
];
const SPAWNS: [Spawn; 3] = [Spawn::Here, Spawn::InGroup, Spawn::FromElsewhere];
const FATES: [Fate; 4] = [Fate::Kept, Fate::AwaitedHere, Fate::AwaitedElsewhere, Fate::Dropped];
const EVENTS: [Event; 3] = [Event::Nothing, Event::Abort, Event::DropExecutor];
const MOMENTS: [Moment; 4] = [Moment::BeforeFirstPoll, Moment::Asleep, Moment::Woken, Moment::AfterTheEnd];

/// See the [module docs](self).
#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    pub(super) place: Place,
    /// The scheduler of its queue, unless that is to panic.
    policy: Policy,
    pub(super) spawn: Spawn,
    pub(super) fate: Fate,
    pub(super) event: Event,
    moment: Moment,
}

/// What came of cases.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Outcome {
    pub(super) panics: u64,
    /// Other tasks that were to complete, and that did.
    pub(super) survivors: u64,
    pub(super) survived: u64,
    pub(super) handles: u64,
    pub(super) resolved: u64,
    /// Cases in which the executor's books do not balance, or an output was not dropped once.
    pub(super) unbalanced: u64,
}

/// Every combination. A place in a scheduler goes with the scheduler that panics there, the others with each of those that
/// come with the crate.
pub(super) fn all(policies: &[Policy]) -> Vec<Case> {
    let of_task = PLACES.iter().flat_map(|&place| policies.iter().map(move |&policy| (place, policy)));
    let of_scheduler = FAULTS.iter().map(|&fault| (Place::Scheduler(fault), policies[0]));
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
    pub(super) fn play(self, sum: &mut Outcome) -> anyhow::Result<()> {
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
    pub(super) fn queue(self, ex: &Executor) -> Result<(Queue, Rc<Cell<u32>>), QueueError> {
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
