//! A fresh set in a fresh host.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;

use super::task::{LocalSet, spawn_local};
use crate::arms;
use crate::latencies::Latencies;
use crate::overhead::polls::nanos;
use crate::stopwatch::Stopwatch;

/// Runs `main` and its tasks. What is left of them is dropped before the host is.
pub(super) fn run<F: Future>(main: F) -> F::Output {
    let host = arms::host();
    let local = LocalSet::new();
    local.block_on(&host, main)
}

/// The time that `main` takes, in nanoseconds.
pub(super) fn timed(main: impl Future<Output = ()>) -> Vec<f64> {
    run(async {
        let watch = Stopwatch::start();
        main.await;
        vec![nanos(watch.elapsed())]
    })
}

/// The time that `main` takes as a task of the set.
pub(super) fn timed_in_task(main: impl Future<Output = ()> + 'static) -> Vec<f64> {
    timed(async { spawn_local(main).await.expect("the task does not fail") })
}

/// A time with the p99 of latencies.
pub(super) fn with_p99(watch: &Stopwatch, latencies: &Latencies) -> Vec<f64> {
    vec![nanos(watch.elapsed()), latencies.at(0.99) as f64]
}

/// `future`, whose polls are counted.
pub(super) async fn counted<F: Future>(polls: Rc<Cell<u64>>, future: F) -> F::Output {
    let mut future = pin!(future);
    poll_fn(|cx| {
        polls.set(polls.get() + 1);
        future.as_mut().poll(cx)
    })
    .await
}
