//! Spawning on the owner thread.

use std::future::Future;

use super::Core;
use super::pick::Current;
use super::queue::RunQueue;
use crate::queue::{GroupIndex, NO_GROUP};
use crate::task::{JoinHandle, Refused, refuse, spawn_here};

impl Core {
    /// Spawns a task on the owner thread.
    pub(crate) fn spawn<F>(&self, queue: &RunQueue, group: GroupIndex, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        match self.may_spawn(queue, group) {
            Ok(()) => self.spawn_into_room(queue, group, future),
            Err(why) => {
                self.count_refused(queue);
                refuse(&self.shared, why, future)
            }
        }
    }

    /// Spawns a task on the owner thread, or gives its future back.
    pub(crate) fn try_spawn<F>(
        &self,
        queue: &RunQueue,
        group: GroupIndex,
        future: F,
    ) -> Result<JoinHandle<F::Output>, (F, Refused)>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        match self.may_spawn(queue, group) {
            Ok(()) => Ok(self.spawn_into_room(queue, group, future)),
            Err(why) => {
                self.count_refused(queue);
                Err((future, why))
            }
        }
    }

    /// Spawns a task into a queue that takes it, on the owner thread.
    #[inline(always)] // it is given the future
    pub(crate) fn spawn_into_room<F>(
        &self,
        queue: &RunQueue,
        group: GroupIndex,
        future: F,
    ) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        // Tasks woken before this one was spawned come first. (Not if a scheduler spawns while it is asked for a task: its
        // queue can admit none meanwhile, and a task that is off the woken list would be lost.)
        if self.has_woken() && !self.is_choosing() {
            self.admit_woken_before_spawn();
        }
        let mut handle = None;
        self.make_runnable(queue);
        queue.spawn(group, |key| {
            let (task, join) = spawn_here(self.shared.clone(), key, future);
            handle = Some(join);
            task
        });
        self.shared.inbox.wake_parked_host();
        handle.unwrap_or_else(|| refuse(&self.shared, Refused::QueueClosed, ()))
    }

    /// Whether the scheduler of the running queue is being called, so that it is the caller.
    fn is_choosing(&self) -> bool {
        let running = self.slice.running().and_then(|id| self.queue_at(id.index() as u32));
        running.is_some_and(|queue| queue.records.try_borrow_mut().is_err())
    }

    /// Spawns into the queue and group of the task that is being polled; into the default queue if none is.
    pub(crate) fn spawn_beside_current<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        let (queue, group) = match self.slice.current() {
            Current::NONE => (self.queues.default_queue(), NO_GROUP),
            Current { queue, group } => (self.queue_at(queue), group),
        };
        match queue {
            Some(queue) => self.spawn(&queue, group, future),
            None => {
                self.queues.removed_counters.refused.add(1);
                refuse(&self.shared, Refused::QueueClosed, future)
            }
        }
    }
}
