//! The typed cell: header, then the future and later its output, in one allocation.

use std::alloc::Layout;
use std::any::Any;
use std::future::Future;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll};

use super::header::{Header, Link, Phase, RecordKey, VTable};
use super::id::EnteredId;
use super::live::unlink;
use super::pool::Class;
use super::state::State;
use super::{Cause, Finish, Id, JoinError, JoinHandle, Label, LiveTask, Placement, Refused, SharedRef, coop};
use crate::base::drop_quietly;
use crate::sync::{UnsafeCell, reclaim};

/// A task. `repr(C)` puts the header first, so that a pointer to the cell is a pointer to its header.
#[repr(C)]
struct Cell<F: Future> {
    header: Header,
    /// Emptied by its holder before `free` frees the cell.
    stage: UnsafeCell<ManuallyDrop<Stage<F>>>,
}

/// What the cell holds of its task now.
enum Stage<F: Future> {
    /// A future, pinned: it is polled and dropped in place, and never moved.
    Future(F),
    Output(Result<F::Output, JoinError>),
    Empty,
}

/// Makes a task on the owner thread.
pub(crate) fn spawn_here<F>(
    shared: SharedRef,
    key: RecordKey,
    label: Label,
    future: F,
) -> (LiveTask, JoinHandle<F::Output>)
where
    F: Future + 'static,
    F::Output: 'static,
{
    debug_assert!(shared.local().is_some(), "tasks are spawned on the owner thread");
    // `Ready`: the caller hands the task to its scheduler.
    let header = Cell::allocate(State::spawned(), shared, Phase::Ready, key, label, Stage::Future(future));
    // SAFETY: `State::spawned` counts two references; this is the one. This is the owner thread.
    let task = unsafe { LiveTask::from_raw(header) };
    // SAFETY: this is the other one, with the claim to the output.
    (task, unsafe { JoinHandle::from_raw(header) })
}

/// Makes a task on any thread and pushes it into the inbox. The first poll, on the owner thread, calls `make`.
///
/// If the executor is gone, the handle gives [`Refused::ExecutorDropped`], and `make` is dropped here.
pub(crate) fn spawn_remote<M, F>(
    shared: &SharedRef,
    key: RecordKey,
    placement: Option<Placement>,
    label: Label,
    make: M,
) -> JoinHandle<F::Output>
where
    M: FnOnce() -> F + Send + 'static,
    F: Future + 'static,
    F::Output: Send + 'static,
{
    debug_assert!(!key.has_slot());
    let key = if placement.is_some() { key.placed() } else { key };
    let future = Remote::Make(Some(make));
    let state = State::spawned_notified();
    let header = Cell::allocate(state, shared.clone(), Phase::Parked, key, label, Stage::Future(future));
    // SAFETY: `State::spawned_notified` counts two references; the other one goes with the push, or is dropped below.
    let handle = unsafe { JoinHandle::from_raw(header) };
    // Before the executor can know of the task.
    placement.into_iter().for_each(|placement| shared.put_placement(handle.id(), placement));
    handle.header().tell_elsewhere();
    // SAFETY: the task was made with `NOTIFIED` set, so its link is this call's, and the handle keeps it alive.
    if let Err(link) = unsafe { shared.inbox.push(Link::new(header)) } {
        let _ = shared.take_placement(handle.id());
        // SAFETY: the task was never pushed, so the record's reference is this call's. Its future was never polled: it holds
        // only `make`, which is `Send` and may be dropped here.
        unsafe { LiveTask::from_raw(link.header()) }.cancel(Cause::Refused(Refused::ExecutorDropped));
        // SAFETY: `NOTIFIED` was set, so completion counted the link that the inbox has just refused.
        unsafe { unlink(link) };
    }
    handle
}

/// The future of a task from another thread: made on the owner thread, in the first poll.
///
/// (Written out, because an `async` block leaks the output if the future in it panics in its drop.)
enum Remote<M, F> {
    Make(Option<M>),
    Future(F),
}

impl<M, F> Future for Remote<M, F>
where
    M: FnOnce() -> F,
    F: Future,
{
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: `Future` is pinned with its enum: nothing moves it out, and it is dropped in place. `Make` is not pinned.
        let this = unsafe { self.get_unchecked_mut() };
        if let Remote::Make(make) = this {
            // Taken before it is called: if it panics, it is not called again.
            let Some(make) = make.take() else { return Poll::Pending };
            *this = Remote::Future(make());
        }
        match this {
            // SAFETY: as above.
            Remote::Future(future) => unsafe { Pin::new_unchecked(future) }.poll(cx),
            Remote::Make(_) => Poll::Pending,
        }
    }
}

