//! One combination of where a panic strikes and what happens to the task besides.

use std::collections::VecDeque;

use clockworker::schedulers::{ArrivalFifo, Las, Qlas, RunnableFifo, Serpt};
use clockworker::{Executor, Queue, QueueError};

use super::scheduler::Panicking;
use super::stage::Stage;
use super::victim::Strikes;
use crate::failure::Failure;

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
    Push,
    Pop,
    Served,
    Finished,
    GroupClosed,
    SchedulerDrop,
}

impl Place {
    pub(super) const ELSEWHERE: &[Place] = &[
        Place::FirstPoll,
        Place::SecondPoll,
        Place::FutureDrop,
        Place::OutputDrop,
        Place::WakerWake,
        Place::WakerDrop,
    ];
    pub(super) const IN_SCHEDULER: &[Place] =
        &[Place::Push, Place::Pop, Place::Served, Place::Finished, Place::GroupClosed, Place::SchedulerDrop];
}

/// The scheduler of the task's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Policy {
    WokenFirst,
    RunnableFifo,
    ArrivalFifo,
    Las,
    Qlas,
    Serpt,
    Panicking,
}

impl Policy {
    /// Those that come with the crate.
    pub(super) const ORDINARY: &[Policy] = &[
        Policy::WokenFirst,
        Policy::RunnableFifo,
        Policy::ArrivalFifo,
        Policy::Las,
        Policy::Qlas,
        Policy::Serpt,
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
    pub(super) fn play(self) -> Result<Outcome, Failure> {
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

    pub(super) fn queue(self, ex: &Executor, strikes: &Strikes) -> Result<Queue, QueueError> {
        let queue = ex.queue("queue");
        match self.policy {
            Policy::WokenFirst => queue.create(),
            Policy::RunnableFifo => queue.scheduler(RunnableFifo::new()).create(),
            Policy::ArrivalFifo => queue.scheduler(ArrivalFifo::new()).create(),
            Policy::Las => queue.scheduler(Las::new()).create(),
            Policy::Qlas => queue.scheduler(Qlas::new()).create(),
            Policy::Serpt => queue.scheduler(Serpt::new()).create(),
            Policy::Panicking => {
                // Sooner or later, as everything else happens sooner or later.
                let after =
                    2 * Moment::ALL.iter().position(|&moment| moment == self.moment).unwrap_or(0) as u32;
                let (ready, strikes) = (VecDeque::new(), strikes.clone());
                queue.scheduler(Panicking { ready, place: self.place, after, strikes }).create()
            }
        }
    }
}
