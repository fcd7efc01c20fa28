//! Stopping: take no more tasks, let those there are finish, cancel the rest, say how many.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

use crate::host::RunUntil;
use crate::run::{Core, Drained, ExecutorStats, context};
use crate::task::{Cause, Refusal};

/// What became of the tasks that an executor had when it was shut down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShutdownReport {
    /// Tasks that gave an output before the deadline.
    pub completed: u64,
    /// Tasks that were aborted meanwhile, or left at the deadline and cancelled.
    pub cancelled: u64,
    /// Tasks that panicked, in a poll or when they were cancelled.
    pub panicked: u64,
    /// Whether every task had finished before the deadline.
    pub drained: bool,
}

impl ShutdownReport {
    fn between(before: &ExecutorStats, after: &ExecutorStats, drained: bool) -> Self {
        Self {
            completed: after.completed - before.completed,
            cancelled: after.cancelled - before.cancelled,
            panicked: after.panicked - before.panicked,
            drained,
        }
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
    let before = core.stats();
    let mut deadline = pin!(deadline);
    let mut none_left = Drained::new(core);
    let drained = poll_fn(|cx| {
        // What other threads spawned before the refusal is there and has to be told.
        core.admit_arrivals();
        match none_left.poll(cx) {
            Poll::Ready(()) => Poll::Ready(true),
            Poll::Pending => deadline.as_mut().poll(cx).map(|_| false),
        }
    });
    let mut run = RunUntil::new(core, drained);
    // Before anything is refused: a shutdown that cannot be must leave the executor as it is.
    run.claim();
    core.refuse(Refusal::ShutDown);
    let drained = run.await;
    let _entered = context::enter(core);
    core.cancel_all(Cause::ShutDown);
    ShutdownReport::between(&before, &core.stats(), drained)
}