/// Makes the handle of a refused task: complete, with an error that says why. Drops `unmade`, of which the task would have
/// been made; if that panics, the panic is the error.
#[cold]
pub(crate) fn refuse<T: 'static>(
    shared: &SharedRef,
    label: Label,
    why: Refused,
    unmade: impl Sized,
) -> JoinHandle<T> {
    let dropped = catch_unwind(AssertUnwindSafe(|| drop(unmade)));
    let key = RecordKey { queue: 0, slot: RecordKey::NO_SLOT, generation: 0 };
    let nothing = Stage::<std::future::Pending<T>>::Empty;
    let header = Cell::allocate(State::refused(), shared.clone(), Phase::Done, key, label, nothing);
    match dropped {
        // SAFETY: the cell was just made, and no other holder has it.
        Ok(()) => unsafe { Cell::<std::future::Pending<T>>::cancel(header, Cause::Refused(why)) },
        // SAFETY: as above.
        Err(payload) => unsafe { Cell::<std::future::Pending<T>>::store_panic(header, payload) },
    };
    // SAFETY: `State::refused` counts one reference, the handle's, and the output is stored.
    unsafe { JoinHandle::from_raw(header) }
}

impl<F> Cell<F>
where
    F: Future + 'static,
    F::Output: 'static,
{
    const TABLE: &'static VTable = &VTable {
        poll: Self::poll,
        cancel: Self::cancel,
        take_output: Self::take_output,
        drop_output: Self::drop_output,
        free: Self::free,
    };

    /// The class of these cells, if a pool may keep their memory.
    const CLASS: Option<Class> = Class::of(Layout::new::<Self>());

    /// Makes a cell, on any thread.
    fn allocate(
        state: State,
        shared: SharedRef,
        phase: Phase,
        key: RecordKey,
        label: Label,
        stage: Stage<F>,
    ) -> NonNull<Header> {
        // Before it is written, so that a large future is not put on the stack in between.
        let memory = match Self::CLASS {
            Some(class) => shared.take_memory(class).cast::<Self>(),
            None => NonNull::from(Box::leak(Box::<Self>::new_uninit())).cast(),
        };
        let header = Header::new(state, Self::TABLE, shared, Id::next(), label, phase, key);
        // SAFETY: the memory was just taken, for a cell of this layout.
        unsafe { memory.write(Cell { header, stage: UnsafeCell::new(ManuallyDrop::new(stage)) }) };
        memory.cast()
    }

    /// The stage of a cell.
    ///
    /// # Safety
    ///
    /// `header` begins a live `Cell<F>`, and the caller holds its stage exclusively for as long as it uses the result.
    unsafe fn stage<'a>(header: NonNull<Header>) -> &'a mut Stage<F> {
        let cell = header.cast::<Self>();
        // SAFETY: the caller's promise. Only the stage is borrowed mutably, never the header beside it.
        let stage = unsafe { &raw const (*cell.as_ptr()).stage };
        // SAFETY: as above.
        unsafe { &mut *UnsafeCell::raw_get(stage) }
    }

    /// Makes the task the [current](Id::current) one until the guard is dropped.
    ///
    /// # Safety
    ///
    /// The cell is alive.
    unsafe fn enter(header: NonNull<Header>) -> EnteredId {
        // SAFETY: the caller's promise.
        unsafe { header.as_ref() }.id.enter()
    }

    unsafe fn poll(header: NonNull<Header>, cx: &mut Context<'_>) -> Option<Finish> {
        // SAFETY: the caller's reference keeps the cell alive.
        Id::make_current(Some(unsafe { header.as_ref() }.id));
        coop::begin_poll();
        // SAFETY: the owner thread holds the stage while the task is not complete, and `Runnable::run` does not
        // re-enter.
        let stage = unsafe { Self::stage(header) };
        let polled = catch_unwind(AssertUnwindSafe(|| match stage {
            // SAFETY: the future is pinned: it lives in the cell's allocation and is dropped in place there.
            Stage::Future(future) => unsafe { Pin::new_unchecked(future) }.poll(cx),
            Stage::Output(_) | Stage::Empty => Poll::Pending,
        }));
        match polled {
            Ok(Poll::Pending) => None,
            // SAFETY: as above; nothing uses `stage` any more.
            Ok(Poll::Ready(output)) => Some(unsafe { Self::store(header, Ok(output)) }),
            // SAFETY: as above.
            Err(payload) => Some(unsafe { Self::store_panic(header, payload) }),
        }
    }

    unsafe fn cancel(header: NonNull<Header>, cause: Cause) -> Finish {
        // SAFETY: the caller's reference keeps the cell alive.
        let _entered = unsafe { Self::enter(header) };
        // SAFETY: the cell is alive.
        let error = unsafe { header.as_ref() }.cancelled(cause);
        // SAFETY: the caller holds the stage.
        unsafe { Self::store(header, Err(error)) }
    }

    unsafe fn store_panic(header: NonNull<Header>, payload: Box<dyn Any + Send>) -> Finish {
        // SAFETY: the cell is alive.
        let error = unsafe { header.as_ref() }.panicked(payload);
        // SAFETY: the caller holds the stage.
        unsafe { Self::store(header, Err(error)) }
    }

    /// Replaces the future by `result`, or by a panic error if the future's drop panics. Of two panics the first stays.
    ///
    /// # Safety
    ///
    /// As for [`stage`](Self::stage).
    unsafe fn store(header: NonNull<Header>, result: Result<F::Output, JoinError>) -> Finish {
        let dropped = match std::mem::needs_drop::<F>() {
            // SAFETY: the caller's promise.
            true => unsafe { Self::clear(header) },
            // There is no output yet, so that there is nothing to drop.
            false => Ok(()),
        };
        let result = match (dropped, result) {
            (Ok(()), result) => result,
            (Err(second), Err(first)) if first.is_panic() => {
                drop_quietly(second);
                Err(first)
            }
            (Err(payload), result) => {
                drop_quietly(result);
                // SAFETY: the cell is alive.
                Err(unsafe { header.as_ref() }.panicked(payload))
            }
        };
        let finish = Finish::of(&result);
        // SAFETY: the caller's promise.
        let stage: *mut Stage<F> = unsafe { Self::stage(header) };
        // SAFETY: as above. Nothing that needs dropping is overwritten: the stage is empty, or a future without a drop.
        unsafe { stage.write(Stage::Output(result)) };
        finish
    }

    /// Drops what the stage holds, in place, and leaves it empty.
    ///
    /// # Safety
    ///
    /// As for [`stage`](Self::stage).
    unsafe fn clear(header: NonNull<Header>) -> Result<(), Box<dyn Any + Send>> {
        // SAFETY: the caller's promise.
        let stage: *mut Stage<F> = unsafe { Self::stage(header) };
        if !std::mem::needs_drop::<Stage<F>>() {
            // SAFETY: as below; there is nothing to drop.
            unsafe { stage.write(Stage::Empty) };
            return Ok(());
        }
        // SAFETY: the stage is initialised. It is written below whatever happens, so it is not dropped twice. A pinned
        // future is dropped in place, as pinning asks.
        let dropped = catch_unwind(AssertUnwindSafe(|| unsafe { stage.drop_in_place() }));
        // SAFETY: the stage's memory is the caller's, and holds nothing that is still to be dropped.
        unsafe { stage.write(Stage::Empty) };
        dropped
    }

    unsafe fn take_output(header: NonNull<Header>, to: *mut ()) {
        // SAFETY: the caller holds the stage, which the table's contract asks for.
        let stage = unsafe { Self::stage(header) };
        if let Stage::Output(output) = std::mem::replace(stage, Stage::Empty) {
            // SAFETY: `to` is what the table's contract says.
            unsafe { *to.cast::<Option<Result<F::Output, JoinError>>>() = Some(output) };
        }
    }

    unsafe fn drop_output(header: NonNull<Header>) {
        // SAFETY: the caller's reference keeps the cell alive.
        let _entered = unsafe { Self::enter(header) };
        // SAFETY: the caller holds the stage.
        if let Err(payload) = unsafe { Self::clear(header) } {
            // The join handle is gone: no one can be given the panic.
            drop_quietly(payload);
        }
    }

    unsafe fn free(header: NonNull<Header>) {
        // SAFETY: the table's contract.
        let shared = unsafe { Self::take_shared(header) };
        // The stage is empty by now: the output went to the join handle or was dropped, so nothing that is not `Send` is dropped here.
        match Self::CLASS {
            Some(class) => {
                // SAFETY: this was the last reference.
                unsafe { header.drop_in_place() };
                // SAFETY: `allocate` took the memory for this class, and nothing is left in it.
                unsafe { shared.give_up_with(class, header.cast()) };
            }
            // SAFETY: `allocate` leaked a box of this type, and this was its last reference.
            None => reclaim(unsafe { Box::from_raw(header.cast::<Self>().as_ptr()) }),
        }
    }

    /// Takes the cell's reference to what its executor's tasks share, to be given up when the rest is freed.
    ///
    /// # Safety
    ///
    /// The caller holds the last reference to the cell, and frees it.
    unsafe fn take_shared(mut header: NonNull<Header>) -> SharedRef {
        // SAFETY: no other holder uses the stage.
        let stage = unsafe { Self::stage(header) };
        debug_assert!(matches!(stage, Stage::Empty), "its last holder has emptied it");
        // SAFETY: nor the header.
        let header = unsafe { header.as_mut() };
        // SAFETY: it is taken once, as the cell is freed once, and not used afterwards.
        unsafe { ManuallyDrop::take(&mut header.shared) }
    }
}

impl Finish {
    fn of<T>(result: &Result<T, JoinError>) -> Self {
        match result {
            Ok(_) => Finish::Completed,
            Err(error) if error.is_panic() => Finish::Panicked,
            Err(_) => Finish::Cancelled,
        }
    }
}

#[cfg(all(test, not(any(clockworker_loom, clockworker_shuttle))))]
mod tests {
    use super::*;

    /// What a task takes beside its future and output is a promise. LocalSet's cells begin at 128 bytes.
    #[test]
    #[cfg(target_pointer_width = "64")]
    fn a_small_task_fits_in_96_bytes() {
        // Where it was spawned, its name, its tag, and the word of a probe.
        let observed = if cfg!(feature = "observe") { 40 } else { 0 };
        assert_eq!(size_of::<Header>(), 80 + observed);
        assert_eq!(size_of::<Cell<std::future::Ready<()>>>(), 96 + observed);
    }
}
