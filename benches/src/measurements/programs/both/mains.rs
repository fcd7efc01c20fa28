//! What the main future does, and a task in its place.

use super::support::{timed, timed_in_task, yield_often, yield_often_by_tokio};
use super::task::{spawn_local, yield_now};
use crate::measurements::programs::setting::Setting;

/// Nothing is there but a main future that yields.
pub(crate) fn yields_alone(setting: &Setting) -> Vec<f64> {
    timed(yield_often(setting.size(200_000, 200)))
}

/// The same with the yield that tokio has, which may stay where it is.
pub(crate) fn yields_by_tokio_alone(setting: &Setting) -> Vec<f64> {
    timed(yield_often_by_tokio(setting.size(200_000, 200)))
}

/// A main future that spawns two tasks and waits for both, over and over.
pub(crate) fn spawns_two(setting: &Setting) -> Vec<f64> {
    let rounds = setting.size(50_000, 50);
    timed(async move {
        for _ in 0..rounds {
            let [first, second] = [spawn_local(yield_now()), spawn_local(yield_now())];
            first.await.expect("no task fails");
            second.await.expect("no task fails");
        }
    })
}

pub(crate) fn tokio_spawn_from_main(setting: &Setting) -> Vec<f64> {
    timed(tokio_spawns(setting.size(50_000, 50)))
}

pub(crate) fn tokio_spawn_from_task(setting: &Setting) -> Vec<f64> {
    timed_in_task(tokio_spawns(setting.size(50_000, 50)))
}

/// Tasks of the runtime, not of the set, one after the other.
async fn tokio_spawns(tasks: usize) {
    for number in 0..tasks {
        let found = tokio::spawn(async move { number }).await.expect("no task fails");
        assert_eq!(found, number);
    }
}
