//! Many futures inside one: in the main future, and in a task.

use std::future::Future;

use futures::future::join_all;
use futures::stream::{self, StreamExt};

use super::support::{spawn_all, timed, timed_in_task, yield_often, yield_often_by_tokio};
use crate::measurements::programs::setting::Setting;

pub(crate) fn buffered_in_main(setting: &Setting) -> Vec<f64> {
    timed(buffered(setting.size(20_000, 200), yield_often))
}

pub(crate) fn buffered_by_tokio_in_main(setting: &Setting) -> Vec<f64> {
    timed(buffered(setting.size(20_000, 200), yield_often_by_tokio))
}

pub(crate) fn buffered_in_task(setting: &Setting) -> Vec<f64> {
    timed_in_task(buffered(setting.size(20_000, 200), yield_often))
}

async fn buffered<F: Future>(jobs: usize, job: impl Fn(usize) -> F) {
    let done = stream::iter(0..jobs).map(|_| job(3)).buffer_unordered(64).count().await;
    assert_eq!(done, jobs);
}

pub(crate) fn join_all_in_main(setting: &Setting) -> Vec<f64> {
    timed(all(setting.size(1_000, 50), setting.size(50, 2)))
}

pub(crate) fn join_all_in_task(setting: &Setting) -> Vec<f64> {
    timed_in_task(all(setting.size(1_000, 50), setting.size(50, 2)))
}

async fn all(futures: usize, yields: usize) {
    join_all((0..futures).map(|_| yield_often(yields))).await;
}

/// `join!` of three futures that yield, in each of many tasks.
pub(crate) fn join_in_tasks(setting: &Setting) -> Vec<f64> {
    let (tasks, yields) = (setting.size(200, 5), setting.size(300, 5));
    timed(spawn_all(tasks, |_| async move {
        tokio::join!(yield_often(yields), yield_often(yields), yield_often(yields));
    }))
}
