//! [`Handle`]: spawns from other threads.

use std::fmt;
use std::future::Future;
use std::panic::{RefUnwindSafe, UnwindSafe};

use clockworker_schedulers::QueueId;

use crate::builder::DEFAULT_QUEUE;
use crate::gone_error::GoneError;
use crate::large::boxed_if_large;
use crate::probe::TasksLook;
use crate::remote_task_builder::RemoteTaskBuilder;
use crate::run::{Core, ExecutorStats, ask, context};
use crate::task::{
    JoinHandle, Label, Placement, RecordKey, Refused, SharedRef, Stopped, refuse, spawn_remote,
};

/// Spawns tasks on an executor from any thread. From [`Executor::handle`](crate::Executor::handle), or from
/// [`Queue::handle`](crate::Queue::handle) for one of its queues.
///
/// It sends a `Send` closure; the future that this makes need not be `Send`, since it is made, polled and dropped on the
/// executor's thread. **Dropping a handle does nothing**, and a handle does not keep the executor alive.
///
/// **It sends without bound.** What other threads have spawned waits in memory until the executor takes it in, which a long poll
/// delays. A place of a semaphore that each task holds bounds both what is on its way and what lives:
///
/// ```
/// use std::sync::Arc;
/// use tokio::sync::Semaphore;
///
/// let ex = clockworker::Executor::new();
/// let handle = ex.handle();
/// let room = Arc::new(Semaphore::new(100)); // `close` wakes those who wait
/// let thread = std::thread::spawn(move || {
///     for _request in 0..1_000 {
///         let place = futures::executor::block_on(Arc::clone(&room).acquire_owned()).unwrap();
///         handle.spawn(|| async move {
///             let _place = place;
///             // serve the request
///         });
///     }
/// });
/// # ex.block_on(async { while !thread.is_finished() { clockworker::yield_now().await } });
/// ```
///
/// `examples/src/room.rs` makes it a type, whose `try_reserve` and `reserve` give permits to spawn.
///
/// # Example
///
/// ```
/// use std::rc::Rc;
///
/// let ex = clockworker::Executor::new();
/// let handle = ex.handle();
/// let thread = std::thread::spawn(move || {
///     handle.spawn(|| async {
///         let not_send = Rc::new(6);
///         clockworker::yield_now().await;
///         *not_send * 7
///     })
/// });
/// let task = thread.join().unwrap();
/// assert_eq!(ex.block_on(task).unwrap(), 42);
/// ```
#[derive(Clone)]
pub struct Handle {
    pub(crate) shared: SharedRef,
    /// What [`spawn`](Handle::spawn) looks up. In a queue's handle it is [`OWN`], so that the path of others has no question more.
    pub(crate) default_name: &'static str,
    /// Whose handle it is, if it is a queue's.
    own: Option<QueueId>,
    /// What the keys of its tasks have in place of a slot: whose children they are.
    no_slot: u32,
}

/// No queue has the empty name: in a queue's handle it stands for that queue.
const OWN: &str = "";

impl Handle {
    pub(crate) fn new(shared: SharedRef) -> Self {
        Self { shared, default_name: DEFAULT_QUEUE, own: None, no_slot: RecordKey::NO_SLOT }
    }

    pub(crate) fn of_queue(core: &Core, own: QueueId) -> Self {
        Self { default_name: OWN, own: Some(own), ..Self::made_here(core) }
    }

    /// One whose tasks are children of the task that is being polled, if one is.
    fn made_here(core: &Core) -> Self {
        let queue = core.current_queue();
        let no_slot = queue.map_or(RecordKey::NO_SLOT, |queue| RecordKey::child_of(queue.id));
        Self { no_slot, ..Self::new(core.shared.clone()) }
    }

