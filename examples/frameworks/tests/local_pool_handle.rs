//! `LocalPoolHandle` has threads of its own, with a `LocalSet` each. An executor may be run in a task there.

#![forbid(unsafe_code)]

use std::thread;

use clockworker::Executor;
use clockworker_frameworks::{Host, place, run};
use tokio_util::task::LocalPoolHandle;

#[test]
fn its_tasks_are_outside_and_on_threads_of_its_own() {
    run(async |host| {
        let pool = LocalPoolHandle::new(1);
        let here = thread::current().id();
        let task = host.requests.spawn(async move {
            pool.spawn_pinned(|| async { (place().to_string(), thread::current().id()) }).await.unwrap()
        });
        let (place, thread) = task.await.unwrap();
        assert_eq!(place, "outside");
        assert_ne!(thread, here);
    });
}

#[test]
fn an_executor_in_a_pinned_task_has_queues_there() {
    run(async |host| {
        let pool = LocalPoolHandle::new(1);
        let (send, handle) = tokio::sync::oneshot::channel();
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let there = pool.spawn_pinned(|| async {
            let ex = Executor::new();
            let _ = send.send(Host::of(&ex).handle);
            ex.run_until(stopped).await
        });
        // As `spawn_pinned` does: a closure goes there, and makes the future.
        let handle = handle.await.unwrap();
        let task = host.requests.spawn(async move {
            handle.spawn_on("requests", || async { place().to_string() }).await.unwrap()
        });
        assert_eq!(task.await.unwrap(), "in the queue requests");
        drop(stop);
        assert!(there.await.unwrap().is_err());
    });
}
