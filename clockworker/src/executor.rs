//! [`Executor`]: what a user makes first, a thin handle over its core.

use std::fmt;
use std::future::{Future, poll_fn};
use std::rc::Rc;
use std::task::Waker;
use std::time::Duration;

use crate::builder::Builder;
use crate::handle::Handle;
use crate::host::{self, RunUntil, Step, Steps};
use crate::large::boxed_if_large;
use crate::probe::{ExecutorClock, QueueLook, TasksLook};
use crate::queue_builder::QueueBuilder;
use crate::queue_handle::Queue;
use crate::run::{Core, ExecutorStats, Until, context};
use crate::shutdown::{self, ShutdownReport};
use crate::task::{JoinHandle, Label, Refuses};

/// A single-threaded executor of `!Send` tasks in several queues.
///
/// It is owned by the thread that made it. It is not a runtime: it runs inside a host ([`run_until`](Executor::run_until)
/// is a future for tokio, monoio, smol or any other) which does I/O and timers, or alone
/// ([`block_on`](Executor::block_on)).
///
/// **Dropping it** drops every task's future, on this thread, before it returns; join handles that are still awaited give a
/// [cancelled](crate::JoinError::is_cancelled) error. Wakers, handles and abort handles may outlive it and do nothing then.
///
/// **After a `fork`** it belongs to the parent: to run the child's copy panics. The child may make an executor of its own.
///
/// # Example
///
/// ```
/// use clockworker::Executor;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let ex = Executor::new();
/// let background = ex.new_queue("background").share(1).create()?;
/// let answer = ex.block_on(async {
///     background.spawn(async { /* something that may take long */ });
///     clockworker::spawn_local(async { 42 }).await
/// })?;
/// assert_eq!(answer, 42);
/// # Ok(())
/// # }
/// ```
pub struct Executor {
    core: Rc<Core>,
    default: Queue,
    steps: Steps,
}

impl Executor {
    /// An executor with one queue, named [`DEFAULT_QUEUE`](crate::DEFAULT_QUEUE), with the scheduler
    /// [`WokenFirst`](crate::schedulers::WokenFirst).
    pub fn new() -> Self {
        match Self::builder().build() {
            Ok(executor) => executor,
            Err(error) => unreachable!("the defaults are in range: {error}"),
        }
    }

    /// Builds an executor with other options than the default ones.
    pub fn builder() -> Builder {
        Builder::new()
    }

    pub(crate) fn from_parts(core: Rc<Core>, default: Queue) -> Self {
        Self { core, default, steps: Steps::default() }
    }

    /// Builds a new queue of that name: [`create`](QueueBuilder::create) makes it, at any time, also from inside a task.
    pub fn new_queue<'a>(&'a self, name: &'a str) -> QueueBuilder<'a> {
        QueueBuilder::new(&self.core, name)
    }

    /// The open queue of that name. None after a shutdown, when no queue is open. O(log queues).
    ///
    /// Inside a task, [`Queue::current`] is the task's own.
    ///
    /// # Example
    ///
    /// ```
    /// let ex = clockworker::Executor::new();
    /// ex.new_queue("background").create().unwrap();
    /// assert_eq!(ex.queue("background").unwrap().name(), "background");
    /// assert!(ex.queue("foreground").is_none());
    /// ```
    pub fn queue(&self, name: &str) -> Option<Queue> {
        self.core.find_queue(name).map(|inner| Queue::new(Rc::clone(&self.core), inner))
    }

    /// All queues: those that are open, and closed ones that still have tasks.
    pub fn queues(&self) -> Vec<Queue> {
        let queues = self.core.all_queues().into_iter();
        queues.map(|inner| Queue::new(Rc::clone(&self.core), inner)).collect()
    }

    /// The queue that the executor began with.
    pub fn default_queue(&self) -> &Queue {
        &self.default
    }

