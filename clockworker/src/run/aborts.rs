//! [`Aborts`]: the aborted tasks of a queue, whose futures are dropped in its slices, before any other task is polled.

use std::cell::{Cell, RefCell};
use std::collections::{HashSet, VecDeque};

use clockworker_schedulers::TaskId;

use super::queue::RunQueue;
use crate::queue::{GroupIndex, PolicyFault, Removed, TakenOut, Tombstones};
use crate::task::{AbortHandle, Cause};

/// The aborted tasks of a queue.
#[derive(Default)]
pub(super) struct Aborts {
    /// Those whose futures are still to be dropped, first aborted first.
    tasks: RefCell<VecDeque<TakenOut>>,
    /// Whether `tasks` holds any. Read where a look at the list costs more.
    any: Cell<bool>,
    /// Those whose records stay until the scheduler gives them out.
    tombstones: Tombstones,
}

impl Aborts {
    /// Whether futures are to be dropped.
    #[inline]
    pub(super) fn any(&self) -> bool {
        self.any.get()
    }

    #[inline(always)] // a call would move the task once more: 17 instructions an abort
    fn push(&self, aborted: TakenOut) {
        self.tasks.borrow_mut().push_back(aborted);
        self.any.set(true);
    }

    /// Takes the task that was aborted first.
    fn next(&self) -> Option<TakenOut> {
        let mut tasks = self.tasks.borrow_mut();
        let next = tasks.pop_front();
        self.any.set(!tasks.is_empty());
        next
    }
}

impl RunQueue {
    /// Takes an aborted task out of its record, to drop its future in the queue's next slice before any other task is polled.
    /// False if it was taken already, or has finished.
    #[inline(always)] // a call is 22 instructions of an abort
    pub(super) fn take_aborted(&self, id: TaskId) -> bool {
        let Some(aborted) = self.records.borrow_mut().take_out(id) else { return false };
        if aborted.ready {
            self.ready.set(self.ready.get() - 1);
        }
        if aborted.live.has_arrived() {
            self.arrivals().note_aborted();
        } else {
            aborted.live.wait_for_drop();
        }
        self.aborts.push(aborted);
        true
    }

    /// Whether futures of aborted tasks are to be dropped.
    #[inline]
    pub(super) fn has_aborted(&self) -> bool {
        self.aborts.any()
    }

    /// The slots of the aborted tasks whose futures are still to be dropped. None if they are being looked at.
    pub(super) fn slots_of_aborted(&self) -> Option<HashSet<usize>> {
        let aborted = self.aborts.tasks.try_borrow().ok()?;
        Some(aborted.iter().map(|aborted| aborted.task.id.slot()).collect())
    }

    /// Takes the task that was aborted first.
    pub(super) fn next_aborted(&self) -> Option<TakenOut> {
        self.aborts.next()
    }

    /// Drops the future of an aborted task, with no borrow held, and counts the task as finished. Removes its record, unless
    /// the scheduler has the task; then the record is a tombstone.
    pub(super) fn cancel_aborted(&self, aborted: TakenOut, cause: Cause) -> Option<Removed> {
        let TakenOut { live, task, ready, group, is_known } = aborted;
        let is_linked = live.has_arrived();
        let finish = live.cancel(cause);
        self.count_finished(finish);
        if is_linked {
            self.arrivals().note_complete();
        }
        if ready {
            self.records.borrow_mut().finish_buried(group, finish);
            self.add_tombstone();
            return None;
        }
        // The record goes after the future, whose drop may spawn into its group.
        let removed = self.records.borrow_mut().remove(task.id, Some(finish));
        Some(Removed { is_known, ..removed })
    }

    /// Counts one more record that stays until the scheduler gives it out.
    pub(super) fn add_tombstone(&self) {
        self.aborts.tombstones.add(self.counters.polls.get(), self.ready.get());
    }

    /// Counts a tombstone less, which the scheduler gave out. True if it is time to read the clock.
    #[cold]
    pub(super) fn tombstone_popped(&self) -> bool {
        self.aborts.tombstones.remove()
    }

    /// [Sweeps](RunQueue::sweep) if the scheduler has kept tombstones for so long that it may never give them out.
    pub(super) fn sweep_tombstones(&self) {
        if self.aborts.tombstones.are_due(self.counters.polls.get()) {
            self.check(self.sweep());
        }
    }

    /// Has the scheduler give out everything, and gives back what is not a tombstone.
    pub(super) fn sweep(&self) -> Result<(), PolicyFault> {
        self.aborts.tombstones.sweep();
        self.service.call(|policy| policy.sweep(self))
    }

    /// Asks for tasks to be cancelled, those of a group or all; how many. Not the one that is being polled.
    pub(crate) fn abort_all(&self, of: Option<GroupIndex>) -> usize {
        // An abort may wake the host, so nothing is borrowed meanwhile.
        let tasks = self.records.borrow().abort_handles(of);
        tasks.iter().for_each(AbortHandle::abort);
        tasks.len()
    }

    /// Cancels every task. To be called between polls: one that is being polled is left as it is, without a record.
    pub(super) fn cancel_all(&self, cause: Cause) {
        // Aborted tasks first, whose errors say so. Their records go after them, and hold their groups until then.
        while let Some(aborted) = self.next_aborted() {
            self.cancel_aborted(aborted, Cause::Aborted);
        }
        let tasks = self.records.borrow_mut().take_all();
        self.ready.set(0);
        self.arrivals().note_all_aborted();
        for (task, group) in tasks {
            let finish = task.cancel(cause);
            self.count_finished(finish);
            self.records.borrow_mut().finish_taken(group, finish);
        }
    }
}
