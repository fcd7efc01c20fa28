//! Tells those who listen of a task that was just spawned: its hooks, and whoever keeps its span.

use clockworker_schedulers::TaskId;

use super::Core;
use super::queue::RunQueue;

impl Core {
    /// Tells of a task that its scheduler has just been given.
    #[inline]
    pub(super) fn call_spawned_hook(&self, queue: &RunQueue, id: TaskId) {
        if self.shared.has_hooks() {
            self.call_spawned(queue, id);
        }
        #[cfg(feature = "tracing")]
        if tracing::level_enabled!(tracing::Level::TRACE) {
            open_span(queue, id);
        }
    }

    #[cold]
    fn call_spawned(&self, queue: &RunQueue, id: TaskId) {
        // The borrow is over when the hook is called.
        let task = queue.records.borrow().live(id).map(|live| live.meta());
        if let (Some(task), Some(local)) = (task, self.shared.local()) {
            local.hooks.call(|hooks| hooks.spawned(&task));
        }
    }
}

#[cfg(feature = "tracing")]
#[cold]
fn open_span(queue: &RunQueue, id: TaskId) {
    let Some(task) = queue.records.borrow().live(id).map(|live| live.meta()) else { return };
    // Nothing is borrowed: the subscriber is called.
    let span = crate::task::span_of(&task, &queue.name());
    if let Some(live) = queue.records.borrow().live(id) {
        live.open_span(span);
    }
}