    /// A handle to the executor that runs on this thread or was [entered](crate::Executor::enter) here. None if there is none.
    ///
    /// Called inside a task, this or [`Queue::handle`](crate::Queue::handle) gives a handle that spawns on behalf of that task: a
    /// [drain](crate::Queue::drain) takes what it spawns, from any thread. It refuses what other handles spawn.
    ///
    /// # Example
    ///
    /// ```
    /// use clockworker::{Executor, Handle};
    ///
    /// let ex = Executor::new();
    /// let request = ex.spawn(async {
    ///     let handle = Handle::current().unwrap();
    ///     let thread = std::thread::spawn(move || handle.spawn(|| async { 42 }));
    ///     clockworker::yield_now().await;
    ///     thread.join().unwrap().await
    /// });
    /// let report = futures::executor::block_on(ex.drain(std::future::pending::<()>()));
    /// assert_eq!(report.completed, 2);
    /// # assert_eq!(ex.block_on(request).unwrap().unwrap(), 42);
    /// ```
    pub fn current() -> Option<Self> {
        context::current().map(|core| Self::made_here(&core))
    }

    /// Whether it was made inside a task.
    fn is_inside(&self) -> bool {
        self.no_slot != RecordKey::NO_SLOT
    }

    /// Spawns a task on the handle's queue: the one that it is [from](crate::Queue::handle), under whatever name, or the one named
    /// [`DEFAULT_QUEUE`].
    ///
    /// Returns at once, without waiting for the executor. If the executor was shut down or dropped, `make` is dropped here,
    /// and the join handle gives an error that says so. (The join handle of a spawn that races with the end of a shutdown may
    /// resolve only when the executor is run once more or dropped.) If the queue is full when the task arrives there, the future
    /// is not made, and the join handle gives that [error](crate::JoinError::is_full). [`ExecutorStats::refused`] counts
    /// either, whether or not the handle is awaited.
    ///
    /// [`ExecutorStats::refused`]: crate::ExecutorStats::refused
    #[cfg_attr(feature = "observe", track_caller)]
    pub fn spawn<M, F>(&self, make: M) -> JoinHandle<F::Output>
    where
        M: FnOnce() -> F + Send + 'static,
        F: Future + 'static,
        F::Output: Send + 'static,
    {
        boxed_if_large!(make: M => F, self.spawn_on(self.default_name, make))
    }

    /// Spawns a task on the queue of that name.
    ///
    /// What it does to its queue, which it finds by [`Queue::current`](crate::Queue::current), or to another, which it finds by
    /// [`Queue::find`](crate::Queue::find), is how another thread changes a share, aborts all tasks, or retires a queue.
    ///
    /// As [`spawn`](Handle::spawn); the join handle gives an error also if no open queue has the name.
    #[cfg_attr(feature = "observe", track_caller)]
    pub fn spawn_on<M, F>(&self, queue: &str, make: M) -> JoinHandle<F::Output>
    where
        M: FnOnce() -> F + Send + 'static,
        F: Future + 'static,
        F::Output: Send + 'static,
    {
        boxed_if_large!(make: M => F, self.spawn_placed(queue, None, Label::here(), make))
    }

    /// Spawns a task in the group of that key, on the queue of that name.
    ///
    /// As [`spawn_on`](Handle::spawn_on). The executor opens the group when the task comes in, unless it is open already.
    /// [`new_task`](Handle::new_task) says more of a task.
    ///
    /// # Example
    ///
    /// ```
    /// let ex = clockworker::Executor::new();
    /// ex.new_queue("tenants").create().unwrap();
    /// let handle = ex.handle();
    /// let task = std::thread::spawn(move || handle.spawn_in("tenants", 42, || async { 7 })).join().unwrap();
    /// assert_eq!(ex.block_on(task).unwrap(), 7);
    /// ```
    #[cfg_attr(feature = "observe", track_caller)]
    pub fn spawn_in<M, F>(&self, queue: &str, group: u64, make: M) -> JoinHandle<F::Output>
    where
        M: FnOnce() -> F + Send + 'static,
        F: Future + 'static,
        F::Output: Send + 'static,
    {
        boxed_if_large!(make: M => F, self.new_task().queue(queue).group(group).spawn(make))
    }

