//! Ending an executor or a queue: refuses new tasks, lets those there are finish, cancels the rest, reports how many.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

use crate::host::RunUntil;
use crate::queue::Counters;
use crate::run::{Core, Gone, RunQueue, Until, context};
use crate::task::{Cause, Refuses, Stopped};

/// How the tasks ended of an executor that was [drained](crate::Executor::drain) or [shut down](crate::Executor::shutdown), or of a
/// queue that was [drained](crate::Queue::drain) or [retired](crate::Queue::retire).
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

pub(crate) async fn run<D: Future>(core: &Rc<Core>, refuses: Refuses, deadline: D) -> ShutdownReport {
    core.drivers.assert_not_driven();
    core.assert_own_process();
    let before = core.stats().finished();
    let mut deadline = pin!(deadline);
    let mut none_left = Until::emptied(core);
    let drained = poll_fn(|cx| {
        // Admission refuses what other threads spawned before the refusal and sent to the inbox.
        core.receive_some();
        match none_left.poll(cx) {
            Poll::Ready(()) => Poll::Ready(true),
            Poll::Pending => deadline.as_mut().poll(cx).map(|_| false),
        }
    });
    if refuses == Refuses::Outsiders {
        // What other threads sent before is no late comer. First nothing more may come, so that this ends.
        core.shared.refuse_tasks(Stopped::ShutDown, refuses);
        outside_runs(core, || core.receive_all());
    }
    core.refuse_tasks(Stopped::ShutDown, refuses);
    let drained = RunUntil::new(core, drained).await;
    outside_runs(core, || {
        core.refuse_tasks(Stopped::ShutDown, Refuses::All);
        core.cancel_all(Cause::ShutDown);
    });
    core.drivers.wake_runs();
    ShutdownReport::between(before, core.stats().finished(), drained)
}

/// Calls what drops futures, which must not run the executor: its tasks may have no records meanwhile.
fn outside_runs(core: &Rc<Core>, call: impl FnOnce()) {
    let _keeps_others_from_driving = core.drivers.drive();
    let _entered = context::enter(core);
    call();
}

pub(crate) async fn retire<D: Future>(
    core: &Rc<Core>,
    queue: &Rc<RunQueue>,
    refuses: Refuses,
    deadline: D,
) -> ShutdownReport {
    // No queue comes into a branch that is closed, and what leaves it is counted here.
    core.close_queue(queue, refuses);
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
        core.close_queue(queue, Refuses::All);
        for queue in &branch {
            queue.abort_all(None);
        }
        poll_fn(|cx| gone.poll(cx)).await;
    }
    ShutdownReport::between(before, finished(), drained)
}
