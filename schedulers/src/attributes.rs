//! [`Attributes`]: what was said of a group when it was opened, or of a task when it was spawned.

use crate::Share;

/// What was said of a group when it was opened, or of a task when it was spawned, for its scheduler.
///
/// Most tasks have none, and cost nothing for that. Each policy says which attributes it heeds:
/// [`FairGroups`](crate::FairGroups) a group's weight, [`Priority`](crate::Priority) a task's priority,
/// [`Deadline`](crate::Deadline) its deadline. A policy of your own may heed any. The tag means nothing to
/// these: a task passes it on to all that it spawns.
///
/// ```
/// use clockworker_schedulers::{Attributes, Share};
///
/// let gold = Attributes::new().with_weight(Share::new(4)?).with_tag(7);
/// assert_eq!((gold.weight.get(), gold.tag, gold.priority, gold.deadline_ns), (4, 7, None, None));
/// # Ok::<(), clockworker_schedulers::ShareError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Attributes {
    /// The relative claim on the queue's CPU time among its groups; 1 unless set.
    pub weight: Share,
    /// Higher goes first. Where nobody has one, all count as 0.
    pub priority: Option<i8>,
    /// When it is to be done, in nanoseconds on the clock of [`Scheduler::served`](crate::Scheduler::served).
    pub deadline_ns: Option<u64>,
    /// A number that a task passes on to all that it spawns, or for policies of your own; 0 unless set.
    pub tag: u64,
}

impl Attributes {
    /// Makes the attributes of what has none.
    pub const fn new() -> Self {
        Self { weight: Share::MIN, priority: None, deadline_ns: None, tag: 0 }
    }

    /// Sets the weight.
    #[must_use]
    pub const fn with_weight(self, weight: Share) -> Self {
        Self { weight, ..self }
    }

    /// Sets the priority.
    #[must_use]
    pub const fn with_priority(self, priority: i8) -> Self {
        Self { priority: Some(priority), ..self }
    }

    /// Sets the deadline, a reading of the scheduler's clock in nanoseconds.
    #[must_use]
    pub const fn with_deadline_ns(self, deadline_ns: u64) -> Self {
        Self { deadline_ns: Some(deadline_ns), ..self }
    }

    /// Sets the tag.
    #[must_use]
    pub const fn with_tag(self, tag: u64) -> Self {
        Self { tag, ..self }
    }
}
