//! [`AnyPolicy`]: a scheduler of unknown type, whose panics become faults.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use clockworker_schedulers::{Attributes, GroupId, Ready, RunnableFifo, Scheduler, Task};

use super::Core;
use super::queue::RunQueue;
use super::slice::{self, Halt};
use super::timing::SliceEnd;
use crate::base::drop_quietly;
use crate::queue::{Handover, Policy, PolicyCalls, PolicyFault};
use crate::task::WokenList;

/// A queue's [`Policy`] without its type. One dynamic call per slice or admission, none per poll.
pub(super) trait AnyPolicy {
    fn push(&self, task: Task, why: Ready) -> Result<(), PolicyFault>;
    /// Pushes a task that was spawned with attributes.
    fn push_spawned(&self, task: Task, attributes: &Attributes) -> Result<(), PolicyFault>;
    /// See [`RunQueue::admit_woken`].
    fn admit_woken(
        &self,
        queue: &RunQueue,
        woken: &WokenList,
        deferred: Option<u8>,
        most: usize,
    ) -> Result<usize, PolicyFault>;
    fn group_opened(&self, group: GroupId, key: u64, attributes: &Attributes) -> Result<(), PolicyFault>;
    fn group_changed(&self, group: GroupId, attributes: &Attributes) -> Result<(), PolicyFault>;
    fn group_closed(&self, group: GroupId) -> Result<(), PolicyFault>;
    /// Whether a method of the scheduler is on the stack.
    fn is_busy(&self) -> bool;
    /// Whether the scheduler is in service and needs to know the service of tasks.
    fn needs_service(&self) -> bool;
    fn run_slice(&self, queue: &RunQueue, core: &Core) -> Result<SliceEnd, PolicyFault>;
    fn patience(&self, tasks: usize) -> Result<Option<u64>, PolicyFault>;
    /// Pops every task of the scheduler, removes the records of aborted ones, and pushes the others back in the order in
    /// which they came.
    fn sweep(&self, queue: &RunQueue) -> Result<(), PolicyFault>;
    /// Pops every task of the scheduler, for another one, in the order in which they come.
    fn give_out(&self, queue: &RunQueue) -> Result<Vec<Task>, PolicyFault>;
    /// Tells a new scheduler what there is in its queue.
    fn take_over(&self, handover: &Handover) -> Result<(), PolicyFault>;
    /// The type of the scheduler in service.
    fn type_name(&self) -> &'static str;
    /// Takes the scheduler out of service: from now on the queue is FIFO, beginning with `ready`. Returns the scheduler.
    fn replace(&self, ready: &mut dyn Iterator<Item = Task>) -> Option<Box<dyn Any>>;
}

impl<S: Scheduler + 'static> AnyPolicy for Policy<S> {
    fn push(&self, task: Task, why: Ready) -> Result<(), PolicyFault> {
        guarded(|| Policy::push(self, task, why))
    }

    fn push_spawned(&self, task: Task, attributes: &Attributes) -> Result<(), PolicyFault> {
        guarded(|| Policy::push_spawned(self, task, attributes))
    }

    fn admit_woken(
        &self,
        queue: &RunQueue,
        woken: &WokenList,
        deferred: Option<u8>,
        most: usize,
    ) -> Result<usize, PolicyFault> {
        guarded(|| Policy::admit_woken(self, (&queue.records, &queue.ready), woken, deferred, most))
    }

    fn group_opened(&self, group: GroupId, key: u64, attributes: &Attributes) -> Result<(), PolicyFault> {
        guarded(|| Policy::group_opened(self, group, key, attributes))
    }

    fn group_changed(&self, group: GroupId, attributes: &Attributes) -> Result<(), PolicyFault> {
        guarded(|| Policy::group_changed(self, group, attributes))
    }

    fn group_closed(&self, group: GroupId) -> Result<(), PolicyFault> {
        guarded(|| Policy::group_closed(self, group))
    }

    fn is_busy(&self) -> bool {
        self.chosen.try_borrow_mut().is_err()
    }

    fn needs_service(&self) -> bool {
        // Where it is borrowed it is on the stack, in service.
        S::NEEDS_SERVICE && self.chosen.try_borrow().map_or(true, |chosen| chosen.is_some())
    }

    fn run_slice(&self, queue: &RunQueue, core: &Core) -> Result<SliceEnd, PolicyFault> {
        // Not in the condition, whose borrow would last for the whole slice.
        let in_service = self.chosen.borrow().is_some();
        guarded_slice(|calls| match in_service {
            true => slice::run(&self.chosen, (queue, core, calls)),
            false => slice::run(&self.successor, (queue, core, calls)),
        })
    }

    fn sweep(&self, queue: &RunQueue) -> Result<(), PolicyFault> {
        guarded(|| Policy::sweep(self, &queue.records, queue.ready.get())).and_then(|swept| swept)
    }

    fn give_out(&self, queue: &RunQueue) -> Result<Vec<Task>, PolicyFault> {
        guarded(|| Policy::give_out(self, &queue.records)).and_then(|given| given)
    }

    fn take_over(&self, handover: &Handover) -> Result<(), PolicyFault> {
        guarded(|| Policy::take_over(self, handover))
    }

    fn type_name(&self) -> &'static str {
        // As in `needs_service`.
        match self.chosen.try_borrow().map_or(true, |chosen| chosen.is_some()) {
            true => std::any::type_name::<S>(),
            false => std::any::type_name::<RunnableFifo>(),
        }
    }

    fn patience(&self, tasks: usize) -> Result<Option<u64>, PolicyFault> {
        guarded(|| Policy::patience(self, tasks))
    }

    fn replace(&self, ready: &mut dyn Iterator<Item = Task>) -> Option<Box<dyn Any>> {
        Policy::replace(self, ready).map(|old| Box::new(old) as Box<dyn Any>)
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
        Ok(Err(Halt::Tombstones)) => Ok(SliceEnd::Tombstones),
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
