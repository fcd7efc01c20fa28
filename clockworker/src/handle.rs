//! Spawning from other threads.

use std::fmt;
use std::future::Future;
use std::panic::{RefUnwindSafe, UnwindSafe};

use crate::builder::DEFAULT_QUEUE;
use crate::task::{JoinHandle, Place, QueueKey, Refusal, Refused, SharedRef, refuse, spawn_remote};

/// Spawns tasks on an executor from any thread. From [`Executor::handle`](crate::Executor::handle).
///
/// What is sent is a `Send` closure; the future it makes need not be `Send`, since it is made, polled and dropped on the
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
    /// Returns at once, without waiting for the executor. If the executor was shut down or dropped, `make` is dropped
    /// here, and the join handle gives an error that says so. (A spawn that races with the end of a shutdown may be
    /// answered only when the executor is run once more or dropped.)
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
                let place = Place { queue: index, slot: Place::NO_SLOT, generation };
                return spawn_remote(&self.shared, place, make);
            }
            Ok(None) => Refused::NoSuchQueue,
            Err(Refusal::ShutDown) => Refused::ShutDown,
            Err(Refusal::Dropped) => Refused::ExecutorDropped,
            Err(Refusal::Forked) => Refused::Forked,
        };
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

// What a panic could leave half done is behind locks and atomics, each whole at every step.
impl UnwindSafe for Handle {}
impl RefUnwindSafe for Handle {}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("stopped", &self.is_stopped()).finish()
    }
}
