//! What the loops of a run share, all of it on the executor's thread.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::pin::Pin;
use std::rc::Rc;
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use tokio::sync::{Notify, watch};

use super::changes::Change;
use super::plan::Plan;
use super::schema::{Setup, recover};
use super::store::Store;
use super::trouble::Trouble;
use crate::stats::spread::Values;
use crate::stopwatch::now;

/// A loop of the queue. The number of its lane is its queue's; workers have that of completions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loop {
    Start,
    Dispatch,
    Workers,
    Completion,
    Flush,
}

pub(super) const LOOPS: [(Loop, &str); 5] = [
    (Loop::Start, "start"),
    (Loop::Dispatch, "dispatch"),
    (Loop::Workers, "workers"),
    (Loop::Completion, "completion"),
    (Loop::Flush, "flush"),
];

/// The names of the queues, by lane.
pub(super) const QUEUES: [&str; 4] = ["start", "dispatch", "completion", "flush"];

impl Loop {
    pub(super) fn lane(self) -> usize {
        match self {
            Loop::Start => 0,
            Loop::Dispatch => 1,
            Loop::Workers | Loop::Completion => 2,
            Loop::Flush => 3,
        }
    }
}

/// The state of a run.
pub(super) struct World {
    pub(super) store: Store,
    pub(super) setup: Setup,
    /// The plans of instances under way.
    pub(super) plans: RefCell<HashMap<u64, Plan>>,
    /// Instances that are not complete.
    pub(super) left: Cell<u64>,
    pub(super) all_started: Cell<bool>,
    /// Whether everything is recorded that is going to be, so that the last lines can be flushed.
    pub(super) is_recorded: Cell<bool>,
    stopped: Cell<bool>,
    trouble: Cell<Option<Trouble>>,
    /// Something is in the queue, or nothing will be.
    pub(super) queued: Notify,
    /// The last lines are there to be flushed.
    pub(super) recorded: Notify,
    pub(super) asked: watch::Receiver<bool>,
    pub(super) busy: [Cell<Duration>; 5],
    /// From an action's dispatch until it is recorded.
    pub(super) latency: RefCell<Values>,
    pub(super) completed: Cell<u64>,
    pub(super) progress: ProgressBar,
}

impl World {
    /// Takes up the run that the database holds, from where it is.
    pub(super) async fn take_up(
        store: Store,
        setup: Setup,
        asked: watch::Receiver<bool>,
        progress: ProgressBar,
    ) -> Result<Self, Trouble> {
        let (left, under_way) = store.call(recover).await?;
        let plans = under_way.into_iter().map(|one| {
            let plan = Plan::read(&one.graph, &one.done).map_err(Trouble::Unreadable)?;
            Ok((one.instance, plan))
        });
        Ok(World {
            store,
            setup,
            plans: RefCell::new(plans.collect::<Result<_, Trouble>>()?),
            left: Cell::new(left),
            all_started: Cell::default(),
            is_recorded: Cell::default(),
            stopped: Cell::default(),
            trouble: Cell::default(),
            queued: Notify::new(),
            recorded: Notify::new(),
            asked,
            busy: Default::default(),
            latency: RefCell::default(),
            completed: Cell::default(),
            progress,
        })
    }

    pub(super) fn has(&self, change: Change) -> bool {
        self.setup.changes.has(change)
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.get()
    }

    /// Whether nothing is to be started or dispatched any more.
    pub(super) fn is_over(&self) -> bool {
        self.is_stopped() || self.left.get() == 0
    }

    /// Has every loop end, at its next step.
    pub(super) fn stop(&self, trouble: Trouble) {
        if !self.stopped.replace(true) {
            self.trouble.set(Some(trouble));
        }
        self.queued.notify_one();
        self.recorded.notify_one();
    }

    /// Waits for Ctrl-C.
    pub(super) async fn interrupted(&self) {
        let mut asked = self.asked.clone();
        if asked.wait_for(|asked| *asked).await.is_err() {
            std::future::pending().await
        }
    }

    pub(super) fn trouble(&self) -> Result<(), Trouble> {
        self.trouble.take().map_or(Ok(()), Err)
    }

    /// A loop as a task: its polls are timed, and its failure stops the run.
    pub(super) async fn timed(
        self: Rc<Self>,
        which: Loop,
        work: impl Future<Output = Result<(), Trouble>> + 'static,
    ) {
        let mut work: Pin<Box<dyn Future<Output = Result<(), Trouble>>>> = Box::pin(work);
        let done = std::future::poll_fn(|cx| {
            let from: Instant = now();
            let found = work.as_mut().poll(cx);
            let busy = &self.busy[which as usize];
            busy.set(busy.get() + (now() - from));
            found
        });
        if let Err(trouble) = done.await {
            self.stop(trouble);
        }
    }
}
