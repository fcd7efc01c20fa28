//! The untyped part that every cell begins with.

use std::any::Any;
use std::fmt;
use std::mem::{ManuallyDrop, replace};
use std::ptr::{self, NonNull};
use std::task::Context;

use clockworker_schedulers::QueueId;

use super::finished;
use super::joiner::{Joiner, Unpacked};
use super::label::Marks;
use super::probe::{AnyTask, TaskView, WokenBy};
use super::shared::Local;
use super::state::{LENT_MAX, State, Wake};
use super::{Cause, Finish, Id, JoinError, Label, SharedRef};
use crate::base::wake_quietly;
use crate::sync::{Cell, UnsafeCell};

/// The untyped part of a cell. See [`task`](super) for who may touch which field.
pub(crate) struct Header {
    pub(super) state: State,
    pub(super) vtable: &'static VTable,
    /// What the tasks of the executor share; wakes go to its arrivals or inbox. Keeps both alive as long as the cell: it is taken
    /// out when the cell is freed, and given up last, as the cell's memory is the executor's, too.
    pub(super) shared: ManuallyDrop<SharedRef>,
    pub(super) id: Id,
    pub(super) label: Label,
    pub(super) owned: Owned,
    pub(super) marks: Marks,
    /// The inbox link: the address of the next task in the inbox. Belongs to the thread that set `NOTIFIED`.
    next: Cell<usize>,
    /// The link of its queue's arrivals: the task that came after it. The owner thread's.
    later: Cell<Option<Link>>,
    pub(super) joiner: UnsafeCell<Joiner>,
}

/// The fields of the owner thread, and one byte of the join handle's that fits beside them: 16 bytes together.
pub(super) struct Owned {
    pub(super) phase: Cell<Phase>,
    pub(super) record: Cell<RecordKey>,
    /// The number of the turn of its last poll that returned `Pending`, modulo 256.
    pub(super) polled_in: Cell<u8>,
    /// Before completion: how many of its references the record has lent. After it: how many lists still point at the cell, and one
    /// while the completer uses it.
    pub(super) tally: Cell<u8>,
    /// The join handle's, not the owner thread's: whether the handle has taken the output.
    pub(super) output_taken: Cell<bool>,
}

/// Where a task is, as its owner thread sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Waiting for a wake.
    Parked,
    /// Among the arrivals of its queue, as it was spawned,
    Spawned,
    /// or was woken,
    Woken,
    /// or was woken by the host, which had deferred that.
    Deferred,
    /// In its queue's scheduler.
    Ready,
    /// Being polled.
    Running,
    /// Being polled, and woken meanwhile on the owner thread.
    RunningWoken,
    /// Complete.
    Done,
}

impl Phase {
    /// Whether the task is among the arrivals of its queue.
    #[inline]
    pub(super) fn is_arrived(self) -> bool {
        matches!(self, Phase::Spawned | Phase::Woken | Phase::Deferred)
    }
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
    /// From here on it is no slot: the bits below say what is known of a task without a record.
    const SLOTS: u32 = 1 << 31;
    /// Clear if the task has a [placement](super::Placement).
    const UNPLACED: u32 = 1 << 30;
    /// The generation of its parent's queue, as far as it fits; all are set if no parent is known.
    const PARENT: u32 = Self::UNPLACED - 1;

    /// In place of a slot: the task has a parent in that queue.
    pub(crate) fn child_of(queue: QueueId) -> u32 {
        Self::NO_SLOT & !Self::PARENT | queue.generation() & Self::PARENT
    }

    /// Whether that queue is its parent's. Of a task without a record.
    pub(crate) fn is_child_of(&self, queue: QueueId) -> bool {
        let parent = self.slot & Self::PARENT;
        parent != Self::PARENT && parent == queue.generation() & Self::PARENT
    }

    /// The same, of a task with a placement.
    pub(super) fn placed(self) -> Self {
        Self { slot: self.slot & !Self::UNPLACED, ..self }
    }

