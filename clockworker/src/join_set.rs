//! [`JoinSet`]: a set of tasks to await together.

use std::fmt;
use std::future::Future;
use std::mem::{forget, replace, take};
use std::panic::resume_unwind;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;

use crate::base::{drop_quietly, wake_quietly};
use crate::executor::Executor;
use crate::group::Group;
use crate::queue_handle::Queue;
use crate::task::{AbortHandle, Id, JoinError, JoinHandle};

/// Tasks, awaited in the order in which they finish.
///
/// All have the same output type; they may be on different queues, or different executors. The methods are those of
/// tokio's `JoinSet`, as far as they concern tasks that are not `Send`.
///
/// **Dropping it aborts all its tasks**; [`detach_all`](JoinSet::detach_all) lets them go on.
///
/// Finding the next finished task costs the same however many there are.
///
/// # Example
///
/// ```
/// use clockworker::{Executor, JoinSet};
///
/// let ex = Executor::new();
/// let background = ex.new_queue("background").create().unwrap();
/// let sum = ex.block_on(async {
///     let mut set = JoinSet::new();
///     for i in 0..10 {
///         set.spawn_local(async move { i });
///     }
///     set.spawn_local_on(async { 100 }, &background);
///     let mut sum = 0;
///     while let Some(output) = set.join_next().await {
///         sum += output.unwrap();
///     }
///     sum
/// });
/// assert_eq!(sum, 145);
/// ```
pub struct JoinSet<T> {
    members: FuturesUnordered<Member<T>>,
    /// Whether there may be members that were not polled yet.
    any_new: bool,
    /// The waker of the last call that returned `Pending`. Kept so that [`try_join_next`](JoinSet::try_join_next), which
    /// awaits nothing, does not replace it.
    waiting: Waker,
    /// Whether that caller still waits: it has neither polled again nor been woken for a new member. If so, no member is new.
    is_awaited: bool,
}

/// A task of the set.
struct Member<T> {
    task: JoinHandle<T>,
}

impl<T> Future for Member<T> {
    type Output = (Id, Result<T, JoinError>);

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let id = self.task.id();
        Pin::new(&mut self.task).poll(cx).map(|output| (id, output))
    }
}

/// Waits for the next task, until it is dropped.
struct Next<'a, T>(&'a mut JoinSet<T>);

impl<T> Future for Next<'_, T> {
    type Output = Option<(Id, Result<T, JoinError>)>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.poll_next(cx)
    }
}

impl<T> Drop for Next<'_, T> {
    fn drop(&mut self) {
        self.0.is_awaited = false;
    }
}

/// Rebuilds the set if a waker panics when it is cloned or dropped. `FuturesUnordered` does both in an `AtomicWaker`, which
/// is locked then for good, so the members move to another.
struct RebuildOnPanic<'a, T>(&'a mut JoinSet<T>);

impl<T> Drop for RebuildOnPanic<'_, T> {
    #[cold]
    fn drop(&mut self) {
        let RebuildOnPanic(set) = self;
        let mut members = take(&mut set.members).into_iter();
        set.members.extend(&mut members);
        set.any_new = true;
        // Dropped with the waker that was left in them.
        drop_quietly(members);
        if take(&mut set.is_awaited) {
            // The waiting caller's waker went with it, so that caller has to poll again.
            wake_quietly(replace(&mut set.waiting, Waker::noop().clone()));
        }
    }
}

/// Where tasks can be spawned from the owner thread: an [`Executor`], a [`Queue`], a [`Group`], and with the feature
/// `tokio` a `compat::LocalSet`.
pub trait SpawnLocal {
    /// Spawns a task there. See [`Queue::spawn`].
    fn spawn_local<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static;
}

impl SpawnLocal for Executor {
    fn spawn_local<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        self.spawn(future)
    }
}

impl SpawnLocal for Queue {
    fn spawn_local<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        self.spawn(future)
    }
}

impl SpawnLocal for Group {
    fn spawn_local<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        self.spawn(future)
    }
}

impl<T> JoinSet<T> {
    /// An empty set.
    pub fn new() -> Self {
        Self {
            members: FuturesUnordered::new(),
            any_new: false,
            waiting: Waker::noop().clone(),
            is_awaited: false,
        }
    }

    /// How many tasks are in the set: unfinished ones, and finished ones whose outputs were not taken yet.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether the set has no tasks.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Takes a task that was spawned elsewhere into the set.
    ///
    /// # Example
    ///
    /// ```
    /// use clockworker::{Executor, JoinSet};
    ///
    /// let ex = Executor::new();
    /// let handle = ex.handle();
    /// let remote = std::thread::spawn(move || handle.spawn(|| async { 1 })).join().unwrap();
    /// let mut set = JoinSet::new();
    /// set.insert(remote);
    /// assert_eq!(ex.block_on(set.join_all()), [1]);
    /// ```
    pub fn insert(&mut self, task: JoinHandle<T>) -> AbortHandle {
        let abort = task.abort_handle();
        self.members.push(Member { task });
        self.any_new = true;
        self.wake_waiting();
        abort
    }

    /// Wakes the waiting caller, if there is one, to poll the set that has changed.
    fn wake_waiting(&mut self) {
        if take(&mut self.is_awaited) {
            self.waiting.wake_by_ref();
        }
    }

    /// Cancels all tasks. They stay in the set until their errors are taken.
    pub fn abort_all(&mut self) {
        self.members.iter().for_each(|member| member.task.abort());
    }

    /// Takes all tasks out of the set and lets them go on.
    pub fn detach_all(&mut self) {
        self.members = FuturesUnordered::new();
        self.wake_waiting();
    }

