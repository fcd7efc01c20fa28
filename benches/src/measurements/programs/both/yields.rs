//! Futures that yield: one alone, and many inside one.

use futures_util::future::join_all;
use futures_util::stream::{self, StreamExt};

use super::support::{spawn_all, timed};
use super::task::yield_now;
use crate::harness::Sample;
use crate::measurements::programs::Setting;

pub(super) async fn yield_often(times: usize) {
    for _ in 0..times {
        yield_now().await;
    }
}

/// The same with the yield that tokio has, which may stay where it is in a program whose other imports change.
pub(super) async fn yield_often_by_tokio(times: usize) {
    for _ in 0..times {
        tokio::task::yield_now().await;
    }
}

pub(super) async fn buffered<F: Future>(jobs: usize, job: impl Fn(usize) -> F) {
    let done = stream::iter(0..jobs).map(|_| job(3)).buffer_unordered(64).count().await;
    assert_eq!(done, jobs);
}

pub(super) async fn all(futures: usize, yields: usize) {
    join_all((0..futures).map(|_| yield_often(yields))).await;
}

pub(super) fn join_in_tasks(setting: &Setting) -> Sample {
    let (tasks, yields) = (setting.size(200, 5), setting.size(300, 5));
    timed(spawn_all(tasks, |_| async move {
        tokio::join!(yield_often(yields), yield_often(yields), yield_often(yields));
    }))
}
