//! The table of queues: created, re-shared, closed, forgotten.

use std::rc::Rc;

use clockworker_schedulers::{QueueId, Scheduler, Share};

use super::Core;
use crate::lane::Lane;
use crate::queue::QueueError;
use crate::shared::{QueueKey, Refusal};

/// Where a new queue goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueuePlace {
    pub(crate) id: QueueId,
    pub(crate) key: QueueKey,
    pub(crate) share: Share,
    pub(crate) request_ns: u64,
}

impl Core {
    /// Finds a place for a new queue, and takes its name.
    pub(crate) fn place_queue(
        &self,
        name: &str,
        share: Share,
        request_ns: u64,
    ) -> Result<QueuePlace, QueueError> {
        if !self.process.is_current() {
            return Err(QueueError::forked());
        }
        if self.refused.get().is_some() {
            return Err(QueueError::stopped());
        }
        let id = self.eevdf.borrow_mut().add(share, request_ns);
        self.generation.set(self.generation.get().wrapping_add(1));
        let key = QueueKey { index: id.index() as u32, generation: self.generation.get() };
        if !self.shared.add_name(name, key) {
            self.eevdf.borrow_mut().remove(id);
            return Err(QueueError::name_taken(name));
        }
        Ok(QueuePlace { id, key, share, request_ns })
    }

    pub(crate) fn create_queue<S: Scheduler + 'static>(
        &self,
        name: &str,
        place: QueuePlace,
        scheduler: S,
    ) -> Rc<Lane> {
        let index = place.id.index();
        let lane = Lane::new(name.into(), place, scheduler);
        let mut lanes = self.lanes.borrow_mut();
        if lanes.len() <= index {
            lanes.resize(index + 1, None);
        }
        lanes[index] = Some(Rc::clone(&lane));
        let _ = self.default_lane.get_or_init(|| Rc::clone(&lane));
        lane
    }

    pub(super) fn lane(&self, index: u32) -> Option<Rc<Lane>> {
        self.lanes.borrow().get(index as usize)?.clone()
    }

    pub(super) fn lanes(&self) -> Vec<Rc<Lane>> {
        self.lanes.borrow().iter().flatten().cloned().collect()
    }

    /// Changes a queue's share and request, unless the queue is gone: its id may be another's by now.
    pub(crate) fn set_share(&self, lane: &Lane, share: Share, request_ns: u64) -> Result<(), QueueError> {
        self.exists(lane)?;
        // What was served up to now was served at the old share.
        self.charge_up_to_now();
        lane.share.set(share);
        lane.request_ns.set(request_ns);
        let mut eevdf = self.eevdf.borrow_mut();
        eevdf.set_share(lane.id, share);
        eevdf.set_request(lane.id, request_ns);
        drop(eevdf);
        self.shorten_grant();
        Ok(())
    }

    /// Whether the queue has tasks or may be given any; if not, why.
    fn exists(&self, lane: &Lane) -> Result<(), QueueError> {
        if !self.process.is_current() {
            return Err(QueueError::forked());
        }
        if lane.retired.get() {
            return Err(QueueError::closed());
        }
        match self.refused.get() {
            Some(Refusal::Dropped) => Err(QueueError::dropped()),
            Some(Refusal::ShutDown | Refusal::Forked) if lane.live.get() == 0 => Err(QueueError::stopped()),
            _ => Ok(()),
        }
    }

    /// Stops a queue from taking tasks. It is gone once its last task has finished.
    pub(crate) fn close_queue(&self, lane: &Lane) {
        if !lane.closed.replace(true) {
            lane.room.set(0);
            self.shared.remove_name(&lane.name);
            self.retire_if_done(lane);
        }
    }

    /// Forgets a closed queue whose tasks have all finished, unless its slice is under way.
    pub(super) fn retire_if_done(&self, lane: &Lane) {
        if !lane.closed.get() || lane.live.get() > 0 || self.running.get() == Some(lane.id) {
            return;
        }
        if lane.retired.replace(true) {
            return;
        }
        let gone = self.lanes.borrow_mut().get_mut(lane.key.index as usize).and_then(Option::take);
        self.retired.absorb(&lane.counters);
        let mut eevdf = self.eevdf.borrow_mut();
        eevdf.remove(lane.id);
        self.contended.set(eevdf.runnable() > 1);
        drop(eevdf);
        // The last reference to the queue may be `gone`, with its scheduler, whose drop is user code.
        crate::panics::drop_quietly(gone);
        lane.drop_scheduler();
    }
}
