//! [`IdleQueues`]: queues that run when no other has work, and share by an EEVDF of their own.

use crate::eevdf::{Eevdf, QueueId, Share};

#[derive(Clone, Debug, Default)]
pub(super) struct IdleQueues {
    pub(super) eevdf: Eevdf,
    /// The queue in the tree of each, by index here.
    queues: Vec<QueueId>,
}

impl IdleQueues {
    /// Adds that queue of the tree, asleep.
    pub(super) fn add(&mut self, queue: QueueId, share: Share, request_ns: u64) -> QueueId {
        let id = self.eevdf.add(share, request_ns);
        if self.queues.len() <= id.index() {
            self.queues.resize(id.index() + 1, queue);
        }
        self.queues[id.index()] = queue;
        id
    }

    pub(super) fn remove(&mut self, id: QueueId) {
        self.eevdf.remove(id);
    }

    /// The queue in the tree of the one to serve next.
    pub(super) fn pick(&mut self) -> Option<QueueId> {
        let id = self.eevdf.pick()?;
        Some(self.queues[id.index()])
    }
}