    /// Waits for a task to finish, and takes it out of the set. None if the set is empty.
    ///
    /// # Cancel safety
    ///
    /// If it is dropped before it is done, no task is taken out.
    pub async fn join_next(&mut self) -> Option<Result<T, JoinError>> {
        Next(self).await.map(|(_, output)| output)
    }

    /// As [`join_next`](JoinSet::join_next), with the task's id. (An error has it anyway: [`JoinError::id`].)
    ///
    /// # Cancel safety
    ///
    /// If it is dropped before it is done, no task is taken out.
    pub async fn join_next_with_id(&mut self) -> Option<Result<(Id, T), JoinError>> {
        Next(self).await.map(with_id)
    }

    /// Takes a finished task out of the set. None if none has finished.
    pub fn try_join_next(&mut self) -> Option<Result<T, JoinError>> {
        self.try_next().map(|(_, output)| output)
    }

    /// As [`try_join_next`](JoinSet::try_join_next), with the task's id.
    pub fn try_join_next_with_id(&mut self) -> Option<Result<(Id, T), JoinError>> {
        self.try_next().map(with_id)
    }

    /// Polls for a finished task, and takes it out of the set.
    ///
    /// * `Ready(Some(…))`: a task has finished.
    /// * `Ready(None)`: the set is empty.
    /// * `Pending`: none has; `cx`'s waker will be woken when one does. Only the waker of the last call is.
    pub fn poll_join_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<T, JoinError>>> {
        self.poll_next(cx).map(|next| next.map(|(_, output)| output))
    }

    /// As [`poll_join_next`](JoinSet::poll_join_next), with the task's id.
    pub fn poll_join_next_with_id(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<(Id, T), JoinError>>> {
        self.poll_next(cx).map(|next| next.map(with_id))
    }

    /// Waits for all tasks; their outputs, in the order in which they finished.
    ///
    /// # Panics
    ///
    /// If a task panicked, with its panic; if one was cancelled, with the error. The other tasks are aborted then.
    ///
    /// # Cancel safety
    ///
    /// Dropping it drops the set, which aborts the tasks and loses the outputs there were.
    pub async fn join_all(mut self) -> Vec<T> {
        let mut outputs = Vec::with_capacity(self.len());
        while let Some(output) = self.join_next().await {
            match output.map_err(JoinError::try_into_panic) {
                Ok(output) => outputs.push(output),
                Err(Ok(payload)) => resume_unwind(payload),
                Err(Err(cancelled)) => panic!("{cancelled}"),
            }
        }
        outputs
    }

    /// Cancels all tasks and waits until they are gone. Outputs and panics of tasks that had finished are dropped.
    ///
    /// # Cancel safety
    ///
    /// Dropped midway, the tasks are cancelled all the same.
    pub async fn shutdown(&mut self) {
        self.abort_all();
        while self.join_next().await.is_some() {}
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<(Id, Result<T, JoinError>)>> {
        // `FuturesUnordered` wakes its caller once it has polled as many members as it has, since they might be ready for
        // ever. Tasks are not, and the wake would make the caller yield. So new members have their first polls with a waker
        // that wakes nothing.
        let next = loop {
            let next = self.poll_members(if self.any_new { Waker::noop() } else { cx.waker() });
            if next.is_ready() || !take(&mut self.any_new) {
                break next;
            }
        };
        self.is_awaited = next.is_pending();
        if self.is_awaited {
            self.waiting.clone_from(cx.waker());
        }
        next
    }

    fn try_next(&mut self) -> Option<(Id, Result<T, JoinError>)> {
        // The waiting caller stays registered.
        let waiting = if self.is_awaited { self.waiting.clone() } else { Waker::noop().clone() };
        match self.poll_members(&waiting) {
            Poll::Ready(next) => next,
            Poll::Pending => None,
        }
    }

    #[inline]
    fn poll_members(&mut self, waker: &Waker) -> Poll<Option<(Id, Result<T, JoinError>)>> {
        let harmed = RebuildOnPanic(self);
        let next = harmed.0.members.poll_next_unpin(&mut Context::from_waker(waker));
        // It did not panic.
        forget(harmed);
        next
    }
}

impl<T: 'static> JoinSet<T> {
    /// Spawns a task into the set, and into the queue and group of the calling task: see [`spawn_local`](crate::spawn_local).
    ///
    /// # Panics
    ///
    /// Outside an executor's run.
    #[track_caller]
    pub fn spawn_local<F>(&mut self, task: F) -> AbortHandle
    where
        F: Future<Output = T> + 'static,
    {
        self.insert(crate::spawn_local(task))
    }

    /// Spawns a task into the set, on an executor, a queue, a group or a `LocalSet`.
    pub fn spawn_local_on<F>(&mut self, task: F, on: &impl SpawnLocal) -> AbortHandle
    where
        F: Future<Output = T> + 'static,
    {
        self.insert(on.spawn_local(task))
    }
}

fn with_id<T>((id, output): (Id, Result<T, JoinError>)) -> Result<(Id, T), JoinError> {
    output.map(|output| (id, output))
}

impl<T> Drop for JoinSet<T> {
    fn drop(&mut self) {
        self.abort_all();
    }
}

impl<T> Default for JoinSet<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> FromIterator<JoinHandle<T>> for JoinSet<T> {
    fn from_iter<I: IntoIterator<Item = JoinHandle<T>>>(tasks: I) -> Self {
        let mut set = Self::new();
        set.extend(tasks);
        set
    }
}

impl<T> Extend<JoinHandle<T>> for JoinSet<T> {
    fn extend<I: IntoIterator<Item = JoinHandle<T>>>(&mut self, tasks: I) {
        for task in tasks {
            self.insert(task);
        }
    }
}

impl<T> fmt::Debug for JoinSet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinSet").field("len", &self.len()).finish()
    }
}
