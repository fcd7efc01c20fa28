//! One combination of where a panic strikes and what happens to the task besides.

use std::cell::Cell;
use std::rc::Rc;

use clockworker::{Executor, Queue, QueueError};
use clockworker_testing::hostile::{Call, Fault, Faulty, Hostile};
use clockworker_testing::policy::Policy;

use super::stage::Stage;

/// An enumeration, and all there is of it.
macro_rules! every {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident),+ $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum $name { $($(#[$doc])* $variant),+ }
        impl $name { pub(super) const ALL: &[$name] = &[$($name::$variant),+]; }
    };
}

/// Where the panic strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    FirstPoll,
    SecondPoll,
    FutureDrop,
    OutputDrop,
    WakerWake,
    WakerDrop,
    Scheduler(Fault),
}

impl Place {
    pub(super) const ALL: &[Place] = &[
        Place::FirstPoll,
        Place::SecondPoll,
        Place::FutureDrop,
        Place::OutputDrop,
        Place::WakerWake,
        Place::WakerDrop,
        Place::Scheduler(Fault::Panics(Call::Push)),
        Place::Scheduler(Fault::Panics(Call::Pop)),
        Place::Scheduler(Fault::Panics(Call::Served)),
        Place::Scheduler(Fault::Panics(Call::Finished)),
        Place::Scheduler(Fault::Panics(Call::GroupClosed)),
        Place::Scheduler(Fault::PanicsInDrop),
    ];
}

every! {
    /// How the task is spawned.
    Spawn { Here, InGroup, FromElsewhere }
}

every! {
    /// What becomes of the join handle.
    Fate {
        /// It is polled at the end.
        Kept,
        /// A task of the same executor awaits it.
        AwaitedHere,
        /// Another thread does.
        AwaitedElsewhere,
        /// It is dropped at the moment.
        Dropped,
    }
}

every! {
    /// What happens at the moment.
    Event { Nothing, Abort, DropExecutor }
}

every! {
    /// When it happens.
    Moment { BeforeFirstPoll, Asleep, Woken, AfterTheEnd }
}

/// See the [module docs](self).
#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    pub(super) place: Place,
    /// The scheduler of its queue, unless that is to panic.
    pub(super) policy: Policy,
    pub(super) spawn: Spawn,
    pub(super) fate: Fate,
    pub(super) event: Event,
    pub(super) moment: Moment,
}

/// What came of it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Outcome {
    pub(super) panics: u64,
    /// Other tasks that were to complete, and that did.
    pub(super) survivors: u64,
    pub(super) survived: u64,
    pub(super) handles: u64,
    pub(super) resolved: u64,
    /// 1 if the executor's books do not balance, or an output was not dropped once.
    pub(super) unbalanced: u64,
}

impl Case {
    pub(super) fn play(self) -> anyhow::Result<Outcome> {
        let mut stage = Stage::set(self)?;
        for &moment in Moment::ALL {
            match moment {
                Moment::BeforeFirstPoll => {}
                Moment::Asleep | Moment::AfterTheEnd => stage.settle(),
                Moment::Woken => stage.traces.wake(),
            }
            if moment == self.moment {
                stage.happen();
            }
        }
        stage.end()
    }

    /// Its queue, and a count of its scheduler's panics.
    pub(super) fn queue(self, ex: &Executor) -> Result<(Queue, Rc<Cell<u32>>), QueueError> {
        let queue = ex.new_queue("queue");
        let Place::Scheduler(fault) = self.place else {
            return Ok((self.policy.create(queue)?, Rc::default()));
        };
        // Sooner or later, as everything else happens sooner or later.
        let after = 2 * Moment::ALL.iter().position(|&moment| moment == self.moment).unwrap_or(0) as u32;
        let faulty = Faulty::for_ever(fault, after);
        let struck = faulty.struck();
        Ok((queue.scheduler(Hostile::<Faulty>::new(faulty)).create()?, struck))
    }
}
