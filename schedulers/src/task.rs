//! What a policy is told of a task: [`Task`], [`TaskId`], [`GroupId`], and why it is [`Ready`].

/// A task, as a policy sees it: a small dense index and a generation that tells reuses of the index apart.
///
/// [`slot`](TaskId::slot) counts up from zero and is reused after a task has finished, so a policy may keep per-task
/// data in a `Vec` indexed by it. Two tasks never have equal ids at the same time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaskId(
    /// The slot above the generation: so ids are in the order of their slots, and go about in one register.
    u64,
);

impl TaskId {
    /// Makes an id from its two halves. Executors and tests call this; policies get ids handed to them.
    #[inline]
    pub const fn new(slot: u32, generation: u32) -> Self {
        Self(((slot as u64) << 32) | generation as u64)
    }

    /// The dense index, usable as an index into a `Vec`. Reused by later tasks.
    #[inline]
    pub const fn slot(self) -> usize {
        (self.0 >> 32) as usize
    }

    /// Which use of the slot this is.
    #[inline]
    pub const fn generation(self) -> u32 {
        self.0 as u32
    }
}

impl core::fmt::Debug for TaskId {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "task {}.{}", self.slot(), self.generation())
    }
}

/// The group that a task belongs to: a tenant, a client, a request.
///
/// A task that was spawned without a group is a group of its own, so a policy that orders by group need not tell the
/// two apart. Ids are small dense integers, reused after [`Gone::Group`](crate::Gone::Group).
///
/// The executor numbers groups and tasks together: a group that was opened has an index that no task has as its
/// [slot](TaskId::slot) meanwhile, and the group of a task without one has the task's slot.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupId(u32);

impl GroupId {
    /// Makes an id from an index. Executors and tests call this; policies get ids handed to them.
    #[inline]
    pub const fn new(index: u32) -> Self {
        Self(index)
    }

    /// The dense index, usable as an index into a `Vec`.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl core::fmt::Debug for GroupId {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "group {}", self.0)
    }
}

/// A task and its group: what a policy is told of the thing it orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Task {
    /// The task.
    pub id: TaskId,
    /// The group it belongs to, its own where it was spawned without one.
    pub group: GroupId,
}

/// Why a task became ready.
///
/// A policy that credits sleepers must not credit a task that merely yielded: one that yields all the time would
/// otherwise starve the rest (sched_ext issue 3471 and glommio issue 431 are this fault).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ready {
    /// It is new and was never polled.
    Spawned,
    /// It had returned `Pending` and was woken afterwards.
    Woken,
    /// It was woken while it was being polled, by itself or by what it awaited.
    Yielded,
    /// The host had deferred its wake until after its I/O, as tokio does for a task that awaits tokio's own `yield_now`: it has
    /// merely yielded.
    Deferred,
}
