//! Queues and groups: where spawn starts.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::rc::Rc;
use std::time::Duration;

use clockworker_schedulers::{Scheduler, Share, ShareError, WokenFirst};

use crate::core::Core;
use crate::lane::{GroupIndex, Lane, NO_GROUP};
use crate::stats::QueueStats;
use crate::task::JoinHandle;

/// The service a queue asks for per turn, unless told otherwise: 500 µs.
pub const DEFAULT_REQUEST: Duration = Duration::from_micros(500);

/// A lane of tasks with a share of the thread's CPU. From [`Executor::queue`](crate::Executor::queue).
///
/// This is a handle; clones are the same queue. **Dropping it does nothing** to the queue, which lives until it is
/// [closed](Queue::close) and its last task has finished, or its executor is dropped. A handle that outlives its
/// executor refuses spawns and changes, and goes on showing its last statistics.
///
/// # Example
///
/// ```
/// use clockworker::{Executor, schedulers::Qlas};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let ex = Executor::new();
/// let foreground = ex.queue("foreground").share(9).create()?;
/// let background = ex.queue("background").share(1).scheduler(Qlas::new()).create()?;
/// let sum = ex.block_on(async {
///     background.spawn(async { /* compact something */ });
///     foreground.spawn(async { 1 + 1 }).await
/// })?;
/// assert_eq!(sum, 2);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Queue {
    core: Rc<Core>,
    lane: Rc<Lane>,
}

impl Queue {
    pub(crate) fn new(core: Rc<Core>, lane: Rc<Lane>) -> Self {
        Self { core, lane }
    }

    #[cfg(test)]
    pub(crate) fn lane(&self) -> &Rc<Lane> {
        &self.lane
    }

    /// Spawns a task on this queue.
    ///
    /// May be called at any time: before, during and between runs, inside a task, and from a destructor. Tasks that the
    /// task spawns with [`spawn_local`](crate::spawn_local) go to this queue too. If the queue is closed or its
    /// executor has stopped, the future is dropped at once and the handle gives an error that says so (or its panic, if it
    /// panics when dropped).
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        self.core.spawn(&self.lane, NO_GROUP, future)
    }

    /// The group of that key, to spawn tasks that belong together: a tenant's, a client's, a request's.
    ///
    /// Schedulers such as [`Las`](crate::schedulers::Las) treat a group as one. A group is known by its key as long as a
    /// handle to it or a task in it exists; what it has attained is forgotten afterwards.
    pub fn group(&self, key: u64) -> Group {
        let index = self.lane.records.borrow_mut().open_group(key);
        Group { queue: self.clone(), index, key }
    }

    /// The queue's name.
    pub fn name(&self) -> &str {
        &self.lane.name
    }

    /// The queue's share.
    pub fn share(&self) -> u32 {
        self.lane.share.get().get()
    }

    /// The service it asks for per turn.
    pub fn request(&self) -> Duration {
        Duration::from_nanos(self.lane.request_ns.get())
    }

    /// Changes the queue's share, also while it runs. It keeps what it is owed and what it owes.
    ///
    /// # Errors
    ///
    /// If the share is out of range, or the queue is gone: it was closed and its last task has finished, the executor was
    /// shut down and its last task has finished, or the executor was dropped; or in a child process of the one that has it.
    pub fn set_share(&self, share: u32) -> Result<(), QueueError> {
        let share = Share::new(share).map_err(QueueError::share)?;
        self.core.set_share(&self.lane, share, self.lane.request_ns.get())
    }

    /// Changes the service the queue asks for per turn: to a shorter one at once, to a longer one from the next turn on.
    ///
    /// # Errors
    ///
    /// If the request is zero, or the queue is gone, as in [`set_share`](Queue::set_share).
    pub fn set_request(&self, request: Duration) -> Result<(), QueueError> {
        self.core.set_share(&self.lane, self.lane.share.get(), request_ns(request)?)
    }

    /// Stops the queue from taking new tasks. The tasks in it go on; when the last has finished, the queue is gone.
    /// Its name is free at once.
    pub fn close(&self) {
        self.core.close_queue(&self.lane);
    }

    /// Whether [`close`](Queue::close) was called.
    pub fn is_closed(&self) -> bool {
        self.lane.closed.get()
    }

    /// What the queue has done so far.
    pub fn stats(&self) -> QueueStats {
        self.core.queue_stats(&self.lane)
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue")
            .field("name", &self.name())
            .field("share", &self.share())
            .field("live", &self.lane.live.get())
            .finish_non_exhaustive()
    }
}

/// Tasks of a queue that belong together. From [`Queue::group`].
///
/// This is a handle; clones are the same group. **Dropping it does nothing** to the group's tasks.
///
/// # Example
///
/// ```
/// use clockworker::{Executor, schedulers::Las};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let ex = Executor::new();
/// let background = ex.queue("background").scheduler(Las::new()).create()?;
/// let tenant = background.group(42);
/// ex.block_on(async { tenant.spawn(async { /* on behalf of tenant 42 */ }).await })?;
/// # Ok(())
/// # }
/// ```
pub struct Group {
    queue: Queue,
    index: GroupIndex,
    key: u64,
}

