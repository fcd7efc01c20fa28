//! [`Lending`]: awaits a task and lends it the place of the task that waits.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use crate::run::{Core, context};
use crate::task::{JoinError, JoinHandle};

impl<T> JoinHandle<T> {
    /// Awaits the task's output, and lends the task the place of the one that awaits it. See [`Lending`], the future that this
    /// gives.
    pub fn lending(self) -> Lending<T> {
        Lending { handle: self, core: None }
    }
}

/// Awaits the output of a task and meanwhile lends it the place of the task that waits: its queue and group, and its
/// [attributes](crate::Queue::new_task). From [`JoinHandle::lending`].
///
/// Without that, a task of a favoured queue that awaits one of a queue with a small share waits as long as that share says, and
/// as long as the other tasks of that queue take: a *priority inversion*. With it the borrower is served as a task of the
/// lender's queue from the lender's first poll of this future until the end of the loan.
///
/// # Who pays
///
/// The lender's queue: what the borrower takes is billed to it and to the lender's group, and its share, its [cap](crate::Cap) and
/// what it may take from others stay as they are. So no queue gets more than without loans; it spends what it has on another
/// task. For the time, the borrower counts as one of the lender's queue and group also in their statistics and for
/// [`Queue::abort_all`](crate::Queue::abort_all), but may exceed their limits. What the borrower *spawns* goes to its own queue
/// and group, which [`Queue::current`](crate::Queue::current) and [`Group::current`](crate::Group::current) go on to show.
///
/// # When nothing is lent
///
/// If the lender's queue is less favoured: it has a smaller share, or is [idle](crate::QueueBuilder::idle) or capped while the
/// borrower's is not. (Of [nested](crate::Queue::new_queue) queues those shares count that divide what both branches get.) If both are
/// in the same queue. If this is not polled in a task of the borrower's executor. It then awaits the output as the handle does.
///
/// # Chains
///
/// A borrower that lends in turn passes its place on, whichever loan came first. Tasks that wait for each other in a ring do so
/// for ever, as they do without loans.
///
/// # The end
///
/// The loan ends with the task, or when this future is dropped: then the borrower goes back to its own queue, unless that was
/// closed and had no other task. It is polled once for that, as it is at the beginning. A loan takes O(log n) steps for n
/// loans, for each task along a chain; beginning and end cost about a spawn each.
///
/// # Cancel safety
///
/// Awaiting `&mut lending` is cancel safe: no output is lost if the await is dropped. The loan lasts until the future itself
/// is dropped, which detaches the task, as dropping the handle does.
///
/// # Panics
///
/// When polled again after it has given the output.
///
/// # Where it comes from
///
/// Lampson and Redell, *Experience with Processes and Monitors in Mesa*, 1980, describe the inversion, and Sha, Rajkumar and
/// Lehoczky, *Priority Inheritance Protocols*, 1990, its remedy. That the waiting client's resources are transferred, so that
/// it pays, is from Waldspurger and Weihl, *Lottery Scheduling*, OSDI 1994.
///
/// # Example
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let ex = clockworker::Executor::new();
/// let requests = ex.new_queue("requests").share(99).create()?;
/// let reports = ex.new_queue("reports").share(1).create()?;
/// let request = requests.spawn(async move {
///     // Among many others in that queue.
///     let report = reports.spawn(async { 6 * 7 });
///     report.lending().await
/// });
/// assert_eq!(ex.block_on(request)??, 42);
/// # Ok(())
/// # }
/// ```
#[must_use = "futures do nothing unless polled"]
pub struct Lending<T> {
    handle: JoinHandle<T>,
    /// The executor, once there may be a loan.
    core: Option<Rc<Core>>,
}

impl<T> Lending<T> {
    /// The handle of the task that is awaited, to abort it, say.
    pub fn handle(&self) -> &JoinHandle<T> {
        &self.handle
    }

    /// Lends, if the current task can. False if that is to be tried again: the task has not come in yet from another thread.
    fn lend(&mut self) -> bool {
        let Some(core) = context::current() else { return true };
        let Some(key) = self.handle.record_in(&core.shared) else { return true };
        if !key.has_slot() {
            return false;
        }
        core.lend(self.handle.id(), key);
        self.core = Some(core);
        true
    }

    fn end(&mut self) {
        if let Some(core) = self.core.take() {
            core.end_loan(self.handle.id());
        }
    }
}

impl<T> Future for Lending<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let polled = Pin::new(&mut self.handle).poll(cx);
        if polled.is_ready() {
            self.end();
        } else if !self.lend() {
            cx.waker().wake_by_ref();
        }
        polled
    }
}

impl<T> Drop for Lending<T> {
    fn drop(&mut self) {
        self.end();
    }
}

impl<T> fmt::Debug for Lending<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lending").field("handle", &self.handle).finish_non_exhaustive()
    }
}