    /// Begins a task with a queue, a group or attributes: [`spawn`](RemoteTaskBuilder::spawn) spawns it.
    pub fn new_task(&self) -> RemoteTaskBuilder<'_> {
        RemoteTaskBuilder::new(self)
    }

    /// What the executor has done so far; see [`Executor::stats`](crate::Executor::stats).
    ///
    /// The executor answers between two polls, and is woken for that. One that is not being run answers in its next run. The answer
    /// is not a task, and is counted nowhere.
    ///
    /// # Errors
    ///
    /// If the executor is dropped.
    ///
    /// # Cancel safety
    ///
    /// It changes nothing, so it may be dropped at any time.
    ///
    /// # Example
    ///
    /// ```
    /// let ex = clockworker::Executor::new();
    /// let handle = ex.handle();
    /// let (tell, told) = futures::channel::oneshot::channel();
    /// std::thread::spawn(move || tell.send(futures::executor::block_on(handle.stats())));
    /// ex.spawn(std::future::pending::<()>());
    /// assert_eq!(ex.block_on(told).unwrap().unwrap().live, 1);
    /// ```
    pub async fn stats(&self) -> Result<ExecutorStats, GoneError> {
        self.ask(Core::stats).await
    }

    /// All tasks as they are now; see [`Executor::look_at_tasks`](crate::Executor::look_at_tasks). Answered as [`stats`](Handle::stats).
    ///
    /// # Errors
    ///
    /// As [`stats`](Handle::stats).
    ///
    /// # Cancel safety
    ///
    /// As [`stats`](Handle::stats).
    pub async fn look_at_tasks(&self) -> Result<TasksLook, GoneError> {
        self.ask(Core::look_at_tasks).await
    }

    /// Requests a stop: [`Executor::stop_requested`](crate::Executor::stop_requested) is ready from then
    /// on. It does nothing else, and nothing at all once the executor is dropped. Not for signal handlers, as it allocates.
    pub fn request_stop(&self) {
        drop(ask(&self.shared, Core::request_stop));
    }

    async fn ask<T: Send + 'static>(&self, question: fn(&Core) -> T) -> Result<T, GoneError> {
        let answer = ask(&self.shared, question).await;
        answer.ok().flatten().ok_or_else(GoneError::new)
    }

    pub(crate) fn spawn_placed<M, F>(
        &self,
        queue: &str,
        placement: Option<Placement>,
        label: Label,
        make: M,
    ) -> JoinHandle<F::Output>
    where
        M: FnOnce() -> F + Send + 'static,
        F: Future + 'static,
        F::Output: Send + 'static,
    {
        match self.find(queue) {
            Ok(key) => spawn_remote(&self.shared, key, placement, label, make),
            Err(why) => self.refuse(queue, label, why, make),
        }
    }

    /// Counts a refused spawn, and makes its join handle.
    #[cold]
    fn refuse<T: 'static>(&self, queue: &str, label: Label, why: Refused, make: impl Sized) -> JoinHandle<T> {
        self.shared.count_refused(queue);
        refuse(&self.shared, label, why, make)
    }

    /// The key of tasks for the queue of that name, which have no records yet.
    fn find(&self, queue: &str) -> Result<RecordKey, Refused> {
        let key = |id: QueueId| RecordKey {
            queue: id.index() as u32,
            slot: self.no_slot,
            generation: id.generation(),
        };
        match self.shared.find(queue, || self.is_inside()) {
            Ok(Some(id)) => Ok(key(id)),
            Ok(None) => self.own.filter(|_| queue == OWN).map(key).ok_or(Refused::NoSuchQueue),
            Err(Stopped::ShutDown) => Err(Refused::ShutDown),
            Err(Stopped::Dropped) => Err(Refused::ExecutorDropped),
        }
    }

    /// The names of the open queues, in alphabetical order. By the time of a spawn one may have been closed.
    pub fn queue_names(&self) -> Vec<String> {
        self.shared.queue_names(self.is_inside())
    }

    /// Whether an open queue has that name. By the time of a spawn it may have been closed.
    pub fn has_queue(&self, name: &str) -> bool {
        matches!(self.shared.find(name, || self.is_inside()), Ok(Some(_)))
    }

    /// Whether the executor takes no more tasks of this handle: it was drained, shut down or dropped.
    pub fn is_stopped(&self) -> bool {
        self.shared.find(DEFAULT_QUEUE, || self.is_inside()).is_err()
    }
}

// A panic leaves nothing half done: all is behind locks and atomics, each whole at every step.
impl UnwindSafe for Handle {}
impl RefUnwindSafe for Handle {}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("stopped", &self.is_stopped()).finish()
    }
}
