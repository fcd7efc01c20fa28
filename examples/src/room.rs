//! Room for spawns from other threads: as many tasks as are allowed, on their way or alive, and who wants one more waits.
//!
//! A `Handle` sends without a bound. tokio's `Semaphore` is one, for any thread and any executor: its places are given in the
//! order asked, and a task holds its place until its future is dropped. What the executor's own thread spawns takes a place of
//! the same room, or is not counted.

use std::sync::Arc;

use clockworker::{Handle, JoinHandle};
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore, TryAcquireError};

/// The room of a queue. Clones are the same room.
#[derive(Clone, Debug)]
pub struct Room {
    handle: Handle,
    queue: Arc<str>,
    places: Arc<Semaphore>,
}

impl Room {
    /// Room for `most` tasks in the queue of that name.
    pub fn new(handle: Handle, queue: &str, most: usize) -> Self {
        Self { handle, queue: queue.into(), places: Arc::new(Semaphore::new(most)) }
    }

    /// Waits for room for one task.
    ///
    /// Cancel safe: dropped, it only loses its place in the line.
    ///
    /// # Errors
    ///
    /// If the room or its queue was closed. Who waits learns of a queue as soon as one of its tasks has ended.
    pub async fn reserve(&self) -> Result<Permit, AcquireError> {
        loop {
            let place = Arc::clone(&self.places).acquire_owned().await?;
            if self.handle.has_queue(&self.queue) {
                return Ok(Permit { room: self.clone(), place });
            }
            self.close();
        }
    }

    /// Takes room for one task, if nobody waits for it.
    ///
    /// # Errors
    ///
    /// If there is none, or the room or its queue was closed.
    pub fn try_reserve(&self) -> Result<Permit, TryAcquireError> {
        if !self.handle.has_queue(&self.queue) {
            self.close();
        }
        let place = Arc::clone(&self.places).try_acquire_owned()?;
        Ok(Permit { room: self.clone(), place })
    }

    /// Has all who wait, and all who come, given an error. Tasks and permits stay.
    pub fn close(&self) {
        self.places.close();
    }
}

/// Room for one task. **Dropping it** gives the room back.
#[derive(Debug)]
pub struct Permit {
    room: Room,
    place: OwnedSemaphorePermit,
}

impl Permit {
    /// Spawns the task that `make` makes, on the executor's thread. As [`Handle::spawn_on`].
    pub fn spawn<M, F>(self, make: M) -> JoinHandle<F::Output>
    where
        M: FnOnce() -> F + Send + 'static,
        F: Future + 'static,
        F::Output: Send + 'static,
    {
        let Self { room: Room { handle, queue, .. }, place } = self;
        handle.spawn_on(&queue, move || {
            let future = make();
            async move {
                let _place = place;
                future.await
            }
        })
    }
}
