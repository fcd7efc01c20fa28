//! A host that polls an executor only when it is woken.

use std::future::{Future, pending};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use clockworker::Executor;

use super::CountingWaker;

/// One tick: the host polls the executor once.
pub(crate) fn tick(ex: &Executor) {
    let mut run = pin!(ex.run_until(pending::<()>()));
    assert!(run.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
}

/// Runs the executor as a host does, that polls it again only when it was woken, until it is not woken any more.
pub(crate) fn settle(ex: &Executor) {
    let mut run = pin!(ex.run_until(pending::<()>()));
    settle_run(run.as_mut());
}

/// As [`settle`], for a run that was made already; its output, if it gave one.
pub(crate) fn settle_run<F: Future>(mut run: Pin<&mut F>) -> Option<F::Output> {
    let (wakes, waker) = CountingWaker::new();
    for _ in 0..1_000_000 {
        let before = wakes.count();
        if let Poll::Ready(output) = run.as_mut().poll(&mut Context::from_waker(&waker)) {
            return Some(output);
        }
        if wakes.count() == before {
            return None;
        }
    }
    panic!("the executor has been asking its host for another poll a million times");
}