    /// Whether a task without a record has a placement.
    #[inline]
    pub(crate) fn is_placed(&self) -> bool {
        self.slot & Self::UNPLACED == 0
    }

    /// Whether the task has a record.
    #[inline]
    pub(crate) fn has_slot(&self) -> bool {
        self.slot < Self::SLOTS
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
            polled_in: Cell::new(0),
            tally: Cell::new(0),
            output_taken: Cell::new(false),
        };
        Self {
            state,
            vtable,
            shared: ManuallyDrop::new(shared),
            id,
            label,
            owned,
            marks: Marks::new(),
            next: Cell::new(Link::NONE),
            later: Cell::new(None),
            joiner: UnsafeCell::new(Joiner::NOBODY),
        }
    }

    /// Tells the probe that another thread wakes or spawns the task: on that thread, before the inbox has it.
    #[inline]
    pub(super) fn tell_elsewhere(&self) {
        self.shared.tell(|probe| probe.woken_elsewhere(&AnyTask::new(self)));
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

    /// Counts one more holder. On the owner thread the record lends it a reference, without an atomic operation.
    #[inline]
    pub(super) fn retain(&self) {
        match self.lent().filter(|lent| lent.get() < LENT_MAX) {
            Some(lent) => lent.set(lent.get() + 1),
            None => self.state.retain(),
        }
    }

    /// Takes a holder's reference back into the record's, on the owner thread. False if the holder has to give it up, as any other.
    #[inline]
    fn take_back(&self) -> bool {
        let Some(lent) = self.lent().filter(|lent| lent.get() > 0) else { return false };
        lent.set(lent.get() - 1);
        true
    }

    /// How many references the record has lent, if this is the owner thread and the task is not complete.
    #[inline]
    fn lent(&self) -> Option<&Cell<u8>> {
        self.shared.local().filter(|_| self.owned.phase.get() != Phase::Done).map(|_| &self.owned.tally)
    }

    /// Makes a change in the state of a task that is [as it was spawned](State::is_as_spawned), if nobody can reach it but its record,
    /// which is this thread's, and its join handle, which is the caller's. Not while it is polled: other threads may use the waker that
    /// is lent to the poll. False if it did not.
    #[inline]
    pub(super) fn change_as_spawned(&self, change: impl FnOnce(&State)) -> bool {
        let is_running = || matches!(self.owned.phase.get(), Phase::Running | Phase::RunningWoken);
        let lent = self.lent().filter(|lent| self.state.is_as_spawned(lent.get()) && !is_running());
        if let Some(lent) = lent {
            lent.set(0);
            change(&self.state);
        }
        lent.is_some()
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
}

/// Tells the joiner that the task has finished. True if that gave the record's reference to a set's list.
///
/// # Safety
///
/// The task is complete, this is its owner thread, and one of its links is the caller's. `joiner` is the caller's, too.
#[inline(never)] // or else each end of a task that nobody awaits saves registers for it
pub(super) unsafe fn tell_joiner(header: NonNull<Header>) -> bool {
    // SAFETY: the record's reference, which is held as long as there are links, keeps the cell alive.
    let task = unsafe { header.as_ref() };
    // SAFETY: the caller's promise.
    match unsafe { task.take_joiner() }.unpack() {
        Unpacked::Nobody => false,
        Unpacked::Waker(waker) => {
            wake_quietly(waker);
            false
        }
        Unpacked::Set(list, place) => {
            let is_only_link = task.owned.tally.get() == 1;
            if !is_only_link {
                task.state.retain();
            }
            // SAFETY: the set has said that the list is told, and this is the one time. The reference is the record's, which no other
            // link needs, or the one just counted.
            let given = unsafe { finished::push(list, header, place) };
            if !is_only_link && !given {
                // SAFETY: the reference counted above.
                unsafe { release_complete(header, 1) };
            }
            is_only_link && given
        }
    }
}

/// A pointer to a cell's header, as lists hold it. It is not counted: the protocol in [`task`](super) keeps the cell alive
/// while a list points at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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

    /// Whether the task is complete.
    ///
    /// # Safety
    ///
    /// The cell is alive, and this is its owner thread.
    pub(super) unsafe fn is_complete(self) -> bool {
        // SAFETY: the caller's promise.
        unsafe { self.0.as_ref() }.owned.phase.get() == Phase::Done
    }

    /// Sets the task that came after it to its queue.
    ///
    /// # Safety
    ///
    /// As for [`is_complete`](Link::is_complete).
    #[inline]
    pub(super) unsafe fn set_later(self, later: Option<Link>) {
        // SAFETY: the caller's promise.
        unsafe { self.0.as_ref() }.later.set(later);
    }

    /// The task that came after it.
    ///
    /// # Safety
    ///
    /// As for [`is_complete`](Link::is_complete).
    pub(super) unsafe fn later(self) -> Option<Link> {
        // SAFETY: the caller's promise.
        unsafe { self.0.as_ref() }.later.get()
    }

    /// Sets it; what it was.
    ///
    /// # Safety
    ///
    /// As for [`is_complete`](Link::is_complete).
    #[inline]
    pub(super) unsafe fn replace_later(self, later: Option<Link>) -> Option<Link> {
        // SAFETY: the caller's promise.
        unsafe { self.0.as_ref() }.later.replace(later)
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

/// Wakes the task: by its queue's arrivals on the owner thread, by the inbox on any other.
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
    let task = unsafe { header.as_ref() };
    if task.state.wake() == Wake::Submit {
        task.tell_elsewhere();
        // SAFETY: the cell is alive, and this call set `NOTIFIED`.
        unsafe { submit(header) };
    }
}

/// Puts a parked task among the arrivals of its queue, and wakes the host if it waits for that.
#[inline(never)]
fn push_woken(header: NonNull<Header>, task: &Header, local: &Local) {
    let is_deferred = local.arrivals.is_deferred(task.owned.polled_in.get());
    task.owned.phase.set(if is_deferred { Phase::Deferred } else { Phase::Woken });
    // SAFETY: the phase was just set, from `Parked`.
    unsafe { local.arrivals.push(Link(header), task.owned.record.get().queue) };
    task.shared.tell(|probe| probe.woken(&TaskView::new(task), WokenBy::Local));
    task.shared.inbox.wake_parked_host();
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
    if unsafe { header.as_ref() }.state.are_last(1) {
        // SAFETY: nobody else holds it.
        unsafe { free(header) };
    } else {
        // SAFETY: the caller's promise.
        unsafe { release_one_of_several(header) };
    }
}

/// [`release`] of a reference that was not the last one.
///
/// # Safety
///
/// As for that.
#[inline(never)]
unsafe fn release_one_of_several(header: NonNull<Header>) {
    // SAFETY: the cell is alive, by the caller's reference.
    let task = unsafe { header.as_ref() };
    if !task.take_back() && task.state.release(1) {
        // SAFETY: this was the last reference.
        unsafe { free(header) };
    }
}

/// Gives up references to a complete task; frees the cell if they were the last.
///
/// # Safety
///
/// As for [`release`].
#[inline]
pub(super) unsafe fn release_complete(header: NonNull<Header>, references: usize) {
    // SAFETY: the cell is alive, by the caller's references.
    if unsafe { header.as_ref() }.state.release(references) {
        // SAFETY: these were the last references.
        unsafe { free(header) };
    }
}

/// Frees the cell.
///
/// # Safety
///
/// Nobody holds it any more.
#[inline]
pub(super) unsafe fn free(header: NonNull<Header>) {
    // SAFETY: the caller's promise.
    let free = unsafe { header.as_ref() }.vtable.free;
    // SAFETY: as above.
    unsafe { free(header) };
}
