//! [`TaskSpans`]: the spans of tasks, for `tracing` and what listens to it, as tokio-console does.
//!
//! Names, targets and fields are tokio's (`runtime.spawn`, `tokio::task`, `tokio::task::waker`), as console-subscriber knows them.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};

use clockworker::Id;
use clockworker::probe::{AnyTask, TaskView, WakerOp};
use tracing::span::EnteredSpan;
use tracing::{Span, trace, trace_span};

use crate::quietly::drop_quietly;

/// The spans of an executor's tasks, of those that a subscriber wanted when they were spawned. Each is open until the task's future
/// is dropped.
#[derive(Default)]
pub(crate) struct TaskSpans(Mutex<HashMap<Id, OpenSpan>>);

struct OpenSpan {
    /// Its id, for events of wakers on any thread.
    id: u64,
    /// None while it is entered.
    span: Option<Span>,
}

impl TaskSpans {
    fn lock(&self) -> MutexGuard<'_, HashMap<Id, OpenSpan>> {
        // No subscriber is called under the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens the span of a task that was just spawned. It has no parent, which it would keep open.
    pub(crate) fn open(&self, task: &TaskView<'_>) {
        if !tracing::level_enabled!(tracing::Level::TRACE) {
            return;
        }
        let (location, queue) = (task.location(), task.queue_name().unwrap_or_default());
        let span = || {
            trace_span!(
                target: "tokio::task",
                parent: None,
                "runtime.spawn",
                kind = "local",
                task.name = task.name().map(|name| &**name),
                task.id = task.id().as_u64(),
                queue = &*queue,
                tag = task.tag(),
                loc.file = location.file(),
                loc.line = location.line(),
                loc.col = location.column(),
            )
        };
        if let Some(span) = guarded(span)
            && let Some(id) = span.id()
        {
            let replaced = self.lock().insert(task.id(), OpenSpan { id: id.into_u64(), span: Some(span) });
            drop_quietly(replaced.map(|open| open.span));
        }
    }

    /// Enters the span of a task for a poll, to be [left](TaskSpans::leave) after it.
    pub(crate) fn enter(&self, task: Id) -> Option<EnteredSpan> {
        let span = self.lock().get_mut(&task).and_then(|open| open.span.take());
        guarded(|| span.map(Span::entered)).flatten()
    }

    pub(crate) fn leave(&self, task: Id, entered: Option<EnteredSpan>) {
        let Some(span) = entered.and_then(|entered| guarded(|| entered.exit())) else { return };
        let unwanted = match self.lock().get_mut(&task) {
            Some(open) => open.span.replace(span),
            None => Some(span),
        };
        drop_quietly(unwanted);
    }

    /// Closes the span of a task: its future is gone.
    pub(crate) fn close(&self, task: Id) {
        let closed = self.lock().remove(&task);
        drop_quietly(closed.map(|open| open.span));
    }

    /// Says what is done with a waker of a task. On any thread.
    pub(crate) fn say(&self, task: &AnyTask<'_>, op: WakerOp) {
        let Some(id) = self.lock().get(&task.id()).map(|open| open.id) else { return };
        let op = match op {
            WakerOp::Clone => "waker.clone",
            WakerOp::Wake => "waker.wake",
            WakerOp::WakeByRef => "waker.wake_by_ref",
            WakerOp::Drop => "waker.drop",
            _ => return,
        };
        guarded(|| trace!(target: "tokio::task::waker", op, task.id = id));
    }
}

/// Calls a subscriber, which is foreign code. None if it panics.
fn guarded<T>(call: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(call)).map_err(drop_quietly).ok()
}
