//! `actix_rt::spawn` is tokio's `spawn_local`: where it spawns is the `LocalSet` around it.

#![forbid(unsafe_code)]

use actix_rt::System;
use clockworker::Executor;
use clockworker_frameworks::{Host, place, run};
use tokio::task::LocalSet;

/// As a library would.
async fn spawned() -> String {
    actix_rt::spawn(async { place().to_string() }).await.unwrap()
}

#[test]
fn inside_a_system_it_spawns_outside() {
    let ex = Executor::new();
    let host = Host::of(&ex);
    let (task, ours) = System::new().block_on(ex.run_until(async {
        let task = host.requests.spawn(spawned()).await.unwrap();
        (task, host.requests.spawn(async { place().to_string() }).await.unwrap())
    }));
    assert_eq!((task.as_str(), ours.as_str()), ("outside", "in the queue requests"));
}

#[test]
fn a_local_set_in_a_task_of_a_queue_keeps_it_in_the_queue() {
    run(async |host| {
        let task = host.requests.spawn(async { LocalSet::new().run_until(spawned()).await });
        assert_eq!(task.await.unwrap(), "in the queue requests");
    });
}

#[test]
fn without_either_it_panics_in_the_task_that_asked() {
    run(async |host| {
        assert!(host.requests.spawn(spawned()).await.unwrap_err().is_panic());
    });
}
