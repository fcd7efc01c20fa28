//! The join handle: a future of a task's output.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, forget};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::pin::Pin;
use std::ptr::{self, NonNull};
use std::task::{Context, Poll, Waker, ready};

use super::finished::{FinishedList, FinishedTask};
use super::header::{Header, RecordKey, abort, release_complete};
use super::joiner::Joiner;
use super::shared::Local;
use super::state::{LeaveJoin, State};
use super::{AbortHandle, Id, JoinError, coop};
use crate::base::drop_quietly;
use crate::sync::Cell;

/// Awaits the output of a spawned task.
///
/// Resolves to the task's output, or to a [`JoinError`] if the task panicked or was cancelled. It always resolves: also
/// when the executor is shut down or dropped before the task is finished.
///
/// **Dropping it detaches the task**, which goes on; its output is dropped. Use [`abort`](JoinHandle::abort) to stop the
/// task.
///
/// A handle is `Send` if the output is: it may be awaited on any thread, under any executor.
///
/// # Cancel safety
///
/// Awaiting `&mut handle` is cancel safe: no output is lost if the await is dropped.
///
/// # Panics
///
/// When polled again after it has given the output.
///
/// # Example
///
/// ```
/// let ex = clockworker::Executor::new();
/// let answer = ex.block_on(async {
///     let task = clockworker::spawn_local(async { 6 * 7 });
///     task.await
/// });
/// assert_eq!(answer.unwrap(), 42);
/// ```
pub struct JoinHandle<T> {
    /// A counted reference, and the claim to the output.
    header: NonNull<Header>,
    _output: PhantomData<T>,
}

// SAFETY: of the cell's data a handle reaches the output only, hence `T: Send`. The rest is atomic, or handed over by the
// protocol in `task`. A handle never touches the future, which may not be `Send`.
unsafe impl<T: Send> Send for JoinHandle<T> {}
// SAFETY: `&JoinHandle` gives access to atomics, and on the owner thread to what is that thread's. What reaches the output, the
// joiner or `output_taken` takes `&mut JoinHandle`.
unsafe impl<T: Send> Sync for JoinHandle<T> {}

impl<T> UnwindSafe for JoinHandle<T> {}
impl<T> RefUnwindSafe for JoinHandle<T> {}
impl<T> Unpin for JoinHandle<T> {}

impl<T> JoinHandle<T> {
    /// # Safety
    ///
    /// The caller owns a reference to a cell whose output is a `Result<T, JoinError>`, made with a claim to that
    /// output, and gives both up to the handle.
    pub(super) unsafe fn from_raw(header: NonNull<Header>) -> Self {
        Self { header, _output: PhantomData }
    }

    pub(super) fn pointer(&self) -> NonNull<Header> {
        self.header
    }

    pub(super) fn header(&self) -> &Header {
        // SAFETY: the handle's reference keeps the cell alive.
        unsafe { self.header.as_ref() }
    }

    /// Asks for the task to be cancelled, from any thread. It is not polled any more. The executor drops its future, on its
    /// own thread, in the next slice of the task's queue, before it polls any other task of that queue. The drop is that
    /// queue's work: a queue that has had more than its share waits, and so does one that has used up its [cap](crate::Cap).
    /// An [idle](crate::QueueBuilder::idle) queue drops it as if it were none.
    ///
    /// Awaiting the handle then gives a [cancelled](JoinError::is_cancelled) error, unless the task had finished.
    /// Aborting a finished or aborted task does nothing.
    pub fn abort(&self) {
        // SAFETY: the handle holds a reference.
        unsafe { abort(self.header) };
    }

    /// Makes a handle that can abort the task, but not await it.
    pub fn abort_handle(&self) -> AbortHandle {
        self.header().retain();
        // SAFETY: `retain` counted the reference that goes to the new handle.
        unsafe { AbortHandle::from_raw(self.header) }
    }

    /// Whether the task has completed, panicked or been cancelled. After [`abort`](JoinHandle::abort) this stays false
    /// until the future was dropped.
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

    /// The key of the task's record, if its executor is the owner of that.
    pub(crate) fn record_of(&self, owner: &Local) -> Option<&Cell<RecordKey>> {
        let task = self.header();
        task.shared.local().filter(|&local| ptr::eq(local, owner)).map(|_| &task.owned.record)
    }

    /// Takes the output of a complete task.
    fn take(&mut self) -> Result<T, JoinError> {
        let mut output: Option<Result<T, JoinError>> = None;
        // SAFETY: the task is complete, so the stage is this handle's. `output` is of the type that the cell stores.
        unsafe { (self.header().vtable.take_output)(self.header, (&raw mut output).cast()) };
        self.header().owned.output_taken.set(true);
        match output {
            Some(output) => output,
            None => panic!("`JoinHandle` polled after completion"),
        }
    }

