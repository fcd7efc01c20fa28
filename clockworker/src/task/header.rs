//! The untyped part that every cell begins with.

use std::any::Any;
use std::fmt;
use std::mem::{ManuallyDrop, replace};
#[cfg(feature = "observe")]
use std::num::NonZeroU64;
use std::ptr::{self, NonNull};
use std::task::Context;

#[cfg(feature = "tracing")]
use super::Trace;
#[cfg(feature = "observe")]
use super::UNKNOWN;
use super::deferrals::Deferrals;
use super::joiner::Joiner;
use super::shared::Local;
use super::state::{State, Wake};
use super::{Cause, Finish, Id, JoinError, Label, SharedRef, Stamp};
use crate::sync::{Cell, UnsafeCell};

/// The untyped part of a cell. See [`task`](super) for who may touch which field.
pub(crate) struct Header {
    pub(super) state: State,
    pub(super) vtable: &'static VTable,
    /// What the tasks of the executor share; wakes go to its woken list or inbox. Keeps both alive as long as the cell: it is taken
    /// out when the cell is freed, and given up last, as the cell's memory is the executor's, too.
    pub(super) shared: ManuallyDrop<SharedRef>,
    pub(super) id: Id,
    pub(super) label: Label,
    pub(super) owned: Owned,
    /// When it became ready last. Written by whoever makes it so.
    pub(super) ready_at: Stamp,
    /// The executor's last clock reading when it was spawned, or came in from another thread. [`UNKNOWN`] before that. The owner
    /// thread's.
    #[cfg(feature = "observe")]
    pub(super) spawned_at: Cell<u64>,
    /// The tag that it was given or has inherited, for those who look at it. The owner thread's.
    #[cfg(feature = "observe")]
    pub(super) tag: Cell<Option<NonZeroU64>>,
    #[cfg(feature = "tracing")]
    pub(super) trace: Trace,
    /// The inbox link: the address of the next task in the inbox. Belongs to the thread that set `NOTIFIED`.
    next: Cell<usize>,
    pub(super) joiner: UnsafeCell<Joiner>,
}

/// The fields of the owner thread, and one byte of the join handle's that fits beside them: 16 bytes together.
pub(super) struct Owned {
    pub(super) phase: Cell<Phase>,
    pub(super) record: Cell<RecordKey>,
    pub(super) deferrals: Cell<Deferrals>,
    /// After completion: how many lists still point at the cell, and one while the completer uses it.
    pub(super) links: Cell<u8>,
    /// The join handle's, not the owner thread's: whether the handle has taken the output.
    pub(super) output_taken: Cell<bool>,
}

/// Where a task is, as its owner thread sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Waiting for a wake.
    Parked,
    /// Woken on the owner thread; in the woken list.
    Woken,
    /// In its queue's scheduler.
    Ready,
    /// Being polled.
    Running,
    /// Being polled, and woken meanwhile on the owner thread.
    RunningWoken,
    /// Complete.
    Done,
}

/// Identifies the record of a task: its queue, slot and generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordKey {
    pub(crate) queue: u32,
    /// [`RecordKey::NO_SLOT`] until a task from another thread has its record.
    pub(crate) slot: u32,
    /// The slot's generation; as long as there is no slot, the queue's.
    pub(crate) generation: u32,
}

impl RecordKey {
    pub(crate) const NO_SLOT: u32 = u32::MAX;
    /// The same, and the task has a [placement](super::Placement).
    pub(crate) const PLACED: u32 = u32::MAX - 1;

    /// Whether the task has a record.
    #[inline]
    pub(crate) fn has_slot(&self) -> bool {
        self.slot < Self::PLACED
    }
}

