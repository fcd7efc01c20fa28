//! [`Queues`]: the table of queues, in which they are created, given other shares, closed and removed.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

use clockworker_schedulers::{Eevdf, QueueId, Scheduler, Share};

use super::Core;
use super::nesting::compare_claims;
use super::queue::RunQueue;
use crate::base::drop_quietly;
use crate::queue::{Counters, QueueError};
use crate::task::{QueueKey, Stopped};

/// The runnable queues that it takes to contend.
const CONTENDERS: usize = 2;

/// The queues of an executor.
pub(super) struct Queues {
    /// By `QueueKey::index`. None where a closed queue was removed.
    list: RefCell<Vec<Option<Rc<RunQueue>>>>,
    /// The first queue created, for tasks that are spawned outside a task.
    default: OnceCell<Rc<RunQueue>>,
    /// Shares the thread between the queues.
    pub(super) eevdf: RefCell<Eevdf>,
    generation: Cell<u32>,
    /// So many queues are runnable that each slice must end on time.
    contended: Cell<bool>,
    /// How many these are: two; one where two contend below it; none where slices must end on time in any case.
    contenders: Cell<usize>,
    /// Whether queues of one branch contend. Read where `contenders` changes.
    nested_contend: Cell<bool>,
    /// The sums of the counters of removed queues.
    pub(super) removed_counters: Counters,
}

impl Default for Queues {
    fn default() -> Self {
        Self {
            list: RefCell::default(),
            default: OnceCell::new(),
            eevdf: RefCell::default(),
            generation: Cell::new(0),
            contended: Cell::new(false),
            contenders: Cell::new(CONTENDERS),
            nested_contend: Cell::new(false),
            removed_counters: Counters::default(),
        }
    }
}

impl Queues {
    /// The queue for tasks that are spawned outside a task.
    pub(super) fn default_queue(&self) -> Option<Rc<RunQueue>> {
        self.default.get().cloned()
    }

    /// How many queues the table has room for, removed ones included.
    pub(super) fn slots(&self) -> usize {
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

    /// Whether more than one queue is runnable, or slices must end on time although only one is.
    #[inline]
    pub(super) fn are_contended(&self) -> bool {
        self.contended.get()
    }

    /// Notes how many queues are runnable now. True if they were contended before.
    pub(super) fn note_runnable(&self, eevdf: &Eevdf) -> bool {
        self.contended.replace(eevdf.runnable() >= self.contenders.get())
    }

    /// Whether slices must end on time also where one queue alone is runnable.
    #[inline]
    pub(super) fn are_strict(&self) -> bool {
        self.contenders.get() == 0
    }

    /// Has slices end on time also where one queue alone is runnable, or no more. To be followed by
    /// [`note_runnable`](Self::note_runnable).
    pub(super) fn be_strict(&self, strict: bool) {
        self.contenders.set(match strict {
            true => 0,
            false => CONTENDERS - usize::from(self.nested_contend.get()),
        });
    }

    /// Notes whether queues of one branch contend. To be followed by [`note_runnable`](Self::note_runnable).
    pub(super) fn note_nested(&self, contend: bool) {
        self.nested_contend.set(contend);
        self.be_strict(self.are_strict());
    }

    /// The sum of `of` over the queues.
    pub(super) fn sum(&self, of: impl Fn(&RunQueue) -> usize) -> usize {
        self.list.borrow().iter().flatten().map(|queue| of(queue)).sum()
    }

    /// How many ready tasks come before what a visit of the host may wake: those, that have not merely yielded, of the queue with
    /// tasks that has the largest claim. If it sleeps, a visit may wake it, and there are none.
    pub(super) fn round(&self) -> usize {
        let list = self.list.borrow();
        let with_tasks = list.iter().flatten().filter(|queue| queue.live.get() > 0);
        let largest = with_tasks.max_by(|one, other| compare_claims(one, other));
        largest.map_or(0, |queue| queue.ready_but_for_yielders())
    }

    /// Has every queue refuse tasks from now on.
    pub(super) fn refuse_all(&self) {
        self.list.borrow().iter().flatten().for_each(|queue| queue.takes_below.set(0));
    }
}

/// The name and number of a queue to be created, which no other can take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReservedQueue {
    pub(crate) id: QueueId,
    pub(crate) key: QueueKey,
    pub(crate) share: Share,
    pub(crate) request_ns: u64,
}

impl Core {
    /// Reserves a number in EEVDF and the name for a new queue.
    pub(crate) fn reserve_queue(
        &self,
        name: &str,
        share: Share,
        request_ns: u64,
    ) -> Result<ReservedQueue, QueueError> {
        if self.ending.stopped().is_some() {
            return Err(QueueError::stopped());
        }
        check_name(name)?;
        self.collect_refused(name);
        let id = self.queues.eevdf.borrow_mut().add(share, request_ns);
        self.queues.generation.set(self.queues.generation.get().wrapping_add(1));
        let key = QueueKey { index: id.index() as u32, generation: self.queues.generation.get() };
        if !self.shared.add_name(name, key) {
            self.queues.eevdf.borrow_mut().remove(id);
            return Err(QueueError::name_taken(name));
        }
        Ok(ReservedQueue { id, key, share, request_ns })
    }

