//! [`Queue`]: the handle to a queue, where spawn starts.

mod limits;

use std::fmt;
use std::future::Future;
use std::rc::Rc;
use std::time::Duration;

use clockworker_schedulers::{Attributes, Scheduler, Share};

use crate::group::Group;
use crate::group_builder::GroupBuilder;
use crate::handle::Handle;
use crate::large::{boxed_if_large, is_large};
use crate::queue::{NO_GROUP, QueueError};
use crate::queue_builder::{QueueBuilder, request_ns};
use crate::run::{Core, GroupStats, QueueStats, RunQueue, context};
use crate::shutdown::{self, ShutdownReport};
use crate::spawn_when_room::SpawnWhenRoom;
use crate::task::{JoinHandle, Label, Refuses, TaskRequest};
use crate::task_builder::TaskBuilder;
use crate::try_spawn::{TrySpawnError, try_spawn, try_spawn_boxed};

/// Tasks with a share of the thread's CPU. From [`Executor::new_queue`](crate::Executor::new_queue).
///
/// This is a handle; clones are the same queue. **Dropping it does nothing** to the queue, which lives until it is
/// [closed](Queue::close) and its last task has finished, or its executor is dropped. A handle that outlives its
/// executor refuses spawns and changes, and goes on showing its last statistics. It is not `Send`; [`handle`](Queue::handle) gives
/// what is.
///
/// # Example
///
/// ```
/// use clockworker::{Executor, schedulers::Qlas};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let ex = Executor::new();
/// let foreground = ex.new_queue("foreground").share(9).create()?;
/// let background = ex.new_queue("background").share(1).scheduler(Qlas::new()).create()?;
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
    pub(crate) core: Rc<Core>,
    pub(crate) inner: Rc<RunQueue>,
}

impl Queue {
    pub(crate) fn new(core: Rc<Core>, inner: Rc<RunQueue>) -> Self {
        Self { core, inner }
    }

