//! The table of queues: created, re-shared, closed, forgotten.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

use clockworker_schedulers::{Eevdf, QueueId, Scheduler, Share};

use super::Core;
use super::queue::RunQueue;
use crate::base::drop_quietly;
use crate::queue::{Counters, QueueError};
use crate::task::{QueueKey, Refusal};

/// The queues there are.
#[derive(Default)]
pub(super) struct Queues {
    /// By `QueueKey::index`. None where a queue was closed and is gone.
    list: RefCell<Vec<Option<Rc<RunQueue>>>>,
    /// Where tasks go that are spawned outside a task: the first queue created.
    default: OnceCell<Rc<RunQueue>>,
    /// Shares the thread between them.
    pub(super) eevdf: RefCell<Eevdf>,
    generation: Cell<u32>,
    /// More than one queue is runnable.
    contended: Cell<bool>,
    /// The sums over queues that are gone.
    pub(super) gone: Counters,
}

impl Queues {
    /// The queue tasks go to that are spawned outside a task.
    pub(super) fn default_queue(&self) -> Option<Rc<RunQueue>> {
        self.default.get().cloned()
    }

    /// How many places there are, taken or not.
    pub(super) fn places(&self) -> usize {
        self.list.borrow().len()
    }

    /// The queue with that index, if it satisfies a condition.
    pub(super) fn get_if(
        &self,
        index: usize,
        condition: impl FnOnce(&RunQueue) -> bool,
    ) -> Option<Rc<RunQueue>> {
        let list = self.list.borrow();
        let queue = list.get(index)?.as_ref()?;
        condition(queue).then(|| Rc::clone(queue))
    }

    /// Whether more than one queue is runnable.
    #[inline]
    pub(super) fn are_contended(&self) -> bool {
        self.contended.get()
    }

    /// The number of runnable queues has changed. Whether more than one was runnable before.
    pub(super) fn note_runnable(&self, eevdf: &Eevdf) -> bool {
        self.contended.replace(eevdf.runnable() > 1)
    }

    /// The sum of what `of` says of each queue.
    pub(super) fn sum(&self, of: impl Fn(&RunQueue) -> usize) -> usize {
        self.list.borrow().iter().flatten().map(|queue| of(queue)).sum()
    }

    /// No queue takes tasks any more.
    pub(super) fn fill_all(&self) {
        self.list.borrow().iter().flatten().for_each(|queue| queue.room.set(0));
    }
}

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
        if self.ending.refused().is_some() {
            return Err(QueueError::stopped());
        }
        let id = self.queues.eevdf.borrow_mut().add(share, request_ns);
        self.queues.generation.set(self.queues.generation.get().wrapping_add(1));
        let key = QueueKey { index: id.index() as u32, generation: self.queues.generation.get() };
        if !self.shared.add_name(name, key) {
            self.queues.eevdf.borrow_mut().remove(id);
            return Err(QueueError::name_taken(name));
        }
        Ok(QueuePlace { id, key, share, request_ns })
    }

    pub(crate) fn create_queue<S: Scheduler + 'static>(
        &self,
        name: &str,
        place: QueuePlace,
        scheduler: S,
    ) -> Rc<RunQueue> {
        let index = place.id.index();
        let queue = RunQueue::new(name.into(), place, scheduler);
        let mut queues = self.queues.list.borrow_mut();
        if queues.len() <= index {
            queues.resize(index + 1, None);
        }
        queues[index] = Some(Rc::clone(&queue));
        let _ = self.queues.default.get_or_init(|| Rc::clone(&queue));
        queue
    }

    pub(super) fn queue_at(&self, index: u32) -> Option<Rc<RunQueue>> {
        self.queues.list.borrow().get(index as usize)?.clone()
    }

    pub(super) fn all_queues(&self) -> Vec<Rc<RunQueue>> {
        self.queues.list.borrow().iter().flatten().cloned().collect()
    }

    /// Changes a queue's share and request, unless the queue is gone: its id may be another's by now.
    pub(crate) fn set_share(
        &self,
        queue: &RunQueue,
        share: Share,
        request_ns: u64,
    ) -> Result<(), QueueError> {
        self.exists(queue)?;
        // What was served up to now was served at the old share.
        self.charge_up_to_now();
        queue.share.set(share);
        queue.request_ns.set(request_ns);
        let mut eevdf = self.queues.eevdf.borrow_mut();
        eevdf.set_share(queue.id, share);
        eevdf.set_request(queue.id, request_ns);
        drop(eevdf);
        self.shorten_grant();
        Ok(())
    }

    /// Whether the queue has tasks or may be given any; if not, why.
    fn exists(&self, queue: &RunQueue) -> Result<(), QueueError> {
        if !self.process.is_current() {
            return Err(QueueError::forked());
        }
        if queue.retired.get() {
            return Err(QueueError::closed());
        }
        match self.ending.refused() {
            Some(Refusal::Dropped) => Err(QueueError::dropped()),
            Some(Refusal::ShutDown | Refusal::Forked) if queue.live.get() == 0 => Err(QueueError::stopped()),
            _ => Ok(()),
        }
    }

    /// Stops a queue from taking tasks. It is gone once its last task has finished.
    pub(crate) fn close_queue(&self, queue: &RunQueue) {
        if !queue.closed.replace(true) {
            queue.room.set(0);
            self.shared.remove_name(&queue.name);
            self.retire_if_done(queue);
        }
    }

    /// Forgets a closed queue whose tasks have all finished, unless its slice is under way.
    pub(super) fn retire_if_done(&self, queue: &RunQueue) {
        if !queue.closed.get() || queue.live.get() > 0 || self.slice.running.get() == Some(queue.id) {
            return;
        }
        if queue.retired.replace(true) {
            return;
        }
        let gone = self.queues.list.borrow_mut().get_mut(queue.key.index as usize).and_then(Option::take);
        self.queues.gone.absorb(&queue.counters);
        let mut eevdf = self.queues.eevdf.borrow_mut();
        eevdf.remove(queue.id);
        self.queues.note_runnable(&eevdf);
        drop(eevdf);
        // The last reference to the queue may be `gone`, with its scheduler, whose drop is user code.
        drop_quietly(gone);
        queue.drop_scheduler();
    }
}
