//! [`Core`]: the state of an executor. Owner thread only.

use std::process;
use std::rc::{Rc, Weak};
use std::time::Duration;

use super::admission::Admission;
use super::coop_budget::CoopBudget;
use super::drivers::Drivers;
use super::ending::Ending;
use super::host_deferral::HostDeferral;
use super::host_pacer::HostPacer;
use super::meter::Meter;
use super::moves::Moves;
use super::pick::Slice;
use super::queues::Queues;
use super::release::Release;
use super::spawn::Tags;
use super::timing::Pace;
use super::turn::{MainFuture, Round, TurnState};
use crate::base::Clock;
use crate::task::{Local, OwnerRef};

/// How long an executor may keep its host waiting.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostLimits {
    /// None for a budget that tunes itself.
    pub(crate) budget: Option<Duration>,
    pub(crate) poll_cap: u32,
}

/// See the [module docs](self). Each part is changed by the file that it comes from.
pub(crate) struct Core {
    /// Itself, for what it calls that may want it.
    pub(super) this: Weak<Core>,
    pub(crate) shared: OwnerRef,
    /// The process that made it, which alone may run it.
    process: u32,
    /// Time, and the accounts it is billed to.
    pub(super) meter: Meter,
    /// When the host is visited.
    pub(super) pacer: HostPacer,
    /// The turn on the host's thread.
    pub(super) turn: TurnState,
    /// The slice of a queue.
    pub(super) slice: Slice,
    /// Polls between clock readings, and until the host must run.
    pub(super) pace: Pace,
    /// The queues there are.
    pub(super) queues: Queues,
    /// Wakes the host when a throttled queue goes on.
    pub(super) release: Release,
    /// Whether tasks have tags.
    pub(super) tags: Tags,
    /// The queue that the watchdog looks at next.
    pub(super) round: Round,
    /// The task that is being polled, if it is to go on in another queue.
    pub(super) moves: Moves,
    /// Tasks from other threads that are still to be admitted.
    pub(super) admission: Admission,
    /// The host's cooperative budget, kept for the turn.
    pub(super) coop_budget: CoopBudget,
    /// What the host defers.
    pub(crate) deferral: HostDeferral,
    /// The future given to `run_until`.
    pub(crate) main: MainFuture,
    /// Whether the executor is driven, and by which runs.
    pub(crate) drivers: Drivers,
    /// Whether and how it ends.
    pub(crate) ending: Ending,
}

impl Core {
    pub(crate) fn new(clock: Clock, limits: HostLimits) -> Rc<Self> {
        let shared = OwnerRef::new();
        Rc::new_cyclic(|this| Self {
            this: this.clone(),
            process: process::id(),
            meter: Meter::new(clock),
            pacer: HostPacer::new(limits.budget),
            turn: TurnState::new(limits.poll_cap),
            slice: Slice::default(),
            pace: Pace::default(),
            queues: Queues::default(),
            release: Release::default(),
            tags: Tags::default(),
            round: Round::default(),
            moves: Moves::default(),
            admission: Admission::default(),
            coop_budget: CoopBudget::default(),
            deferral: HostDeferral::new(&shared),
            main: MainFuture::default(),
            drivers: Drivers::default(),
            ending: Ending::default(),
            shared,
        })
    }
}

impl Core {
    /// What only the owner thread reaches.
    #[inline]
    pub(super) fn local(&self) -> &Local {
        self.shared.local()
    }

    /// Panics in a child process made by a `fork`: what its copy of the executor ran, the parent runs too.
    #[track_caller]
    pub(crate) fn assert_own_process(&self) {
        assert!(
            self.process == process::id(),
            "this executor belongs to the process that this one was forked from: make another one here"
        );
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        self.shared.close_pool();
        self.shared.close_credits();
    }
}
