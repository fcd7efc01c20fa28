//! Spawning on the owner thread.

use std::cell::Cell;
use std::future::Future;
use std::num::NonZeroU64;
use std::rc::Rc;

use clockworker_schedulers::{Attributes, Task};

use super::Core;
use super::pick::Current;
use super::queue::RunQueue;
use crate::queue::{GroupIndex, NO_GROUP};
use crate::task::{JoinHandle, Label, Refused, TaskRequest, refuse, spawn_here};

impl Core {
    /// Spawns a task on the owner thread.
    pub(crate) fn spawn<F>(
        &self,
        queue: &RunQueue,
        group: GroupIndex,
        label: Label,
        future: F,
    ) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        self.spawn_and(queue, group, label, future, |task| self.inherit_tag(queue, task))
    }

    /// [`spawn`](Core::spawn) of a task of which something is said.
    pub(crate) fn spawn_with<F>(
        &self,
        queue: &RunQueue,
        group: GroupIndex,
        request: &TaskRequest,
        label: Label,
        future: F,
    ) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        let attributes = request.attributes(|| self.meter.look());
        let attributes = if request.has_tag() { attributes } else { self.with_inherited_tag(attributes) };
        self.note_tag(&attributes);
        self.spawn_and(queue, group, label, future, |task| queue.set_attributes(task, &attributes))
    }

    /// Spawns a task, of which `describe` notes what is said of it.
    #[inline(always)] // it is given the future
    fn spawn_and<F>(
        &self,
        queue: &RunQueue,
        group: GroupIndex,
        label: Label,
        future: F,
        describe: impl FnOnce(Task),
    ) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        match self.may_spawn_now(queue, group) {
            Ok(()) => self.spawn_accepted(queue, group, label, future, describe),
            Err(why) => refuse(&self.shared, label, why, future),
        }
    }

    /// Whether a queue takes one more task now. Counts it as refused if not.
    pub(crate) fn may_spawn_now(&self, queue: &RunQueue, group: GroupIndex) -> Result<(), Refused> {
        self.may_spawn(queue, group).inspect_err(|_| self.count_refused(queue))
    }

    /// Spawns a task into a queue that takes it, on the owner thread.
    pub(crate) fn spawn_into_room<F>(
        &self,
        queue: &RunQueue,
        group: GroupIndex,
        label: Label,
        future: F,
    ) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        self.spawn_accepted(queue, group, label, future, |task| self.inherit_tag(queue, task))
    }

    /// [`spawn_into_room`](Core::spawn_into_room) of a task that `describe` says something of.
    #[inline(always)] // it is given the future
    fn spawn_accepted<F>(
        &self,
        queue: &RunQueue,
        group: GroupIndex,
        label: Label,
        future: F,
        describe: impl FnOnce(Task),
    ) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        let mut handle = None;
        self.make_runnable(queue);
        let task = queue.insert(group, |key| {
            let (task, join) = spawn_here(self.shared.share(), key, label.clone(), future);
            handle = Some(join);
            task
        });
        queue.note_spawned(task, self.meter.now());
        describe(task);
        self.tell_spawned(queue, task);
        self.shared.inbox.wake_parked_host();
        handle.unwrap_or_else(|| refuse(&self.shared, label, Refused::QueueClosed, ()))
    }

    /// Spawns into the queue and group of the task that is being polled, with its attributes; into the default queue if none
    /// is.
    #[inline(always)] // it is given the future
    pub(crate) fn spawn_beside_current<F>(&self, label: Label, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        let current = self.slice.current();
        let Some(queue) = self.current_or_default_queue() else {
            self.queues.removed_counters.refused.add(1);
            return refuse(&self.shared, label, Refused::QueueClosed, future);
        };
        let inherited = current.and_then(|current| queue.attributes(current.slot));
        self.spawn_and(&queue, self.current_group(), label, future, |task| match &inherited {
            Some(attributes) if !self.shared.is_in_probe() => queue.set_attributes(task, attributes),
            _ => {}
        })
    }

    /// The queue of the task that is being polled; the default queue if none is.
    pub(crate) fn current_or_default_queue(&self) -> Option<Rc<RunQueue>> {
        match self.slice.current() {
            Some(current) => self.queue_at(current.queue),
            None => self.queues.default_queue(),
        }
    }

    /// The queue of the task that is being polled.
    pub(crate) fn current_queue(&self) -> Option<Rc<RunQueue>> {
        self.queue_at(self.slice.current()?.queue)
    }

    /// The group of the task that is being polled; [`NO_GROUP`] if it has none, or none is.
    pub(crate) fn current_group(&self) -> GroupIndex {
        self.slice.current().map_or(NO_GROUP, |current| current.group)
    }

    /// What was said of the task that is being polled, for a task that it spawns.
    pub(crate) fn inherited_attributes(&self) -> Attributes {
        let current = self.slice.current().filter(|_| !self.shared.is_in_probe());
        let attributes = |current: Current| self.queue_at(current.queue)?.attributes(current.slot);
        current.and_then(attributes).unwrap_or_default()
    }
}

/// Whether any task was ever given a tag, which it passes on to all that it spawns, in whichever queue, so that work can be followed from
/// task to task. Until then a spawn does not look for one.
#[derive(Default)]
pub(super) struct Tags {
    are_used: Cell<bool>,
}

impl Core {
    /// Notes that a task is spawned with these attributes.
    #[inline]
    pub(super) fn note_tag(&self, attributes: &Attributes) {
        if attributes.tag != 0 {
            self.tags.are_used.set(true);
        }
    }

    /// The tag of the task that is being polled, if it has one.
    pub(crate) fn current_tag(&self) -> Option<NonZeroU64> {
        if self.tags.are_used.get() { self.look_up_tag() } else { None }
    }

    #[cold]
    fn look_up_tag(&self) -> Option<NonZeroU64> {
        let Current { queue, slot, .. } = self.slice.current()?;
        let queue = self.queue_at(queue)?;
        // A scheduler that is being called is no task.
        let attributes = queue.records.try_borrow().ok()?.attributes(slot)?;
        NonZeroU64::new(attributes.tag)
    }

    /// The tag of a task that is spawned now, if nothing was said of that.
    #[inline]
    fn inherited_tag(&self) -> Option<NonZeroU64> {
        self.current_tag().filter(|_| !self.shared.is_in_probe())
    }

    /// These attributes, with the tag that is inherited.
    pub(super) fn with_inherited_tag(&self, attributes: Attributes) -> Attributes {
        self.inherited_tag().map_or(attributes, |tag| attributes.with_tag(tag.get()))
    }

    /// Gives a new task, of which nothing was said, the tag that it inherits.
    #[inline]
    pub(crate) fn inherit_tag(&self, queue: &RunQueue, task: Task) {
        if let Some(tag) = self.inherited_tag() {
            queue.set_attributes(task, &Attributes::new().with_tag(tag.get()));
        }
    }
}
