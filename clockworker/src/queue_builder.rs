//! [`QueueBuilder`]: creates queues.

use std::fmt;
use std::rc::Rc;
use std::time::Duration;

use clockworker_schedulers::{Cap, Scheduler, Share, WokenFirst};

use crate::queue::{Limits, QueueError};
use crate::queue_handle::Queue;
use crate::run::{Core, QueueSetup, RunQueue};

/// The service a queue asks for at a time, unless told otherwise: 500 µs.
pub const DEFAULT_REQUEST: Duration = Duration::from_micros(500);

/// Creates a [`Queue`]. From [`Executor::new_queue`](crate::Executor::new_queue), or, for a queue below another,
/// [`Queue::new_queue`].
#[must_use = "a builder does nothing until `create`"]
pub struct QueueBuilder<'a, S = WokenFirst> {
    core: &'a Rc<Core>,
    name: &'a str,
    parent: Option<&'a Rc<RunQueue>>,
    options: QueueOptions<S>,
}

impl<'a> QueueBuilder<'a> {
    pub(crate) fn new(core: &'a Rc<Core>, name: &'a str) -> Self {
        Self { core, name, parent: None, options: QueueOptions::default() }
    }

    pub(crate) fn below(self, parent: &'a Rc<RunQueue>) -> Self {
        Self { parent: Some(parent), ..self }
    }
}

impl<'a, S: Scheduler + 'static> QueueBuilder<'a, S> {
    /// The queue's share: 1 to [`Share::MAX`](crate::schedulers::Share::MAX), 1 unless told otherwise. Queues that are
    /// runnable at the same time get CPU time in proportion to their shares; below a parent, what the parent gets.
    pub fn share(mut self, share: u32) -> Self {
        self.options.share = share;
        self
    }

    /// The service the queue asks for at a time, more than zero. [`DEFAULT_REQUEST`] unless told otherwise.
    ///
    /// A small request gets a queue served earlier at the same long-run share, in shorter and more frequent slices: this is
    /// how to say that latency matters. Polls are never cut short, so a slice may overrun its request by one poll.
    pub fn request(mut self, request: Duration) -> Self {
        self.options.request = request;
        self
    }

    /// The most live tasks, those that have not finished, that the queue takes: 1 to 2³⁰. No limit unless told otherwise.
    ///
    /// A full queue refuses tasks, whatever spawns them: [`spawn`](Queue::spawn) gives a handle with an
    /// [error](crate::JoinError::is_full), [`try_spawn`](Queue::try_spawn) gives the future back, and
    /// [`spawn_when_room`](Queue::spawn_when_room) waits. An aborted task counts until its future was dropped. A queue without
    /// limits pays nothing for them. Tasks of queues [below](Queue::new_queue) do not count: each queue has a limit of its own.
    /// [`Queue::set_max_live`] changes the limit, also the default queue's.
    pub fn max_live(mut self, most: usize) -> Self {
        self.options.limits.live = Some(most);
        self
    }

    /// The most live tasks that the queue takes of each [group](Queue::group): 1 to 2³⁰. No limit unless told otherwise. A task
    /// without a group is not limited by this. [`Queue::set_max_live_per_group`] changes it.
    pub fn max_live_per_group(mut self, most: usize) -> Self {
        self.options.limits.live_per_group = Some(most);
        self
    }

    /// The most CPU time that the queue may have per period. Without a cap, it may use all that other queues leave.
    ///
    /// **A task that holds a lock across an `.await` keeps it while its queue is throttled.** A task of any queue that waits for that
    /// lock waits for the cap too: for up to a period, and for longer after a long poll. So [move](crate::move_to()) the task to a queue
    /// without a cap before it takes the lock.
    pub fn cap(mut self, cap: Cap) -> Self {
        self.options.cap = Some(cap);
        self
    }

    /// Makes it an idle queue: its tasks are polled only when no other queue has ready tasks. When a task of another queue
    /// becomes ready, it waits for the poll under way at most.
    ///
    /// Idle queues share by their shares and requests with each other; to the others they owe nothing, and are owed nothing.
    /// **So where others are always ready, an idle queue is never served.** Only the futures of its aborted tasks are dropped
    /// even then, as if it were no idle queue. The host is visited as beside any other work, so a socket that becomes readable
    /// beside an idle queue waits for up to the [host budget](crate::Builder::host_budget).
    ///
    /// **A task that holds a lock across an `.await` keeps it while its queue is not served.** Whoever waits for that lock, or for a
    /// permit or an answer of an idle task, waits as long: for ever, where others are always ready. So [move](crate::move_to()) the task
    /// to a queue that is served before it takes the lock; [`JoinHandle::move_to`](crate::JoinHandle::move_to) moves one that has it.
    pub fn idle(mut self) -> Self {
        self.options.idle = true;
        self
    }

    /// The order inside the queue. [`WokenFirst`] unless told otherwise.
    pub fn scheduler<T: Scheduler + 'static>(self, scheduler: T) -> QueueBuilder<'a, T> {
        let Self { core, name, parent, options } = self;
        QueueBuilder { core, name, parent, options: options.scheduler(scheduler) }
    }

    /// Creates the queue, also while the executor runs.
    ///
    /// # Errors
    ///
    /// If the share, the request or a limit is out of range, the name is empty, an open queue of this name exists, or the
    /// executor was shut down; below a parent also if that is closed, is idle, has a cap, or has
    /// [`MAX_DEPTH`](crate::MAX_DEPTH) queues above it, or if this is to be an idle queue.
    pub fn create(self) -> Result<Queue, QueueError> {
        self.options.create_below(self.parent, self.core, self.name)
    }
}

