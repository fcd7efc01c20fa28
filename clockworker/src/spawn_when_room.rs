//! [`SpawnWhenRoom`]: waits until a queue takes a task, and spawns it.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use crate::group::Group;
use crate::large::is_large;
use crate::queue::{NO_GROUP, Waiter};
use crate::queue_handle::Queue;
use crate::task::{JoinHandle, Label, coop};
use crate::try_spawn::TrySpawnError;

/// Spawns a task as soon as its queue, and its group if it has one, takes it. From
/// [`Queue::spawn_when_room`] and [`Group::spawn_when_room`].
///
/// It gives the task's [`JoinHandle`], or gives the future back in a [`TrySpawnError`] if the queue is closed or its executor
/// stopped first; never because the queue is full.
///
/// # Order
///
/// It stands in line from its first poll on. First come, first served: no other spawn takes room while it waits, except into
/// other groups while its own group is full. The queue calls it at the end of the slice in which room was made (or when a
/// limit is changed, or when another leaves the line), and keeps the room for it until it is polled. So only as many are
/// woken as there is room for. Standing in line, leaving it and being called take O(log n) steps.
///
/// It holds the task's future until then, in a box of its own.
///
/// A task that waits for room in its own queue takes up room there itself: if all tasks of a full queue wait so, they wait for
/// ever.
///
/// # Cancel safety
///
/// Dropped before it is done, it spawns nothing, drops the future and loses its place in the line. Room that was kept for it
/// goes to the next.
///
/// # Panics
///
/// When polled again after it was done.
///
/// # Example
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let ex = clockworker::Executor::new();
/// let uploads = ex.new_queue("uploads").max_live(2).create()?;
/// ex.block_on(async {
///     for file in 0..10 {
///         // Never more than two at a time.
///         uploads.spawn_when_room(async move { /* send the file */ }).await?;
///     }
///     ex.drained().await;
///     assert_eq!(uploads.stats().completed, 10);
///     Ok(())
/// })
/// # }
/// ```
#[must_use = "futures do nothing unless polled"]
pub struct SpawnWhenRoom<F> {
    queue: Queue,
    group: Option<Group>,
    label: Label,
    /// None once done. In a box, as a future of any size may wait here.
    future: Option<Box<F>>,
    /// None until it has to wait, and once done.
    waiter: Option<Rc<Waiter>>,
}

impl<F> SpawnWhenRoom<F> {
    #[cfg_attr(feature = "observe", track_caller)]
    pub(crate) fn new(queue: Queue, group: Option<Group>, future: Box<F>) -> Self {
        Self { queue, group, label: Label::here(), future: Some(future), waiter: None }
    }

    fn leave_line(&mut self) {
        if let Some(waiter) = self.waiter.take() {
            self.queue.core.leave_line(&self.queue.inner, &waiter);
        }
    }
}

impl<F> Future for SpawnWhenRoom<F>
where
    F: Future + 'static,
    F::Output: 'static,
{
    type Output = Result<JoinHandle<F::Output>, TrySpawnError<F>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { queue: Queue { core, inner }, group, label, future, waiter } = &mut *self;
        assert!(future.is_some(), "`SpawnWhenRoom` polled after completion");
        let group = group.as_ref().map_or(NO_GROUP, Group::index);
        let room = ready!(core.poll_room(inner, group, waiter, cx.waker()));
        ready!(coop::poll_proceed(cx));
        let Some(future) = future.take() else { unreachable!("it was there above") };
        let spawned = match room {
            Ok(()) => {
                let label = label.clone();
                Ok(match const { is_large::<F>() } {
                    true => core.spawn_into_room(inner, group, label, Box::into_pin(future)),
                    false => core.spawn_into_room(inner, group, label, *future),
                })
            }
            Err(why) => {
                core.count_refused(inner);
                Err(TrySpawnError::new(future, why))
            }
        };
        // Only now, so that what was reserved is the task's.
        self.leave_line();
        Poll::Ready(spawned)
    }
}

impl<F> Drop for SpawnWhenRoom<F> {
    fn drop(&mut self) {
        self.leave_line();
    }
}

impl<F> fmt::Debug for SpawnWhenRoom<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpawnWhenRoom")
            .field("queue", &self.queue.name())
            .field("waits", &self.waiter.is_some())
            .finish_non_exhaustive()
    }
}