/// The operations that depend on the future's type.
///
/// Every function takes the header of a live cell of that type.
pub(super) struct VTable {
    /// Polls the future; stores the output once there is one. Owner thread, not complete, not re-entrant.
    pub(super) poll: unsafe fn(NonNull<Header>, &mut Context<'_>) -> Option<Finish>,
    /// Drops the future and stores a cancelled error. Owner thread (or a future never polled, made of `Send` parts),
    /// not complete, not running.
    pub(super) cancel: unsafe fn(NonNull<Header>, Cause) -> Finish,
    /// Moves the output to `*mut Option<Result<T, JoinError>>`. Holder of the stage only.
    pub(super) take_output: unsafe fn(NonNull<Header>, *mut ()),
    /// Drops the output, if it is still there. Holder of the stage only.
    pub(super) drop_output: unsafe fn(NonNull<Header>),
    /// Frees the cell. Last reference only.
    pub(super) free: unsafe fn(NonNull<Header>),
}

impl Header {
    pub(super) fn new(
        state: State,
        vtable: &'static VTable,
        shared: SharedRef,
        id: Id,
        label: Label,
        phase: Phase,
        key: RecordKey,
    ) -> Self {
        let owned = Owned {
            phase: Cell::new(phase),
            record: Cell::new(key),
            deferrals: Cell::new(Deferrals::default()),
            links: Cell::new(0),
            output_taken: Cell::new(false),
        };
        // One from another thread is parked until it is admitted.
        let ready_at = match phase {
            Phase::Parked => Stamp::elsewhere(&shared.ticks),
            _ => Stamp::here(&shared.ticks),
        };
        #[cfg(feature = "observe")]
        let spawned_at = Cell::new(if phase == Phase::Parked { UNKNOWN } else { shared.ticks.last() });
        Self {
            state,
            vtable,
            shared: ManuallyDrop::new(shared),
            id,
            label,
            owned,
            ready_at,
            #[cfg(feature = "observe")]
            spawned_at,
            #[cfg(feature = "observe")]
            tag: Cell::new(None),
            #[cfg(feature = "tracing")]
            trace: Trace::none(),
            next: Cell::new(Link::NONE),
            joiner: UnsafeCell::new(Joiner::NOBODY),
        }
    }

    /// Notes the executor's last clock reading as the time at which the task came in from another thread, unless that was done
    /// before.
    #[cfg(feature = "observe")]
    pub(super) fn stamp_spawn(&self) {
        if self.spawned_at.get() == UNKNOWN {
            self.spawned_at.set(self.shared.ticks.last());
            self.ready_at.take_in(&self.shared.ticks);
        }
    }

    /// When it became ready last; the executor's last clock reading, if nobody noted that.
    #[cfg(feature = "observe")]
    pub(super) fn ready_since(&self) -> u64 {
        match self.ready_at.get() {
            UNKNOWN => self.shared.ticks.last(),
            at => at,
        }
    }

    /// The error of the task, cancelled for that cause.
    pub(super) fn cancelled(&self, cause: Cause) -> JoinError {
        JoinError::cancelled(self.id, self.label.clone(), cause)
    }

    /// The error of the task, which panicked.
    pub(super) fn panicked(&self, payload: Box<dyn Any + Send>) -> JoinError {
        JoinError::panicked(self.id, self.label.clone(), payload)
    }

    /// What a handle of that name shows of its task.
    pub(super) fn show(&self, handle: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct(handle);
        shown.field("id", &self.id).field("finished", &self.state.is_complete());
        self.label.show(&mut shown);
        shown.finish()
    }

    /// Takes the joiner, if there is one.
    ///
    /// # Safety
    ///
    /// `joiner` is the caller's: see [`task`](super).
    pub(super) unsafe fn take_joiner(&self) -> Joiner {
        // SAFETY: the caller's promise.
        replace(unsafe { &mut *self.joiner.get() }, Joiner::NOBODY)
    }

    /// Tells the joiner that the task has finished.
    ///
    /// # Safety
    ///
    /// As for [`take_joiner`](Self::take_joiner).
    #[inline(never)] // or else each end of a task that nobody awaits saves registers for it
    pub(super) unsafe fn tell_joiner(&self) {
        // SAFETY: the caller's promise.
        unsafe { self.take_joiner() }.tell();
    }
}

/// A pointer to a cell's header, as lists hold it. It is not counted: the protocol in [`task`](super) keeps the cell alive
/// while a list points at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Link(NonNull<Header>);

// SAFETY: a link is an address. Following it is unsafe, and the callers say what they rely on.
unsafe impl Send for Link {}

impl Link {
    /// No cell's address.
    pub(crate) const NONE: usize = 0;

    pub(super) fn new(header: NonNull<Header>) -> Self {
        Self(header)
    }

    pub(super) fn header(self) -> NonNull<Header> {
        self.0
    }

    /// Exposes the link's address, of which [`from_exposed`](Link::from_exposed) makes the link again.
    pub(crate) fn expose(self) -> usize {
        self.0.as_ptr().expose_provenance()
    }

    /// The link to the cell at that address, which was exposed before; none for [`NONE`](Link::NONE).
    pub(crate) fn from_exposed(address: usize) -> Option<Self> {
        NonNull::new(ptr::with_exposed_provenance_mut(address)).map(Self)
    }

    /// The address of the next task in the inbox.
    ///
    /// # Safety
    ///
    /// The cell is alive and the caller owns its `next` field.
    pub(crate) unsafe fn next(self) -> usize {
        // SAFETY: the caller's promise.
        unsafe { self.0.as_ref() }.next.get()
    }