impl<S> fmt::Debug for QueueBuilder<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueueBuilder").field("name", &self.name).field("options", &self.options).finish()
    }
}

/// The options of a queue, not checked yet.
pub(crate) struct QueueOptions<S> {
    pub(crate) share: u32,
    pub(crate) request: Duration,
    limits: Limits,
    cap: Option<Cap>,
    idle: bool,
    scheduler: S,
}

impl Default for QueueOptions<WokenFirst> {
    fn default() -> Self {
        Self {
            share: Share::default().get(),
            request: DEFAULT_REQUEST,
            limits: Limits::default(),
            cap: None,
            idle: false,
            scheduler: WokenFirst::new(),
        }
    }
}

impl<S> fmt::Debug for QueueOptions<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { share, request, limits, cap, idle, scheduler: _ } = self;
        let mut shown = f.debug_struct("QueueOptions");
        shown.field("share", share).field("request", request).field("limits", limits);
        shown.field("cap", cap).field("idle", idle).finish_non_exhaustive()
    }
}

impl<S: Scheduler + 'static> QueueOptions<S> {
    pub(crate) fn scheduler<T>(self, scheduler: T) -> QueueOptions<T> {
        let Self { share, request, limits, cap, idle, scheduler: _ } = self;
        QueueOptions { share, request, limits, cap, idle, scheduler }
    }

    pub(crate) fn create(self, core: &Rc<Core>, name: &str) -> Result<Queue, QueueError> {
        self.create_below(None, core, name)
    }

    fn setup(&self, parent: Option<&Rc<RunQueue>>) -> Result<QueueSetup, QueueError> {
        Ok(QueueSetup {
            share: Share::new(self.share).map_err(QueueError::share)?,
            request_ns: request_ns(self.request)?,
            parent: parent.cloned(),
            is_idle: self.idle,
            cap: self.cap,
        })
    }

    fn create_below(
        self,
        parent: Option<&Rc<RunQueue>>,
        core: &Rc<Core>,
        name: &str,
    ) -> Result<Queue, QueueError> {
        let reserved = self.setup(parent).and_then(|setup| {
            self.limits.checked()?;
            Ok((core.reserve_queue(name, &setup)?, setup))
        });
        match reserved {
            Ok((id, setup)) => {
                let queue = core.create_queue(name, id, setup, self.scheduler);
                core.set_limits(&queue, self.limits);
                Ok(Queue::new(Rc::clone(core), queue))
            }
            Err(error) => {
                // A scheduler whose drop panics must not hide the error.
                crate::base::drop_quietly(self.scheduler);
                Err(error)
            }
        }
    }
}

pub(crate) fn request_ns(request: Duration) -> Result<u64, QueueError> {
    match u64::try_from(request.as_nanos()).unwrap_or(u64::MAX) {
        0 => Err(QueueError::request()),
        ns => Ok(ns),
    }
}
