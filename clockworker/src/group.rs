//! [`Group`]: the handle to a group of tasks in a queue.

use std::fmt;
use std::future::Future;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::{Arc, LazyLock};

use clockworker_schedulers::{Attributes, Share};

use crate::large::{boxed_if_large, is_large};
use crate::queue::{GroupError, GroupIndex, NO_GROUP};
use crate::queue_handle::Queue;
use crate::run::GroupStats;
use crate::spawn_when_room::SpawnWhenRoom;
use crate::task::{JoinHandle, Label, TaskRequest};
use crate::task_builder::TaskBuilder;
use crate::try_spawn::{TrySpawnError, try_spawn, try_spawn_boxed};

/// Tasks of a queue that belong together. From [`Queue::group`], or with attributes from [`Queue::new_group`].
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

/// A key for groups from anything that can be hashed: a tenant's name, an address.
///
/// Equal values have equal keys as long as the process runs, and other keys in the next one (SipHash, with a secret that is drawn
/// once). Two values may have the same key, and then share a group: of a million tenants any two do with a probability of
/// 3·10⁻⁸. The key says nothing to those who look at it, so give the group a [name](crate::GroupBuilder::name) as well.
///
/// ```
/// use clockworker::{Executor, group_key};
///
/// # fn main() -> Result<(), clockworker::GroupError> {
/// let ex = Executor::new();
/// let acme = ex.default_queue().new_group(group_key("acme")).weight(3).name("acme").open()?;
/// assert_eq!(ex.default_queue().find_group(group_key(&String::from("acme"))).unwrap().key(), acme.key());
/// # Ok(())
/// # }
/// ```
pub fn group_key(value: &(impl Hash + ?Sized)) -> u64 {
    static STATE: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    STATE.hash_one(value)
}

impl Group {
    /// Opens the group of that key with these attributes, unless it is open already.
    pub(crate) fn open(queue: Queue, key: u64, attributes: Attributes) -> Self {
        let opened = queue.inner.records.borrow_mut().open_group(key, attributes);
        // Made first, so that it lets go of the group if the scheduler is the caller, and telling it panics.
        let group = Self { queue, index: opened.index, key };
        if opened.is_new {
            group.queue.inner.tell_opened(group.index, key, &attributes);
        }
        group
    }

    /// The group of that key, if it is open.
    pub(crate) fn find(queue: Queue, key: u64) -> Option<Self> {
        let index = queue.inner.records.borrow_mut().find_group(key)?;
        Some(Self { queue, index, key })
    }

    /// The group of the task that is being polled, which is of that queue.
    pub(crate) fn of_current(queue: &Queue) -> Option<Self> {
        let index = queue.core.current_group();
        if index == NO_GROUP {
            return None;
        }
        let mut records = queue.inner.records.borrow_mut();
        let key = records.group_key(index)?;
        records.retain_group(index);
        Some(Self { queue: queue.clone(), index, key })
    }

    /// The group of the task that is being polled or dropped on this thread. None outside tasks, and in a task without a group.
    ///
    /// # Example
    ///
    /// ```
    /// use clockworker::{Executor, Group};
    ///
    /// let ex = Executor::new();
    /// let tenant = ex.default_queue().group(7);
    /// let key = ex.block_on(tenant.spawn(async { Group::current().map(|group| group.key()) }));
    /// assert_eq!(key.unwrap(), Some(7));
    /// ```
    pub fn current() -> Option<Group> {
        Self::of_current(&Queue::current()?)
    }

