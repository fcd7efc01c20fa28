//! Moving a task to another queue.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use crate::queue::MoveError;
use crate::queue_handle::Queue;
use crate::run::MoveOutcome;
use crate::task::{JoinHandle, coop};

/// Moves the calling task to another queue, where it goes on: with what follows, it has that queue's share, and its place in the order
/// of that queue's scheduler.
///
/// What the task spawns from then on goes to that queue too. Its id, its handles, its [attributes](crate::TaskBuilder) and its tag
/// stay as they are, and it is in the [group](crate::Group) of the same key there, which is opened with the same attributes unless it is
/// open. What it has had of the CPU stays with the queue it came from, and counts nothing in the new one's order.
/// The queue that it leaves counts it as [`moved`](crate::QueueStats::moved), the new one as [`spawned`](crate::QueueStats::spawned).
///
/// **A task that takes a lock in a queue that is [capped](crate::QueueBuilder::cap) or [idle](crate::QueueBuilder::idle) keeps it while
/// its queue is not served**, and each task that waits for that lock waits as long. So move it to a queue that is served before it takes
/// the lock, and back afterwards.
///
/// # Errors
///
/// If the queue is full or closed, its executor was shut down, or it is not the calling task's. The task goes on where it is.
///
/// # Cancel safety
///
/// Dropped before it is polled, or in the poll in which it was polled first, it does nothing. It moves the task after that poll.
///
/// # Example
///
/// ```
/// use clockworker::{Cap, Executor, Queue, move_to};
/// use std::time::Duration;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let ex = Executor::new();
/// let requests = ex.new_queue("requests").create()?;
/// let cap = Cap::new(Duration::from_millis(1), Duration::from_millis(100))?;
/// let cleaning = ex.new_queue("cleaning").cap(cap).create()?;
/// let cleaner = cleaning.spawn({
///     let (requests, cleaning) = (requests.clone(), cleaning.clone());
///     async move {
///         move_to(&requests).await?;
///         assert_eq!(Queue::current().unwrap().name(), "requests");
///         // Take the lock, do what it is for, and give it back.
///         move_to(&cleaning).await
///     }
/// });
/// ex.block_on(cleaner)??;
/// assert_eq!((cleaning.stats().spawned, cleaning.stats().moved, requests.stats().moved), (2, 1, 1));
/// # Ok(())
/// # }
/// ```
pub fn move_to(queue: &Queue) -> MoveTo {
    MoveTo { queue: queue.clone(), outcome: None }
}

/// The future of [`move_to`].
#[must_use = "futures do nothing unless polled"]
pub struct MoveTo {
    queue: Queue,
    /// None until the move was asked for.
    outcome: Option<MoveOutcome>,
}

impl Future for MoveTo {
    type Output = Result<(), MoveError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { queue: Queue { core, inner }, outcome } = &mut *self;
        let was_asked = outcome.is_some();
        let moved = ready!(core.poll_move(inner, outcome, cx.waker()));
        if !was_asked {
            ready!(coop::poll_proceed(cx));
        }
        Poll::Ready(moved)
    }
}

impl fmt::Debug for MoveTo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MoveTo").field("queue", &self.queue).finish_non_exhaustive()
    }
}

impl<T> JoinHandle<T> {
    /// Moves the task to another queue of its executor, as [`move_to`] does for the calling task: at once, wherever it is now, also in a
    /// queue that is throttled, or idle and never served.
    ///
    /// It is polled once in the new queue, also if it waits for something.
    ///
    /// O(1). Among many tasks that were woken or spawned since their queue's last slice, the first such call takes a step for each of them.
    ///
    /// # Errors
    ///
    /// If the queue is full or closed, its executor was shut down or is another one than the task's; if the task has finished, or
    /// its abort has come in; if it is being polled; or if a scheduler of one of the two queues is the caller. The task stays where it is.
    ///
    /// # Example
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let ex = clockworker::Executor::new();
    /// let (requests, idle) = (ex.new_queue("requests").create()?, ex.new_queue("idle").idle().create()?);
    /// ex.block_on(async {
    ///     let report = idle.spawn(async { "done" });
    ///     // A request needs it now, and is not to wait until nothing else is ready.
    ///     report.move_to(&requests)?;
    ///     assert_eq!(report.await?, "done");
    ///     Ok(())
    /// })
    /// # }
    /// ```
    pub fn move_to(&self, queue: &Queue) -> Result<(), MoveError> {
        queue.core.move_task_of(self, &queue.inner)
    }
}