    pub(crate) fn create_queue<S: Scheduler + 'static>(
        &self,
        name: &str,
        reserved: ReservedQueue,
        scheduler: S,
    ) -> Rc<RunQueue> {
        let index = reserved.id.index();
        let queue = RunQueue::new(name.into(), reserved, scheduler);
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

    /// The open queue of that name.
    pub(crate) fn find_queue(&self, name: &str) -> Option<Rc<RunQueue>> {
        let key = self.shared.find(name).ok().flatten()?;
        self.queue_at(key.index).filter(|queue| queue.key == key)
    }

    /// All queues, closed ones with tasks included, in the order of their indices.
    pub(crate) fn all_queues(&self) -> Vec<Rc<RunQueue>> {
        self.queues.list.borrow().iter().flatten().cloned().collect()
    }

    /// Counts the spawns that other threads were refused by that name for the closed queue that has it.
    pub(super) fn collect_refused(&self, name: &str) {
        let Some((key, refused)) = self.shared.take_refused(name) else { return };
        match self.queue_at(key.index).filter(|queue| queue.key == key) {
            Some(queue) => queue.counters.refused.add(refused),
            None => self.queues.removed_counters.refused.add(refused),
        }
    }

    /// Changes a queue's share and request, unless the queue was removed: its id may be another's by now.
    pub(crate) fn set_share(
        &self,
        queue: &RunQueue,
        share: Share,
        request_ns: u64,
    ) -> Result<(), QueueError> {
        self.exists(queue)?;
        // The time up to now was served at the old share.
        self.charge_up_to_now();
        queue.share.set(share);
        queue.request_ns.set(request_ns);
        let mut eevdf = self.queues.eevdf.borrow_mut();
        eevdf.set_share(queue.id, share);
        eevdf.set_request(queue.id, request_ns);
        drop(eevdf);
        if queue.is_constrained() {
            self.reshare_constrained(queue);
        }
        self.shorten_grant();
        Ok(())
    }

    /// Checks that the queue has tasks or may be given any.
    pub(crate) fn exists(&self, queue: &RunQueue) -> Result<(), QueueError> {
        if queue.removed.get() {
            return Err(QueueError::closed(&queue.name()));
        }
        match self.ending.stopped() {
            Some(Stopped::Dropped) => Err(QueueError::dropped()),
            Some(Stopped::ShutDown) if queue.live.get() == 0 => Err(QueueError::stopped()),
            _ => Ok(()),
        }
    }

    /// Gives a queue another name.
    pub(crate) fn rename_queue(&self, queue: &RunQueue, name: &str) -> Result<(), QueueError> {
        self.exists(queue)?;
        if queue.closed.get() {
            return Err(QueueError::closed(&queue.name()));
        }
        if self.ending.stopped().is_some() {
            return Err(QueueError::stopped());
        }
        check_name(name)?;
        if **queue.name.borrow() == *name {
            return Ok(());
        }
        self.collect_refused(name);
        if !self.shared.rename(&queue.name.borrow(), name, queue.key) {
            return Err(QueueError::name_taken(name));
        }
        queue.name.replace(name.into());
        Ok(())
    }

    /// Gives a queue another scheduler: at once; or at the end of its slice, if that is under way; or after its next slice, if
    /// the last scheduler is the caller.
    pub(crate) fn set_scheduler<S: Scheduler + 'static>(
        &self,
        queue: &RunQueue,
        scheduler: S,
    ) -> Result<(), QueueError> {
        if let Err(error) = self.exists(queue) {
            drop_quietly(scheduler);
            return Err(error);
        }
        queue.set_next_scheduler(scheduler);
        if self.slice.running() == Some(queue.id) {
            self.slice.preempt();
        } else {
            queue.change_scheduler();
            self.after_policy_call(queue);
        }
        Ok(())
    }

    /// Stops a queue, and those below it, from taking tasks. It is removed once its last task and child is gone.
    pub(crate) fn close_queue(&self, queue: &RunQueue) {
        if !queue.closed.replace(true) {
            self.shared.close_name(&queue.name.borrow());
            self.dismiss_waiters(queue);
            if queue.nesting.has_children() {
                self.children(queue).iter().for_each(|child| self.close_queue(child));
            }
            self.remove_if_done(queue);
        }
    }

    /// Removes a closed queue whose tasks have all finished, unless its slice is under way.
    pub(super) fn remove_if_done(&self, queue: &RunQueue) {
        if !queue.closed.get() || queue.live.get() > 0 || self.slice.running() == Some(queue.id) {
            return;
        }
        if queue.nesting.has_children() || queue.removed.replace(true) {
            return;
        }
        self.collect_refused(&queue.name.borrow());
        self.shared.remove_name(&queue.name.borrow(), queue.key);
        let entry = self.queues.list.borrow_mut().get_mut(queue.key.index as usize).and_then(Option::take);
        self.queues.removed_counters.absorb(&queue.counters);
        if queue.is_constrained() {
            self.forget_constrained(queue);
        }
        let mut eevdf = self.queues.eevdf.borrow_mut();
        eevdf.remove(queue.id);
        self.queues.note_runnable(&eevdf);
        drop(eevdf);
        // The last reference to the queue may be in the table, with its scheduler, whose drop is user code.
        drop_quietly(entry);
        queue.drop_scheduler();
        self.leave_parent(queue);
        queue.awaits_end.wake_all();
    }
}

fn check_name(name: &str) -> Result<(), QueueError> {
    if name.is_empty() { Err(QueueError::empty_name()) } else { Ok(()) }
}