    /// Spawns a task on this queue.
    ///
    /// May be called at any time: before, during and between runs, inside a task, and from a destructor. What that task
    /// spawns with [`spawn_local`](crate::spawn_local) goes to this queue too. The calling task's [tag](TaskBuilder::tag) is
    /// inherited. If the queue is closed or full or its executor has
    /// stopped, the future is dropped at once and the handle gives an error that says so (or the panic, if the future panics
    /// when dropped). [`QueueStats::refused`] counts that, whether or not the handle is awaited.
    ///
    /// A future of more than 16 KiB is boxed, in debug builds one of more than 2 KiB, as tokio does it.
    #[cfg_attr(feature = "observe", track_caller)]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        boxed_if_large!(future: F, self.core.spawn(&self.inner, NO_GROUP, Label::here(), future))
    }

    pub(crate) fn spawn_with<F>(
        &self,
        request: &TaskRequest,
        label: Label,
        future: F,
    ) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        self.core.spawn_with(&self.inner, NO_GROUP, request, label, future)
    }

    /// Begins a task with attributes, such as a priority or a deadline: [`spawn`](TaskBuilder::spawn) spawns it on this queue.
    pub fn new_task(&self) -> TaskBuilder {
        TaskBuilder::of_queue(self.clone())
    }

    /// Spawns a task on this queue, or gives the future back.
    ///
    /// # Errors
    ///
    /// If the queue is full or closed, or its executor has stopped. The queue is full if it has as many tasks as
    /// [`set_max_live`](Queue::set_max_live) allows, or if others [wait for room](Queue::spawn_when_room).
    ///
    /// # Example
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let ex = clockworker::Executor::new();
    /// let queue = ex.new_queue("uploads").max_live(1).create()?;
    /// let first = queue.try_spawn(async { 1 })?;
    /// let error = queue.try_spawn(async { 2 }).unwrap_err();
    /// assert!(error.is_full());
    /// let second = error.into_future();
    /// assert_eq!(ex.block_on(first)?, 1);
    /// assert_eq!(ex.block_on(queue.try_spawn(second)?)?, 2);
    /// # Ok(())
    /// # }
    /// ```
    #[cfg_attr(feature = "observe", track_caller)]
    pub fn try_spawn<F>(&self, future: F) -> Result<JoinHandle<F::Output>, TrySpawnError<F>>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        let Self { core, inner } = self;
        match const { is_large::<F>() } {
            true => try_spawn_boxed(core, (inner, NO_GROUP), Label::here(), Box::new(future)),
            false => try_spawn(core, (inner, NO_GROUP), Label::here(), future),
        }
    }

    /// Spawns a task on this queue as soon as there is room for it. See [`SpawnWhenRoom`], the future that this gives.
    #[cfg_attr(feature = "observe", track_caller)]
    pub fn spawn_when_room<F>(&self, future: F) -> SpawnWhenRoom<F>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        SpawnWhenRoom::new(self.clone(), None, Box::new(future))
    }

    /// The group of that key, to spawn tasks that belong together: a tenant's, a client's, a request's.
    ///
    /// Schedulers such as [`FairGroups`](crate::schedulers::FairGroups) treat a group as one. A group is open as long as
    /// there is a handle to it or an unfinished task in it. Schedulers that use groups remember by the key what a closed group has
    /// had. Opened here it has no attributes; if it is open already, it is as it is. A closed queue opens groups too, but takes no
    /// task. Keep a handle of a tenant that comes and goes, so that it is not a new one each time. For names and other keys there is
    /// [`group_key`](crate::group_key()).
    pub fn group(&self, key: u64) -> Group {
        Group::open(self.clone(), key, Attributes::new())
    }

    /// Begins a group with attributes, such as a weight: [`open`](GroupBuilder::open) opens it.
    pub fn new_group(&self, key: u64) -> GroupBuilder<'_> {
        GroupBuilder::new(self, key)
    }

    /// The group of that key, if it is open. O(1).
    pub fn find_group(&self, key: u64) -> Option<Group> {
        Group::find(self.clone(), key)
    }

    /// The queue of the task that is being polled or dropped on this thread. None outside tasks.
    ///
    /// # Example
    ///
    /// ```
    /// use clockworker::{Executor, Queue};
    ///
    /// let ex = Executor::new();
    /// let background = ex.new_queue("background").create().unwrap();
    /// let task = background.spawn(async { Queue::current().unwrap().name() });
    /// assert_eq!(ex.block_on(task).unwrap(), "background");
    /// assert!(Queue::current().is_none());
    /// ```
    pub fn current() -> Option<Queue> {
        let core = context::current()?;
        let inner = core.current_queue()?;
        Some(Queue::new(core, inner))
    }

    /// The open queue of that name, of the executor that runs on this thread or was [entered](crate::Executor::enter) here. None
    /// if there is none, or no executor. O(log queues).
    ///
    /// With a [`Handle`](crate::Handle) this is the way to change a queue from another thread.
    ///
    /// # Example
    ///
    /// ```
    /// use clockworker::{Executor, Queue};
    ///
    /// let ex = Executor::new();
    /// let background = ex.new_queue("background").create().unwrap();
    /// let handle = ex.handle();
    /// let change = std::thread::spawn(move || {
    ///     handle.spawn(|| async { Queue::find("background").map(|queue| queue.set_share(3)) })
    /// });
    /// let changed = ex.block_on(change.join().unwrap()).unwrap();
    /// assert_eq!((changed, background.share()), (Some(Ok(())), 3));
    /// ```
    pub fn find(name: &str) -> Option<Queue> {
        let core = context::current()?;
        let inner = core.find_queue(name)?;
        Some(Queue::new(core, inner))
    }

    /// Builds a new queue of that name below this one: its child. [`create`](QueueBuilder::create) makes it, at any time, also
    /// from inside a task. Names are the executor's, whatever the parent.
    ///
    /// What a queue gets, its children and its own tasks divide, by EEVDF as queues divide the thread: a child has a share and
    /// a request among its siblings, and adding or removing one changes nothing for other branches. The queue's own tasks compete
    /// with its children **as one more child of share 1**, with the queue's request; for another share, give them a child of
    /// their own. A queue with children has no [cap](Queue::set_cap), but a child may; neither is
    /// [idle](QueueBuilder::idle). Limits on [tasks](QueueBuilder::max_live) are each queue's own. At most
    /// [`MAX_DEPTH`](crate::MAX_DEPTH) queues are above a queue. `docs/BOUNDS.md` says what a child gets whatever the others do.
    ///
    /// # Example
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let ex = clockworker::Executor::new();
    /// let requests = ex.new_queue("requests").share(3).create()?;
    /// let tenants = ex.new_queue("tenants").share(1).create()?;
    /// // Three tenants, or a thousand: together they get a quarter of the thread while requests want the rest.
    /// let paying = tenants.new_queue("paying").share(9).create()?;
    /// let free = tenants.new_queue("free").create()?;
    /// assert_eq!(free.parent().unwrap().name(), "tenants");
    /// assert_eq!(tenants.children().len(), 2);
    /// let sum = ex.block_on(async {
    ///     let handles = [requests.spawn(async { 1 }), paying.spawn(async { 2 }), free.spawn(async { 3 })];
    ///     let mut sum = 0;
    ///     for handle in handles {
    ///         sum += handle.await.unwrap();
    ///     }
    ///     sum
    /// });
    /// assert_eq!(sum, 6);
    /// # Ok(())
    /// # }
    /// ```
    pub fn new_queue<'a>(&'a self, name: &'a str) -> QueueBuilder<'a> {
        QueueBuilder::new(&self.core, name).below(&self.inner)
    }

    /// A handle for other threads, and for what must be `Send`, whose [`spawn`](Handle::spawn) is on this queue.
    ///
    /// A `Queue` is not `Send`, and neither is a closure that captures one or a future that holds one across an `.await`. Frameworks
    /// such as axum ask for handlers that are `Send`, also on a thread of their own: with a `Queue` in it one is no `Handler`, and the
    /// compiler's error does not say why. Give it this handle instead.
    ///
    /// # Example
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use clockworker::{Executor, Queue};
    ///
    /// let ex = Executor::new();
    /// let background = ex.new_queue("background").create()?.handle();
    /// let handler = move || background.spawn(async || Queue::current().unwrap().name());
    /// let task = std::thread::spawn(handler).join().unwrap();
    /// assert_eq!(ex.block_on(task)?, "background");
    /// # Ok(())
    /// # }
    /// ```
    pub fn handle(&self) -> Handle {
        Handle::of_queue(&self.core, self.inner.id)
    }

    /// The queue below which this one was created, if any. Also once either is gone.
    pub fn parent(&self) -> Option<Queue> {
        let parent = self.inner.parent.as_ref()?;
        Some(Queue::new(Rc::clone(&self.core), Rc::clone(parent)))
    }

    /// The queues created below this one that are not gone, in the order in which they were created; not those below them.
    /// O(queues of the executor).
    pub fn children(&self) -> Vec<Queue> {
        let children = self.core.children(&self.inner).into_iter();
        children.map(|child| Queue::new(Rc::clone(&self.core), child)).collect()
    }

    /// The queue's name.
    pub fn name(&self) -> String {
        self.inner.name()
    }

    /// Gives the queue another name, also while it runs. [`Handle`](crate::Handle)s find it by the new name from now on, and the old
    /// one is free. What other threads have sent by the old name comes to this queue all the same.
    ///
    /// If this is the [default queue](crate::Executor::default_queue), it still is, but [`Handle::spawn`](crate::Handle::spawn) goes by
    /// the name [`DEFAULT_QUEUE`](crate::DEFAULT_QUEUE).
    ///
    /// # Errors
    ///
    /// If the name is empty, another open queue has it, the queue is closed, or the executor was shut down or dropped. The
    /// queue keeps its name then.
    ///
    /// # Example
    ///
    /// ```
    /// let ex = clockworker::Executor::new();
    /// let queue = ex.new_queue("tenant 7").create().unwrap();
    /// queue.rename("tenant 8").unwrap();
    /// assert_eq!(queue.name(), "tenant 8");
    /// assert!(ex.handle().has_queue("tenant 8") && !ex.handle().has_queue("tenant 7"));
    /// assert!(queue.rename("default").unwrap_err().is_name_taken());
    /// ```
    pub fn rename(&self, name: &str) -> Result<(), QueueError> {
        self.core.rename_queue(&self.inner, name)
    }

    /// The queue's share.
    pub fn share(&self) -> u32 {
        self.inner.share.get().get()
    }

    /// The service the queue asks for at a time.
    pub fn request(&self) -> Duration {
        Duration::from_nanos(self.inner.request_ns.get())
    }

    /// Changes the queue's share, also while it runs. The queue keeps what it is owed or owes.
    ///
    /// # Errors
    ///
    /// If the share is out of range, or the queue is gone: it was closed and its last task has finished, the executor was
    /// shut down and its last task has finished, or the executor was dropped.
    pub fn set_share(&self, share: u32) -> Result<(), QueueError> {
        let share = Share::new(share).map_err(QueueError::share)?;
        self.core.set_share(&self.inner, share, self.inner.request_ns.get())
    }

    /// Changes the service the queue asks for at a time: a shorter request counts at once, a longer one from the next request
    /// on.
    ///
    /// # Errors
    ///
    /// If the request is zero, or the queue is gone, as in [`set_share`](Queue::set_share).
    pub fn set_request(&self, request: Duration) -> Result<(), QueueError> {
        self.core.set_share(&self.inner, self.inner.share.get(), request_ns(request)?)
    }

    /// Changes the order inside the queue, also while its tasks run.
    ///
    /// The new scheduler is told of the open groups, with their attributes; then of the attributes of the tasks that have any; then
    /// it gets the ready tasks, as [woken](crate::schedulers::Ready::Woken), in the order in which the old one would have had them
    /// polled next. (In the order of their slots, if the old one does not give out exactly these, or panics.) It knows nothing
    /// of what tasks and groups have had. The old one is dropped; a panic of its drop is contained. If FIFO had taken the place
    /// of a [faulty](crate::PolicyFault) scheduler, it goes too, and [`QueueStats::policy_fault`] is `None` again.
    ///
    /// It is done before this returns; or, inside a task of this queue, after the poll under way; or, if this is called by the
    /// old scheduler itself, after the queue's next slice. It takes O(n log n) steps for n tasks and groups, all at once.
    ///
    /// # Errors
    ///
    /// If the queue is gone, as in [`set_share`](Queue::set_share).
    ///
    /// # Example
    ///
    /// ```
    /// use clockworker::{Executor, Queue, schedulers::{Las, Qlas}};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let ex = Executor::new();
    /// let queue = ex.new_queue("background").scheduler(Las::new()).create()?;
    /// let task = queue.spawn(async { 42 });
    /// queue.set_scheduler(Qlas::new())?;
    /// assert_eq!(ex.block_on(task)?, 42);
    /// # Ok(())
    /// # }
    /// ```
    pub fn set_scheduler<S: Scheduler + 'static>(&self, scheduler: S) -> Result<(), QueueError> {
        self.core.set_scheduler(&self.inner, scheduler)
    }

    /// Whether it is an [idle](crate::QueueBuilder::idle) queue.
    pub fn is_idle(&self) -> bool {
        self.inner.is_idle
    }

    /// Stops the queue from taking new tasks. The tasks in it go on; when the last has finished, the queue is gone. Its name
    /// is free at once. Those who [wait for room](Queue::spawn_when_room) are refused.
    ///
    /// The queues below it are closed with it; it is gone once they are, too.
    pub fn close(&self) {
        self.core.close_queue(&self.inner, Refuses::All);
    }

    /// Drains the queue and those below it: as [`retire`](Queue::retire), but takes the children of their tasks. All of them go when
    /// none has a task, and until then one's task may spawn into another. Cancel safety and panics are those of `retire`.
    ///
    /// A child is a task that a task of a draining queue spawns. If it spawns by a [`Handle`](crate::Handle), the handle was
    /// [made inside it](crate::Handle::current). A task that [moves](crate::move_to()) here from a draining queue counts, too. What other
    /// threads have sent and has not come in is refused. A task that spawns without end is cancelled at `deadline`. A queue that was [closed](Queue::close) or retired
    /// before takes no child.
    ///
    /// # Example
    ///
    /// ```
    /// use clockworker::{Executor, spawn_local, yield_now};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let ex = Executor::new();
    /// let tenant = ex.new_queue("tenant").create()?;
    /// tenant.spawn(async {
    ///     yield_now().await;
    ///     spawn_local(async {}).await.unwrap();
    /// });
    /// let report = ex.block_on(tenant.drain(std::future::pending::<()>()));
    /// assert_eq!((report.completed, report.drained), (2, true));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn drain<D: Future>(&self, deadline: D) -> ShutdownReport {
        shutdown::retire(&self.core, &self.inner, Refuses::Outsiders, deadline).await
    }

    /// Retires the queue and those below it: [closes](Queue::close) them, waits until their tasks are finished or `deadline` is,
    /// cancels what is left, waits until that is dropped, and reports how many tasks of all these queues ended in which way. Then
    /// the queues are gone, and their places in the tables free for others.
    ///
    /// `deadline` is any future, as for [`Executor::shutdown`](crate::Executor::shutdown): `std::future::pending::<()>()` waits for
    /// all tasks, `std::future::ready(())` for none. Futures of cancelled tasks are dropped in the queue's own slices, at once also
    /// where its cap is used up: the cap pays for the drops.
    /// The tasks that ended while the executor was dropped or shut down count too.
    ///
    /// A run must drive the executor meanwhile. A task of one of these queues that awaits this waits for itself, for ever.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is polled, it does nothing. Dropped later, the queue stays closed: its tasks go on, or, after the deadline,
    /// are cancelled all the same, and the queue goes with the last.
    ///
    /// # Panics
    ///
    /// If `deadline` panics, that panic is passed on.
    ///
    /// # Example
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let ex = clockworker::Executor::new();
    /// let tenant = ex.new_queue("tenant").create()?;
    /// tenant.spawn(async {});
    /// tenant.spawn(std::future::pending::<()>());
    /// let yields = async { for _ in 0..10 { clockworker::yield_now().await } };
    /// let report = ex.block_on(tenant.retire(yields));
    /// assert_eq!((report.completed, report.cancelled, report.drained), (1, 1, false));
    /// ex.new_queue("tenant").create()?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn retire<D: Future>(&self, deadline: D) -> ShutdownReport {
        shutdown::retire(&self.core, &self.inner, Refuses::All, deadline).await
    }

    /// Whether it was [closed](Queue::close), or [drains](Queue::drain).
    pub fn is_closed(&self) -> bool {
        self.inner.closed.get()
    }

    /// Asks for all tasks of the queue to be cancelled, as [`JoinHandle::abort`] does; how many there were. Spares the calling
    /// task, and tasks from other threads that have not come in yet. The queue goes on: [`close`](Queue::close) it first if it is
    /// to end.
    ///
    /// O(tasks of the queue). Their futures are dropped in the queue's next slices, each billed to it.
    pub fn abort_all(&self) -> usize {
        self.inner.abort_all(None)
    }

    /// What each open group of the queue has done. O(tasks and groups of the queue).
    ///
    /// # Example
    ///
    /// ```
    /// use clockworker::{Executor, schedulers::Las};
    ///
    /// let ex = Executor::builder().scheduler(Las::new()).build().unwrap();
    /// let queue = ex.default_queue();
    /// let tenants = [queue.group(1), queue.group(2)];
    /// ex.block_on(tenants[1].spawn(async {})).unwrap();
    /// let polls: Vec<_> = queue.group_stats().iter().map(|group| (group.key, group.polls)).collect();
    /// assert_eq!(polls, [(1, Some(0)), (2, Some(1))]);
    /// ```
    pub fn group_stats(&self) -> Vec<GroupStats> {
        self.inner.all_group_stats()
    }

    /// What the queue has done so far.
    pub fn stats(&self) -> QueueStats {
        self.core.queue_stats(&self.inner)
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue")
            .field("name", &self.name())
            .field("share", &self.share())
            .field("scheduler", &self.inner.scheduler_name())
            .field("live", &self.inner.live.get())
            .finish_non_exhaustive()
    }
}
