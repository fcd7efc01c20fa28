//! [`Queue`]: the handle to a queue, where spawn starts.

use std::fmt;
use std::future::Future;
use std::rc::Rc;
use std::time::Duration;

use clockworker_schedulers::Share;

use crate::group::Group;
use crate::queue::{Cap, NO_GROUP, QueueError};
use crate::queue_builder::request_ns;
use crate::run::{Core, QueueStats, RunQueue};
use crate::task::JoinHandle;

/// Tasks with a share of the thread's CPU. From [`Executor::new_queue`](crate::Executor::new_queue).
///
/// This is a handle; clones are the same queue. **Dropping it does nothing** to the queue, which lives until it is
/// [closed](Queue::close) and its last task has finished, or its executor is dropped. A handle that outlives its
/// executor refuses spawns and changes, and goes on showing its last statistics.
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
    /// spawns with [`spawn_local`](crate::spawn_local) goes to this queue too. If the queue is closed or its executor has
    /// stopped, the future is dropped at once and the handle gives an error that says so (or the panic, if the future panics
    /// when dropped).
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        self.core.spawn(&self.inner, NO_GROUP, future)
    }

    /// The group of that key, to spawn tasks that belong together: a tenant's, a client's, a request's.
    ///
    /// Schedulers such as [`Las`](crate::schedulers::Las) treat a group as one. A group lives as long as a handle to it or a
    /// task in it; what it has attained is forgotten afterwards.
    pub fn group(&self, key: u64) -> Group {
        Group::open(self.clone(), key)
    }

    /// The queue's name.
    pub fn name(&self) -> &str {
        &self.inner.name
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
    /// shut down and its last task has finished, the executor was dropped, or this is a child process of the one that has it.
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

    /// The most CPU time that the queue may have, if it is capped.
    pub fn cap(&self) -> Option<Cap> {
        self.inner.constraints.cap()
    }

    /// Changes the most CPU time that the queue may have, also while it runs or is throttled; `None` takes the cap away.
    ///
    /// What the queue has used in the period under way stays used. The period goes on, unless periods are to be of another
    /// length: then the first begins now. Setting the same cap again changes nothing.
    ///
    /// # Errors
    ///
    /// If the queue is gone, as in [`set_share`](Queue::set_share).
    pub fn set_cap(&self, cap: Option<Cap>) -> Result<(), QueueError> {
        self.core.set_cap(&self.inner, cap)
    }

    /// Whether it is an [idle](crate::QueueBuilder::idle) queue.
    pub fn is_idle(&self) -> bool {
        self.inner.constraints.idle().is_some()
    }

    /// Stops the queue from taking new tasks. The tasks in it go on; when the last has finished, the queue is gone. Its name
    /// is free at once.
    pub fn close(&self) {
        self.core.close_queue(&self.inner);
    }

    /// Whether [`close`](Queue::close) was called.
    pub fn is_closed(&self) -> bool {
        self.inner.closed.get()
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
            .field("live", &self.inner.live.get())
            .finish_non_exhaustive()
    }
}
