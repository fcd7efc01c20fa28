//! [`Runnable`]: a task that its queue has taken up to poll.

use std::mem::{ManuallyDrop, forget};
use std::ops::Deref;
use std::ptr::NonNull;
use std::task::Context;

use super::header::{Header, Phase};
use super::{Finish, LiveTask, waker};

/// A task that is polled next, whose [`LiveTask`] stays in its record meanwhile. There is one of a task at a time.
///
/// The task's phase is `Running` or `RunningWoken` until one of the methods that consume it. So long a `LiveTask` that is dropped leaves
/// its reference behind, so this keeps the cell alive. If it is dropped itself, the task is never polled again.
#[must_use = "a task that is taken up is to be polled"]
pub(crate) struct Runnable(ManuallyDrop<LiveTask>);

/// What a poll made of a task.
pub(crate) enum Ran {
    /// It was woken on this thread while it ran: it is ready again.
    Yielded(Runnable),
    /// It waits for a wake.
    Pending(Runnable),
    /// It was taken out of its record, and is complete.
    Finished(Finish),
}

impl Ran {
    /// The same, after what may have woken the task once more.
    pub(crate) fn again(self) -> Self {
        match self {
            Ran::Pending(runnable) if runnable.phase() == Phase::RunningWoken => Ran::Yielded(runnable),
            ran => ran,
        }
    }
}

/// A poll that is to be made now, of a task whose [`Runnable`] stays where this was made.
pub(crate) struct Polling<'a> {
    header: NonNull<Header>,
    cx: &'a mut Context<'a>,
}

impl Polling<'_> {
    /// Polls the future. How the task ended, if it did.
    #[inline(always)]
    pub(crate) fn call(self) -> Option<Finish> {
        // SAFETY: the cell is alive, as `run_within` holds the `Runnable`. (A reference in its place would be one word more to
        // hand over, and 2 % of a poll.)
        let task = unsafe { self.header.as_ref() };
        // SAFETY: this is the owner thread and the task is not complete. Nothing else can be polling it: that takes its
        // `Runnable`, which `run_within` holds, and this, of which it makes one.
        unsafe { (task.vtable.poll)(self.header, self.cx) }
    }
}

impl Deref for Runnable {
    type Target = LiveTask;

    #[inline(always)]
    fn deref(&self) -> &LiveTask {
        &self.0
    }
}

impl LiveTask {
    /// Takes the task up to poll it. None if it is not ready.
    #[inline(always)]
    pub(crate) fn take_up(&self) -> Option<Runnable> {
        let phase = &self.header().owned.phase;
        if phase.get() != Phase::Ready {
            return None;
        }
        phase.set(Phase::Running);
        // SAFETY: the phase says that the task is not complete and has no other `Runnable`. Until that changes, dropping this
        // `LiveTask` does not give up its reference, and nothing else does. It is never dropped in the other's stead.
        Some(Runnable(ManuallyDrop::new(unsafe { LiveTask::from_raw(self.pointer()) })))
    }

    /// Polls a task that has no record, once, and drops it.
    pub(crate) fn poll_and_drop(self) {
        self.make_ready();
        let mut live = Some(self);
        let Some(runnable) = live.as_ref().and_then(LiveTask::take_up) else { return };
        match runnable.run(|| live.take()) {
            Ran::Finished(_) => {}
            Ran::Yielded(runnable) | Ran::Pending(runnable) => runnable.put_back(),
        }
    }
}

impl Runnable {
    /// Polls the task, and completes it if it finishes: then `take_out` is called, which is to take its `LiveTask` out of its record.
    /// User code runs here; nothing unwinds out of it.
    ///
    /// Does not ask whether the task was aborted: an abort comes through the inbox, which was emptied after the last poll.
    /// One that has come since is delivered after this poll.
    #[inline(always)] // a call of its own cost 3 % of a hop
    pub(crate) fn run(self, take_out: impl FnOnce() -> Option<LiveTask>) -> Ran {
        self.run_within(|poll| poll.call(), take_out)
    }

