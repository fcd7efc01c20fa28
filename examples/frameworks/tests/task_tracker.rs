//! tokio-util's `TaskTracker` waits for tasks of a queue, too.

#![forbid(unsafe_code)]

use std::rc::Rc;

use clockworker_frameworks::{place, run};
use tokio_util::task::TaskTracker;

#[test]
fn it_tracks_tasks_of_a_queue() {
    run(async |host| {
        let tracker = TaskTracker::new();
        let (start, started) = tokio::sync::oneshot::channel::<()>();
        let not_send = Rc::new(());
        let task = host.requests.spawn(tracker.track_future(async move {
            drop(not_send);
            drop(started.await);
            place().to_string()
        }));
        let aborted = host.requests.spawn(tracker.track_future(std::future::pending::<()>()));
        tracker.close();
        assert_eq!(tracker.len(), 2);
        drop(start);
        aborted.abort();
        tracker.wait().await;
        assert_eq!(task.await.unwrap(), "in the queue requests");
        assert!(tracker.is_empty() && aborted.await.unwrap_err().is_cancelled());
    });
}
