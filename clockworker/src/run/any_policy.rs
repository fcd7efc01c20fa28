//! [`AnyPolicy`]: a scheduler of unknown type, whose panics become faults.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use clockworker_schedulers::{Attributes, Gone, Scheduler, Subject, Task};

use super::Core;
use super::queue::RunQueue;
use super::slice::{self, Halt};
use super::timing::SliceEnd;
use crate::base::drop_quietly;
use crate::queue::{Handover, Policy, PolicyCalls, PolicyFault, Removed};

/// A queue's [`Policy`] without its type. One dynamic call per slice, none per poll.
pub(super) trait AnyPolicy {
    fn said(&self, of: Subject, attributes: &Attributes) -> Result<(), PolicyFault>;
    fn gone(&self, gone: Gone) -> Result<(), PolicyFault>;
    /// A task has left the queue, which the scheduler does not have.
    fn removed(&self, removed: &Removed) -> Result<(), PolicyFault>;
    /// Whether a method of the scheduler is on the stack.
    fn is_busy(&self) -> bool;
    /// Whether the scheduler is in service and is told of the service of tasks.
    fn times_tasks(&self) -> bool;
    fn run_slice(&self, queue: &RunQueue, core: &Core) -> Result<SliceEnd, PolicyFault>;
    /// Pops every task of the scheduler, removes the records of aborted ones, and pushes the others back in the order in
    /// which they came.
    fn sweep(&self, queue: &RunQueue) -> Result<(), PolicyFault>;
    /// Pops every task of the scheduler, for another one, in the order in which they come.
    fn give_out(&self, queue: &RunQueue) -> Result<Vec<Task>, PolicyFault>;
    /// Tells a new scheduler what there is in its queue.
    fn take_over(&self, handover: &Handover) -> Result<(), PolicyFault>;
    /// The type of the scheduler in service.
    fn type_name(&self) -> &'static str;
    /// Takes the scheduler out of its place, for the caller to drop.
    fn take(&self) -> Option<Box<dyn Any>>;
}

impl<S: Scheduler + 'static> AnyPolicy for Policy<S> {
    fn said(&self, of: Subject, attributes: &Attributes) -> Result<(), PolicyFault> {
        self.told(|scheduler| scheduler.said(of, attributes))
    }

    fn gone(&self, gone: Gone) -> Result<(), PolicyFault> {
        self.told(|scheduler| scheduler.gone(gone))
    }

    fn removed(&self, removed: &Removed) -> Result<(), PolicyFault> {
        self.told(|scheduler| removed.tell(scheduler))
    }

    fn is_busy(&self) -> bool {
        self.seat.try_borrow_mut().is_err()
    }

    fn times_tasks(&self) -> bool {
        // Where it is borrowed it is on the stack, in service.
        slice::times_tasks::<S>() && self.seat.try_borrow().map_or(true, |seat| seat.is_some())
    }

    fn run_slice(&self, queue: &RunQueue, core: &Core) -> Result<SliceEnd, PolicyFault> {
        guarded_slice(|calls| slice::run(&self.seat, (queue, core, calls)))
    }

    fn sweep(&self, queue: &RunQueue) -> Result<(), PolicyFault> {
        guarded(|| Policy::sweep(self, &queue.records, queue.ready.get())).and_then(|swept| swept)
    }

    fn give_out(&self, queue: &RunQueue) -> Result<Vec<Task>, PolicyFault> {
        guarded(|| Policy::give_out(self, &queue.records)).and_then(|given| given)
    }

    fn take_over(&self, handover: &Handover) -> Result<(), PolicyFault> {
        self.told(|scheduler| handover.tell(scheduler))
    }

    fn type_name(&self) -> &'static str {
        std::any::type_name::<S>()
    }

    fn take(&self) -> Option<Box<dyn Any>> {
        Policy::take(self).map(|old| Box::new(old) as Box<dyn Any>)
    }
}

impl<S: Scheduler> Policy<S> {
    /// Tells the scheduler something.
    fn told(&self, tell: impl FnOnce(&mut S)) -> Result<(), PolicyFault> {
        guarded(|| self.call(tell)).map(|_| ())
    }
}

/// Calls a user's scheduler, and makes a panic a fault. All its state is behind a `RefCell`, whose borrow a panic releases.
fn guarded<T>(call: impl FnOnce() -> T) -> Result<T, PolicyFault> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|payload| {
        drop_quietly(payload);
        PolicyFault::Panicked
    })
}

/// Runs a slice, which guards its calls of the scheduler by [`PolicyCalls`]. A panic that does not come from those is the
/// executor's own, and goes on.
fn guarded_slice(run: impl FnOnce(&PolicyCalls) -> Result<SliceEnd, Halt>) -> Result<SliceEnd, PolicyFault> {
    let calls = PolicyCalls::default();
    match catch_unwind(AssertUnwindSafe(|| run(&calls))) {
        Ok(Ok(end)) => Ok(end),
        Ok(Err(Halt::Interrupted)) => Ok(SliceEnd::Interrupted),
        Ok(Err(Halt::Fault(fault))) => Err(fault),
        Err(payload) if calls.has_panicked() => {
            drop_quietly(payload);
            Err(PolicyFault::Panicked)
        }
        Err(payload) => resume_unwind(payload),
    }
}

#[cfg(all(test, not(any(clockworker_loom, clockworker_shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_the_scheduler_is_a_fault_and_one_of_the_executor_goes_on() {
        let of_scheduler = guarded_slice(|calls| calls.guard(|| panic!("the scheduler's")));
        assert_eq!(of_scheduler, Err(PolicyFault::Panicked));
        let of_executor = catch_unwind(|| {
            guarded_slice(|calls| {
                calls.guard(|| {});
                panic!("the executor's")
            })
        });
        assert_eq!(of_executor.unwrap_err().downcast_ref::<&str>(), Some(&"the executor's"));
    }
}