    /// Sets the address of the next task in the inbox.
    ///
    /// # Safety
    ///
    /// The cell is alive and the caller owns its `next` field.
    pub(crate) unsafe fn set_next(self, next: usize) {
        // SAFETY: the caller's promise.
        unsafe { self.0.as_ref() }.next.set(next);
    }
}

/// Wakes the task: by the woken list on the owner thread, by the inbox on any other.
///
/// A task that yields wakes itself. That path calls nothing, so no registers are saved for it.
///
/// # Safety
///
/// The caller holds a reference to the cell, or the cell is being polled by the caller's caller.
#[inline]
pub(super) unsafe fn wake_task(header: NonNull<Header>) {
    // SAFETY: the cell is alive, by the caller's promise.
    let task = unsafe { header.as_ref() };
    let Some(local) = task.shared.local() else {
        // SAFETY: the caller's promise.
        return unsafe { wake_elsewhere(header) };
    };
    // Two questions, as the compiler makes a table of a `match`: 4 instructions a yield.
    let phase = task.owned.phase.get();
    if phase == Phase::Running {
        task.owned.phase.set(Phase::RunningWoken);
    } else if phase == Phase::Parked {
        push_woken(header, task, local);
    }
}

/// Wakes the task on another thread than the owner's.
///
/// # Safety
///
/// As for [`wake_task`].
#[inline(never)]
unsafe fn wake_elsewhere(header: NonNull<Header>) {
    // SAFETY: the cell is alive, by the caller's promise.
    if unsafe { header.as_ref() }.state.wake() == Wake::Submit {
        // SAFETY: the cell is alive, and this call set `NOTIFIED`.
        unsafe { submit(header) };
    }
}

/// Pushes a parked task into the woken list, and wakes the host if it waits for that.
#[inline(never)]
fn push_woken(header: NonNull<Header>, task: &Header, local: &Local) {
    task.owned.phase.set(Phase::Woken);
    #[cfg(feature = "observe")]
    {
        task.ready_at.set_here(&task.shared.ticks);
        note_ready(task, local, false);
    }
    local.woken.push(Link(header), task.owned.record.get().queue);
    task.shared.inbox.wake_parked_host();
}

/// Notes a wake in the timeline, if there is one.
#[cfg(feature = "observe")]
pub(super) fn note_ready(task: &Header, local: &Local, remote: bool) {
    if let Some(ring) = &*local.ring.borrow() {
        let key = task.owned.record.get();
        ring.ready(task.ready_since(), key.queue, (key.slot, key.generation), remote);
    }
}

/// Marks the task as aborted, and pushes it into the inbox for the owner to drop its future.
///
/// # Safety
///
/// The caller holds a reference to the cell.
pub(super) unsafe fn abort(header: NonNull<Header>) {
    // SAFETY: the cell is alive, by the caller's promise.
    if unsafe { header.as_ref() }.state.abort() == Wake::Submit {
        // SAFETY: the cell is alive, and this call set `NOTIFIED`.
        unsafe { submit(header) };
    }
}

/// Pushes the task into the inbox.
///
/// # Safety
///
/// The caller holds a reference to the cell and has set `NOTIFIED`.
unsafe fn submit(header: NonNull<Header>) {
    // SAFETY: the cell is alive. It stays so during the push, although the owner may complete the task at once, because
    // the caller's reference is not the record's.
    let task = unsafe { header.as_ref() };
    let shared = &task.shared;
    // An aborted task is stamped too, and nobody asks.
    task.ready_at.set_elsewhere(&shared.ticks);
    // SAFETY: the caller set `NOTIFIED`, so `next` is its own.
    if unsafe { shared.inbox.push(Link(header)) }.is_err() {
        // SAFETY: a closed inbox means that every task was completed. This one was complete or completed after `NOTIFIED` was
        // set, so `LiveTask::complete` left the record's reference to the inbox, in whose stead this call releases it.
        unsafe { release(header) };
    }
}

/// Gives up a reference; frees the cell if it was the last.
///
/// # Safety
///
/// The caller owns a reference, and does not use the cell afterwards.
#[inline]
pub(super) unsafe fn release(header: NonNull<Header>) {
    // SAFETY: the cell is alive, by the caller's reference.
    if unsafe { header.as_ref() }.state.release() {
        // SAFETY: as above.
        let free = unsafe { header.as_ref() }.vtable.free;
        // SAFETY: this was the last reference.
        unsafe { free(header) };
    }
}
