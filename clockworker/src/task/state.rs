//! The atomic word of a task: flags and reference count. Every method is one transition: it decides, and returns what the
//! caller has to do.
//!
//! Orderings: transitions are read-modify-writes of one word, so they form one release sequence. There are two stores: each comes
//! after a load with Acquire, on the owner thread, where nobody else can reach the word, and what it knows is passed on by the owner's
//! next read-modify-write or by the freeing. Each method says what its ordering pairs with. Each is as weak as it may be:
//! the program `orderings` of `testing` shows that.

use std::sync::atomic::Ordering;

use crate::sync::AtomicUsize;

const NOTIFIED: usize = 1;
const COMPLETE: usize = 1 << 1;
const HAS_JOINER: usize = 1 << 2;
const JOIN_INTEREST: usize = 1 << 3;
const ABORTED: usize = 1 << 4;
const REFERENCE: usize = 1 << 5;

/// The references that a record has until its task completes: one, and as many as it may have lent at a time.
const RECORD: usize = LENT_MAX as usize + 1;
/// The most references that a record lends at a time.
pub(super) const LENT_MAX: u8 = u8::MAX;

/// A task as it is spawned: held by its record and its join handle.
const SPAWNED: usize = JOIN_INTEREST | ((RECORD + 1) * REFERENCE);
/// A task whose join handle was dropped at once: held by its record.
const DETACHED: usize = RECORD * REFERENCE;

/// See the [module docs](self) and the table in [`task`](super).
#[derive(Debug)]
pub(super) struct State(AtomicUsize);

/// What a wake or an abort leaves to its caller.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wake {
    /// Push the task into the inbox: this call has set `NOTIFIED`.
    Submit,
    /// Nothing: the task is on its way to a poll already, or complete.
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
    /// It completed meanwhile: count one link less.
    Complete,
}

/// What is left to do once the output is stored.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Completed {
    /// No join handle wants the output: drop it.
    pub(super) drop_output: bool,
    /// `joiner` is the completer's now: tell it.
    pub(super) tell_joiner: bool,
    /// Another thread pushed the task into the inbox, or is about to.
    pub(super) in_inbox: bool,
}

/// What a join handle has to do when it is dropped.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub(super) enum LeaveJoin {
    /// Nothing is left of the handle: neither its reference, nor a joiner, nor a claim to the output.
    Done,
    /// The task is complete, so the output is the handle's, to read or drop, and then the reference.
    Complete,
    /// `joiner` is the handle's again: drop it and try once more.
    DropJoiner,
}

/// The state less the references that the record has lent.
#[inline]
fn without(state: usize, lent: u8) -> usize {
    state - usize::from(lent) * REFERENCE
}

impl Completed {
    fn after(before: usize) -> Self {
        debug_assert_eq!(before & COMPLETE, 0, "a task completed twice");
        Self {
            drop_output: before & JOIN_INTEREST == 0,
            tell_joiner: before & HAS_JOINER != 0,
            in_inbox: before & NOTIFIED != 0,
        }
    }
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

    /// Wakes the task from any thread but the owner's.
    ///
    /// Ordering: Release makes what the caller wrote visible to the poll that this wake causes, also when the wake is
    /// coalesced into an earlier one: it pairs with the Acquire in [`take`](State::take), which clears the flag before that
    /// poll. Acquire orders the caller's use of `next` after the owner's last use of it.
    pub(super) fn wake(&self) -> Wake {
        let prev = self.0.fetch_or(NOTIFIED, Ordering::AcqRel);
        if prev & (NOTIFIED | COMPLETE) == 0 { Wake::Submit } else { Wake::Nothing }
    }

    /// Aborts the task from any thread. An abort goes through the inbox also on the owner thread, so that the future is
    /// dropped in a slice of its queue and never inside the caller's stack.
    ///
    /// Ordering: as for [`wake`](State::wake).
    pub(super) fn abort(&self) -> Wake {
        let prev = self.0.fetch_or(ABORTED | NOTIFIED, Ordering::AcqRel);
        if prev & (NOTIFIED | COMPLETE) == 0 { Wake::Submit } else { Wake::Nothing }
    }

    /// Takes the task out of the inbox, for the owner; wakes from now on push it again.
    ///
    /// Ordering: Acquire pairs with the Release of every wake since the last `take`, so what was written before a wake
    /// happens before the poll that follows. Release hands `next` to the next wake.
    pub(super) fn take(&self) -> Taken {
        if self.is_complete() {
            // `NOTIFIED` stays set, so that no thread pushes a finished task.
            return Taken::Complete;
        }
        let prev = self.0.fetch_and(!NOTIFIED, Ordering::AcqRel);
        if prev & ABORTED == 0 { Taken::Live } else { Taken::Aborted }
    }