    /// Takes the output of a task that has finished.
    ///
    /// # Panics
    ///
    /// If the task has not finished, or the output was taken before.
    pub(crate) fn take_finished(mut self) -> Result<T, JoinError> {
        assert!(self.is_finished(), "the task has not finished");
        self.take()
    }

    /// Takes the output of the task that was taken out of a set's list.
    ///
    /// # Panics
    ///
    /// If it is another task, or the output was taken before.
    pub(crate) fn take_out(mut self, finished: FinishedTask) -> Result<T, JoinError> {
        assert!(finished.is_of(&self), "it is another task");
        let output = self.take();
        let header = finished.into_pointer();
        forget(self);
        // SAFETY: the references of both, which are forgotten.
        unsafe { release_complete(header, 2) };
        output
    }

    /// Has the set's list told when the task finishes, which is at that place in the set, instead of who was told so far. True
    /// if it has finished: the list is not told then.
    ///
    /// # Safety
    ///
    /// The list is alive until it was told, or the handle gives the joiner up.
    pub(super) unsafe fn tell(&mut self, list: *const FinishedList, place: usize) -> bool {
        let task = self.header();
        task.state.is_complete()
            || Self::register(task, |slot| {
                slot.clear();
                *slot = Joiner::set(list, place);
            })
    }

    /// Has `fill` write who is told at completion. True if the task has completed, and nobody is told.
    fn register(task: &Header, fill: impl FnOnce(&mut Joiner)) -> bool {
        if task.state.has_joiner() && !task.state.unset_joiner() {
            return true;
        }
        // SAFETY: `HAS_JOINER` is clear, and was cleared before completion, so the slot is the handle's.
        let slot = unsafe { &mut *task.joiner.get() };
        fill(slot);
        if task.change_as_spawned(State::set_joiner_as_spawned) {
            return false;
        }
        if task.state.set_joiner() {
            return false;
        }
        // The task completed first and did not see the slot, so it is still the handle's.
        slot.clear();
        true
    }

    /// Registers the waker to be woken at completion. True if the task has completed.
    fn register_waker(task: &Header, waker: &Waker) -> bool {
        Self::register(task, |slot| {
            if !slot.will_wake(waker) {
                // Foreign code: a panic in it leaves the slot empty and the flag clear.
                slot.clear();
                *slot = Joiner::waker(waker.clone());
            }
        })
    }
}

/// Of handles whose tasks have finished 128 are ready in one poll of a task. The next one returns `Pending` and wakes that task, so that others
/// run in between.
impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let task = self.header();
        if !task.state.is_complete() && !Self::register_waker(task, cx.waker()) {
            return Poll::Pending;
        }
        ready!(coop::poll_proceed(cx));
        Poll::Ready(self.take())
    }
}

impl<T> JoinHandle<T> {
    /// Gives up the claim to the output of a task that is not complete. False if it has completed.
    fn detach(&mut self) -> bool {
        if self.header().change_as_spawned(State::leave_join_as_spawned) {
            return true;
        }
        loop {
            match self.header().state.leave_join() {
                LeaveJoin::Done => return true,
                LeaveJoin::Complete => return false,
                LeaveJoin::DropJoiner => {
                    // SAFETY: the handle has just taken the slot back.
                    drop_quietly(unsafe { self.header().take_joiner() });
                }
            }
        }
    }
}

impl<T> JoinHandle<T> {
    /// Drops the handle. True if the task has finished and has told its joiner, or is about to.
    pub(super) fn leave(self) -> bool {
        ManuallyDrop::new(self).give_up()
    }

    /// See [`leave`](Self::leave). The handle is not used afterwards.
    fn give_up(&mut self) -> bool {
        if !self.header().state.is_complete() && self.detach() {
            return false;
        }
        // If the task finished after the joiner was taken back, it tells nobody.
        let tells = self.header().state.has_joiner();
        if !self.header().owned.output_taken.get() {
            // SAFETY: the task is complete and this handle's claim to the output stands, so the stage is its.
            unsafe { (self.header().vtable.drop_output)(self.header) };
        }
        // SAFETY: the handle's own reference, which ends here.
        unsafe { release_complete(self.header, 1) };
        tells
    }
}

impl<T> Drop for JoinHandle<T> {
    fn drop(&mut self) {
        self.give_up();
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.header().show("JoinHandle", f)
    }
}
