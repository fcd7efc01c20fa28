//! [`Trace`]: the span of a task, for `tracing` and what listens to it, as tokio-console does.
//!
//! Names, targets and fields are tokio's (`runtime.spawn`, `tokio::task`, `tokio::task::waker`), as console-subscriber knows them.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};

use tracing::span::EnteredSpan;
use tracing::{Span, trace, trace_span};

use super::TaskMeta;
use crate::base::drop_quietly;

/// The span of a task, if anybody listened when it was spawned. It is open until the task's future is dropped.
pub(super) struct Trace {
    /// The id of the span; 0 for none. Wakes read it on any thread.
    id: AtomicU64,
    /// The span, unless it is entered. The owner thread's.
    span: Cell<Option<Span>>,
}

impl Trace {
    pub(super) fn none() -> Self {
        Self { id: AtomicU64::new(0), span: Cell::new(None) }
    }

    /// Keeps the span of the task.
    pub(super) fn open(&self, span: Span) {
        if let Some(id) = span.id() {
            // Wakers, which read it, are made in polls, later.
            self.id.store(id.into_u64(), Ordering::Relaxed);
            self.span.set(Some(span));
        }
    }

    /// Enters the span for a poll.
    pub(super) fn enter(&self) -> Option<EnteredSpan> {
        guarded(|| self.span.take().map(Span::entered)).flatten()
    }

    /// Leaves it.
    pub(super) fn exit(&self, entered: Option<EnteredSpan>) {
        if let Some(entered) = entered {
            self.span.set(guarded(|| entered.exit()));
        }
    }

    /// Closes it: the task's future is gone.
    pub(super) fn close(&self) {
        drop_quietly(self.span.take());
    }

    /// Says what is done with a waker of the task.
    #[inline]
    pub(super) fn say(&self, op: &'static str) {
        let id = self.id.load(Ordering::Relaxed);
        if id != 0 {
            guarded(|| trace!(target: "tokio::task::waker", op, task.id = id));
        }
    }
}

/// Calls a subscriber, which is foreign code. None if it panics.
fn guarded<T>(call: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(call)).map_err(drop_quietly).ok()
}

/// A span for a task that was just spawned. Calls the subscriber: no borrow may be held.
///
/// It has no parent, which it would keep open.
pub(crate) fn span_of(task: &TaskMeta, queue: &str) -> Span {
    let location = task.location;
    let span = || {
        trace_span!(
            target: "tokio::task",
            parent: None,
            "runtime.spawn",
            kind = "local",
            task.name = task.name.as_deref(),
            task.id = task.id.as_u64(),
            queue,
            tag = task.tag,
            loc.file = location.file(),
            loc.line = location.line(),
            loc.col = location.column(),
        )
    };
    guarded(span).unwrap_or_else(Span::none)
}