    /// Whether the task was aborted. For the owner, when it admits a task that another thread spawned.
    ///
    /// Ordering: Relaxed is enough, since an abort that is missed here is delivered through the inbox.
    #[inline]
    pub(super) fn is_aborted(&self) -> bool {
        self.0.load(Ordering::Relaxed) & ABORTED != 0
    }

    /// Whether the task is complete.
    ///
    /// Ordering: Acquire pairs with the Release in [`complete`](State::complete): a caller that sees it may read the output.
    #[inline]
    pub(super) fn is_complete(&self) -> bool {
        self.0.load(Ordering::Acquire) & COMPLETE != 0
    }

    /// Marks the task as complete, once the owner has stored the output, and gives up the record's references but one, and but those
    /// that are `lent`: they are other holders' from now on.
    ///
    /// Ordering: Release publishes the output to the join handle ([`is_complete`](State::is_complete)). Acquire takes
    /// over `joiner` from it ([`set_joiner`](State::set_joiner)).
    pub(super) fn complete(&self, lent: u8) -> Completed {
        // Ordering: Relaxed, the exchange below decides.
        let mut before = self.0.load(Ordering::Relaxed);
        let given_up = (RECORD - 1 - usize::from(lent)) * REFERENCE;
        loop {
            let after = (before | COMPLETE | NOTIFIED) - given_up;
            match self.0.compare_exchange(before, after, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return Completed::after(before),
                Err(now) => before = now,
            }
        }
    }

    /// The common case in one step: a join handle exists and does not wait, there are no other holders but the record, and no list
    /// points at the cell. What the record has `lent` was given up elsewhere. True if all the record's references were given up: the cell
    /// may be gone.
    ///
    /// Ordering: Release as above. Nothing is taken over, so there is no Acquire.
    #[inline]
    pub(super) fn complete_unwatched(&self, lent: u8) -> bool {
        let (before, done) = (without(SPAWNED, lent), JOIN_INTEREST | COMPLETE | NOTIFIED | REFERENCE);
        // The look saves a read-modify-write that fails. Ordering: Relaxed, the value is only compared.
        self.0.load(Ordering::Relaxed) == before
            && self.0.compare_exchange(before, done, Ordering::Release, Ordering::Relaxed).is_ok()
    }

    /// Whether the record is the task's only holder, no list points at it, and it is not complete: then no other thread can reach it.
    ///
    /// Ordering: Acquire orders what follows, as the freeing, after the last use by a holder that is gone.
    #[inline]
    pub(super) fn is_detached(&self, lent: u8) -> bool {
        self.0.load(Ordering::Acquire) == without(DETACHED, lent)
    }

    /// Hands the `joiner` that the join handle has written to the completer. False if the task completed first: it is
    /// still the handle's, and will not be told.
    ///
    /// Ordering: Release publishes the joiner to [`complete`](State::complete); Acquire on failure lets the handle read
    /// the output.
    pub(super) fn set_joiner(&self) -> bool {
        self.update_unless_complete(|state| state | HAS_JOINER)
    }

    /// Takes `joiner` back for the join handle, to replace or drop it. False if the task completed first: it is
    /// the completer's.
    pub(super) fn unset_joiner(&self) -> bool {
        self.update_unless_complete(|state| state & !HAS_JOINER)
    }

    /// Whether the join handle has registered a joiner. Only the handle may ask.
    pub(super) fn has_joiner(&self) -> bool {
        // Ordering: Relaxed, only the caller writes the flag.
        self.0.load(Ordering::Relaxed) & HAS_JOINER != 0
    }

    fn update_unless_complete(&self, update: impl Fn(usize) -> usize) -> bool {
        let step = |state| (state & COMPLETE == 0).then(|| update(state));
        self.0.fetch_update(Ordering::Release, Ordering::Acquire, step).is_ok()
    }

    /// Whether the task is as it was spawned: nothing is to be done about it, and its record, which has `lent` references that were given
    /// up elsewhere, and its join handle hold it. If they are on this thread and the task is not being polled, then no other thread can
    /// reach the word, and the two methods below do without a read-modify-write. They give the record back what it has lent.
    ///
    /// Ordering: Acquire orders what follows after the last use by a holder that is gone.
    #[inline]
    pub(super) fn is_as_spawned(&self, lent: u8) -> bool {
        self.0.load(Ordering::Acquire) == without(SPAWNED, lent)
    }

