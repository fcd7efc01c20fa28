//! [`RunnableFifo`]: the order in which tasks became ready.

use core::fmt;

use crate::parts::KEPT;
use crate::parts::ring::Ring;
use crate::{ClockUse, Gone, Ready, Scheduler, Task, TaskId};

/// First ready, first polled: the order of tokio's `LocalSet` and of most executors. The cheapest policy.
///
/// A ready task is popped after those that were ready before it, so with *R* tasks ready it waits for *R* − 1 pops and
/// nothing starves. It pays no regard to how long polls take: a task that computes long gets as many polls as one that
/// does not.
///
/// ```
/// use clockworker_schedulers::{GroupId, Ready, RunnableFifo, Scheduler, Task, TaskId};
///
/// let task = |slot| Task { id: TaskId::new(slot, 0), group: GroupId::new(slot) };
/// let mut fifo = RunnableFifo::new();
/// fifo.push(task(0), Ready::Spawned);
/// fifo.push(task(1), Ready::Spawned);
/// assert_eq!(fifo.pop(), Some(task(0).id));
/// fifo.push(task(0), Ready::Yielded);
/// assert_eq!(fifo.pop(), Some(task(1).id));
/// ```
#[derive(Clone, Default)]
pub struct RunnableFifo {
    ready: Ring<TaskId>,
}

impl RunnableFifo {
    /// Makes an empty one.
    pub const fn new() -> Self {
        Self { ready: Ring::new() }
    }
}

impl Scheduler for RunnableFifo {
    const CLOCK: ClockUse = ClockUse::Unused;

    #[inline]
    fn push(&mut self, task: Task, _why: Ready) {
        self.ready.push_back(task.id);
    }

    #[inline]
    fn pop(&mut self) -> Option<TaskId> {
        self.ready.pop_front()
    }

    #[inline]
    fn push_pop(&mut self, task: Task) -> Option<TaskId> {
        Some(self.ready.push_pop(task.id))
    }

    #[inline]
    fn peek(&self, ahead: usize) -> Option<TaskId> {
        self.ready.get(ahead)
    }

    #[inline]
    fn gone(&mut self, gone: Gone) {
        if gone == Gone::Backlog && self.ready.capacity() > KEPT {
            self.ready.shrink_to(KEPT);
        }
    }
}

impl fmt::Debug for RunnableFifo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunnableFifo")
            .field("ready", &self.ready.len())
            .field("next", &self.ready.get(0))
            .finish_non_exhaustive()
    }
}
