//! The owner thread's view of a task: cancel it, complete it, take it off the lists. See [`runnable`](super::runnable) for its polls.

use std::marker::PhantomData;
use std::mem::forget;
use std::ptr::NonNull;

use clockworker_schedulers::Ready;

use super::header::{Header, Link, Phase, RecordKey, free, release_complete, tell_joiner};
use super::probe::TaskView;
use super::state::Taken;
use super::{AbortHandle, ArrivalList, Cause, Id, Label};

/// The record's reference to a task that is not complete. Owner thread only.
///
/// Dropping it cancels the task, so that every path through the executor answers the join handle. (Not while the task is being
/// polled: see [`Runnable`](super::Runnable).)
pub(crate) struct LiveTask {
    header: NonNull<Header>,
    /// Not `Send`: its methods run user code and touch the owner's fields.
    _owner_thread: PhantomData<*mut ()>,
}

/// How a task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Finish {
    Completed,
    Cancelled,
    Panicked,
}

/// What a task needs that was taken out of the inbox.
pub(crate) enum Incoming {
    /// Nothing more: it was woken, and is among the arrivals of its queue now.
    Woken(RecordKey),
    /// It was aborted: its future is to be dropped.
    Aborted(RecordKey),
    /// It came from another thread and needs a record.
    New(LiveTask, RecordKey),
    /// Nothing: the task is ready already, or complete.
    Nothing,
}

impl LiveTask {
    /// # Safety
    ///
    /// The caller owns a reference to the cell and gives it up to the result. The task is not complete. This is its
    /// owner thread, or its future was never polled and is made of `Send` parts.
    pub(super) unsafe fn from_raw(header: NonNull<Header>) -> Self {
        Self { header, _owner_thread: PhantomData }
    }

    #[inline(always)]
    pub(super) fn header(&self) -> &Header {
        // SAFETY: this reference keeps the cell alive.
        unsafe { self.header.as_ref() }
    }

    #[inline(always)]
    pub(super) fn pointer(&self) -> NonNull<Header> {
        self.header
    }

    #[inline(always)]
    pub(super) fn phase(&self) -> Phase {
        self.header().owned.phase.get()
    }

    #[inline(always)]
    pub(super) fn set_phase(&self, phase: Phase) {
        self.header().owned.phase.set(phase);
    }

    /// Tells the task the key of its record.
    pub(crate) fn assign_record(&self, key: RecordKey) {
        self.header().owned.record.set(key);
    }

    /// Puts the task among the arrivals of its queue, which are to hand it to its scheduler for that reason. Not if it is complete,
    /// or there already.
    #[inline(always)]
    pub(crate) fn arrive(&self, why: Ready) {
        let phase = if why == Ready::Spawned { Phase::Spawned } else { Phase::Woken };
        arrive(self.header, phase);
    }

    /// Takes the task off its queue's arrivals, and out of the hands of its scheduler: it waits. Not while it is polled.
    pub(crate) fn park_for_move(&self, arrivals: &ArrivalList) {
        if self.has_arrived() {
            // SAFETY: this is the owner thread, whose reference this is.
            unsafe { arrivals.take_out(Link::new(self.header)) };
        }
        self.set_phase(Phase::Parked);
    }

    /// Has no wake put the aborted task among the arrivals any more, where it would count as one that is not aborted.
    #[inline]
    pub(crate) fn wait_for_drop(&self) {
        self.make_ready();
    }

    /// Marks the task as ready, unless it is being polled.
    pub(super) fn make_ready(&self) {
        if !self.is_running() {
            self.set_phase(Phase::Ready);
        }
    }

    /// Begins to load the cell's first cache lines: the header and, unless it is large, the future.
    #[inline]
    pub(crate) fn prefetch(&self) {
        #[cfg(target_arch = "x86_64")]
        for line in 0..2 {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            let address = self.header.as_ptr().cast::<i8>().wrapping_add(64 * line);
            // SAFETY: a prefetch reads nothing that the program could see, and does not fault on any address.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(address) };
        }
    }

    /// Notes a poll in `turn` that returned `Pending`.
    #[inline]
    pub(super) fn note_poll(&self, turn: u8) {
        self.header().owned.polled_in.set(turn);
    }

    pub(crate) fn id(&self) -> Id {
        self.header().id
    }

    /// The word of a probe. `u64::MAX` if none has written it.
    pub(crate) fn word(&self) -> u64 {
        self.header().marks.load()
    }

