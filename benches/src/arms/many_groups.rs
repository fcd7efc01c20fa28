//! Clockworker with any number of groups in one queue.

use std::future::Future;

use clockworker::{Executor, JoinHandle};

use super::{Clockworker, Lanes};

/// Clockworker with one queue; a lane is the group that its task is given.
pub type ManyGroups = Clockworker<Groups>;

/// The groups' keys, by lane.
#[derive(Debug)]
pub struct Groups(Vec<u64>);

impl Lanes for Groups {
    fn spawn(&self, on: &Executor, lane: usize, task: impl Future<Output = ()> + 'static) -> JoinHandle<()> {
        on.default_queue().group(self.0[lane]).spawn(task)
    }
}

impl ManyGroups {
    /// On `executor`; the task of lane `n` is of the group `keys[n]`.
    pub fn new(executor: Executor, keys: Vec<u64>) -> Self {
        Clockworker { executor, lanes: Groups(keys) }
    }
}
