//! [`Tags`]: what a task passes on to all that it spawns, in whichever queue, so that work can be followed from task to task.

use std::cell::Cell;
use std::num::NonZeroU64;

use clockworker_schedulers::{Attributes, Task};

use super::Core;
use super::pick::Current;
use super::queue::RunQueue;

/// Whether any task was ever given a tag. Until then a spawn does not look for one.
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
        let Current { queue, slot, .. } = self.slice.current();
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
