//! [`Queues`]: the table of queues, in which they are created, given other shares, closed and removed.

use std::cell::{OnceCell, Ref, RefCell};
use std::iter;
use std::rc::Rc;

use clockworker_schedulers::{Cap, MAX_DEPTH, QueueId, QueueTree, Scheduler, Share};

use super::Core;
use super::queue::RunQueue;
use crate::base::drop_quietly;
use crate::queue::{Counters, QueueError};
use crate::task::{Refuses, Stopped};

/// The queues of an executor.
#[derive(Default)]
pub(super) struct Queues {
    /// By index. None where a closed queue was removed.
    list: RefCell<Vec<Option<Rc<RunQueue>>>>,
    /// The first queue created, for tasks that are spawned outside a task.
    default: OnceCell<Rc<RunQueue>>,
    /// Shares the thread between the queues.
    pub(super) tree: RefCell<QueueTree>,
    /// The sums of the counters of removed queues.
    pub(super) removed_counters: Counters,
}

impl Queues {
    /// The queue for tasks that are spawned outside a task.
    pub(super) fn default_queue(&self) -> Option<Rc<RunQueue>> {
        self.default.get().cloned()
    }

    /// The table.
    #[inline]
    pub(super) fn borrow(&self) -> Ref<'_, Vec<Option<Rc<RunQueue>>>> {
        self.list.borrow()
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

    /// The sum of `of` over the queues.
    pub(super) fn sum(&self, of: impl Fn(&RunQueue) -> usize) -> usize {
        self.list.borrow().iter().flatten().map(|queue| of(queue)).sum()
    }

    /// How many ready tasks come before what a visit of the host may wake: those, that have not merely yielded, of the queue with
    /// tasks that has the largest claim. If it sleeps, a visit may wake it, and there are none.
    pub(super) fn round(&self) -> usize {
        let list = self.list.borrow();
        let with_tasks = list.iter().flatten().filter(|queue| queue.live.get() > 0);
        let tree = self.tree.borrow();
        let largest = with_tasks.max_by(|one, other| tree.compare_claims(one.id, other.id));
        largest.map_or(0, |queue| queue.ready_but_for_yielders())
    }

    /// Has every queue refuse tasks from now on.
    pub(super) fn refuse_all(&self) {
        self.list.borrow().iter().flatten().for_each(|queue| queue.takes_below.set(0));
    }
}

/// Where a new queue stands among the others.
pub(crate) struct QueueSetup {
    pub(crate) share: Share,
    pub(crate) request_ns: u64,
    pub(crate) parent: Option<Rc<RunQueue>>,
    pub(crate) is_idle: bool,
    pub(crate) cap: Option<Cap>,
}

impl Core {
    /// Reserves the name and an id for a new queue.
    pub(crate) fn reserve_queue(&self, name: &str, setup: &QueueSetup) -> Result<QueueId, QueueError> {
        if let Some(parent) = &setup.parent {
            self.may_nest(parent, setup.is_idle)?;
        }
        if self.ending.stopped().is_some() {
            return Err(QueueError::stopped());
        }
        check_name(name)?;
        self.collect_refused(name);
        let id = self.queues.tree.borrow_mut().add(setup.share, setup.request_ns);
        if !self.shared.add_name(name, id) {
            self.change_tree(|tree, now| tree.remove(id, now));
            return Err(QueueError::name_taken(name));
        }
        Ok(id)
    }

    /// Whether the queue may have one more child.
    fn may_nest(&self, parent: &RunQueue, is_idle: bool) -> Result<(), QueueError> {
        if parent.closed.get() {
            return Err(QueueError::parent_closed(&parent.name()));
        }
        self.exists(parent)?;
        if is_idle || parent.is_idle {
            return Err(QueueError::idle_nested());
        }
        if parent.cap.get().is_some() {
            return Err(QueueError::capped_parent(&parent.name()));
        }
        if self.queues.tree.borrow().depth(parent.id) >= MAX_DEPTH {
            return Err(QueueError::too_deep(MAX_DEPTH));
        }
        Ok(())
    }

