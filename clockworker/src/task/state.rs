//! The atomic word of a task: flags and reference count. Every method is one transition; it decides and returns what is
//! to be done, and the caller does it.
//!
//! Orderings: all transitions are read-modify-writes of one word, so they form one release sequence. What that buys, and who
//! pairs with whom, is said at each method. Each is as weak as it may be: `clockworker-reliability orderings` shows that.

use std::sync::atomic::Ordering;

use crate::sync::AtomicUsize;

const NOTIFIED: usize = 1;
const COMPLETE: usize = 1 << 1;
const JOIN_WAKER: usize = 1 << 2;
const JOIN_INTEREST: usize = 1 << 3;
const ABORTED: usize = 1 << 4;
const REFERENCE: usize = 1 << 5;

/// A task as it is spawned: held by its record and its join handle.
const SPAWNED: usize = JOIN_INTEREST | (2 * REFERENCE);
/// A task whose join handle was dropped at once: held by its record.
const DETACHED: usize = REFERENCE;

/// See the [module docs](self) and the table in [`task`](super).
#[derive(Debug)]
pub(super) struct State(AtomicUsize);

/// What a notifier has to do.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wake {
    /// Push the task into the inbox: the caller is the one who set `NOTIFIED`.
    Submit,
    /// Nothing: it is on its way to a poll already, or complete.
    Nothing,
}

/// What the owner finds when it takes a task out of the inbox.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// Make it ready.
    Live,
    /// Drop its future now.
    Aborted,
    /// It completed meanwhile: one link less.
    Complete,
}

/// What is left to do once the output is stored.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Completed {
    /// Nobody wants the output: drop it.
    pub(super) drop_output: bool,
    /// `join_waker` is set and now the completer's: wake it.
    pub(super) wake_joiner: bool,
    /// A notifier on another thread pushed the task, or is about to.
    pub(super) in_inbox: bool,
    /// The record's reference was dropped in the same step; the cell may be gone.
    pub(super) released: bool,
}

/// What a join handle has to do when it is dropped.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub(super) enum LeaveJoin {
    /// Nothing is left of the handle: neither its reference, nor a waker, nor a claim to the output.
    Done,
    /// The task is complete, so the output is the handle's, to read or drop, and then the reference.
    Complete,
    /// `join_waker` is the handle's again: drop it and try once more.
    DropWaker,
}

impl State {
    /// A task spawned on the owner thread.
    pub(super) fn spawned() -> Self {
        Self(AtomicUsize::new(SPAWNED))
    }

    /// A task made on another thread, about to be pushed into the inbox.
    pub(super) fn spawned_notified() -> Self {
        Self(AtomicUsize::new(SPAWNED | NOTIFIED))
    }

    /// A task that was refused: complete from the beginning, held by its join handle.
    pub(super) fn refused() -> Self {
        Self(AtomicUsize::new(JOIN_INTEREST | COMPLETE | NOTIFIED | REFERENCE))
    }

    /// A wake from any thread but the owner's (or from there once the executor is gone).
    ///
    /// Ordering: Release makes what the caller wrote visible to the poll that this wake causes, also when it is
    /// coalesced into an earlier one: the partner is the Acquire in [`take`](State::take), which clears the flag before
    /// that poll. Acquire orders the caller's use of `next` after the owner's last use of it.
    pub(super) fn wake(&self) -> Wake {
        let prev = self.0.fetch_or(NOTIFIED, Ordering::AcqRel);
        if prev & (NOTIFIED | COMPLETE) == 0 { Wake::Submit } else { Wake::Nothing }
    }

    /// An abort from any thread. It takes the inbox's way, also on the owner thread, so that the future is dropped in
    /// a slice of its queue and never inside the caller's stack.
    ///
    /// Ordering: as for [`notify`](State::wake).
    pub(super) fn abort(&self) -> Wake {
        let prev = self.0.fetch_or(ABORTED | NOTIFIED, Ordering::AcqRel);
        if prev & (NOTIFIED | COMPLETE) == 0 { Wake::Submit } else { Wake::Nothing }
    }

