//! What the host's polls cost, and yields that do not happen.

use std::future::{Future, pending};
use std::pin::pin;
use std::task::{Context, Waker};

use clockworker::schedulers::RunnableFifo;
use clockworker::{ManualClock, yield_if_due};
use tokio::task::LocalSet;

use super::{Workload, executor, run_until};

pub(super) fn idle() -> Workload {
    let executor = executor(&ManualClock::new(), RunnableFifo::new());
    Box::new(move |n, region| {
        let mut run = pin!(executor.run_until(pending::<()>()));
        region.count(n, &mut || poll_often(run.as_mut(), n));
    })
}

pub(super) fn local_set_idle() -> Workload {
    let local = LocalSet::new();
    Box::new(move |n, region| {
        let mut run = pin!(local.run_until(pending::<()>()));
        region.count(n, &mut || poll_often(run.as_mut(), n));
    })
}

fn poll_often(mut run: std::pin::Pin<&mut impl Future>, n: u64) {
    let mut cx = Context::from_waker(Waker::noop());
    for _ in 0..n {
        assert!(run.as_mut().poll(&mut cx).is_pending());
    }
}

/// In a task that is not due as time stands still.
pub(super) fn not_due() -> Workload {
    let executor = executor(&ManualClock::new(), RunnableFifo::new());
    Box::new(move |n, region| {
        region.count(n, &mut || {
            let task = executor.spawn(async move {
                for _ in 0..n {
                    yield_if_due().await;
                }
            });
            run_until(&executor, task).expect("the task neither panics nor is aborted");
        });
    })
}
