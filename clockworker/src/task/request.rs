//! [`TaskRequest`]: what is said of a task that is to be spawned; [`Placement`]: the same from another thread, with its group.

use std::time::Duration;

use clockworker_schedulers::Attributes;

/// What is said of a task that is to be spawned. Its deadline is set on the executor's clock when it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TaskRequest {
    attributes: Attributes,
    /// From the spawn on. Goes before the deadline in `attributes`, which may be inherited.
    due_in: Option<Duration>,
    /// Whether the tag was said, be it as 0, so that none is inherited any more.
    has_tag: bool,
}

impl TaskRequest {
    /// A request for these attributes, and no other deadline and tag than theirs.
    pub(crate) fn new(attributes: Attributes) -> Self {
        Self { attributes, due_in: None, has_tag: true }
    }

    pub(crate) fn with_priority(self, priority: i8) -> Self {
        Self { attributes: self.attributes.with_priority(priority), ..self }
    }

    pub(crate) fn with_tag(self, tag: u64) -> Self {
        Self { attributes: self.attributes.with_tag(tag), has_tag: true, ..self }
    }

    pub(crate) fn due_in(self, time: Duration) -> Self {
        Self { due_in: Some(time), ..self }
    }

    /// Whether the tag was said.
    pub(crate) fn has_tag(&self) -> bool {
        self.has_tag
    }

    /// The attributes of the task, spawned when the clock reads `now_ns`, which is asked only if there is a deadline to set.
    pub(crate) fn attributes(&self, now_ns: impl FnOnce() -> u64) -> Attributes {
        let Some(due_in) = self.due_in else { return self.attributes };
        let due_in_ns = u64::try_from(due_in.as_nanos()).unwrap_or(u64::MAX);
        self.attributes.with_deadline_ns(now_ns().saturating_add(due_in_ns))
    }
}

/// Where in its queue a task from another thread belongs, and what is said of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Placement {
    /// The key of its group, which is opened for it unless it is open.
    pub(crate) group: Option<u64>,
    pub(crate) request: TaskRequest,
}
