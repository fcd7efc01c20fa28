//! Queues as hyper's executors.
//!
//! For HTTP/1 hyper spawns nothing: a connection is a future, and runs in the queue that it is spawned on. For HTTP/2 a
//! connection spawns a task per request, on the [executor](hyper::rt::Executor) that its builder is given. A [`Queue`] and a
//! [`Group`] are such executors, for futures that need not be `Send`: `http2::Builder::new(requests.clone())` serves in
//! `requests`. The examples `http_service` and `hyper_http2` are whole servers.
//!
//! Clients with a pool of connections (hyper-util's `legacy::Client`, tonic's `Endpoint::executor`) want an executor that is
//! `Send`: [`QueueExecutor`] is one.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use hyper::rt::Executor;

use crate::group::Group;
use crate::handle::Handle;
use crate::large::boxed_if_large;
use crate::queue_handle::Queue;

/// Spawns on the queue, as [`Queue::spawn`].
///
/// If the queue takes no more tasks, the future is dropped, which ends the request, and
/// [`QueueStats::refused`](crate::QueueStats::refused) counts it.
///
/// # Example
///
/// ```
/// use hyper::rt::Executor;
/// use std::rc::Rc;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let ex = clockworker::Executor::new();
/// let requests = ex.new_queue("requests").share(9).create()?;
/// let not_send = Rc::new(());
/// requests.execute(async move { drop(not_send) }); // as hyper does
/// ex.block_on(ex.drained());
/// assert_eq!(requests.stats().completed, 1);
/// # Ok(())
/// # }
/// ```
impl<F> Executor<F> for Queue
where
    F: Future + 'static,
    F::Output: 'static,
{
    #[cfg_attr(feature = "observe", track_caller)]
    fn execute(&self, future: F) {
        drop(boxed_if_large!(future: F, self.spawn(future)));
    }
}

/// Spawns on the group's queue, in the group, as [`Group::spawn`].
///
/// If the queue takes no more tasks, the future is dropped, which ends the request.
impl<F> Executor<F> for Group
where
    F: Future + 'static,
    F::Output: 'static,
{
    #[cfg_attr(feature = "observe", track_caller)]
    fn execute(&self, future: F) {
        drop(boxed_if_large!(future: F, self.spawn(future)));
    }
}

/// A queue by its name, as an executor that is `Send` and `Sync`.
///
/// Clones spawn on the same queue. **Dropping it does nothing** to the queue.
///
/// # Example
///
/// ```
/// use clockworker::hyper::QueueExecutor;
/// use hyper::rt::Executor;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let ex = clockworker::Executor::new();
/// let calls = ex.new_queue("calls").create()?;
/// let executor = QueueExecutor::new(ex.handle(), "calls");
/// std::thread::spawn(move || executor.execute(async {})).join().unwrap();
/// ex.block_on(ex.drained());
/// assert_eq!(calls.stats().completed, 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct QueueExecutor {
    handle: Handle,
    queue: Arc<str>,
}

impl QueueExecutor {
    /// Spawns on the queue of that name, which may be created later. While there is no open queue of the name, and after the
    /// executor was shut down, futures are dropped, which ends the connection; [`Handle::has_queue`] tells.
    pub fn new(handle: Handle, queue: &str) -> Self {
        Self { handle, queue: queue.into() }
    }

    /// The name of the queue.
    pub fn queue(&self) -> &str {
        &self.queue
    }
}

impl<F> Executor<F> for QueueExecutor
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    #[cfg_attr(feature = "observe", track_caller)]
    fn execute(&self, future: F) {
        drop(boxed_if_large!(future: F, self.handle.spawn_on(&self.queue, || future)));
    }
}

impl fmt::Debug for QueueExecutor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueueExecutor").field("queue", &self.queue).field("handle", &self.handle).finish()
    }
}