impl Group {
    /// Spawns a task on the group's queue, in this group. See [`Queue::spawn`]. Tasks that the task spawns with
    /// [`spawn_local`](crate::spawn_local) belong to the group too.
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        self.queue.core.spawn(&self.queue.lane, self.index, future)
    }

    /// The key it was opened with.
    pub fn key(&self) -> u64 {
        self.key
    }

    /// The queue it belongs to.
    pub fn queue(&self) -> &Queue {
        &self.queue
    }
}

impl Clone for Group {
    fn clone(&self) -> Self {
        self.queue.lane.records.borrow_mut().retain_group(self.index);
        Self { queue: self.queue.clone(), index: self.index, key: self.key }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.queue.lane.release_group(self.index);
        self.queue.core.after_policy_call(&self.queue.lane);
    }
}

impl fmt::Debug for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Group").field("queue", &self.queue.name()).field("key", &self.key).finish()
    }
}

/// Creates a [`Queue`]. From [`Executor::queue`](crate::Executor::queue).
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

    /// The service it asks for per turn, more than zero. [`DEFAULT_REQUEST`] unless told otherwise.
    ///
    /// A small request gets a queue served earlier at the same long-run share, for more frequent turns: this is how to
    /// say that latency matters. Polls are never cut short, so a turn may overrun its request by one poll.
    pub fn request(mut self, request: Duration) -> Self {
        self.options.request = request;
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

/// What a queue is made of.
pub(crate) struct QueueOptions<S> {
    pub(crate) share: u32,
    pub(crate) request: Duration,
    scheduler: S,
}

impl Default for QueueOptions<WokenFirst> {
    fn default() -> Self {
        Self { share: Share::default().get(), request: DEFAULT_REQUEST, scheduler: WokenFirst::new() }
    }
}

impl<S> fmt::Debug for QueueOptions<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { share, request, scheduler: _ } = self;
        f.debug_struct("QueueOptions").field("share", share).field("request", request).finish_non_exhaustive()
    }
}

impl<S: Scheduler + 'static> QueueOptions<S> {
    pub(crate) fn scheduler<T>(self, scheduler: T) -> QueueOptions<T> {
        QueueOptions { share: self.share, request: self.request, scheduler }
    }

    pub(crate) fn create(self, core: &Rc<Core>, name: &str) -> Result<Queue, QueueError> {
        let checked = Share::new(self.share).map_err(QueueError::share);
        let checked = checked.and_then(|share| Ok((share, request_ns(self.request)?)));
        match checked.and_then(|(share, request_ns)| core.place_queue(name, share, request_ns)) {
            Ok(place) => Ok(Queue::new(Rc::clone(core), core.create_queue(name, place, self.scheduler))),
            Err(error) => {
                // A scheduler whose drop panics must not hide the error.
                crate::panics::drop_quietly(self.scheduler);
                Err(error)
            }
        }
    }
}

fn request_ns(request: Duration) -> Result<u64, QueueError> {
    match u64::try_from(request.as_nanos()).unwrap_or(u64::MAX) {
        0 => Err(QueueError { kind: Kind::Request }),
        ns => Ok(ns),
    }
}

/// Why a queue could not be created or changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueError {
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    NameTaken(Box<str>),
    Share(ShareError),
    Request,
    Closed,
    Stopped,
    Dropped,
    Forked,
}

impl QueueError {
    pub(crate) fn name_taken(name: &str) -> Self {
        Self { kind: Kind::NameTaken(name.into()) }
    }

    pub(crate) fn closed() -> Self {
        Self { kind: Kind::Closed }
    }

    pub(crate) fn dropped() -> Self {
        Self { kind: Kind::Dropped }
    }

    pub(crate) fn stopped() -> Self {
        Self { kind: Kind::Stopped }
    }

    pub(crate) fn forked() -> Self {
        Self { kind: Kind::Forked }
    }

    fn share(error: ShareError) -> Self {
        Self { kind: Kind::Share(error) }
    }

    /// Whether an open queue has the name already.
    pub fn is_name_taken(&self) -> bool {
        matches!(self.kind, Kind::NameTaken(_))
    }

    /// Whether the share was out of range.
    pub fn is_share(&self) -> bool {
        matches!(self.kind, Kind::Share(_))
    }

    /// Whether the request was zero.
    pub fn is_request(&self) -> bool {
        self.kind == Kind::Request
    }

    /// Whether the queue was closed and is gone.
    pub fn is_closed(&self) -> bool {
        self.kind == Kind::Closed
    }

    /// Whether the executor was shut down or dropped, or belongs to the process that this one was forked from.
    pub fn is_stopped(&self) -> bool {
        matches!(self.kind, Kind::Stopped | Kind::Dropped | Kind::Forked)
    }
}

impl fmt::Display for QueueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::NameTaken(name) => write!(f, "there is an open queue named {name:?} already"),
            Kind::Share(error) => error.fmt(f),
            Kind::Request => f.write_str("a queue's request must be more than zero"),
            Kind::Closed => f.write_str("the queue is closed and gone"),
            Kind::Stopped => f.write_str("the executor was shut down"),
            Kind::Dropped => f.write_str("the executor was dropped"),
            Kind::Forked => f.write_str("the executor belongs to the process that this one was forked from"),
        }
    }
}

impl Error for QueueError {}
