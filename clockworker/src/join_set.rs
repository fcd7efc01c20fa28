//! [`JoinSet`]: a set of tasks to await together.

use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::mem::take;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::thread;

use slab::Slab;

use crate::base::{drop_quietly, wake_quietly};
use crate::executor::Executor;
use crate::group::Group;
use crate::large::boxed_if_large;
use crate::queue_handle::Queue;
use crate::task::{AbortHandle, FinishedTasks, Id, JoinError, JoinHandle, coop};
use crate::task_builder::TaskBuilder;

/// For how many tasks a set keeps memory when it has had more.
const KEPT: usize = 1 << 10;
/// The most finished tasks that a poll puts in order: some 20 µs.
const TURNED: usize = 1 << 10;

/// Tasks, awaited in the order in which they finish.
///
/// All have the same output type; they may be on different queues, or different executors. The methods are those of
/// tokio's `JoinSet`, as far as they concern tasks that are not `Send`.
///
/// **Dropping it aborts all its tasks**; [`detach_all`](JoinSet::detach_all) lets them go on.
///
/// Finding the next finished task costs the same however many there are, on average: tasks that have finished since the last look are put in
/// order first, which takes some 20 ns each where there are many. The methods that wait do so for a thousand in a poll.
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
    /// Those that had not finished when they came.
    tasks: Slab<JoinHandle<T>>,
    /// Those that had, as they came.
    over: VecDeque<JoinHandle<T>>,
    /// Those of `tasks` that have finished, and some that were let go.
    finished: FinishedTasks,
    /// Whether the caller of the last poll waits: it has not given up.
    is_awaited: bool,
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

/// Where tasks can be spawned from the owner thread: an [`Executor`], a [`Queue`], a [`Group`], a [`TaskBuilder`], which says what
/// is special about them, and with the feature `tokio` a `compat::LocalSet`.
pub trait SpawnLocal {
    /// Spawns a task there. See [`Queue::spawn`].
    #[cfg_attr(feature = "observe", track_caller)]
    fn spawn_local<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static;
}

macro_rules! spawns {
    ($($place:ty),*) => {$(
        impl SpawnLocal for $place {
            fn spawn_local<F>(&self, future: F) -> JoinHandle<F::Output>
            where
                F: Future + 'static,
                F::Output: 'static,
            {
                boxed_if_large!(future: F, self.spawn(future))
            }
        }
    )*};
}
spawns!(Executor, Queue, Group);

/// With the attributes that were said, as often as tasks are spawned.
impl SpawnLocal for TaskBuilder {
    fn spawn_local<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        boxed_if_large!(future: F, self.clone().spawn(future))
    }
}

impl<T> JoinSet<T> {
    /// An empty set.
    pub fn new() -> Self {
        Self { tasks: Slab::new(), over: VecDeque::new(), finished: FinishedTasks::new(), is_awaited: false }
    }

    /// How many tasks are in the set: unfinished ones, and finished ones whose outputs were not taken yet.
    pub fn len(&self) -> usize {
        self.tasks.len() + self.over.len()
    }

    /// Whether the set has no tasks.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes a task that was spawned elsewhere into the set. One that has finished already is given among the next.
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
    pub fn insert(&mut self, mut task: JoinHandle<T>) -> AbortHandle {
        let vacant = self.tasks.vacant_entry();
        // Before there is another holder: then it takes no atomic operation.
        let is_over = self.finished.watch(&mut task, vacant.key());
        let abort = task.abort_handle();
        if is_over {
            let _ = self.finished.take_in(TURNED);
            self.over.push_back(task);
            self.finished.take_waiting().into_iter().for_each(wake_quietly);
        } else {
            vacant.insert(task);
        }
        abort
    }

    /// Cancels all tasks, in the order of their ids. They stay in the set until their errors are taken.
    pub fn abort_all(&mut self) {
        self.places().into_iter().for_each(|place| self.tasks[place].abort());
    }

    /// The places of the tasks, in the order of their ids.
    fn places(&self) -> Vec<usize> {
        let mut places: Vec<usize> = self.tasks.iter().map(|(place, _)| place).collect();
        places.sort_unstable_by_key(|&place| self.tasks[place].id());
        places
    }

    /// Takes all tasks out of the set and lets them go on.
    pub fn detach_all(&mut self) {
        self.drop_tasks();
        if take(&mut self.is_awaited)
            && let Some(waiting) = self.finished.take_waiting()
        {
            waiting.wake();
        }
    }

