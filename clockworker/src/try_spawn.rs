//! [`TrySpawnError`]: a refused spawn, with the future.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::rc::Rc;

use crate::queue::GroupIndex;
use crate::run::{Core, RunQueue};
use crate::task::{JoinHandle, Label, Refused};

/// Why a future was not spawned, and the future. From [`Queue::try_spawn`](crate::Queue::try_spawn),
/// [`Queue::spawn_when_room`](crate::Queue::spawn_when_room) and the same of [`Group`](crate::Group).
///
/// Dropping it drops the future, which was never polled.
pub struct TrySpawnError<F> {
    /// In a box, so that a result is small whatever the future is.
    future: Box<F>,
    why: Refused,
}

impl<F> TrySpawnError<F> {
    pub(crate) fn new(future: Box<F>, why: Refused) -> Self {
        Self { future, why }
    }

    /// Gives the future back.
    pub fn into_future(self) -> F {
        *self.future
    }

    /// Whether the queue or the group was full: it had as many tasks as it takes, or others waited for room.
    pub fn is_full(&self) -> bool {
        self.why.is_full()
    }

    /// Whether it was the group that was full. There may be room in its queue.
    pub fn is_group_full(&self) -> bool {
        self.why == Refused::GroupFull
    }

    /// Whether the queue was closed.
    pub fn is_closed(&self) -> bool {
        self.why == Refused::QueueClosed
    }

    /// Whether the executor was shut down or dropped.
    pub fn is_stopped(&self) -> bool {
        matches!(self.why, Refused::ShutDown | Refused::ExecutorDropped)
    }
}

impl<F> fmt::Display for TrySpawnError<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the task was refused: {}", self.why)
    }
}

impl<F> fmt::Debug for TrySpawnError<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TrySpawnError").field("why", &self.why).finish_non_exhaustive()
    }
}

impl<F> Error for TrySpawnError<F> {}

/// Spawns a task where there is room for it.
pub(crate) fn try_spawn<F>(
    core: &Rc<Core>,
    (queue, group): (&Rc<RunQueue>, GroupIndex),
    label: Label,
    future: F,
) -> Result<JoinHandle<F::Output>, TrySpawnError<F>>
where
    F: Future + 'static,
    F::Output: 'static,
{
    match core.may_spawn_now(queue, group) {
        Ok(()) => Ok(core.spawn_into_room(queue, group, label, future)),
        Err(why) => Err(TrySpawnError::new(Box::new(future), why)),
    }
}

/// The same of a large future, which stays in its box.
pub(crate) fn try_spawn_boxed<F>(
    core: &Rc<Core>,
    (queue, group): (&Rc<RunQueue>, GroupIndex),
    label: Label,
    future: Box<F>,
) -> Result<JoinHandle<F::Output>, TrySpawnError<F>>
where
    F: Future + 'static,
    F::Output: 'static,
{
    match core.may_spawn_now(queue, group) {
        Ok(()) => Ok(core.spawn_into_room(queue, group, label, Box::into_pin(future))),
        Err(why) => Err(TrySpawnError::new(future, why)),
    }
}