    /// The owner takes the task out of the inbox; wakes from now on push it again.
    ///
    /// Ordering: Acquire pairs with the Release of every notifier since the last `take`, so what they wrote before
    /// waking happens before the poll that follows. Release hands `next` to the next notifier.
    pub(super) fn take(&self) -> Taken {
        if self.is_complete() {
            // `NOTIFIED` stays set, so that nobody pushes a finished task.
            return Taken::Complete;
        }
        let prev = self.0.fetch_and(!NOTIFIED, Ordering::AcqRel);
        if prev & ABORTED == 0 { Taken::Live } else { Taken::Aborted }
    }

    /// Whether the task was aborted. For the owner, when it takes a task in that another thread spawned.
    ///
    /// Ordering: Relaxed is enough, since an abort that is missed here is delivered through the inbox.
    #[inline]
    pub(super) fn is_aborted(&self) -> bool {
        self.0.load(Ordering::Relaxed) & ABORTED != 0
    }

    /// Whether the task is complete.
    ///
    /// Ordering: Acquire pairs with the Release in [`complete`](State::complete): who sees it may read the output.
    #[inline]
    pub(super) fn is_complete(&self) -> bool {
        self.0.load(Ordering::Acquire) & COMPLETE != 0
    }

    /// The owner has stored the output. `queued` says that an arrivals list still points at the cell, so the record's
    /// reference has to stay.
    ///
    /// Ordering: Release publishes the output to the join handle ([`is_complete`](State::is_complete)). Acquire takes
    /// over `join_waker` from it ([`set_join_waker`](State::set_join_waker)).
    pub(super) fn complete(&self, queued: bool) -> Completed {
        if !queued && self.complete_unwatched() {
            return Completed { drop_output: false, wake_joiner: false, in_inbox: false, released: true };
        }
        let prev = self.0.fetch_or(COMPLETE | NOTIFIED, Ordering::AcqRel);
        debug_assert_eq!(prev & COMPLETE, 0, "a task completed twice");
        Completed {
            drop_output: prev & JOIN_INTEREST == 0,
            wake_joiner: prev & JOIN_WAKER != 0,
            in_inbox: prev & NOTIFIED != 0,
            released: false,
        }
    }

    /// The common case in one step: a join handle exists and does not wait, and nobody else holds the task.
    ///
    /// Ordering: Release as above. Nothing is taken over, so there is no Acquire.
    fn complete_unwatched(&self) -> bool {
        let done = JOIN_INTEREST | COMPLETE | NOTIFIED | REFERENCE;
        self.0.compare_exchange(SPAWNED, done, Ordering::Release, Ordering::Relaxed).is_ok()
    }

    /// The join handle has written `join_waker` and hands it over. False if the task completed first: the waker is
    /// still the handle's, and will not be woken.
    ///
    /// Ordering: Release publishes the waker to [`complete`](State::complete); Acquire on failure lets the handle read
    /// the output.
    pub(super) fn set_join_waker(&self) -> bool {
        self.update_unless_complete(|state| state | JOIN_WAKER)
    }

    /// The join handle takes `join_waker` back, to replace or drop it. False if the task completed first: the waker is
    /// the completer's.
    pub(super) fn unset_join_waker(&self) -> bool {
        self.update_unless_complete(|state| state & !JOIN_WAKER)
    }

    /// Whether the join handle has a waker registered. Only the handle may ask.
    pub(super) fn has_join_waker(&self) -> bool {
        // Ordering: Relaxed, the flag is the asker's own.
        self.0.load(Ordering::Relaxed) & JOIN_WAKER != 0
    }

    fn update_unless_complete(&self, update: impl Fn(usize) -> usize) -> bool {
        let step = |state| (state & COMPLETE == 0).then(|| update(state));
        self.0.fetch_update(Ordering::Release, Ordering::Acquire, step).is_ok()
    }

