//! Where code runs: what a handler answers when it is asked.

use clockworker::Queue;

/// Where the caller runs: `in the queue NAME`, or `outside`: in a task of tokio's, in the future given to `run_until`, or on another
/// thread.
pub fn place() -> String {
    Queue::current().map_or("outside".to_owned(), |queue| format!("in the queue {}", queue.name()))
}

#[cfg(test)]
mod tests {
    use super::place;
    use crate::run;

    #[test]
    fn a_task_is_in_its_queue_and_all_else_is_outside() {
        assert_eq!(place(), "outside");
        run(async |host| {
            assert_eq!(place(), "outside", "in the future given to `run_until`");
            let inside = host.requests.spawn(async { place() }).await.unwrap();
            assert_eq!(inside, "in the queue requests");
            let by_tokio = tokio::spawn(async { place() }).await.unwrap();
            assert_eq!(by_tokio, "outside");
        });
    }
}
