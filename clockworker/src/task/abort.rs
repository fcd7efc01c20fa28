//! The abort handle: a reference to a task that can only end it.

use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::ptr::NonNull;

use super::Id;
use super::header::{Header, abort, release};

/// Aborts a task, from any thread. Made by [`JoinHandle::abort_handle`](crate::JoinHandle::abort_handle).
///
/// Dropping it does nothing to the task.
///
/// # Example
///
/// ```
/// let ex = clockworker::Executor::new();
/// ex.block_on(async {
///     let task = clockworker::spawn_local(std::future::pending::<()>());
///     let abort = task.abort_handle();
///     std::thread::spawn(move || abort.abort());
///     assert!(task.await.unwrap_err().is_cancelled());
/// });
/// ```
pub struct AbortHandle {
    /// One of the cell's counted references.
    header: NonNull<Header>,
}

// SAFETY: an abort handle uses the cell's atomic state, on the owner thread what is that thread's, and never the stage.
unsafe impl Send for AbortHandle {}
// SAFETY: as above.
unsafe impl Sync for AbortHandle {}

impl UnwindSafe for AbortHandle {}
impl RefUnwindSafe for AbortHandle {}

impl AbortHandle {
    /// # Safety
    ///
    /// The caller owns a reference to the cell and gives it up to the handle.
    pub(super) unsafe fn from_raw(header: NonNull<Header>) -> Self {
        Self { header }
    }

    pub(super) fn pointer(&self) -> NonNull<Header> {
        self.header
    }

    pub(super) fn header(&self) -> &Header {
        // SAFETY: the handle's reference keeps the cell alive.
        unsafe { self.header.as_ref() }
    }

    /// Asks for the task to be cancelled; see [`JoinHandle::abort`](crate::JoinHandle::abort).
    pub fn abort(&self) {
        // SAFETY: the handle holds a reference.
        unsafe { abort(self.header) };
    }

    /// Whether the task has completed, panicked or been cancelled.
    pub fn is_finished(&self) -> bool {
        self.header().state.is_complete()
    }

    /// The task's id.
    pub fn id(&self) -> Id {
        self.header().id
    }

    /// The task's name, if it was given [one](crate::TaskBuilder::name) and the feature `observe` is on.
    pub fn name(&self) -> Option<&str> {
        self.header().label.name().map(|name| &**name)
    }

    /// Where the task was spawned.
    #[cfg(feature = "observe")]
    pub fn location(&self) -> &'static std::panic::Location<'static> {
        self.header().label.location()
    }
}

impl Clone for AbortHandle {
    fn clone(&self) -> Self {
        self.header().retain();
        Self { header: self.header }
    }
}

impl Drop for AbortHandle {
    fn drop(&mut self) {
        // SAFETY: the handle's own reference, which ends here.
        unsafe { release(self.header) };
    }
}

impl fmt::Debug for AbortHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.header().show("AbortHandle", f)
    }
}