    /// Spawns a task on the default queue. See [`Queue::spawn`].
    #[cfg_attr(feature = "observe", track_caller)]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        boxed_if_large!(future: F, self.default.spawn(future))
    }

    /// Runs tasks until `future` is done, inside any host that polls the result.
    ///
    /// `future` itself belongs to no queue. It is polled first, and whenever it was woken: after the poll under way if polls
    /// are long, after at most 64 polls or 2 µs of them if they are short. If it woke itself, as
    /// [`yield_now`](crate::yield_now) does, it waits until no task is ready, or for 64 polls. It need not be `Send` nor
    /// `'static`. What it spawns with [`spawn_local`](crate::spawn_local) goes to the default queue. Tasks that are not
    /// finished when it is done stay, and go on in the next run.
    ///
    /// Several runs may be under way, beside each other or inside a task of the executor. Any that is polled by a host runs the
    /// tasks. Inside a task or another run it polls `future` only.
    ///
    /// # Cancel safety
    ///
    /// Dropping the run midway drops `future` and the host's waker, but no task: the next run goes on.
    ///
    /// # Panics
    ///
    /// In a child process of the one that made the executor. When polled again once it is done. A panic of `future` is passed
    /// on; a panic of a task goes to the task's [`JoinHandle`], and is passed on only with
    /// [`UnhandledPanic::ShutdownRuntime`](crate::UnhandledPanic::ShutdownRuntime).
    pub fn run_until<F: Future>(&self, future: F) -> RunUntil<'_, F> {
        RunUntil::new(&self.core, future)
    }

    /// Runs tasks until `future` is done, without a host: this thread sleeps when there is nothing to do.
    ///
    /// There are no timers and no I/O here; wakes come from other threads or from tasks. See
    /// [`run_until`](Executor::run_until) for the rest.
    ///
    /// # Panics
    ///
    /// As [`run_until`](Executor::run_until). Inside a task or a run of this executor, which would wait for itself. And, with
    /// the feature `tokio`, where tokio's own `block_on` panics: inside a
    /// task or a `block_on` of a tokio runtime, whose timers and sockets this would keep from being served, for ever if
    /// `future` waits for one. (There `run_until(…).await` is the way. Without the feature the executor cannot tell.)
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        host::assert_may_block();
        self.core.drivers.assert_not_driven();
        host::block_on(self.run_until(future))
    }

    /// Runs tasks for as long as `budget`, inside a loop that is not async: that of a game, a GUI, a simulator, a C library. Says when it
    /// is to be called again.
    ///
    /// It ends after the poll in which the budget is spent, so a budget of zero is one poll. It reads the clock after each poll for that.
    /// On a [`ManualClock`](crate::ManualClock) it ends after [`poll_cap`](crate::Builder::poll_cap) polls, too. It never waits: timers and
    /// I/O are the loop's, or another thread's. A runtime's own are not driven by it, so what a task awaits of tokio needs a tokio runtime
    /// that runs elsewhere. A call that finds nothing to do is no turn of the executor.
    ///
    /// Runs ([`run_until`](Executor::run_until)) may be under way meanwhile. Each step wakes them, and they run what it has left. Inside a
    /// task of *another* executor it may be called, too.
    ///
    /// # Panics
    ///
    /// As [`run_until`](Executor::run_until). Inside a task or a run of this executor, so also in a loop that a task of it has opened.
    ///
    /// # Example
    ///
    /// ```
    /// use clockworker::{Executor, Step, yield_now};
    /// use std::time::Duration;
    ///
    /// let ex = Executor::new();
    /// let task = ex.spawn(async { yield_now().await });
    /// while ex.run_for(Duration::ZERO) == Step::Ready { /* draw a frame */ }
    /// assert!(task.is_finished());
    /// ```
    #[track_caller]
    pub fn run_for(&self, budget: Duration) -> Step {
        self.steps.run_for(&self.core, budget)
    }

    /// Has `waker` woken, in place of the last one, when [`run_for`](Executor::run_for) is to be called again: once after each step that
    /// has left nothing, by what wakes or spawns a task, on any thread. And now; and it may be woken for nothing.
    ///
    /// The executor drops it, at its end at the latest. It may be called anywhere, also inside a task.
    ///
    /// # Example
    ///
    /// ```
    /// use clockworker::{Executor, Step};
    /// use std::time::Duration;
    /// # use std::sync::atomic::{AtomicU32, Ordering};
    /// # use std::sync::Arc;
    /// # #[derive(Default)]
    /// # struct Loop(AtomicU32);
    /// # impl std::task::Wake for Loop {
    /// #     fn wake(self: Arc<Self>) {
    /// #         self.0.fetch_add(1, Ordering::Relaxed);
    /// #     }
    /// # }
    /// # let event_loop = Arc::new(Loop::default());
    ///
    /// let ex = Executor::new();
    /// ex.on_ready(event_loop.clone().into()); // it is told at once,
    /// assert_eq!(ex.run_for(Duration::from_millis(1)), Step::Idle);
    /// ex.spawn(async {}); // and here
    /// # assert_eq!(event_loop.0.load(Ordering::Relaxed), 2);
    /// ```
    pub fn on_ready(&self, waker: Waker) {
        self.steps.on_ready(&self.core, waker);
    }

    /// Makes this executor the one that [`spawn_local`](crate::spawn_local) spawns on, on this thread, until the guard is
    /// dropped. Inside [`run_until`](Executor::run_until) it is so anyway.
    ///
    /// # Example
    ///
    /// ```
    /// let ex = clockworker::Executor::new();
    /// let guard = ex.enter();
    /// let task = clockworker::spawn_local(async { 42 });
    /// drop(guard);
    /// assert_eq!(ex.block_on(task).unwrap(), 42);
    /// ```
    pub fn enter(&self) -> EnterGuard {
        EnterGuard { _held: context::hold(&self.core) }
    }

    /// Waits until no task is left. New ones may be spawned meanwhile and are waited for too;
    /// [`drain`](Executor::drain) and [`shutdown`](Executor::shutdown) refuse them.
    ///
    /// A run must drive the executor meanwhile, usually `ex.run_until(ex.drained())`. A task that awaits this inside the same
    /// executor waits for itself, for ever.
    ///
    /// # Cancel safety
    ///
    /// It changes nothing, so it may be dropped at any time.
    ///
    /// # Example
    ///
    /// ```
    /// let ex = clockworker::Executor::new();
    /// let task = ex.spawn(async { clockworker::yield_now().await });
    /// ex.block_on(ex.drained());
    /// assert!(task.is_finished());
    /// ```
    pub async fn drained(&self) {
        let mut drained = Until::emptied(&self.core);
        poll_fn(|cx| drained.poll(cx)).await;
    }

    #[cfg(any(feature = "tokio", feature = "observe"))]
    pub(crate) fn core(&self) -> &Rc<Core> {
        &self.core
    }

    /// A handle for other threads.
    pub fn handle(&self) -> Handle {
        Handle::new(self.core.shared.clone())
    }

    /// Waits until [`Handle::request_stop`] is called. Ready at once if it was called before.
    ///
    /// What follows is up to the caller, usually [`drain`](Executor::drain).
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
    /// let thread = std::thread::spawn(move || handle.request_stop());
    /// ex.block_on(ex.stop_requested());
    /// # thread.join().unwrap();
    /// ```
    pub async fn stop_requested(&self) {
        let mut requested = Until::stop_requested(&self.core);
        poll_fn(|cx| requested.poll(cx)).await;
    }

    /// Stops the executor, and lets requests under way finish: as [`shutdown`](Executor::shutdown), but its tasks may go on
    /// spawning. A task that spawns without end is cancelled at `deadline`, and the report is not
    /// [`drained`](ShutdownReport::drained).
    ///
    /// It refuses what comes from outside: from the future given to [`run_until`](Executor::run_until), from destructors outside of
    /// tasks, and from handles, unless they were [made inside a task](Handle::current). What other threads spawned before is taken in. Queues that
    /// were [closed](Queue::close) stay closed. If `shutdown` was called before, this is `shutdown`.
    ///
    /// Cancel safety and panics are those of `shutdown`.
    ///
    /// # Example
    ///
    /// ```
    /// use clockworker::{Executor, spawn_local, yield_now};
    ///
    /// let ex = Executor::new();
    /// let request = ex.spawn(async {
    ///     yield_now().await;
    ///     let parts = [spawn_local(async { 20 }), spawn_local(async { 22 })];
    ///     futures::future::try_join_all(parts).await.map(|parts| parts.iter().sum::<i32>())
    /// });
    /// let report = futures::executor::block_on(ex.drain(std::future::pending::<()>()));
    /// assert_eq!((report.completed, report.drained), (3, true));
    /// # assert_eq!(ex.block_on(request).unwrap().unwrap(), 42);
    /// ```
    pub async fn drain<D: Future>(&self, deadline: D) -> ShutdownReport {
        shutdown::run(&self.core, Refuses::Outsiders, deadline).await
    }

    /// Stops the executor: it refuses new tasks, also those that its tasks spawn, which [`drain`](Executor::drain) takes. It runs
    /// those it has until they are finished or `deadline` is, cancels what is left, and reports how many tasks ended in which way.
    ///
    /// `deadline` is any future, usually a timer of the host, made inside it: `rt.block_on(async { ex.shutdown(
    /// tokio::time::sleep(limit)).await })`. `std::future::pending::<()>()` waits for all tasks, `std::future::ready(())`
    /// for none. Afterwards spawns are refused, on this and on other threads.
    ///
    /// # Cancel safety
    ///
    /// Dropped before its first poll, it does nothing. Dropped midway, the executor goes on refusing tasks, and those it has go on in the
    /// next run or shutdown.
    ///
    /// # Panics
    ///
    /// As [`run_until`](Executor::run_until). When first polled inside a task or a run of this executor: it would wait for
    /// itself. A panic of `deadline` is passed on, as if the future were dropped midway.
    ///
    /// # Example
    ///
    /// ```
    /// let ex = clockworker::Executor::new();
    /// ex.spawn(async {});
    /// ex.spawn(std::future::pending::<()>());
    /// let yields = async { for _ in 0..10 { clockworker::yield_now().await } };
    /// let report = ex.block_on_shutdown(yields);
    /// assert_eq!((report.completed, report.cancelled), (1, 1));
    /// ```
    pub async fn shutdown<D: Future>(&self, deadline: D) -> ShutdownReport {
        shutdown::run(&self.core, Refuses::All, deadline).await
    }

    /// [`shutdown`](Executor::shutdown) without a host.
    ///
    /// # Panics
    ///
    /// As [`block_on`](Executor::block_on).
    #[track_caller]
    pub fn block_on_shutdown<D: Future>(&self, deadline: D) -> ShutdownReport {
        host::assert_may_block();
        host::block_on(self.shutdown(deadline))
    }

    /// Its clock, for those who want to know the time without the executor, on any thread.
    pub fn clock(&self) -> ExecutorClock {
        self.core.clock()
    }

    /// All queues as they are now, in the order of their indices. It may be called from anywhere.
    pub fn look_at_queues(&self) -> Vec<QueueLook> {
        self.core.look_at_queues()
    }

    /// All tasks as they are now, with the feature `observe`: what each does, since when, and where it was spawned. Without it, none.
    ///
    /// It may be called from anywhere: in a task, in a drop, in a scheduler, in a probe. O(n log n) for n queues, and a few hundred
    /// bytes and steps for each task; the clock is read once.
    pub fn look_at_tasks(&self) -> TasksLook {
        self.core.look_at_tasks()
    }

    /// What the executor has done so far.
    pub fn stats(&self) -> ExecutorStats {
        self.core.stats()
    }
}