    /// Sets it, in the probe's stead.
    #[inline]
    pub(crate) fn set_word(&self, word: u64) {
        self.header().marks.store(word);
    }

    pub(crate) fn label(&self) -> &Label {
        &self.header().label
    }

    /// Notes the tag that it has.
    pub(crate) fn set_tag(&self, tag: u64) {
        self.header().marks.set_tag(tag);
    }

    /// Whether the task is being polled.
    #[inline]
    pub(crate) fn is_running(&self) -> bool {
        matches!(self.phase(), Phase::Running | Phase::RunningWoken)
    }

    /// Whether the task is among the arrivals of its queue.
    pub(crate) fn has_arrived(&self) -> bool {
        self.phase().is_arrived()
    }

    /// Whether its scheduler has it.
    #[inline]
    pub(crate) fn is_ready(&self) -> bool {
        self.phase() == Phase::Ready
    }

    /// Whether its scheduler does not know of it yet.
    pub(crate) fn is_new(&self) -> bool {
        self.phase() == Phase::Spawned
    }

    /// Makes a handle that can abort the task.
    pub(crate) fn abort_handle(&self) -> AbortHandle {
        self.header().retain();
        // SAFETY: `retain` counted the reference that goes to the new handle.
        unsafe { AbortHandle::from_raw(self.header) }
    }

    /// Whether the task was aborted. An abort on another thread may be seen late.
    pub(crate) fn is_aborted(&self) -> bool {
        self.header().state.is_aborted()
    }

    /// Drops the task's future and completes it with a cancelled error. User code runs here; nothing unwinds out of it.
    pub(crate) fn cancel(self, cause: Cause) -> Finish {
        if self.is_running() {
            debug_assert!(false, "{self:?} is being polled");
            // Its `Runnable` relies on the reference.
            forget(self);
            return Finish::Cancelled;
        }
        // SAFETY: this is the owner thread, or the future was never polled (`from_raw`). The task is not complete: that takes
        // its `LiveTask`, which is here. Nor is it running.
        let finish = unsafe { (self.header().vtable.cancel)(self.header, cause) };
        self.complete(finish);
        finish
    }

    /// Completes a task whose output is stored: hands the output over, and gives up the record's reference or leaves it to
    /// the lists.
    pub(super) fn complete(self, finish: Finish) {
        let pointer = self.header;
        forget(self);
        // SAFETY: the reference just forgotten is still counted.
        let header = unsafe { pointer.as_ref() };
        // One that was refused on its way from another thread was never spawned.
        if header.shared.is_probed() && header.owned.record.get().has_slot() {
            // Also of one that was cancelled: what the probe asks is asked of this task.
            let _entered = header.id.enter();
            header.shared.tell(|probe| probe.ended(&TaskView::new(header), finish.into()));
        }
        let (listed, lent) = (header.owned.phase.replace(Phase::Done).is_arrived(), header.owned.tally.get());
        if !listed && header.state.complete_unwatched(lent) {
            return;
        }
        if !listed && header.state.is_detached(lent) {
            // SAFETY: no join handle is left, so the stage is the completer's.
            unsafe { (header.vtable.drop_output)(pointer) };
            // SAFETY: the record's references are this call's, and no other holder can reach the cell.
            return unsafe { free(pointer) };
        }
        // SAFETY: the record's references are this call's.
        unsafe { complete_watched(pointer, listed) };
    }
}

/// Completes a task that has other holders than its record and a join handle that does not wait, or to which a list points. `listed`
/// says whether its queue's arrivals do.
///
/// # Safety
///
/// This is the owner thread (or the future was never polled). The output is stored, and the caller gives up the record's references.
#[inline(never)]
unsafe fn complete_watched(pointer: NonNull<Header>, listed: bool) {
    // SAFETY: the caller's promise.
    let header = unsafe { pointer.as_ref() };
    let completed = header.state.complete(header.owned.tally.get());
    // With one for this call: the user's code below may run the executor, which takes tasks off these lists.
    header.owned.tally.set(1 + u8::from(listed) + u8::from(completed.in_inbox));
    if completed.drop_output {
        // SAFETY: no join handle is left, so the stage is the completer's.
        unsafe { (header.vtable.drop_output)(pointer) };
    }
    // SAFETY: `COMPLETE` was set on top of `HAS_JOINER`, so the slot is the completer's.
    if completed.tell_joiner && unsafe { tell_joiner(pointer) } {
        return;
    }
    // SAFETY: one of the links is this call's.
    unsafe { unlink(Link::new(pointer)) };
}