    /// The join handle is being dropped.
    pub(super) fn leave_join(&self) -> LeaveJoin {
        // The common case in one step: dropped at once, before anything else happened.
        // Ordering: Release orders the handle's use of the cell before its freeing, as in `release`.
        if self.0.compare_exchange(SPAWNED, DETACHED, Ordering::Release, Ordering::Relaxed).is_ok() {
            return LeaveJoin::Done;
        }
        if self.has_join_waker() && self.unset_join_waker() {
            return LeaveJoin::DropWaker;
        }
        // The record keeps its own reference until the task is complete, so this is never the last one.
        let detached = self.update_unless_complete(|state| (state & !JOIN_INTEREST) - REFERENCE);
        if detached { LeaveJoin::Done } else { LeaveJoin::Complete }
    }

    /// One more holder.
    ///
    /// Ordering: Relaxed, the caller holds a reference already, as in `Arc`.
    pub(super) fn retain(&self) {
        let prev = self.0.fetch_add(REFERENCE, Ordering::Relaxed);
        if prev > isize::MAX as usize {
            // As in `Arc`: so many leaked references that the count would wrap. There is no way to go on safely.
            std::process::abort();
        }
    }

    /// One holder less. True if it was the last: the caller frees the cell.
    ///
    /// Ordering: Release orders this holder's use of the cell before the freeing, Acquire orders the freeing after
    /// everybody else's.
    pub(super) fn release(&self) -> bool {
        // The last holder needs no read-modify-write: nobody is left who could race with it.
        // Ordering: Acquire pairs with the Release of the holders that left before.
        if has_one_holder(self.0.load(Ordering::Acquire)) {
            return true;
        }
        let prev = self.0.fetch_sub(REFERENCE, Ordering::AcqRel);
        debug_assert!(prev >= REFERENCE, "a task was released too often");
        has_one_holder(prev)
    }
}

#[inline]
fn has_one_holder(state: usize) -> bool {
    state & !(REFERENCE - 1) == REFERENCE
}

#[cfg(all(test, not(any(clockworker_loom, clockworker_shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_notifier_submits_until_the_owner_takes() {
        let state = State::spawned();
        assert_eq!(state.wake(), Wake::Submit);
        assert_eq!(state.wake(), Wake::Nothing);
        assert_eq!(state.take(), Taken::Live);
        assert_eq!(state.wake(), Wake::Submit);
    }

    #[test]
    fn an_abort_is_delivered_once_and_survives_the_take() {
        let state = State::spawned();
        assert_eq!(state.abort(), Wake::Submit);
        assert_eq!(state.abort(), Wake::Nothing);
        assert_eq!(state.take(), Taken::Aborted);
        assert!(state.is_aborted());
    }

    #[test]
    fn a_complete_task_is_never_submitted() {
        let state = State::spawned();
        assert!(state.complete(false).released);
        assert_eq!(state.wake(), Wake::Nothing);
        assert_eq!(state.abort(), Wake::Nothing);
        assert_eq!(state.take(), Taken::Complete);
        assert!(state.release(), "the join handle's reference is the last");
    }

    #[test]
    fn completion_says_what_is_left_to_do() {
        let watched = State::spawned();
        assert!(watched.set_join_waker());
        let done = Completed { drop_output: false, wake_joiner: true, in_inbox: false, released: false };
        assert_eq!(watched.complete(false), done);
        assert!(!watched.unset_join_waker(), "the waker is the completer's");

        let detached = State::spawned();
        assert_eq!(detached.leave_join(), LeaveJoin::Done);
        let done = Completed { drop_output: true, wake_joiner: false, in_inbox: false, released: false };
        assert_eq!(detached.complete(false), done);
        assert!(detached.release());

        let notified = State::spawned();
        assert_eq!(notified.wake(), Wake::Submit);
        assert!(notified.complete(false).in_inbox);
    }

    #[test]
    fn leaving_a_watched_join_gives_the_waker_back_first() {
        let state = State::spawned();
        assert!(state.set_join_waker());
        assert_eq!(state.leave_join(), LeaveJoin::DropWaker);
        assert_eq!(state.leave_join(), LeaveJoin::Done);
        assert!(state.complete(false).drop_output);
    }
}