    /// [`set_joiner`](State::set_joiner) of a task [as it was spawned](State::is_as_spawned).
    ///
    /// Ordering: Relaxed, as the record is on this thread: what this thread knows is passed on when it completes the task.
    #[inline]
    pub(super) fn set_joiner_as_spawned(&self) {
        self.0.store(SPAWNED | HAS_JOINER, Ordering::Relaxed);
    }

    /// [`leave_join`](State::leave_join) of a task [as it was spawned](State::is_as_spawned).
    ///
    /// Ordering: as above.
    #[inline]
    pub(super) fn leave_join_as_spawned(&self) {
        self.0.store(DETACHED, Ordering::Relaxed);
    }

    /// Gives up the claim to the output and the reference of a join handle that is dropped, as far as it can.
    ///
    /// Ordering: Release orders the handle's use of the cell before its freeing, as in [`release`](State::release).
    pub(super) fn leave_join(&self) -> LeaveJoin {
        if self.has_joiner() && self.unset_joiner() {
            return LeaveJoin::DropJoiner;
        }
        // The record keeps references until the task is complete, so this is never the last one.
        let detached = self.update_unless_complete(|state| (state & !JOIN_INTEREST) - REFERENCE);
        if detached { LeaveJoin::Done } else { LeaveJoin::Complete }
    }

    /// Counts one more holder.
    ///
    /// Ordering: Relaxed, the caller holds a reference already, as in `Arc`.
    pub(super) fn retain(&self) {
        let prev = self.0.fetch_add(REFERENCE, Ordering::Relaxed);
        if prev > isize::MAX as usize {
            // As in `Arc`: so many leaked references that the count would wrap. There is no way to go on safely.
            std::process::abort();
        }
    }

    /// Whether there are no more than these `references`. Their holder needs no read-modify-write then: no other is left to race with
    /// it.
    ///
    /// Ordering: Acquire orders the freeing after every other holder's use.
    #[inline]
    pub(super) fn are_last(&self, references: usize) -> bool {
        self.0.load(Ordering::Acquire) / REFERENCE == references
    }

    /// Gives up `references`. True if they were the last: the caller frees the cell.
    ///
    /// Ordering: Release orders this holder's use of the cell before the freeing, Acquire orders the freeing after every
    /// other holder's use.
    #[inline]
    pub(super) fn release(&self, references: usize) -> bool {
        if self.are_last(references) {
            return true;
        }
        let before = self.0.fetch_sub(references * REFERENCE, Ordering::AcqRel) / REFERENCE;
        debug_assert!(before >= references, "a task was released too often");
        before == references
    }
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
        assert!(state.complete_unwatched(0));
        assert_eq!(state.wake(), Wake::Nothing);
        assert_eq!(state.abort(), Wake::Nothing);
        assert_eq!(state.take(), Taken::Complete);
        assert!(state.release(1), "the join handle's reference is the last");
    }

    #[test]
    fn completion_says_what_is_left_to_do() {
        let watched = State::spawned();
        assert!(watched.set_joiner());
        let done = Completed { drop_output: false, tell_joiner: true, in_inbox: false };
        assert_eq!(watched.complete(0), done);
        assert!(!watched.unset_joiner(), "the joiner is the completer's");

        let detached = State::spawned();
        assert_eq!(detached.leave_join(), LeaveJoin::Done);
        let done = Completed { drop_output: true, tell_joiner: false, in_inbox: false };
        assert_eq!(detached.complete(0), done);
        assert!(detached.release(1));

        let notified = State::spawned();
        assert_eq!(notified.wake(), Wake::Submit);
        assert!(notified.complete(0).in_inbox);
    }

    /// However many were lent, and given up before or after.
    #[test]
    fn of_the_records_references_one_is_left_and_those_that_were_lent() {
        for lent in [0, 1, 100, LENT_MAX] {
            for early in [0, lent / 2, lent] {
                let state = State::spawned();
                (0..early).for_each(|_| assert!(!state.release(1), "the record has references"));
                assert_eq!(state.is_as_spawned(lent), early == lent, "no other is left");
                assert!(!state.complete(lent).in_inbox);
                (early..lent).for_each(|_| assert!(!state.release(1)));
                assert!(!state.release(1), "the record's");
                assert!(state.release(1), "the join handle's");
            }
        }
    }

    #[test]
    fn leaving_a_watched_join_gives_the_joiner_back_first() {
        let state = State::spawned();
        assert!(state.set_joiner());
        assert_eq!(state.leave_join(), LeaveJoin::DropJoiner);
        assert_eq!(state.leave_join(), LeaveJoin::Done);
        assert!(state.complete(0).drop_output);
    }
}
