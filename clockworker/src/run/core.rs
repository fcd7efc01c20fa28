//! The state of an executor. Owner thread only.

use std::rc::Rc;
use std::time::Duration;

use super::admission::Admission;
use super::budget::TurnBudget;
use super::drivers::Drivers;
use super::ending::Ending;
use super::main_future::MainFuture;
use super::meter::Meter;
use super::pick::Slice;
use super::queues::Queues;
use super::timing::Pace;
use super::turn::Turns;
use super::visits::Visits;
use super::watching::Round;
use crate::base::{Clock, Process};
use crate::task::{Shared, SharedRef};

/// How long an executor may keep its host waiting.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostLimits {
    /// None for one that tunes itself.
    pub(crate) budget: Option<Duration>,
    pub(crate) poll_cap: u32,
}

/// See the [module docs](self). Each part is changed by the file that it comes from.
pub(crate) struct Core {
    pub(crate) shared: SharedRef,
    /// The process it was made in.
    pub(crate) process: Process,
    /// Time, and who pays for it.
    pub(super) meter: Meter,
    /// When the host is visited.
    pub(super) visits: Visits,
    /// The turn on the host's thread.
    pub(super) turn: Turns,
    /// The slice of a queue.
    pub(super) slice: Slice,
    /// Polls between clock readings, and until the host must run.
    pub(super) pace: Pace,
    /// The queues there are.
    pub(super) queues: Queues,
    /// Where the watchdog is.
    pub(super) round: Round,
    /// What arrived and is still to be admitted.
    pub(super) admission: Admission,
    /// The host's cooperative budget, kept for the turn.
    pub(super) budget: TurnBudget,
    /// The future being run.
    pub(crate) main: MainFuture,
    /// Who runs the executor.
    pub(crate) drivers: Drivers,
    /// Whether and how it ends.
    pub(crate) ending: Ending,
}

impl Core {
    pub(crate) fn new(clock: Clock, limits: HostLimits) -> Rc<Self> {
        #[cfg(unix)]
        crate::base::interrupt_in_children(super::context::interrupt);
        let shared = SharedRef::new(Shared::new());
        Rc::new(Self {
            process: shared.process,
            meter: Meter::new(clock),
            visits: Visits::new(limits.budget),
            turn: Turns::new(limits.poll_cap),
            slice: Slice::default(),
            pace: Pace::default(),
            queues: Queues::default(),
            round: Round::default(),
            admission: Admission::default(),
            budget: TurnBudget::default(),
            main: MainFuture::new(&shared),
            drivers: Drivers::default(),
            ending: Ending::default(),
            shared,
        })
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        self.shared.close_credits();
    }
}
