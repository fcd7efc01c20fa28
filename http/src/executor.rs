//! hyper's executors: [`LocalExecutor`] for servers, [`QueueExecutor`] for clients.

use std::future::Future;
use std::rc::Rc;

use clockworker::{Group, Handle, Queue, spawn_local};
use hyper::rt::Executor;

use crate::answer::Refusal;

/// Spawns as [`spawn_local`] does: in the queue and the group of the calling task, or in the default queue outside tasks. So what hyper
/// spawns for a connection goes where that is, and need not be `Send`.
///
/// For hyper's `http2` builders and hyper-util's `auto::Builder`. A future that the queue does not take is dropped, which ends its request;
/// [`QueueStats::refused`](clockworker::QueueStats::refused) counts it.
///
/// # Panics
///
/// `execute` panics outside an executor's run, as [`spawn_local`].
///
/// # Example
///
/// ```
/// use clockworker::{Executor, Queue};
/// use clockworker_http::LocalExecutor;
/// use hyper::rt::Executor as _;
/// use std::rc::Rc;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let ex = Executor::new();
/// let requests = ex.new_queue("requests").create()?;
/// let not_send = Rc::new(());
/// // as hyper does in a connection
/// requests.spawn(async { LocalExecutor::new().execute(async move { drop(not_send) }) });
/// ex.block_on(ex.drained());
/// assert_eq!(requests.stats().completed, 2);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct LocalExecutor {
    /// What a server does with futures that the queue does not take.
    refusal: Option<Rc<Refusal>>,
}

impl LocalExecutor {
    /// One that drops what the queue does not take.
    pub fn new() -> Self {
        Self::default()
    }

    pub(crate) fn refusing_by(refusal: Rc<Refusal>) -> Self {
        Self { refusal: Some(refusal) }
    }
}

impl<F> Executor<F> for LocalExecutor
where
    F: Future + 'static,
    F::Output: 'static,
{
    fn execute(&self, future: F) {
        let (Some(refusal), Some(queue)) = (&self.refusal, Queue::current()) else {
            drop(spawn_local(future));
            return;
        };
        let spawned = match Group::current() {
            Some(group) => group.try_spawn(future),
            None => queue.try_spawn(future),
        };
        if let Err(refused) = spawned {
            refusal.refuse(refused.into_future());
        }
    }
}

/// Spawns on the queue of a [`Handle`], and is `Send` and `Sync`.
///
/// For hyper-util's `legacy::Client::builder` and tonic's `Endpoint::executor`. A future that the queue does not take is dropped, which ends
/// its connection.
///
/// # Example
///
/// ```
/// use clockworker_http::QueueExecutor;
/// use hyper::rt::Executor as _;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let ex = clockworker::Executor::new();
/// let calls = ex.new_queue("calls").create()?;
/// let executor = QueueExecutor::new(calls.handle());
/// std::thread::spawn(move || executor.execute(async {})).join().unwrap();
/// ex.block_on(ex.drained());
/// assert_eq!(calls.stats().completed, 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct QueueExecutor(Handle);

impl QueueExecutor {
    /// For the queue that the handle is [from](Queue::handle).
    pub fn new(handle: Handle) -> Self {
        Self(handle)
    }
}

impl<F> Executor<F> for QueueExecutor
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    fn execute(&self, future: F) {
        drop(self.0.spawn(|| future));
    }
}
