//! `deno_unsync::spawn` spawns on tokio's runtime, whatever is around it.

#![forbid(unsafe_code)]

use std::rc::Rc;

use clockworker_frameworks::{place, run};
use tokio::task::LocalSet;

/// As a library would.
async fn spawned() -> String {
    let not_send = Rc::new(());
    let task = deno_unsync::spawn(async move {
        drop(not_send);
        place().to_string()
    });
    task.await.unwrap()
}

#[test]
fn it_spawns_outside() {
    run(async |host| {
        assert_eq!(host.requests.spawn(spawned()).await.unwrap(), "outside");
    });
}

#[test]
fn a_local_set_does_not_hold_it() {
    run(async |host| {
        let task = host.requests.spawn(async { LocalSet::new().run_until(spawned()).await });
        assert_eq!(task.await.unwrap(), "outside");
    });
}

#[test]
fn what_it_spawns_comes_back_by_a_handle() {
    run(async |host| {
        let handle = host.handle.clone();
        let task = host.requests.spawn(async move {
            let outside = deno_unsync::spawn(async move {
                handle.spawn_on("requests", || async { place().to_string() }).await
            });
            outside.await.unwrap().unwrap()
        });
        assert_eq!(task.await.unwrap(), "in the queue requests");
    });
}