    pub(crate) fn create_queue<S: Scheduler + 'static>(
        &self,
        name: &str,
        id: QueueId,
        setup: QueueSetup,
        scheduler: S,
    ) -> Rc<RunQueue> {
        let (is_idle, cap) = (setup.is_idle, setup.cap);
        let parent = setup.parent.as_ref().map(|parent| parent.id);
        self.arrivals().add_queue(id.index());
        let arrivals = self.shared.arrivals_of(id.index() as u32);
        let queue = RunQueue::new((name.into(), id), arrivals, setup, scheduler);
        let mut queues = self.queues.list.borrow_mut();
        if queues.len() <= id.index() {
            queues.resize(id.index() + 1, None);
        }
        queues[id.index()] = Some(Rc::clone(&queue));
        drop(queues);
        let _ = self.queues.default.get_or_init(|| Rc::clone(&queue));
        if let Some(parent) = parent {
            // The time up to now was served before the parent's own tasks had a child beside them.
            self.change_tree(|tree, now| tree.nest(parent, id, now));
        }
        if is_idle {
            self.queues.tree.borrow_mut().make_idle(id);
        }
        if cap.is_some() {
            self.change_tree(|tree, now| tree.set_cap(id, cap, now));
        }
        queue
    }

    pub(super) fn queue_at(&self, index: u32) -> Option<Rc<RunQueue>> {
        self.queues.list.borrow().get(index as usize)?.clone()
    }

    /// The queue of that id, if there still is one.
    pub(super) fn queue(&self, id: QueueId) -> Option<Rc<RunQueue>> {
        self.queue_at(id.index() as u32).filter(|queue| queue.id == id)
    }

    /// The queue of that name, if it takes tasks of the caller.
    pub(crate) fn find_queue(&self, name: &str) -> Option<Rc<RunQueue>> {
        self.queue(self.shared.find(name, || true).ok().flatten()?).filter(|queue| !self.refuses(queue))
    }

    /// All queues, closed ones with tasks included, in the order of their indices.
    pub(crate) fn all_queues(&self) -> Vec<Rc<RunQueue>> {
        self.queues.list.borrow().iter().flatten().cloned().collect()
    }

    /// Counts the spawns that other threads were refused by that name for the closed queue that has it.
    pub(super) fn collect_refused(&self, name: &str) {
        let Some((id, refused)) = self.shared.take_refused(name) else { return };
        match self.queue(id) {
            Some(queue) => queue.counters.refused.add(refused),
            None => self.queues.removed_counters.refused.add(refused),
        }
    }

    /// The children of a queue that are not gone, in the order in which they were created.
    pub(crate) fn children(&self, parent: &RunQueue) -> Vec<Rc<RunQueue>> {
        let mut children = self.all_queues();
        children.retain(|queue| queue.parent.as_ref().is_some_and(|its| its.id == parent.id));
        children.sort_by_key(|queue| queue.id.generation());
        children
    }

    /// A queue and those below it that are not gone.
    pub(crate) fn branch(&self, queue: &RunQueue) -> Vec<Rc<RunQueue>> {
        let mut branch = self.all_queues();
        branch.retain(|one| {
            iter::successors(Some(one), |one| one.parent.as_ref()).any(|one| one.id == queue.id)
        });
        branch
    }

    /// Whether the queue has children that are not gone.
    fn has_children(&self, queue: &RunQueue) -> bool {
        self.queues.tree.borrow().children(queue.id) > 0
    }

    /// Changes a queue's share and request, unless the queue was removed.
    pub(crate) fn set_share(
        &self,
        queue: &RunQueue,
        share: Share,
        request_ns: u64,
    ) -> Result<(), QueueError> {
        self.exists(queue)?;
        queue.share.set(share);
        queue.request_ns.set(request_ns);
        // The time up to now was served at the old share.
        self.change_tree(|tree, now| tree.set_share(queue.id, share, request_ns, now));
        Ok(())
    }

    /// Changes a queue's cap, unless the queue was removed.
    pub(crate) fn set_cap(&self, queue: &RunQueue, cap: Option<Cap>) -> Result<(), QueueError> {
        self.exists(queue)?;
        if cap.is_some() && self.has_children(queue) {
            return Err(QueueError::capped_parent(&queue.name()));
        }
        queue.cap.set(cap);
        // The time up to now was served under the old cap.
        self.change_tree(|tree, now| tree.set_cap(queue.id, cap, now));
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
        if !self.shared.rename(&queue.name.borrow(), name, queue.id) {
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
        if self.runs(queue) {
            self.slice.preempt();
        } else {
            queue.change_scheduler();
        }
        Ok(())
    }

    /// Stops a queue, and those below it, from taking tasks, or all but children. It is removed once its last task and child is
    /// gone. One that refuses children goes on refusing them.
    pub(crate) fn close_queue(&self, queue: &RunQueue, refuses: Refuses) {
        let was_closed = queue.closed.replace(true);
        if was_closed && (refuses == Refuses::Outsiders || !queue.drains.get()) {
            return;
        }
        queue.drains.set(refuses == Refuses::Outsiders);
        self.shared.close_name(&queue.name.borrow(), queue.id, refuses);
        self.dismiss_waiters(queue);
        if self.has_children(queue) {
            self.children(queue).iter().for_each(|child| self.close_queue(child, refuses));
        }
        self.remove_if_done(queue);
    }

    /// Ends the drain of a queue, and of those that drain with it, unless one has a task: it may spawn into any of them. O(queues) where
    /// the one that it last waited for has no task left. That is the one with most tasks, so it mostly ends late.
    #[cold]
    fn end_drain(&self, queue: &RunQueue) {
        let mut top = queue;
        while let Some(parent) = top.parent.as_deref().filter(|parent| parent.drains.get()) {
            top = parent;
        }
        let is_busy = |queue: &RunQueue| queue.live.get() > 0 || self.runs(queue);
        if top.drains_with.get().and_then(|id| self.queue(id)).is_some_and(|queue| is_busy(&queue)) {
            return;
        }
        let branch = self.branch(top);
        let busy = branch.iter().filter(|queue| is_busy(queue)).max_by_key(|queue| queue.live.get());
        top.drains_with.set(busy.map(|queue| queue.id));
        if busy.is_some() {
            return;
        }
        match self.has_mail() {
            // Maybe of a child.
            true => self.ending.await_mail(),
            false => self.close_queue(top, Refuses::All),
        }
    }

    /// Ends the drains that only waited for the inbox.
    pub(super) fn end_drains(&self) {
        self.all_queues()
            .iter()
            .filter(|queue| queue.drains.get())
            .for_each(|queue| self.remove_if_done(queue));
    }

    /// Removes a closed queue whose tasks have all finished, unless its slice is under way.
    pub(super) fn remove_if_done(&self, queue: &RunQueue) {
        if !queue.closed.get() || queue.live.get() > 0 || self.runs(queue) {
            return;
        }
        if queue.drains.get() {
            return self.end_drain(queue);
        }
        if self.has_children(queue) || queue.removed.replace(true) {
            return;
        }
        if queue.is_awaited.get() {
            self.dismiss_waiters(queue);
        }
        self.collect_refused(&queue.name.borrow());
        self.shared.remove_name(&queue.name.borrow(), queue.id);
        let entry = self.queues.list.borrow_mut().get_mut(queue.id.index()).and_then(Option::take);
        queue.arrivals().clear();
        self.queues.removed_counters.absorb(&queue.counters);
        queue.ended.set(self.tree_counts(queue));
        self.change_tree(|tree, now| tree.remove(queue.id, now));
        // The last reference to the queue may be in the table, with its scheduler, whose drop is user code.
        drop_quietly(entry);
        queue.drop_scheduler();
        if let Some(parent) = &queue.parent {
            self.remove_if_done(parent);
        }
        queue.awaits_end.wake_all();
    }
}

fn check_name(name: &str) -> Result<(), QueueError> {
    if name.is_empty() { Err(QueueError::empty_name()) } else { Ok(()) }
}