    /// Drops the handles of all tasks, in the order of their ids, and with them the outputs of those that have finished.
    fn drop_tasks(&mut self) {
        // Nothing below may panic: a handle that is dropped without `leave` is one of which the list does not know.
        let over = self.over.drain(..).map(|task| (task, false));
        let mut tasks: Vec<_> = over.chain(self.tasks.drain().map(|task| (task, true))).collect();
        tasks.sort_unstable_by_key(|(task, _)| task.id());
        for (task, is_in_list) in tasks {
            if is_in_list {
                self.finished.leave(task);
            }
        }
        self.finished.clear();
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
    /// * `Pending`: none has; `cx`'s waker will be woken when one does. Only the waker of the last call is. Or so many have finished
    ///   that the set is still putting them in order; `cx`'s waker was woken, to go on.
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
        self.is_awaited = false;
        // A caller that has to wait gives it back below.
        let left = coop::left();
        ready!(coop::poll_proceed(cx));
        loop {
            match self.next_within(TURNED) {
                Poll::Ready(Some(next)) => return Poll::Ready(Some(next)),
                Poll::Ready(None) => {}
                Poll::Pending => {
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
            }
            if self.is_empty() {
                return Poll::Ready(None);
            }
            if self.finished.wait(cx.waker()) {
                self.is_awaited = true;
                coop::go_on(left);
                return Poll::Pending;
            }
        }
    }

    fn try_next(&mut self) -> Option<(Id, Result<T, JoinError>)> {
        match self.next_within(usize::MAX) {
            Poll::Ready(next) => next,
            Poll::Pending => None,
        }
    }

    /// The next finished task. Pending if more than `links` are to be put in order before.
    fn next_within(&mut self, links: usize) -> Poll<Option<(Id, Result<T, JoinError>)>> {
        loop {
            let Some(finished) = self.finished.pop() else {
                let over = if self.finished.is_turning() { None } else { self.pop_over() };
                let taken_in = self.finished.take_in(links);
                if let Some(task) = over {
                    return Poll::Ready(Some((task.id(), task.take_finished())));
                }
                if !ready!(taken_in) {
                    return Poll::Ready(None);
                }
                continue;
            };
            let place = finished.place();
            if !self.tasks.get(place).is_some_and(|task| finished.is_of(task)) {
                // It was let go meanwhile, and the place may be another task's.
                self.finished.forget(finished);
                continue;
            }
            let task = self.tasks.remove(place);
            if self.tasks.is_empty() && self.tasks.capacity() > 2 * KEPT {
                self.tasks = Slab::with_capacity(KEPT);
            }
            return Poll::Ready(Some((task.id(), task.take_out(finished))));
        }
    }

    /// One that had finished when it came. Those that have finished by now come before the next one.
    fn pop_over(&mut self) -> Option<JoinHandle<T>> {
        let task = self.over.pop_front()?;
        if self.over.is_empty() && self.over.capacity() > 2 * KEPT {
            self.over = VecDeque::with_capacity(KEPT);
        }
        Some(task)
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
        self.insert(boxed_if_large!(task: F, crate::spawn_local(task)))
    }

    /// Spawns a task into the set, on an executor, a queue, a group or a `LocalSet`, or as a [`TaskBuilder`] says.
    ///
    /// # Example
    ///
    /// ```
    /// use clockworker::{Executor, JoinSet};
    ///
    /// let ex = Executor::new();
    /// let urgent = ex.default_queue().group(7).new_task().priority(1);
    /// let mut set = JoinSet::new();
    /// set.spawn_local_on(async { 1 }, &urgent);
    /// set.spawn_local_on(async { 2 }, &urgent);
    /// assert_eq!(ex.block_on(set.join_all()), [1, 2]);
    /// ```
    #[cfg_attr(feature = "observe", track_caller)]
    pub fn spawn_local_on<F>(&mut self, task: F, on: &impl SpawnLocal) -> AbortHandle
    where
        F: Future<Output = T> + 'static,
    {
        self.insert(boxed_if_large!(task: F, on.spawn_local(task)))
    }
}

fn with_id<T>((id, output): (Id, Result<T, JoinError>)) -> Result<(Id, T), JoinError> {
    output.map(|output| (id, output))
}

impl<T> Drop for JoinSet<T> {
    fn drop(&mut self) {
        // The waker of an executor's host may panic when it is woken for an abort.
        let mut panicked = None;
        for place in self.places() {
            let aborted = catch_unwind(AssertUnwindSafe(|| self.tasks[place].abort()));
            drop_quietly(aborted.err().and_then(|payload| panicked.replace(payload)));
        }
        self.drop_tasks();
        // A second panic would end the process.
        if thread::panicking() {
            drop_quietly(panicked);
        } else if let Some(payload) = panicked {
            resume_unwind(payload);
        }
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
