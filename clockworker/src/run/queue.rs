//! A queue as the run loop has it: the records of its tasks, its scheduler, its counters.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::thread;

use clockworker_schedulers::{QueueId, Ready, RunnableFifo, Scheduler, Share, Task, TaskId};

use super::Core;
use super::any_policy::AnyPolicy;
use super::queues::QueuePlace;
use super::timing::SliceEnd;
use crate::base::drop_quietly;
use crate::queue::{
    Aborted, Counters, GroupIndex, Left, Policy, PolicyFault, Records, Tombstones, Watchdog, group_of,
};
use crate::task::{Arrivals, Cause, Finish, LiveTask, Place, QueueKey};

/// Tasks a queue can hold. Twice the number fits an index, which [`group_of`] needs.
pub(crate) const MAX_TASKS: usize = 1 << 30;

/// A queue. The handles are in [`queue`](crate::queue).
pub(crate) struct RunQueue {
    pub(crate) name: Box<str>,
    pub(crate) key: QueueKey,
    /// Its id between queues; the same number as `key.index`.
    pub(crate) id: QueueId,
    pub(crate) records: RefCell<Records>,
    policy: Box<dyn AnyPolicy>,
    /// Tasks in the scheduler and not aborted.
    pub(crate) ready: Cell<usize>,
    /// Tasks that have not finished.
    pub(crate) live: Cell<usize>,
    /// Whether EEVDF counts it as runnable.
    pub(crate) runnable: Cell<bool>,
    /// How many unfinished tasks it may have: [`MAX_TASKS`], or none once it or its executor takes no more.
    pub(crate) room: Cell<usize>,
    pub(crate) closed: Cell<bool>,
    /// Closed, empty and forgotten: its id may be another queue's.
    pub(crate) retired: Cell<bool>,
    pub(crate) share: Cell<Share>,
    pub(crate) request_ns: Cell<u64>,
    /// Aborted tasks whose futures are still to be dropped, first aborted first.
    aborted: RefCell<VecDeque<Aborted>>,
    /// Whether there are any. Looked at where a look at the list costs more.
    has_aborted: Cell<bool>,
    /// Aborted tasks whose records stay until their scheduler gives them out.
    tombstones: Tombstones,
    pub(crate) counters: Counters,
    pub(crate) fault: Cell<Option<PolicyFault>>,
    watch: Watchdog,
}

