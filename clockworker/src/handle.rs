//! [`Handle`]: spawns from other threads.

use std::fmt;
use std::future::Future;
use std::panic::{RefUnwindSafe, UnwindSafe};

use crate::builder::DEFAULT_QUEUE;
use crate::task::{JoinHandle, QueueKey, RecordKey, Refused, SharedRef, Stopped, refuse, spawn_remote};

/// Spawns tasks on an executor from any thread. From [`Executor::handle`](crate::Executor::handle).
///
/// It sends a `Send` closure; the future that this makes need not be `Send`, since it is made, polled and dropped on the
/// executor's thread. **Dropping a handle does nothing**, and a handle does not keep the executor alive.
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
    shared: SharedRef,
}

impl Handle {
    pub(crate) fn new(shared: SharedRef) -> Self {
        Self { shared }
    }

    /// Spawns a task on the default queue.
    ///
    /// Returns at once, without waiting for the executor. If the executor was shut down or dropped, `make` is dropped here,
    /// and the join handle gives an error that says so. (The join handle of a spawn that races with the end of a shutdown may
    /// resolve only when the executor is run once more or dropped.) If the queue is full when the task arrives there, the future
    /// is not made, and the join handle gives that [error](crate::JoinError::is_full). [`ExecutorStats::refused`] counts
    /// either, whether or not the handle is awaited.
    ///
    /// [`ExecutorStats::refused`]: crate::ExecutorStats::refused
    pub fn spawn<M, F>(&self, make: M) -> JoinHandle<F::Output>
    where
        M: FnOnce() -> F + Send + 'static,
        F: Future + 'static,
        F::Output: Send + 'static,
    {
        self.spawn_on(DEFAULT_QUEUE, make)
    }

    /// Spawns a task on the queue of that name.
    ///
    /// As [`spawn`](Handle::spawn); the join handle gives an error also if no open queue has the name.
    pub fn spawn_on<M, F>(&self, queue: &str, make: M) -> JoinHandle<F::Output>
    where
        M: FnOnce() -> F + Send + 'static,
        F: Future + 'static,
        F::Output: Send + 'static,
    {
        let why = match self.shared.find(queue) {
            Ok(Some(QueueKey { index, generation })) => {
                let key = RecordKey { queue: index, slot: RecordKey::NO_SLOT, generation };
                return spawn_remote(&self.shared, key, make);
            }
            Ok(None) => Refused::NoSuchQueue,
            Err(Stopped::ShutDown) => Refused::ShutDown,
            Err(Stopped::Dropped) => Refused::ExecutorDropped,
            Err(Stopped::Forked) => Refused::Forked,
        };
        self.shared.count_refused(queue);
        refuse(&self.shared, why, make)
    }

    /// Whether an open queue has that name. By the time of a spawn it may have been closed.
    pub fn has_queue(&self, name: &str) -> bool {
        matches!(self.shared.find(name), Ok(Some(_)))
    }

    /// Whether the executor takes no more tasks: it was shut down or dropped, or is a parent process's.
    pub fn is_stopped(&self) -> bool {
        self.shared.find(DEFAULT_QUEUE).is_err()
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
