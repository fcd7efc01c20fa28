//! Where code runs: what a handler answers when it is asked.

use std::cell::RefCell;
use std::fmt;

use clockworker::{Id, Queue};

thread_local! {
    /// The queues that are known on this thread.
    static QUEUES: RefCell<Vec<Queue>> = const { RefCell::new(Vec::new()) };
}

/// Where code runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a task of the queue of that name.
    Queue(String),
    /// In no task of an executor: in one of tokio's, in the future given to `run_until`, or on another thread.
    Outside,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Queue(name) => write!(f, "in the queue {name}"),
            Self::Outside => f.write_str("outside"),
        }
    }
}

/// Makes a queue known to [`place`], on this thread.
pub fn watch(queue: &Queue) {
    QUEUES.with_borrow_mut(|queues| queues.push(queue.clone()));
}

/// Where the caller runs.
///
/// # Panics
///
/// In a task of a queue that is not [watched](watch).
pub fn place() -> Place {
    if Id::current().is_none() {
        return Place::Outside;
    }
    // What a task spawns goes where the task is.
    let spawned = || QUEUES.with_borrow(|queues| queues.iter().map(|queue| queue.stats().spawned).collect());
    let before: Vec<u64> = spawned();
    drop(clockworker::spawn_local(async {}));
    let after: Vec<u64> = spawned();
    let grown =
        before.iter().zip(&after).position(|(before, after)| before != after).expect("a watched queue");
    Place::Queue(QUEUES.with_borrow(|queues| queues[grown].name()))
}

#[cfg(test)]
mod tests {
    use super::{Place, place};
    use crate::run;

    #[test]
    fn a_task_is_in_its_queue_and_all_else_is_outside() {
        assert_eq!(place(), Place::Outside);
        run(async |host| {
            assert_eq!(place(), Place::Outside, "in the future given to `run_until`");
            let inside = host.requests.spawn(async { place() }).await.unwrap();
            assert_eq!(inside.to_string(), "in the queue requests");
            let by_tokio = tokio::spawn(async { place() }).await.unwrap();
            assert_eq!(by_tokio, Place::Outside);
        });
    }
}
