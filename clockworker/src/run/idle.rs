//! [`IdleQueues`]: queues that run when no other has work, and share by an EEVDF of their own.

use std::cell::RefCell;

use clockworker_schedulers::{Eevdf, QueueId, Share};

/// The idle queues of an executor.
#[derive(Default)]
pub(super) struct IdleQueues {
    eevdf: RefCell<Eevdf>,
    /// The number of each in the table of queues, by its id here.
    indices: RefCell<Vec<u32>>,
}

impl IdleQueues {
    /// Adds the queue with that number in the table of queues, asleep.
    pub(super) fn add(&self, index: u32, share: Share, request_ns: u64) -> QueueId {
        let id = self.eevdf.borrow_mut().add(share, request_ns);
        let mut indices = self.indices.borrow_mut();
        if indices.len() <= id.index() {
            indices.resize(id.index() + 1, u32::MAX);
        }
        indices[id.index()] = index;
        id
    }

    pub(super) fn remove(&self, id: QueueId) {
        self.eevdf.borrow_mut().remove(id);
    }

    pub(super) fn set_share(&self, id: QueueId, share: Share, request_ns: u64) {
        let mut eevdf = self.eevdf.borrow_mut();
        eevdf.set_share(id, share);
        eevdf.set_request(id, request_ns);
    }

    pub(super) fn wake(&self, id: QueueId) {
        self.eevdf.borrow_mut().wake(id);
    }

    pub(super) fn sleep(&self, id: QueueId) {
        self.eevdf.borrow_mut().sleep(id);
    }

    pub(super) fn charge(&self, id: QueueId, service_ns: u64) {
        self.eevdf.borrow_mut().charge(id, service_ns);
    }

    /// The number in the table of queues of the one to serve next.
    pub(super) fn pick(&self) -> Option<u32> {
        let id = self.eevdf.borrow_mut().pick()?;
        self.indices.borrow().get(id.index()).copied()
    }

    pub(super) fn left_ns(&self, id: QueueId) -> u64 {
        self.eevdf.borrow().left_ns(id)
    }

    /// Whether `woken` is to be served before `running`.
    pub(super) fn preempts(&self, woken: QueueId, running: QueueId) -> bool {
        self.eevdf.borrow().preempts(woken, running)
    }

    /// How many have work.
    pub(super) fn runnable(&self) -> usize {
        self.eevdf.borrow().runnable()
    }
}
