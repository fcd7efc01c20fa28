//! Queues as the executors of the crate `futures`: for libraries that take a [`Spawn`] or a [`LocalSpawn`].

use futures_util::task::{FutureObj, LocalFutureObj, LocalSpawn, Spawn, SpawnError};

use crate::queue_handle::Queue;

/// Spawns on the queue, as [`Queue::try_spawn`]. There is but one kind of error: [`is_shutdown`](SpawnError::is_shutdown) is true
/// also of a queue that is full. The future is dropped then, as the trait cannot give it back.
///
/// # Example
///
/// ```
/// use futures::task::LocalSpawnExt;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let ex = clockworker::Executor::new();
/// let queue = ex.new_queue("library").create()?;
/// let task = queue.spawn_local_with_handle(async { *std::rc::Rc::new(42) })?;
/// assert_eq!(ex.block_on(task), 42);
/// # Ok(())
/// # }
/// ```
impl LocalSpawn for Queue {
    #[cfg_attr(feature = "observe", track_caller)]
    fn spawn_local_obj(&self, future: LocalFutureObj<'static, ()>) -> Result<(), SpawnError> {
        self.try_spawn(future).map(drop).map_err(|_refused| SpawnError::shutdown())
    }

    fn status_local(&self) -> Result<(), SpawnError> {
        if self.core.refuses(&self.inner) { Err(SpawnError::shutdown()) } else { Ok(()) }
    }
}

/// As its [`LocalSpawn`].
impl Spawn for Queue {
    #[cfg_attr(feature = "observe", track_caller)]
    fn spawn_obj(&self, future: FutureObj<'static, ()>) -> Result<(), SpawnError> {
        self.spawn_local_obj(future.into())
    }

    fn status(&self) -> Result<(), SpawnError> {
        self.status_local()
    }
}
