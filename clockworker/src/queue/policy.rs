//! A user's scheduler, and what replaces it when it breaks its contract.

use std::cell::{Cell, RefCell};

use clockworker_schedulers::{GroupId, Ready, RunnableFifo, Scheduler, Task};

use super::PolicyFault;
use super::records::{Popped, Records};
use crate::task::{Arrival, Arrivals, BATCH};

/// Where a scheduler sits while it is in service.
///
/// The hot loop borrows one between polls. It is empty once the scheduler was taken out of service, which may happen
/// during a poll.
pub(crate) type Seat<S> = RefCell<Option<S>>;

/// A scheduler in service, or FIFO in its place. One of the two seats is taken.
#[derive(Debug)]
pub(crate) struct Policy<S> {
    pub(crate) chosen: Seat<S>,
    pub(crate) successor: Seat<RunnableFifo>,
}

impl<S: Scheduler> Policy<S> {
    pub(crate) fn new(scheduler: S) -> Self {
        Policy { chosen: RefCell::new(Some(scheduler)), successor: RefCell::new(None) }
    }

    pub(crate) fn push(&self, task: Task, why: Ready) {
        if let Some(scheduler) = &mut *self.chosen.borrow_mut() {
            scheduler.push(task, why);
        } else if let Some(fifo) = &mut *self.successor.borrow_mut() {
            fifo.push(task, why);
        }
    }

    /// See [`admit_woken`].
    pub(crate) fn admit_woken(
        &self,
        (records, ready): (&RefCell<Records>, &Cell<usize>),
        arrivals: &Arrivals,
        visited: Option<u8>,
        most: usize,
    ) -> usize {
        let mut records = records.borrow_mut();
        let told = (ready, &Asked::default(), arrivals);
        if let Some(scheduler) = &mut *self.chosen.borrow_mut() {
            return admit_woken(scheduler, &mut records, told, visited, most);
        }
        match &mut *self.successor.borrow_mut() {
            Some(fifo) => admit_woken(fifo, &mut records, told, visited, most),
            None => 0,
        }
    }

    /// Takes everything out of a scheduler, and puts back what is not aborted. (FIFO gives out its tombstones in turn.)
    pub(crate) fn sweep(&self, records: &RefCell<Records>, ready: usize) -> Result<(), PolicyFault> {
        let mut chosen = self.chosen.borrow_mut();
        let Some(scheduler) = &mut *chosen else { return Ok(()) };
        let mut records = records.borrow_mut();
        let mut kept = Vec::new();
        while let Some(id) = scheduler.pop() {
            match records.take_ready(id) {
                Popped::Task { live, .. } => kept.extend(records.put_back(id, live, true)),
                Popped::Aborted(left) => left.tell(scheduler),
                Popped::Fault(fault) => return Err(fault),
            }
        }
        if kept.len() != ready {
            return Err(PolicyFault::Lost);
        }
        kept.into_iter().for_each(|task| scheduler.push(task, Ready::Woken));
        Ok(())
    }

    pub(crate) fn group_closed(&self, group: GroupId) {
        if let Some(scheduler) = &mut *self.chosen.borrow_mut() {
            scheduler.group_closed(group);
        }
    }

    /// FIFO is above suspicion.
    pub(crate) fn patience(&self, tasks: usize) -> Option<u64> {
        self.chosen.borrow().as_ref().and_then(|scheduler| scheduler.patience(tasks))
    }

    /// Puts FIFO in the scheduler's place, with the tasks that are ready. The old scheduler, if it was in service, is
    /// for the caller to drop.
    pub(crate) fn replace(&self, ready: &mut dyn Iterator<Item = Task>) -> Option<S> {
        let mut fifo = RunnableFifo::new();
        for task in ready {
            fifo.push(task, Ready::Woken);
        }
        self.successor.replace(Some(fifo));
        self.chosen.take()
    }
}

/// Hands a scheduler those of its tasks that were woken on this thread, up to `most`; how many. All that have arrived must be of
/// its queue. They were woken by the host's visit before the turn `visited`, or in some other way.
#[inline(always)]
fn admit_woken<S: Scheduler>(
    policy: &mut S,
    records: &mut Records,
    (ready, asked, arrivals): (&Cell<usize>, &Asked, &Arrivals),
    visited: Option<u8>,
    most: usize,
) -> usize {
    let mut admitted = 0;
    while admitted < most
        && let Some(arrival) = arrivals.next()
    {
        admitted += 1;
        if let Arrival::Ready(place) = arrival
            && let Some((task, why)) = records.make_ready(place, visited)
        {
            ready.set(ready.get() + 1);
            asked.ask(|| policy.push(task, why));
        }
    }
    admitted
}

/// The same in a slice of their queue: a batch of them.
#[inline(never)] // the hot loop has no registers to spare
pub(crate) fn admit_woken_in_slice<S: Scheduler>(
    policy: &mut S,
    records: &mut Records,
    told: (&Cell<usize>, &Asked, &Arrivals),
) {
    admit_woken(policy, records, told, None, BATCH);
}

/// Tells a panic of the scheduler from one of the executor, in a slice, where both are caught at one place.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    panicked: Cell<bool>,
}

impl Asked {
    /// Calls the scheduler. Costs nothing unless it panics.
    #[inline(always)]
    pub(crate) fn ask<T>(&self, call: impl FnOnce() -> T) -> T {
        let unless_done = Panicked(&self.panicked);
        let answer = call();
        std::mem::forget(unless_done);
        answer
    }

    /// Whether a call has panicked.
    pub(crate) fn has_panicked(&self) -> bool {
        self.panicked.get()
    }
}

/// Dropped by unwinding only.
struct Panicked<'a>(&'a Cell<bool>);

impl Drop for Panicked<'_> {
    fn drop(&mut self) {
        self.0.set(true);
    }
}
