//! The queues, where loops have queues.

use clockworker::Executor;

use super::world::QUEUES;
use crate::arms::ManyQueues;

/// What clockworker is called in tables, by its imports and with these queues.
pub(super) const TITLES: [&str; 2] = ["Clockworker, imports alone", "Clockworker, queues"];

/// Shares of start, dispatch, completion (with the workers) and flush.
pub(super) type Shares = [u32; 4];

/// Clockworker with its defaults but for queues and their shares.
pub(super) fn queues(shares: Shares) -> ManyQueues {
    let executor = Executor::new();
    let create = |(name, share): (&str, u32)| {
        executor.new_queue(name).share(share).create().expect("shares are checked with the options")
    };
    let queues = QUEUES.into_iter().zip(shares).map(create).collect();
    ManyQueues::of(executor, queues)
}