/// Makes an executor the current one until it is dropped. From [`Executor::enter`].
///
/// Guards may be dropped in any order: the current executor is that of the latest guard still held. A run holds one during
/// each of its polls.
#[must_use = "dropping the guard at once leaves the executor again"]
pub struct EnterGuard {
    _held: context::Held,
}

impl fmt::Debug for EnterGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EnterGuard").finish_non_exhaustive()
    }
}

/// Spawns a task into the queue and group of the calling task, with its attributes. Called inside
/// [`run_until`](Executor::run_until) but outside a task, into the default queue.
///
/// # Panics
///
/// Outside an executor's run.
///
/// # Example
///
/// ```
/// let ex = clockworker::Executor::new();
/// let answer = ex.block_on(async { clockworker::spawn_local(async { 42 }).await });
/// assert_eq!(answer.unwrap(), 42);
/// ```
#[track_caller]
pub fn spawn_local<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    match context::current() {
        Some(core) => boxed_if_large!(future: F, core.spawn_beside_current(Label::here(), future)),
        None => panic!(
            "`clockworker::spawn_local` called outside an executor: call it inside `run_until` or `block_on`, or spawn \
             through `Executor::spawn`, `Queue::spawn` or a `Handle`"
        ),
    }
}

impl Default for Executor {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Executor {
    fn drop(&mut self) {
        // What the futures drop may spawn, and is refused with the reason.
        let _entered = context::enter(&self.core);
        self.core.tear_down();
        self.steps.end(&self.core);
    }
}

impl fmt::Debug for Executor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stats = self.stats();
        let queues: Vec<&str> = stats.queues.iter().map(|queue| queue.name.as_str()).collect();
        f.debug_struct("Executor").field("queues", &queues).field("live", &stats.live).finish_non_exhaustive()
    }
}
