//! The executor's state, and what it decides between slices. Owner thread only.
//!
//! One state, several files: each holds the part of `Core` that its name says.

mod admission;
mod books;
mod ending;
mod meter;
mod queues;
mod slices;
mod spawning;
mod visits;
mod watching;

pub(crate) use meter::{Account, Meter, SAMPLE_NS, stride};
pub(crate) use queues::QueuePlace;
pub use visits::HOST_BUDGETS;
use visits::Visits;

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use std::task::Waker;
use std::time::Duration;

use clockworker_schedulers::{Eevdf, QueueId};

use crate::budget::TurnBudget;
use crate::clock::Clock;
#[cfg(feature = "tokio")]
use crate::compat::RunWaker;
use crate::drained::Waiting;
use crate::fork::Process;
use crate::host::MainWaker;
use crate::inbox::Batch;
use crate::lane::{GroupIndex, Lane, NO_GROUP};
use crate::shared::{Refusal, Shared};
use crate::stats::{Counter, Counters};
use crate::sync::{Arc, waker_of};
use crate::task::{Id, SharedRef};
use crate::unhandled_panic::UnhandledPanic;

/// How long an executor may keep its host waiting.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostLimits {
    /// None for one that tunes itself.
    pub(crate) budget: Option<Duration>,
    pub(crate) poll_cap: u32,
}

/// See the [module docs](self).
pub(crate) struct Core {
    pub(crate) shared: SharedRef,
    /// The process it was made in.
    pub(crate) process: Process,
    /// Time, and who pays for it.
    pub(crate) meter: Meter,
    visits: Visits,
    poll_cap: u32,
    /// By `QueueKey::index`. None where a queue was closed and is gone.
    lanes: RefCell<Vec<Option<Rc<Lane>>>>,
    /// Where tasks go that are spawned outside a task: the first queue created.
    default_lane: OnceCell<Rc<Lane>>,
    eevdf: RefCell<Eevdf>,
    generation: Cell<u32>,
    refused: Cell<Option<Refusal>>,

    /// What was taken out of the inbox and is still to be admitted.
    mail: Cell<Batch>,
    /// Whether there is anything in it.
    has_mail_left: Cell<bool>,
    /// The last batch was not all that had arrived.
    is_flooded: Cell<bool>,
    /// A turn went by without a slice: the next begins with one.
    pub(crate) owes_slice: Cell<bool>,
    /// The number of the turn, modulo 256.
    turn: Cell<u8>,
    /// The same, while all that arrives comes from the host's visit before it: nothing has been polled yet.
    visited: Cell<Option<u8>>,
    /// The queue whose slice it is.
    running: Cell<Option<QueueId>>,
    /// The task of another executor that this turn is taken in.
    pub(crate) outer_task: Cell<Option<Id>>,
    /// The task that is being polled, for what it spawns.
    current: Cell<Current>,
    /// The slice is to end: a queue woke up that is to be served before the running one, futures of the running one are to be
    /// dropped, or more arrived than could be admitted between two polls.
    preempted: Cell<bool>,
    /// More than one queue is runnable.
    contended: Cell<bool>,
    /// When the running slice's grant ends, while queues contend.
    slice_deadline: Cell<u64>,
    /// When admission between slices leaves the rest of the turn to them.
    admission_deadline: Cell<u64>,
    /// The queue that the watchdog looks at next.
    watched: Cell<usize>,
    /// Polls left until the host must run.
    pub(crate) polls_left: Cell<u32>,
    /// The host's cooperative budget, kept for the turn.
    pub(crate) budget: TurnBudget,
    /// How many polls to do between clock readings, where none is needed after each.
    pub(crate) stride: Cell<u32>,
    /// How many there have been since the last, at the end of a slice.
    pub(crate) polls_unread: Cell<u32>,

    /// Whether somebody drives the executor.
    pub(crate) driven: Cell<bool>,
    /// Runs that may be several at once.
    #[cfg(feature = "tokio")]
    pub(crate) runs: RefCell<Vec<Arc<RunWaker>>>,
    /// Polls of tasks that the future being run waits for, because it woke itself.
    pub(crate) main_waits_for: Cell<u32>,
    /// The flag of the future that is being run, and its waker.
    pub(crate) main: Arc<MainWaker>,
    pub(crate) main_waker: Waker,
    /// Woken when no task is left.
    pub(crate) waiting_drained: RefCell<Waiting>,
    /// Some of them wait for what is in the inbox only, which may turn out to be no task.
    pub(crate) drained_awaits_mail: Cell<bool>,
    pub(crate) unhandled_panic: Cell<UnhandledPanic>,
    /// A task panicked where that ends everything; or this is a copy, made while it was run, in a child process.
    failed: Cell<bool>,
    pub(crate) host_polls: Counter,
    host_yields: Counter,
    /// The sums over queues that are gone.
    retired: Counters,
}

/// What a task passes on to the tasks it spawns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Current {
    queue: u32,
    group: GroupIndex,
}

impl Current {
    /// No task is being polled.
    const NONE: Current = Current { queue: u32::MAX, group: NO_GROUP };
}

impl Core {
    pub(crate) fn new(clock: Clock, limits: HostLimits) -> Rc<Self> {
        let shared = SharedRef::new(Shared::new());
        let main = MainWaker::new(&shared);
        Rc::new(Self {
            process: shared.process,
            shared,
            meter: Meter::new(clock),
            visits: Visits::new(limits.budget),
            poll_cap: limits.poll_cap,
            lanes: RefCell::default(),
            default_lane: OnceCell::new(),
            eevdf: RefCell::new(Eevdf::new()),
            generation: Cell::new(0),
            refused: Cell::new(None),
            mail: Cell::default(),
            has_mail_left: Cell::new(false),
            is_flooded: Cell::new(false),
            owes_slice: Cell::new(false),
            turn: Cell::new(0),
            visited: Cell::new(None),
            running: Cell::new(None),
            outer_task: Cell::new(None),
            current: Cell::new(Current::NONE),
            preempted: Cell::new(false),
            contended: Cell::new(false),
            slice_deadline: Cell::new(u64::MAX),
            admission_deadline: Cell::new(u64::MAX),
            watched: Cell::new(0),
            polls_left: Cell::new(0),
            budget: TurnBudget::default(),
            stride: Cell::new(1),
            polls_unread: Cell::new(0),
            driven: Cell::new(false),
            #[cfg(feature = "tokio")]
            runs: RefCell::default(),
            main_waits_for: Cell::new(0),
            main_waker: waker_of(Arc::clone(&main)),
            main,
            waiting_drained: RefCell::default(),
            drained_awaits_mail: Cell::new(false),
            unhandled_panic: Cell::default(),
            failed: Cell::new(false),
            host_polls: Counter::default(),
            host_yields: Counter::default(),
            retired: Counters::default(),
        })
    }
}

impl Core {
    /// A driver is gone: one of the runs that rode along may take over.
    pub(crate) fn rouse_runs(&self) {
        #[cfg(feature = "tokio")]
        {
            let runs: Vec<_> = self.runs.borrow().clone();
            runs.iter().for_each(|run| run.rouse());
        }
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        self.shared.close_credits();
    }
}
