//! The laws that every policy must pass, as a test kit (feature `laws`).
//!
//! [`Laws`] drives a policy as an executor would, with all the calls that [`Scheduler`] documents, beside a
//! plain model of what is ready. (Where an [order](Laws::order) is judged, without those that are rare.) It stops at the first law that is broken and says which, where, for which task, and with
//! what seed to see it again. Loads are random but made by a generator of its own from that seed, so a run is the same
//! on every machine.
//!
//! ```
//! use clockworker_schedulers::laws::{Law, Laws};
//! use clockworker_schedulers::{ClockUse, Ready, RunnableFifo, Scheduler, Task, TaskId};
//!
//! // Passes, and keeps to an order and a bound of its own as well.
//! let report = Laws::new(RunnableFifo::new)
//!     .waits_at_most(|crowd| crowd.ready as u64)
//!     .order(|moment| moment.ready.iter().all(|other| moment.popped.became_ready <= other.became_ready))
//!     .check()
//!     .unwrap();
//! assert!(report.pops > 10_000);
//!
//! // Last in, first out does not.
//! struct Lifo(Vec<TaskId>);
//! impl Scheduler for Lifo {
//!     const CLOCK: ClockUse = ClockUse::Unused;
//!     fn push(&mut self, task: Task, _why: Ready) {
//!         self.0.push(task.id);
//!     }
//!     fn pop(&mut self) -> Option<TaskId> {
//!         self.0.pop()
//!     }
//! }
//! let broken = Laws::new(|| Lifo(Vec::new())).check().unwrap_err();
//! assert_eq!(broken.law(), Law::BoundedWait);
//! ```
//!
//! [`EqualService`] is a law that policies may promise besides.

mod equal_service;
mod load;
mod oracle;
mod twins;
mod world;

use core::fmt;

pub use equal_service::{EqualReport, EqualService, History, Unequal};
pub use load::Load;
pub use oracle::{EevdfOracle, OracleQueue};

use crate::{GroupId, Ready, Scheduler, TaskId};
use world::World;

/// The bound on waiting for each unfinished task, unless another is set: as many pops as 64 levels or groups times one fair
/// turn in 32.
const WAIT_PER_TASK: u64 = 64 * 32;

/// Says whether a pop was allowed.
type Order<'a> = Box<dyn Fn(&Moment<'_>) -> bool + 'a>;

/// A check of one policy, with options.
///
/// See the [module documentation](self) for an example.
pub struct Laws<'a, S> {
    make: Box<dyn Fn() -> S + 'a>,
    seed: u64,
    steps: u64,
    tasks: usize,
    groups: usize,
    bound: Option<Box<dyn Fn(Crowd) -> u64 + 'a>>,
    order: Option<Order<'a>>,
}

impl<'a, S: Scheduler> Laws<'a, S> {
    /// Checks the policy that `make` makes. Each load gets two fresh ones: the first is judged, the
    /// second shows what [`push_pop`](Scheduler::push_pop) has to give, so they have to be alike.
    pub fn new(make: impl Fn() -> S + 'a) -> Self {
        Self {
            make: Box::new(make),
            seed: 0x436C_6F63_6B77_6F72,
            steps: 20_000,
            tasks: 48,
            groups: 12,
            bound: Some(Box::new(|crowd| WAIT_PER_TASK * crowd.tasks as u64)),
            order: None,
        }
    }

    /// Sets where the random loads start from. Loop over several for a thorough check.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Sets the number of pops per load; 20,000 unless set. Starvation is only seen by runs longer than the bound.
    #[must_use]
    pub fn steps(self, steps: u64) -> Self {
        Self { steps, ..self }
    }

    /// Sets the most tasks at a time in the mixed load; 48 unless set. Below 1 counts as 1.
    #[must_use]
    pub fn tasks(self, tasks: usize) -> Self {
        Self { tasks: tasks.max(1), ..self }
    }

    /// Sets the most groups at a time in the mixed load; 12 unless set. Below 1 counts as 1.
    #[must_use]
    pub fn groups(self, groups: usize) -> Self {
        Self { groups: groups.max(1), ..self }
    }

    /// Sets how many pops may pass, the last of them its own, while a task is ready; 2,048 per unfinished task unless
    /// set.
    #[must_use]
    pub fn waits_at_most(self, bound: impl Fn(Crowd) -> u64 + 'a) -> Self {
        Self { bound: Some(Box::new(bound)), ..self }
    }

    /// Accepts that tasks wait for ever, for policies that starve some by design.
    #[must_use]
    pub fn may_starve(self) -> Self {
        Self { bound: None, ..self }
    }

