//! Opens the span of a task that was just spawned.

use clockworker_schedulers::TaskId;
use tracing::Level;

use super::Core;
use super::queue::RunQueue;
use crate::task::span_of;

impl Core {
    /// Opens the span of a task that its scheduler has just been given, if anybody may listen.
    #[inline]
    pub(super) fn trace_spawn(&self, queue: &RunQueue, id: TaskId) {
        if tracing::level_enabled!(Level::TRACE) {
            trace_spawn(queue, id);
        }
    }
}

#[cold]
fn trace_spawn(queue: &RunQueue, id: TaskId) {
    let task = queue.records.borrow().live(id).map(|live| (live.id(), live.label().clone()));
    let Some((number, label)) = task else { return };
    // Nothing is borrowed: the subscriber is called.
    let span = span_of(number, &label, &queue.name());
    if let Some(live) = queue.records.borrow().live(id) {
        live.open_span(span);
    }
}
