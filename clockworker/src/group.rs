//! [`Group`]: the handle to a group of tasks in a queue.

use std::fmt;
use std::future::Future;

use crate::queue::GroupIndex;
use crate::queue_handle::Queue;
use crate::spawn_when_room::SpawnWhenRoom;
use crate::task::JoinHandle;
use crate::try_spawn::TrySpawnError;

/// Tasks of a queue that belong together. From [`Queue::group`].
///
/// This is a handle; clones are the same group. **Dropping it does nothing** to the group's tasks.
///
/// # Example
///
/// ```
/// use clockworker::{Executor, schedulers::Las};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let ex = Executor::new();
/// let background = ex.new_queue("background").scheduler(Las::new()).create()?;
/// let tenant = background.group(42);
/// ex.block_on(async { tenant.spawn(async { /* on behalf of tenant 42 */ }).await })?;
/// # Ok(())
/// # }
/// ```
pub struct Group {
    queue: Queue,
    index: GroupIndex,
    key: u64,
}

impl Group {
    pub(crate) fn open(queue: Queue, key: u64) -> Self {
        let index = queue.inner.records.borrow_mut().open_group(key);
        Self { queue, index, key }
    }

    /// Spawns a task on the group's queue, in this group. See [`Queue::spawn`]. What that task spawns with
    /// [`spawn_local`](crate::spawn_local) belongs to the group too.
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        self.queue.core.spawn(&self.queue.inner, self.index, future)
    }

    /// Spawns a task in this group, or gives the future back. See [`Queue::try_spawn`].
    ///
    /// # Errors
    ///
    /// As [`Queue::try_spawn`]; and if the group has as many live tasks as
    /// [`set_max_live_per_group`](Queue::set_max_live_per_group) allows, or others wait for room in it.
    pub fn try_spawn<F>(&self, future: F) -> Result<JoinHandle<F::Output>, TrySpawnError<F>>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        self.queue.core.try_spawn(&self.queue.inner, self.index, future).map_err(TrySpawnError::new)
    }

    /// Spawns a task in this group as soon as there is room for it, in the group and in its queue. See [`SpawnWhenRoom`], the
    /// future that this gives.
    pub fn spawn_when_room<F>(&self, future: F) -> SpawnWhenRoom<F>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        SpawnWhenRoom::new(self.queue.clone(), Some(self.clone()), future)
    }

    pub(crate) fn index(&self) -> GroupIndex {
        self.index
    }

    /// The key that the group was opened with.
    pub fn key(&self) -> u64 {
        self.key
    }

    /// The queue that the group belongs to.
    pub fn queue(&self) -> &Queue {
        &self.queue
    }
}

impl Clone for Group {
    fn clone(&self) -> Self {
        self.queue.inner.records.borrow_mut().retain_group(self.index);
        Self { queue: self.queue.clone(), index: self.index, key: self.key }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.queue.inner.release_group(self.index);
        self.queue.core.after_policy_call(&self.queue.inner);
    }
}

impl fmt::Debug for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Group").field("queue", &self.queue.name()).field("key", &self.key).finish()
    }
}