    /// Adds the law that each pop be allowed by the policy's documented order: `allows` says whether this one is.
    #[must_use]
    pub fn order(self, allows: impl Fn(&Moment<'_>) -> bool + 'a) -> Self {
        Self { order: Some(Box::new(allows)), ..self }
    }

    /// Runs every load.
    ///
    /// # Errors
    ///
    /// [`Broken`] names the first law that the policy broke.
    ///
    /// # Panics
    ///
    /// If the policy panics, as it should not.
    pub fn check(&self) -> Result<Report, Broken> {
        let mut report = Report::default();
        for load in Load::ALL {
            World::new(self, load).run(&mut report)?;
        }
        Ok(report)
    }
}

impl<S> fmt::Debug for Laws<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Laws")
            .field("seed", &self.seed)
            .field("steps", &self.steps)
            .field("tasks", &self.tasks)
            .field("groups", &self.groups)
            .field("may_starve", &self.bound.is_none())
            .field("checks_order", &self.order.is_some())
            .finish_non_exhaustive()
    }
}

/// What surrounded a task while it waited, for a bound to depend on. (A bound in service is one in pops that falls to 0.)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Crowd {
    /// The most tasks that were ready at a time while it waited, itself included.
    pub ready: usize,
    /// The most tasks that were spawned and unfinished at a time while it waited.
    pub tasks: usize,
    /// The number of group indices that were in use at any time before it was popped.
    pub groups: usize,
    /// The service of the polls since it became ready, in nanoseconds.
    pub service_ns: u64,
    /// The longest poll until now, in nanoseconds.
    pub longest_poll_ns: u64,
}

impl Crowd {
    /// The same, with the service since so much had been had.
    fn since(self, began_ns: u64) -> Self {
        Self { service_ns: self.service_ns - began_ns, ..self }
    }

    fn max(self, other: Self) -> Self {
        Self {
            ready: self.ready.max(other.ready),
            tasks: self.tasks.max(other.tasks),
            groups: self.groups.max(other.groups),
            service_ns: self.service_ns.max(other.service_ns),
            longest_poll_ns: self.longest_poll_ns.max(other.longest_poll_ns),
        }
    }
}

/// A ready task, as the model sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Candidate {
    /// The task.
    pub id: TaskId,
    /// Its group.
    pub group: GroupId,
    /// Number in the order of spawning.
    pub arrival: u64,
    /// Number in the order of becoming ready.
    pub became_ready: u64,
    /// Why it became ready.
    pub why: Ready,
    /// Nanoseconds of service that its group has attained.
    pub attained_ns: u64,
}

/// One pop, for an order to judge.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Moment<'a> {
    /// The task that was popped.
    pub popped: Candidate,
    /// All the tasks that were ready, in no particular order, the popped one included.
    pub ready: &'a [Candidate],
    /// Number of this pop in the life of the policy, the first being 1. Pops that gave `None` are not counted.
    pub pops: u64,
    /// The service of all polls before this pop, in nanoseconds.
    pub service_ns: u64,
}

/// What a check that found nothing broken went through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Tasks popped.
    pub pops: u64,
    /// Tasks spawned.
    pub spawned: u64,
    /// Groups closed.
    pub groups_closed: u64,
    /// The most pops, the last of them its own, that passed while a task was ready.
    pub longest_wait: u64,
}

/// A law for policies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Law {
    /// Each task pushed is popped sometime.
    NothingLost,
    /// It is popped once.
    NothingTwice,
    /// Only what was pushed is popped.
    NothingInvented,
    /// No task is popped that has finished: not even where its slot is in use again.
    NothingStale,
    /// `pop` gives `None` if and only if nothing is ready.
    NoneIfEmpty,
    /// Each ready task is popped within the bound.
    BoundedWait,
    /// Pops follow the documented order.
    Order,
    /// [`push_pop`](Scheduler::push_pop) gives what `push` and `pop` would have given.
    Swap,
}

impl fmt::Display for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NothingLost => "a task was lost: it is ready, and never popped",
            Self::NothingTwice => "a task was popped twice: it was not pushed again in between",
            Self::NothingInvented => "a task was popped that never was",
            Self::NothingStale => "a task was popped that had finished",
            Self::NoneIfEmpty => "pop gave None though tasks were ready",
            Self::BoundedWait => "a ready task waited for longer than the bound",
            Self::Order => "a task was popped out of order",
            Self::Swap => "push_pop gave another task than push and pop would have",
        })
    }
}

/// A law was broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    law: Law,
    load: Load,
    step: u64,
    task: TaskId,
    seed: u64,
}

impl Broken {
    /// Which law.
    pub fn law(&self) -> Law {
        self.law
    }

    /// Under which load.
    pub fn load(&self) -> Load {
        self.load
    }

    /// At which step of that load, from 0.
    pub fn step(&self) -> u64 {
        self.step
    }

    /// Which task it was about; where several were ready and none was popped, the one that had waited for longest.
    pub fn task(&self) -> TaskId {
        self.task
    }

    /// The seed to see it again with: [`Laws::seed`].
    pub fn seed(&self) -> u64 {
        self.seed
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { law, load, step, task, seed } = self;
        write!(f, "{law} ({task:?}, load \"{load}\", step {step}; replay with seed {seed:#x})")
    }
}

impl core::error::Error for Broken {}

#[cfg(test)]
mod tests;