impl Drop for LiveTask {
    fn drop(&mut self) {
        // SAFETY: this reference is given up to the new one, which `cancel` consumes.
        let again = unsafe { LiveTask::from_raw(self.header) };
        let _ = again.cancel(Cause::ExecutorDropped);
    }
}

impl std::fmt::Debug for LiveTask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("LiveTask").field(&self.header().id).finish()
    }
}

/// Puts a task among the arrivals of its queue, by such a phase. On its owner thread. Not if it is complete, or there already.
#[inline(always)] // a call is 8 instructions of a spawn
fn arrive(header: NonNull<Header>, phase: Phase) {
    // SAFETY: the caller's `LiveTask`, or the link that it has taken, keeps the cell alive.
    let task = unsafe { header.as_ref() };
    let Some(local) = task.shared.local() else { return };
    let before = task.owned.phase.get();
    if before != Phase::Done && !before.is_arrived() {
        task.owned.phase.set(phase);
        // SAFETY: the phase was just set.
        unsafe { local.arrivals.push(Link::new(header), task.owned.record.get().queue) };
    }
}

/// Marks a task as ready whose link was taken off its queue's arrivals; or counts the link of a complete one. Returns the key of its
/// record and why it is ready, unless it is complete.
///
/// # Safety
///
/// The link was among the arrivals of a queue of this executor, and this is its owner thread.
#[inline]
pub(super) unsafe fn take_off_arrivals(link: Link) -> Option<(RecordKey, Ready)> {
    // SAFETY: the record's reference keeps the cell alive while the arrivals point at it.
    let task = unsafe { link.header().as_ref() };
    let phase = task.owned.phase.replace(Phase::Ready);
    let why = match phase {
        Phase::Spawned => Ready::Spawned,
        Phase::Deferred => Ready::Deferred,
        Phase::Done => {
            // SAFETY: the link just taken off is one of those that `complete` counted.
            unsafe { unlink_over(link, task) };
            return None;
        }
        _ => Ready::Woken,
    };
    Some((task.owned.record.get(), why))
}

/// [`unlink`], and says again that the task is complete.
///
/// # Safety
///
/// As for that.
#[cold]
#[inline(never)]
unsafe fn unlink_over(link: Link, task: &Header) {
    task.owned.phase.set(Phase::Done);
    // SAFETY: the caller's promise.
    unsafe { unlink(link) };
}

/// Lets later wakes push a task again whose link was taken out of the inbox, and puts it among the arrivals of its queue if it is
/// parked; or counts the link of a complete one. Returns what the task needs.
///
/// # Safety
///
/// The link was pushed into this executor's inbox, its `next` was read, and this is the owner thread.
pub(crate) unsafe fn take_out_of_inbox(link: Link) -> Incoming {
    // SAFETY: the record's reference keeps the cell alive while the inbox points at it.
    let task = unsafe { link.header().as_ref() };
    let key = task.owned.record.get();
    let taken = task.state.take();
    if taken == Taken::Complete {
        // SAFETY: the link just taken off is one of those that `complete` counted.
        unsafe { unlink(link) };
        return Incoming::Nothing;
    }
    if !key.has_slot() {
        // SAFETY: the record's reference of a task from another thread comes with its first push. This is the owner
        // thread, and the task is not complete.
        return Incoming::New(unsafe { LiveTask::from_raw(link.header()) }, key);
    }
    match (taken, task.owned.phase.get()) {
        (Taken::Aborted, _) => Incoming::Aborted(key),
        (_, Phase::Parked) => {
            arrive(link.header(), Phase::Woken);
            Incoming::Woken(key)
        }
        _ => Incoming::Nothing,
    }
}

/// Counts one link less to a complete task. With the last one, releases the record's reference.
///
/// # Safety
///
/// The task is complete, and the link is one that `LiveTask::complete` counted: its own, or that of a list which has it no more.
pub(super) unsafe fn unlink(link: Link) {
    // SAFETY: the record's reference is held until the last link is gone.
    let links = unsafe { link.header().as_ref() }.owned.tally.get() - 1;
    // SAFETY: as above.
    unsafe { link.header().as_ref() }.owned.tally.set(links);
    if links == 0 {
        // SAFETY: the record's reference was left to the last link.
        unsafe { release_complete(link.header(), 1) };
    }
}
