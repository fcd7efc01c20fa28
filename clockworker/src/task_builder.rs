//! [`TaskBuilder`]: spawns tasks with attributes.

use std::future::Future;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use clockworker_schedulers::Attributes;

use crate::group::Group;
use crate::large::boxed_if_large;
use crate::queue_handle::Queue;
use crate::run::context;
use crate::task::{JoinHandle, Label, TaskRequest};

/// Spawns a task with attributes, of which the queue's scheduler is told before it is told that the task is ready. From
/// [`Queue::new_task`], [`Group::new_task`], or, for a task beside the calling one, [`new_task`].
///
/// What the task spawns with [`spawn_local`](crate::spawn_local) or [`new_task`] inherits its attributes, the deadline too; what it
/// spawns elsewhere, the [tag](TaskBuilder::tag). A task that has none, or only such as are so unless told otherwise, pays nothing for them.
///
/// # Example
///
/// ```
/// use clockworker::Executor;
/// use std::time::Duration;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let ex = Executor::new();
/// let requests = ex.new_queue("requests").create()?;
/// let answer = requests.new_task().priority(1).deadline(Duration::from_millis(5)).spawn(async { 42 });
/// assert_eq!(ex.block_on(answer)?, 42);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `spawn`"]
pub struct TaskBuilder {
    place: Place,
    request: TaskRequest,
    name: Option<Arc<str>>,
}

/// Where the task belongs.
#[derive(Clone, Debug)]
enum Place {
    Queue(Queue),
    Group(Group),
}

impl TaskBuilder {
    fn new(place: Place, request: TaskRequest) -> Self {
        Self { place, request, name: None }
    }

    pub(crate) fn of_queue(queue: Queue) -> Self {
        Self::new(Place::Queue(queue), TaskRequest::default())
    }

    pub(crate) fn of_group(group: Group) -> Self {
        Self::new(Place::Group(group), TaskRequest::default())
    }

    /// The task's priority, that of its group unless told otherwise. To a scheduler that heeds it, higher goes first.
    pub fn priority(mut self, priority: i8) -> Self {
        self.request = self.request.with_priority(priority);
        self
    }

    /// When the task is to be done, from [`spawn`](TaskBuilder::spawn) on. It has no deadline unless told otherwise.
    ///
    /// A scheduler that heeds it puts earlier deadlines first. Nothing happens to a task that is late, but for what its
    /// scheduler says.
    pub fn deadline(mut self, time: Duration) -> Self {
        self.request = self.request.due_in(time);
        self
    }

    /// A number that the task and all that it spawns carry, such as that of the request they work for: code that they call reads
    /// it with [`current_tag`](crate::current_tag), and probes are told. Schedulers of your own may give it a meaning.
    ///
    /// Unless told otherwise it is that of the task that calls [`spawn`](TaskBuilder::spawn), whichever queues and groups the
    /// two are in; with [`new_task`](crate::new_task), that of the task that calls `new_task`. A tag of 0 is none. What is spawned has none if it is spawned outside tasks of the same executor (also by the
    /// future given to `run_until`), by a probe, or through a [`Handle`](crate::Handle), unless the builder says one.
    ///
    /// # Example
    ///
    /// ```
    /// let ex = clockworker::Executor::new();
    /// let request = ex.default_queue().new_task().tag(7).spawn(async {
    ///     clockworker::spawn_local(async { clockworker::current_tag() }).await.unwrap()
    /// });
    /// assert_eq!(ex.block_on(request).unwrap(), Some(7));
    /// ```
    pub fn tag(mut self, tag: u64) -> Self {
        self.request = self.request.with_tag(tag);
        self
    }

    /// All attributes at once, in place of those said before and of those that are inherited.
    pub fn attributes(mut self, attributes: Attributes) -> Self {
        self.request = TaskRequest::new(attributes);
        self
    }

    /// The task's name, for those who look at it: its handles, errors and [probes](crate::probe) show it. Names need not differ, and
    /// nothing goes by them; what the task spawns does not inherit it. It is kept with the feature `observe` only.
    ///
    /// An `Arc<str>` that many tasks share is not copied.
    ///
    /// # Example
    ///
    /// ```
    /// let ex = clockworker::Executor::new();
    /// let upload = ex.default_queue().new_task().name("upload").spawn(std::future::pending::<()>());
    /// upload.abort();
    /// let error = ex.block_on(upload).unwrap_err();
    /// # #[cfg(feature = "observe")]
    /// assert_eq!(error.name(), Some("upload"));
    /// ```
    pub fn name(mut self, name: impl Into<Arc<str>>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Spawns the task. See [`Queue::spawn`].
    ///
    /// With attributes it costs a look-up in a hash table more than that, and another when the task ends; a deadline costs a
    /// reading of the clock.
    #[cfg_attr(feature = "observe", track_caller)]
    pub fn spawn<F>(self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        let label = Label::here();
        let label = label.named(self.name);
        boxed_if_large!(
            future: F,
            match &self.place {
                Place::Queue(queue) => queue.spawn_with(&self.request, label, future),
                Place::Group(group) => group.spawn_with(&self.request, label, future),
            }
        )
    }
}

/// Begins a task beside the calling one: in its queue and group, with its attributes unless told otherwise. Called inside
/// [`run_until`](crate::Executor::run_until) but outside a task, in the default queue and without attributes.
///
/// # Panics
///
/// Outside an executor's run.
///
/// # Example
///
/// ```
/// let ex = clockworker::Executor::new();
/// let answer = ex.block_on(async { clockworker::new_task().tag(7).spawn(async { 42 }).await });
/// assert_eq!(answer.unwrap(), 42);
/// ```
#[track_caller]
pub fn new_task() -> TaskBuilder {
    let Some(core) = context::current() else {
        panic!(
            "`clockworker::new_task` called outside an executor: call it inside `run_until` or `block_on`, or spawn through \
             `Queue::new_task`, `Group::new_task` or `Handle::new_task`"
        )
    };
    let Some(inner) = core.current_or_default_queue() else {
        unreachable!("an executor has its default queue")
    };
    let request = TaskRequest::new(core.inherited_attributes());
    let queue = Queue::new(Rc::clone(&core), inner);
    let place = match Group::of_current(&queue) {
        Some(group) => Place::Group(group),
        None => Place::Queue(queue),
    };
    TaskBuilder::new(place, request)
}
