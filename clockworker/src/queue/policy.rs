//! A queue's scheduler, behind a seat that it may lose.

use std::cell::{Cell, RefCell};

use clockworker_schedulers::{Ready, Scheduler, Task};

use super::PolicyFault;
use super::groups::as_task;
use super::records::{Popped, Records};

/// The seat of a scheduler; empty once another has its place, which may come about during a poll.
///
/// The hot loop borrows a seat between polls.
pub(crate) type Seat<S> = RefCell<Option<S>>;

/// A queue's scheduler. Nothing happens in these calls once another has its place.
#[derive(Debug)]
pub(crate) struct Policy<S> {
    pub(crate) seat: Seat<S>,
}

impl<S: Scheduler> Policy<S> {
    pub(crate) fn new(scheduler: S) -> Self {
        Policy { seat: RefCell::new(Some(scheduler)) }
    }

    /// Calls the scheduler, if it has its place.
    pub(crate) fn call<T>(&self, call: impl FnOnce(&mut S) -> T) -> Option<T> {
        self.seat.borrow_mut().as_mut().map(call)
    }

    /// Pops every task of the scheduler, and pushes back those that are not aborted.
    pub(crate) fn sweep(&self, records: &RefCell<Records>, ready: usize) -> Result<(), PolicyFault> {
        self.call(|scheduler| sweep(scheduler, &mut records.borrow_mut(), ready)).unwrap_or(Ok(()))
    }

    /// Pops every task of the scheduler. See [`give_out`].
    pub(crate) fn give_out(&self, records: &RefCell<Records>) -> Result<Vec<Task>, PolicyFault> {
        self.call(|scheduler| give_out(scheduler, &records.borrow())).unwrap_or_else(|| Ok(Vec::new()))
    }

    /// Takes the scheduler out of its place, for the caller to drop.
    pub(crate) fn take(&self) -> Option<S> {
        self.seat.take()
    }
}

/// See [`Policy::sweep`].
fn sweep<S: Scheduler>(scheduler: &mut S, records: &mut Records, ready: usize) -> Result<(), PolicyFault> {
    let (mut kept, mut removed) = (Vec::new(), Vec::new());
    while let Some(id) = scheduler.pop() {
        match records.take_ready(id) {
            // It goes back at once, so that a scheduler that panics loses nothing. So it could be popped again, without end.
            Popped::Task { runnable, group, .. } => {
                runnable.put_back();
                kept.push(as_task(id, group));
            }
            // Told when all are out: until then a scheduler may take each pop for a poll to come.
            Popped::Aborted(gone) => removed.push(gone),
            Popped::Fault(fault) => return Err(fault),
        }
        if kept.len() > ready {
            return Err(PolicyFault::Repeated);
        }
    }
    if kept.len() != ready {
        return Err(PolicyFault::Lost);
    }
    removed.into_iter().for_each(|gone| gone.tell(scheduler));
    kept.into_iter().for_each(|task| scheduler.push(task, Ready::Woken));
    Ok(())
}

/// Pops every task of a scheduler, aborted ones too, for another one: exactly those that are ready, or it is a fault. The
/// records stay as they are.
fn give_out<S: Scheduler>(scheduler: &mut S, records: &Records) -> Result<Vec<Task>, PolicyFault> {
    let all = records.ready().count();
    let mut given = Vec::with_capacity(all);
    while let Some(id) = scheduler.pop() {
        if given.len() == all {
            return Err(PolicyFault::Repeated);
        }
        given.push(records.ready_task(id)?);
    }
    let mut slots: Vec<usize> = given.iter().map(|task: &Task| task.id.slot()).collect();
    slots.sort_unstable();
    slots.dedup();
    if slots.len() == all { Ok(given) } else { Err(PolicyFault::Lost) }
}

/// Guards the calls of a scheduler in a slice, where one `catch_unwind` catches its panics and the executor's: tells them
/// apart.
#[derive(Debug, Default)]
pub(crate) struct PolicyCalls {
    panicked: Cell<bool>,
}

impl PolicyCalls {
    /// Makes one call of the scheduler. Costs nothing unless it panics.
    #[inline(always)]
    pub(crate) fn guard<T>(&self, call: impl FnOnce() -> T) -> T {
        let begun = self.begin();
        let answer = call();
        begun.end();
        answer
    }

    /// Begins a call of the scheduler that is to be compiled into the caller: the compiler may make a function of a closure.
    #[inline(always)]
    pub(crate) fn begin(&self) -> PolicyCall<'_> {
        PolicyCall(&self.panicked)
    }

    /// Whether a guarded call has panicked.
    pub(crate) fn has_panicked(&self) -> bool {
        self.panicked.get()
    }
}

/// A call of the scheduler under way. Sets the flag when it is dropped, which only unwinding does.
#[must_use = "ends with `end`"]
pub(crate) struct PolicyCall<'a>(&'a Cell<bool>);

impl PolicyCall<'_> {
    /// Ends the call, which has returned.
    #[inline(always)]
    pub(crate) fn end(self) {
        std::mem::forget(self);
    }
}

impl Drop for PolicyCall<'_> {
    fn drop(&mut self) {
        self.0.set(true);
    }
}
