//! [`LocalSet`]: tokio's names for an executor's methods.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::base::UnhandledPanic;
use crate::executor::{EnterGuard, Executor};
use crate::host::{Run, RunUntil};
use crate::join_set::SpawnLocal;
use crate::large::boxed_if_large;
use crate::run::Until;
use crate::task::JoinHandle;

/// Tasks that need not be `Send`, run on one thread of a tokio runtime. Replaces `tokio::task::LocalSet`.
///
/// Awaiting the set itself runs its tasks until none is left. Several [`run_until`](LocalSet::run_until) at once are allowed,
/// also inside tasks of the set; any of them that is polled runs the tasks.
///
/// **Dropping it** drops every task's future, on this thread, before it returns; join handles give a
/// [cancelled](crate::JoinError::is_cancelled) error.
///
/// # Example
///
/// ```
/// use clockworker::compat::{LocalSet, spawn_local};
/// use std::rc::Rc;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let not_send = Rc::new("in a task");
/// let local = LocalSet::new();
/// local
///     .run_until(async move {
///         let said = spawn_local(async move { *not_send }).await.unwrap();
///         assert_eq!(said, "in a task");
///     })
///     .await;
/// # }
/// ```
pub struct LocalSet {
    executor: Executor,
    /// The run of a future that awaits the set itself.
    awaited: Option<(Run, Until)>,
}

impl LocalSet {
    /// A set without tasks. No runtime is needed yet.
    pub fn new() -> Self {
        Self::from(Executor::new())
    }

    /// The set's executor: for queues, groups, schedulers, statistics, shutdown and spawning from other threads.
    pub fn executor(&self) -> &Executor {
        &self.executor
    }

    /// Makes this set the one that [`spawn_local`](crate::spawn_local) spawns on, on this thread, until the guard is
    /// dropped.
    pub fn enter(&self) -> EnterGuard {
        self.executor.enter()
    }

    /// Spawns a task on the set, at any time: before, during and between runs, and inside a task.
    ///
    /// The task goes to the executor's default queue; a task spawned by the free [`spawn_local`](crate::spawn_local) goes to
    /// the queue of the task that spawns it.
    #[cfg_attr(feature = "observe", track_caller)]
    pub fn spawn_local<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        boxed_if_large!(future: F, self.executor.spawn(future))
    }

    /// Runs the set's tasks on `rt` until `future` is done.
    ///
    /// On a `multi_thread` runtime too, where they stay on the calling thread.
    ///
    /// # Panics
    ///
    /// As tokio's `block_on`, inside an async context; and if `future` panics.
    #[track_caller]
    pub fn block_on<F: Future>(&self, rt: &tokio::runtime::Runtime, future: F) -> F::Output {
        rt.block_on(self.run_until(future))
    }

    /// Runs the set's tasks until `future` is done.
    ///
    /// `future` is polled first, and again whenever it was woken. Tasks that are not finished when it is done stay, and
    /// go on in the next run.
    ///
    /// # Cancel safety
    ///
    /// Dropping the run midway drops `future` but no task.
    ///
    /// # Panics
    ///
    /// If `future` panics; if a task panicked and [`unhandled_panic`](LocalSet::unhandled_panic) says so.
    pub fn run_until<F: Future>(&self, future: F) -> RunUntil<'_, F> {
        RunUntil::new(self.executor.core(), future)
    }

    /// What the set does when a task panics. [`UnhandledPanic::Ignore`] unless told otherwise.
    ///
    /// # Example
    ///
    /// ```should_panic
    /// use clockworker::compat::{LocalSet, UnhandledPanic, spawn_local};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// LocalSet::new()
    ///     .unhandled_panic(UnhandledPanic::ShutdownRuntime)
    ///     .run_until(async {
    ///         spawn_local(async { panic!("nobody awaits this task") });
    ///         std::future::pending::<()>().await // panics, instead of waiting for ever
    ///     })
    ///     .await;
    /// # }
    /// ```
    pub fn unhandled_panic(&mut self, behavior: UnhandledPanic) -> &mut Self {
        self.executor.core().ending.set_unhandled_panic(behavior);
        self
    }
}

/// A set over an executor with options of its own: its host budget, its queues.
impl From<Executor> for LocalSet {
    fn from(executor: Executor) -> Self {
        Self { executor, awaited: None }
    }
}

impl Default for LocalSet {
    fn default() -> Self {
        Self::new()
    }
}

/// Runs the tasks; ready when none is left.
impl Future for LocalSet {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Self { executor, awaited } = &mut *self;
        let core = executor.core();
        let (run, drained) = awaited.get_or_insert_with(|| (Run::new(core), Until::emptied(core)));
        let polled = run.poll(core, cx, |cx| drained.poll(cx));
        if polled.is_ready() {
            *awaited = None;
        }
        polled
    }
}

impl SpawnLocal for LocalSet {
    fn spawn_local<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        boxed_if_large!(future: F, self.executor.spawn(future))
    }
}

impl fmt::Debug for LocalSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalSet").field("executor", &self.executor).finish_non_exhaustive()
    }
}
