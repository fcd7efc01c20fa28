//! [`TaskSpans`]: the spans of tasks, for `tracing` and what listens to it, as tokio-console does.
//!
//! Names, targets and fields are tokio's (`runtime.spawn`, `tokio::task`, `tokio::task::waker`), as console-subscriber knows them.

use std::collections::HashMap;
use std::sync::Mutex;

use clockworker::Id;
use clockworker::probe::{AnyTask, TaskView, WakerOp};
use tracing::span::EnteredSpan;
use tracing::{Span, trace, trace_span};

use crate::quietly::{call_quietly, drop_quietly, lock};

/// The spans of an executor's tasks, of those that a subscriber wanted when they were spawned. Each is open until the task's future
/// is dropped. No subscriber is called under the lock.
#[derive(Default)]
pub(crate) struct TaskSpans(Mutex<HashMap<Id, OpenSpan>>);

struct OpenSpan {
    /// Its id, for events of wakers on any thread.
    id: u64,
    /// None while it is entered.
    span: Option<Span>,
}

impl TaskSpans {
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
        if let Some(span) = call_quietly(span)
            && let Some(id) = span.id()
        {
            let replaced = lock(&self.0).insert(task.id(), OpenSpan { id: id.into_u64(), span: Some(span) });
            drop_quietly(replaced.map(|open| open.span));
        }
    }

    /// Enters the span of a task for a poll, to be [left](TaskSpans::leave) after it.
    pub(crate) fn enter(&self, task: Id) -> Option<EnteredSpan> {
        let span = lock(&self.0).get_mut(&task).and_then(|open| open.span.take());
        call_quietly(|| span.map(Span::entered)).flatten()
    }

    pub(crate) fn leave(&self, task: Id, entered: Option<EnteredSpan>) {
        let Some(span) = entered.and_then(|entered| call_quietly(|| entered.exit())) else { return };
        let unwanted = match lock(&self.0).get_mut(&task) {
            Some(open) => open.span.replace(span),
            None => Some(span),
        };
        drop_quietly(unwanted);
    }

    /// Closes the span of a task: its future is gone.
    pub(crate) fn close(&self, task: Id) {
        let closed = lock(&self.0).remove(&task);
        drop_quietly(closed.map(|open| open.span));
    }

    /// Says what is done with a waker of a task. On any thread.
    pub(crate) fn say(&self, task: &AnyTask<'_>, op: WakerOp) {
        let Some(id) = lock(&self.0).get(&task.id()).map(|open| open.id) else { return };
        let op = match op {
            WakerOp::Clone => "waker.clone",
            WakerOp::Wake => "waker.wake",
            WakerOp::WakeByRef => "waker.wake_by_ref",
            WakerOp::Drop => "waker.drop",
            _ => return,
        };
        call_quietly(|| trace!(target: "tokio::task::waker", op, task.id = id));
    }
}