    /// Spawns a task on the group's queue, in this group. See [`Queue::spawn`]. What that task spawns with
    /// [`spawn_local`](crate::spawn_local) belongs to the group too.
    #[cfg_attr(feature = "observe", track_caller)]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        let Queue { core, inner } = &self.queue;
        boxed_if_large!(future: F, core.spawn(inner, self.index, Label::here(), future))
    }

    pub(crate) fn spawn_with<F>(
        &self,
        request: &TaskRequest,
        label: Label,
        future: F,
    ) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        self.queue.core.spawn_with(&self.queue.inner, self.index, request, label, future)
    }

    /// Begins a task with attributes, in this group: [`spawn`](TaskBuilder::spawn) spawns it.
    pub fn new_task(&self) -> TaskBuilder {
        TaskBuilder::of_group(self.clone())
    }

    /// What the scheduler was told of the group when it was opened, or changed last.
    pub fn attributes(&self) -> Attributes {
        self.queue.inner.records.borrow().group_attributes(self.index)
    }

    /// The group's weight, 1 unless told otherwise.
    pub fn weight(&self) -> u32 {
        self.attributes().weight.get()
    }

    /// Changes the group's weight, also while its tasks run, and tells the scheduler, if it is another.
    ///
    /// # Errors
    ///
    /// If the weight is not between 1 and [`Share::MAX`], or the queue is gone, as in [`Queue::set_share`].
    pub fn set_weight(&self, weight: u32) -> Result<(), GroupError> {
        let weight = Share::new(weight).map_err(GroupError::weight)?;
        self.set_attributes(self.attributes().with_weight(weight))
    }

    /// Changes all that was said of the group, also while its tasks run, and tells the scheduler, if it is anything else.
    ///
    /// # Errors
    ///
    /// If the queue is gone, as in [`Queue::set_share`].
    pub fn set_attributes(&self, attributes: Attributes) -> Result<(), GroupError> {
        self.queue.core.exists(&self.queue.inner).map_err(GroupError::queue)?;
        self.queue.inner.change_group(self.index, attributes);
        Ok(())
    }

    /// What the group has done since it was opened.
    ///
    /// O(tasks of the queue), as the ready ones are counted when asked; [`Queue::group_stats`] counts those of all groups at once.
    pub fn stats(&self) -> GroupStats {
        self.queue.inner.group_stats(self.index, self.key)
    }

    /// Asks for all tasks of the group to be cancelled, as [`JoinHandle::abort`] does; how many there were. Spares the calling
    /// task, and tasks from other threads that have not come in yet. The group stays open.
    ///
    /// O(tasks of the queue).
    ///
    /// # Example
    ///
    /// ```
    /// let ex = clockworker::Executor::new();
    /// let tenant = ex.default_queue().group(7);
    /// let task = tenant.spawn(std::future::pending::<()>());
    /// assert_eq!(tenant.abort_all(), 1);
    /// assert!(ex.block_on(task).unwrap_err().is_cancelled());
    /// ```
    pub fn abort_all(&self) -> usize {
        self.queue.inner.abort_all(Some(self.index))
    }

    /// Spawns a task in this group, or gives the future back. See [`Queue::try_spawn`].
    ///
    /// # Errors
    ///
    /// As [`Queue::try_spawn`]; and if the group has as many live tasks as
    /// [`set_max_live_per_group`](Queue::set_max_live_per_group) allows, or others wait for room in it.
    #[cfg_attr(feature = "observe", track_caller)]
    pub fn try_spawn<F>(&self, future: F) -> Result<JoinHandle<F::Output>, TrySpawnError<F>>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        let Queue { core, inner } = &self.queue;
        match const { is_large::<F>() } {
            true => try_spawn_boxed(core, (inner, self.index), Label::here(), Box::new(future)),
            false => try_spawn(core, (inner, self.index), Label::here(), future),
        }
    }

    /// Spawns a task in this group as soon as there is room for it, in the group and in its queue. See [`SpawnWhenRoom`], the
    /// future that this gives.
    #[cfg_attr(feature = "observe", track_caller)]
    pub fn spawn_when_room<F>(&self, future: F) -> SpawnWhenRoom<F>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        SpawnWhenRoom::new(self.queue.clone(), Some(self.clone()), Box::new(future))
    }

    pub(crate) fn index(&self) -> GroupIndex {
        self.index
    }

    /// The key that the group was opened with.
    pub fn key(&self) -> u64 {
        self.key
    }

    /// The group's name, if it was given [one](crate::GroupBuilder::name).
    pub fn name(&self) -> Option<Arc<str>> {
        self.queue.inner.records.borrow().group_name(self.index)
    }

    /// Gives the group that name.
    pub(crate) fn set_name(&self, name: Arc<str>) {
        self.queue.inner.records.borrow_mut().set_group_name(self.index, name);
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
    }
}

impl fmt::Debug for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Group");
        shown.field("queue", &self.queue.name()).field("key", &self.key);
        if let Ok(records) = self.queue.inner.records.try_borrow()
            && let Some(name) = records.group_name(self.index)
        {
            shown.field("name", &name);
        }
        shown.finish()
    }
}
