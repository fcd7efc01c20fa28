//! [`QueueBuilder`]: creates queues.

use std::fmt;
use std::rc::Rc;
use std::time::Duration;

use clockworker_schedulers::{Scheduler, Share, WokenFirst};

use crate::queue::{Cap, QueueError};
use crate::queue_handle::Queue;
use crate::run::Core;

/// The service a queue asks for at a time, unless told otherwise: 500 µs.
pub const DEFAULT_REQUEST: Duration = Duration::from_micros(500);

/// Creates a [`Queue`]. From [`Executor::new_queue`](crate::Executor::new_queue).
#[must_use = "a builder does nothing until `create`"]
pub struct QueueBuilder<'a, S = WokenFirst> {
    core: &'a Rc<Core>,
    name: &'a str,
    options: QueueOptions<S>,
}

impl<'a> QueueBuilder<'a> {
    pub(crate) fn new(core: &'a Rc<Core>, name: &'a str) -> Self {
        Self { core, name, options: QueueOptions::default() }
    }
}

impl<'a, S: Scheduler + 'static> QueueBuilder<'a, S> {
    /// The queue's share: 1 to [`Share::MAX`](crate::schedulers::Share::MAX), 1 unless told otherwise. Queues that are
    /// runnable at the same time get CPU time in proportion to their shares.
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

    /// The most CPU time that the queue may have per period. No more than what other queues leave, unless told otherwise.
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
    pub fn idle(mut self) -> Self {
        self.options.idle = true;
        self
    }

    /// The order inside the queue. [`WokenFirst`] unless told otherwise.
    pub fn scheduler<T: Scheduler + 'static>(self, scheduler: T) -> QueueBuilder<'a, T> {
        QueueBuilder { core: self.core, name: self.name, options: self.options.scheduler(scheduler) }
    }

    /// Creates the queue, also while the executor runs.
    ///
    /// # Errors
    ///
    /// If the share or request is out of range, an open queue of this name exists, the executor was shut down, or this
    /// is a child process of the one that has it.
    pub fn create(self) -> Result<Queue, QueueError> {
        self.options.create(self.core, self.name)
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
    cap: Option<Cap>,
    idle: bool,
    scheduler: S,
}

impl Default for QueueOptions<WokenFirst> {
    fn default() -> Self {
        Self {
            share: Share::default().get(),
            request: DEFAULT_REQUEST,
            cap: None,
            idle: false,
            scheduler: WokenFirst::new(),
        }
    }
}

impl<S> fmt::Debug for QueueOptions<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { share, request, cap, idle, scheduler: _ } = self;
        let mut options = f.debug_struct("QueueOptions");
        options.field("share", share).field("request", request).field("cap", cap).field("idle", idle);
        options.finish_non_exhaustive()
    }
}

impl<S: Scheduler + 'static> QueueOptions<S> {
    pub(crate) fn scheduler<T>(self, scheduler: T) -> QueueOptions<T> {
        let Self { share, request, cap, idle, scheduler: _ } = self;
        QueueOptions { share, request, cap, idle, scheduler }
    }

    pub(crate) fn create(self, core: &Rc<Core>, name: &str) -> Result<Queue, QueueError> {
        let checked = Share::new(self.share).map_err(QueueError::share);
        let checked = checked.and_then(|share| Ok((share, request_ns(self.request)?)));
        match checked.and_then(|(share, request_ns)| core.reserve_queue(name, share, request_ns)) {
            Ok(reserved) => {
                let queue = core.create_queue(name, reserved, self.scheduler);
                if self.idle {
                    core.make_idle(&queue);
                }
                if self.cap.is_some() {
                    core.change_cap(&queue, self.cap);
                }
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