    /// The same, where `within` is to [call](Polling::call) the future's poll.
    #[inline(always)]
    pub(crate) fn run_within(
        self,
        within: impl FnOnce(Polling<'_>) -> Option<Finish>,
        take_out: impl FnOnce() -> Option<LiveTask>,
    ) -> Ran {
        // SAFETY: the cell outlives the poll, see `Runnable`.
        let waker = unsafe { waker::lend(self.pointer()) };
        let mut cx = Context::from_waker(&waker);
        let finish = within(Polling { header: self.pointer(), cx: &mut cx });
        match finish {
            None if self.phase() == Phase::RunningWoken => Ran::Yielded(self),
            None => Ran::Pending(self),
            Some(finish) => {
                self.complete(take_out(), finish);
                Ran::Finished(finish)
            }
        }
    }

    /// Completes a task that has finished.
    fn complete(self, live: Option<LiveTask>, finish: Finish) {
        match live {
            Some(live) if live.pointer() == self.pointer() => live.complete(finish),
            // Not this task's, which stays as it is: what else this was called for is not known here.
            other => {
                debug_assert!(false, "{other:?} was taken out in place of {:?}", *self.0);
                forget(other);
            }
        }
    }

    /// Ends the poll of a task that has yielded, or was not polled after all: it is ready.
    #[inline(always)]
    pub(crate) fn put_back(self) {
        self.set_phase(Phase::Ready);
    }

    /// Ends a poll that was not made, as the task was aborted: it waits for its drop.
    pub(crate) fn discard(self) {
        self.set_phase(Phase::Parked);
    }

    /// Ends a poll in `turn` that returned `Pending`: the task waits for a wake.
    #[inline]
    pub(crate) fn park(self, turn: u8) {
        self.note_poll(turn);
        self.set_phase(Phase::Parked);
    }
}

#[cfg(all(test, not(any(clockworker_loom, clockworker_shuttle))))]
mod tests {
    use std::cell::Cell;
    use std::future::poll_fn;
    use std::rc::Rc;
    use std::task::Poll;

    use super::*;
    use crate::task::{Cause, JoinHandle, Label, RecordKey, Shared, SharedRef, spawn_here};

    /// A task that yields until `stop`, and its executor's shared part.
    fn task(stop: &Rc<Cell<bool>>) -> (LiveTask, JoinHandle<()>, SharedRef) {
        let (shared, stop) = (SharedRef::new(Shared::new()), Rc::clone(stop));
        let key = RecordKey { queue: 0, slot: 0, generation: 1 };
        let future = poll_fn(move |cx| {
            cx.waker().wake_by_ref();
            if stop.get() { Poll::Ready(()) } else { Poll::Pending }
        });
        let (live, handle) = spawn_here(shared.clone(), key, Label::here(), future);
        (live, handle, shared)
    }

    #[test]
    fn a_task_is_taken_up_once_at_a_time_and_completed_when_it_finishes() {
        let stop = Rc::new(Cell::new(false));
        let (live, handle, shared) = task(&stop);
        let mut record = Some(live);
        for _ in 0..2 {
            let live = record.as_ref().expect("it stays there");
            let Some(runnable) = live.take_up() else { panic!("it is ready") };
            assert!(live.is_running() && live.take_up().is_none());
            let Ran::Yielded(runnable) = runnable.run(|| record.take()) else { panic!("it yields") };
            assert!(
                record.as_ref().is_some_and(|live| live.take_up().is_none()),
                "until its poll is settled"
            );
            runnable.put_back();
        }
        stop.set(true);
        let runnable = record.as_ref().and_then(LiveTask::take_up);
        let ran = runnable.map(|runnable| runnable.run(|| record.take()));
        assert!(matches!(ran, Some(Ran::Finished(Finish::Completed))));
        assert!(record.is_none() && handle.is_finished());
        shared.close_credits();
    }

    #[test]
    fn a_task_that_waits_is_not_taken_up_and_can_be_cancelled() {
        let stop = Rc::new(Cell::new(false));
        let (live, handle, shared) = task(&stop);
        let Some(runnable) = live.take_up() else { panic!("it is ready") };
        runnable.park(0);
        assert!(live.take_up().is_none() && !live.is_running());
        assert_eq!(live.cancel(Cause::Aborted), Finish::Cancelled);
        assert!(handle.is_finished());
        assert_eq!(Rc::strong_count(&stop), 1, "its future is dropped");
        shared.close_credits();
    }
}
