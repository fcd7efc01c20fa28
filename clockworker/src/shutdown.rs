//! Shutting an executor down, or retiring a queue: refuses new tasks, lets those there are finish, cancels the rest, reports how
//! many.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

use crate::host::RunUntil;
use crate::queue::Counters;
use crate::run::{Core, Emptied, Gone, RunQueue, context};
use crate::task::{Cause, Stopped};

/// How the tasks ended that an executor had when it was [shut down](crate::Executor::shutdown), or a queue when it was
/// [retired](crate::Queue::retire).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShutdownReport {
    /// Tasks that gave an output before the deadline.
    pub completed: u64,
    /// Tasks that were aborted before the deadline, or cancelled at it.
    pub cancelled: u64,
    /// Tasks that panicked, in a poll or when they were cancelled.
    pub panicked: u64,
    /// Whether every task had finished before the deadline.
    pub drained: bool,
}

impl ShutdownReport {
    /// Of the counts of completed, cancelled and panicked tasks, before and after.
    fn between(before: [u64; 3], after: [u64; 3], drained: bool) -> Self {
        let [completed, cancelled, panicked] = std::array::from_fn(|i| after[i] - before[i]);
        Self { completed, cancelled, panicked, drained }
    }
}

impl fmt::Display for ShutdownReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { completed, cancelled, panicked, drained } = self;
        let how = if *drained { "drained" } else { "deadline passed" };
        write!(f, "{how}: {completed} tasks completed, {cancelled} cancelled, {panicked} panicked")
    }
}

pub(crate) async fn run<D: Future>(core: &Rc<Core>, deadline: D) -> ShutdownReport {
    core.drivers.assert_not_driven();
    core.assert_own_process();
    let before = core.stats().finished();
    let mut deadline = pin!(deadline);
    let mut none_left = Emptied::new(core);
    let drained = poll_fn(|cx| {
        // Admission refuses what other threads spawned before the refusal and sent to the inbox.
        core.receive_some();
        match none_left.poll(cx) {
            Poll::Ready(()) => Poll::Ready(true),
            Poll::Pending => deadline.as_mut().poll(cx).map(|_| false),
        }
    });
    core.refuse_tasks(Stopped::ShutDown);
    let drained = RunUntil::new(core, drained).await;
    // What the futures drop must not run the executor, whose tasks have no records meanwhile.
    let keeps_others_from_driving = core.drivers.drive();
    let entered = context::enter(core);
    core.cancel_all(Cause::ShutDown);
    drop((entered, keeps_others_from_driving));
    core.drivers.wake_runs();
    ShutdownReport::between(before, core.stats().finished(), drained)
}

pub(crate) async fn retire<D: Future>(core: &Rc<Core>, queue: &Rc<RunQueue>, deadline: D) -> ShutdownReport {
    // No queue comes into a branch that is closed, and what leaves it is counted here.
    core.close_queue(queue);
    let branch = core.branch(queue);
    let finished = || {
        let sum = Counters::default();
        branch.iter().for_each(|queue| sum.absorb(&queue.counters));
        sum.all_finished()
    };
    let before = finished();
    let mut deadline = pin!(deadline);
    let mut gone = Gone::new(core, queue);
    let drained = poll_fn(|cx| match gone.poll(cx) {
        Poll::Ready(()) => Poll::Ready(true),
        Poll::Pending => deadline.as_mut().poll(cx).map(|_| false),
    });
    let drained = drained.await;
    if !drained {
        for queue in &branch {
            queue.abort_all(None);
        }
        poll_fn(|cx| gone.poll(cx)).await;
    }
    ShutdownReport::between(before, finished(), drained)
}