impl RunQueue {
    pub(crate) fn new<S: Scheduler + 'static>(name: Box<str>, place: QueuePlace, scheduler: S) -> Rc<Self> {
        let QueuePlace { id, key, share, request_ns } = place;
        Rc::new(Self {
            name,
            key,
            id,
            records: RefCell::default(),
            policy: Box::new(Policy::new(scheduler)),
            ready: Cell::new(0),
            live: Cell::new(0),
            runnable: Cell::new(false),
            room: Cell::new(MAX_TASKS),
            closed: Cell::new(false),
            retired: Cell::new(false),
            share: Cell::new(share),
            request_ns: Cell::new(request_ns),
            aborted: RefCell::default(),
            has_aborted: Cell::new(false),
            tombstones: Tombstones::new(),
            counters: Counters::default(),
            fault: Cell::new(None),
            watch: Watchdog::new(),
        })
    }

    /// Adds a task, which `make` makes, and hands it to the scheduler.
    pub(crate) fn spawn(&self, group: GroupIndex, make: impl FnOnce(Place) -> LiveTask) {
        let task = self.records.borrow_mut().insert(self.key.index, group, make);
        self.live.set(self.live.get() + 1);
        self.counters.spawned.add(1);
        self.push(task, Ready::Spawned);
    }

    /// A task of this queue was woken, by the host's visit before the turn `visited` or in some other way: what its scheduler
    /// is to be told. None if it was ready already, or is gone.
    pub(crate) fn make_ready(&self, place: Place, visited: Option<u8>) -> Option<(Task, Ready)> {
        self.records.borrow_mut().make_ready(place, visited)
    }

    /// Hands the scheduler those of its tasks that were woken on this thread, up to `most`; how many. All that have arrived must
    /// be of this queue.
    pub(crate) fn admit_woken(&self, arrivals: &Arrivals, visited: Option<u8>, most: usize) -> usize {
        let admitted = self.policy.admit_woken(self, arrivals, visited, most);
        let count = admitted.unwrap_or(most);
        self.check(admitted.map(drop));
        count
    }

    /// Hands a task to the scheduler.
    pub(crate) fn push(&self, task: Task, why: Ready) {
        self.ready.set(self.ready.get() + 1);
        self.check(self.policy.push(task, why));
    }

    /// Pushes a task that yielded and is counted as ready already.
    pub(crate) fn push_again(&self, task: Task) {
        self.check(self.policy.push(task, Ready::Yielded));
    }

    /// Takes an aborted task out of its record, for its future to be dropped in the queue's next slice, before any other task
    /// is polled. False if it is there already, or gone.
    pub(crate) fn take_aborted(&self, place: Place) -> bool {
        let Some(aborted) = self.records.borrow_mut().take_aborted(place) else { return false };
        if aborted.ready {
            self.ready.set(self.ready.get() - 1);
        }
        self.aborted.borrow_mut().push_back(aborted);
        self.has_aborted.set(true);
        true
    }

    /// Takes an aborted task that its scheduler has just given out, for its future to be dropped.
    #[cold]
    pub(crate) fn abort_popped(&self, live: LiveTask, id: TaskId, group: GroupIndex) {
        let task = Task { id, group: group_of(id.slot() as u32, group) };
        self.aborted.borrow_mut().push_back(Aborted { live, group, task, ready: false });
        self.has_aborted.set(true);
    }

    /// Whether the futures of aborted tasks are to be dropped.
    #[inline]
    pub(crate) fn has_aborted(&self) -> bool {
        self.has_aborted.get()
    }

    /// Whether there is anything to be done in a slice.
    #[inline]
    pub(crate) fn has_work(&self) -> bool {
        self.ready.get() > 0 || self.has_aborted.get()
    }

    /// The next aborted task.
    pub(crate) fn next_aborted(&self) -> Option<Aborted> {
        let mut aborted = self.aborted.borrow_mut();
        let next = aborted.pop_front();
        self.has_aborted.set(!aborted.is_empty());
        next
    }

    /// Drops the future of an aborted task, with no borrow held, and closes its books. What its scheduler has to hear, if it
    /// does not have the task.
    pub(crate) fn cancel_aborted(&self, aborted: Aborted, cause: Cause) -> Option<Left> {
        let Aborted { live, task, ready, group: _ } = aborted;
        self.count(live.cancel(cause));
        if ready {
            self.tombstones.add(self.counters.polls.get(), self.ready.get());
            return None;
        }
        // The record goes after the future, whose drop may spawn into its group.
        Some(self.records.borrow_mut().remove(task.id))
    }

    /// A tombstone was given out, and is gone. Whether it is time for a look at the time.
    #[cold]
    pub(crate) fn tombstone_popped(&self) -> bool {
        self.tombstones.remove()
    }

    /// Has the scheduler give out everything, and gives it back what is not a tombstone, if it has kept tombstones for so long
    /// that it may never give them out.
    pub(crate) fn sweep_tombstones(&self) {
        if self.tombstones.are_due(self.counters.polls.get()) {
            self.check(self.sweep());
        }
    }

    fn sweep(&self) -> Result<(), PolicyFault> {
        self.tombstones.sweep();
        self.policy.sweep(self)
    }

    /// The queue has no task any more: gives the memory of a burst back.
    pub(crate) fn shrink(&self) {
        self.records.borrow_mut().shrink();
    }

    /// One task less, for the accounts.
    pub(crate) fn count(&self, finish: Finish) {
        self.live.set(self.live.get() - 1);
        self.counters.finished(finish);
    }

    /// Lets the scheduler run tasks until the slice ends.
    pub(crate) fn run_slice(&self, core: &Core) -> SliceEnd {
        match self.policy.run_slice(self, core) {
            Ok(end) => end,
            Err(fault) => {
                self.check(Err(fault));
                SliceEnd::PolicyFault
            }
        }
    }

    /// Whether it is time for [`look_for_starved`](RunQueue::look_for_starved). Where nothing is ready nothing starves.
    pub(crate) fn is_look_due(&self) -> bool {
        self.ready.get() > 0 && self.watch.is_due(self.counters.polls.get())
    }

    /// Takes the scheduler out of service if it has lost a task, or starves one that it promised not to. Between slices only.
    #[cold]
    pub(crate) fn look_for_starved(&self) {
        let tasks = self.records.borrow().slots();
        let seen = self.policy.patience(tasks).and_then(|patience| {
            let (polls, most) =
                (self.counters.polls.get(), patience.unwrap_or_else(|| Watchdog::unpromised(tasks)));
            let starves = self.watch.sees_starved(polls, most, &mut self.records.borrow_mut());
            match patience {
                _ if !starves => Ok(()),
                Some(_) => Err(PolicyFault::Starved),
                // It may starve tasks, but not lose them: what it has lost does not come out.
                None => self.sweep(),
            }
        });
        self.check(seen);
    }

    /// The last handle to a group may be gone.
    pub(crate) fn release_group(&self, index: GroupIndex) {
        // A scheduler that drops a handle of its own queue while it panics: a second panic would be the end of the process,
        // and it goes out of service in any case. The group then stays known until the executor is dropped, at worst.
        let unwinding = thread::panicking();
        if unwinding && self.records.try_borrow_mut().is_err() {
            return;
        }
        let closed = self.records.borrow_mut().release_group(index);
        if let Some(group) = closed
            && !(unwinding && self.policy.is_busy())
        {
            self.check(self.policy.group_closed(group));
        }
    }

    /// Takes a faulty scheduler out of service and reports it. Its tasks go on in FIFO order.
    #[inline]
    fn check(&self, result: Result<(), PolicyFault>) {
        if let Err(fault) = result {
            self.take_out_of_service(fault);
        }
    }

    #[cold]
    fn take_out_of_service(&self, fault: PolicyFault) {
        if self.fault.get().is_none() {
            self.fault.set(Some(fault));
        }
        self.watch.end();
        let old = {
            let mut records = self.records.borrow_mut();
            records.rescue();
            // Counted anew, so that whatever a scheduler did, its successor begins with true books.
            self.ready.set(records.ready_to_run());
            self.policy.replace(&mut records.ready())
        };
        // The scheduler's own drop is user code.
        drop_quietly(old);
    }

    /// Drops the scheduler of a queue that has no tasks any more and gets none. It may hold handles to its own queue and to
    /// others, which would keep the executor's state for ever. (One that brings its own end about, in one of its methods, stays.)
    pub(crate) fn drop_scheduler(&self) {
        if !self.policy.is_busy() {
            drop_quietly(self.policy.replace(&mut std::iter::empty()));
        }
    }

    /// Cancels every task. Those that are being polled are not in their records, so this is for between polls.
    pub(crate) fn cancel_all(&self, cause: Cause) {
        let tasks = self.records.borrow_mut().take_all();
        self.ready.set(0);
        // First those that were aborted, as their errors say.
        while let Some(aborted) = self.next_aborted() {
            self.count(aborted.live.cancel(Cause::Aborted));
        }
        for task in tasks {
            let finish = task.cancel(cause);
            self.count(finish);
        }
    }
}

impl Drop for RunQueue {
    fn drop(&mut self) {
        // The scheduler's own drop is user code, and this may be inside the run loop.
        let nothing = Box::new(Policy::new(RunnableFifo::new()));
        drop_quietly(std::mem::replace(&mut self.policy, nothing));
    }
}
