//! [`RemoteTaskBuilder`]: spawns tasks from other threads, with a queue, a group and attributes.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use crate::handle::Handle;
use crate::large::boxed_if_large;
use crate::task::{JoinHandle, Label, Placement};

/// Spawns a task from any thread, with a queue, a group and attributes. From [`Handle::new_task`].
///
/// # Example
///
/// ```
/// use clockworker::{Executor, Group};
///
/// let ex = Executor::new();
/// ex.new_queue("tenants").create().unwrap();
/// let handle = ex.handle();
/// let thread = std::thread::spawn(move || {
///     let task = handle.new_task().queue("tenants").group(42).priority(1);
///     task.spawn(|| async { Group::current().unwrap().key() })
/// });
/// let task = thread.join().unwrap();
/// assert_eq!(ex.block_on(task).unwrap(), 42);
/// ```
#[derive(Clone)]
#[must_use = "a builder does nothing until `spawn`"]
pub struct RemoteTaskBuilder<'a> {
    handle: &'a Handle,
    queue: &'a str,
    placement: Placement,
    name: Option<Arc<str>>,
}

impl<'a> RemoteTaskBuilder<'a> {
    pub(crate) fn new(handle: &'a Handle) -> Self {
        Self { handle, queue: handle.default_name, placement: Placement::default(), name: None }
    }

    /// The name of the task's queue, the [handle](Handle::spawn)'s queue unless told otherwise.
    pub fn queue(mut self, name: &'a str) -> Self {
        self.queue = name;
        self
    }

    /// The key of the task's group. The executor opens it when the task comes in, unless it is open already; then it is as it
    /// is. The task has no group unless told otherwise.
    pub fn group(mut self, key: u64) -> Self {
        self.placement.group = Some(key);
        self
    }

    /// The task's priority; see [`TaskBuilder::priority`](crate::TaskBuilder::priority).
    pub fn priority(mut self, priority: i8) -> Self {
        self.placement.request = self.placement.request.with_priority(priority);
        self
    }

    /// When the task is to be done; see [`TaskBuilder::deadline`](crate::TaskBuilder::deadline). It is counted from when the task
    /// comes in on the executor's thread, which is within a turn of the spawn while the executor runs.
    pub fn deadline(mut self, time: Duration) -> Self {
        self.placement.request = self.placement.request.due_in(time);
        self
    }

    /// The number that the task and all that it spawns carry, none unless told otherwise; see
    /// [`TaskBuilder::tag`](crate::TaskBuilder::tag).
    pub fn tag(mut self, tag: u64) -> Self {
        self.placement.request = self.placement.request.with_tag(tag);
        self
    }

    /// The task's name; see [`TaskBuilder::name`](crate::TaskBuilder::name).
    pub fn name(mut self, name: impl Into<Arc<str>>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Spawns the task that `make` makes, on the executor's thread. As [`Handle::spawn_on`].
    #[cfg_attr(feature = "observe", track_caller)]
    pub fn spawn<M, F>(self, make: M) -> JoinHandle<F::Output>
    where
        M: FnOnce() -> F + Send + 'static,
        F: Future + 'static,
        F::Output: Send + 'static,
    {
        let label = Label::here();
        let label = label.named(self.name);
        let placement = Some(self.placement).filter(|placement| *placement != Placement::default());
        boxed_if_large!(make: M => F, self.handle.spawn_placed(self.queue, placement, label, make))
    }
}

impl fmt::Debug for RemoteTaskBuilder<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteTaskBuilder")
            .field("queue", &self.queue)
            .field("placement", &self.placement)
            .finish_non_exhaustive()
    }
}
