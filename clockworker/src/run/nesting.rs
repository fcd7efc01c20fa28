//! Nested queues: which queue is whose child, and what the branches of a tree of queues are told of their work.
//!
//! A nested queue stands on the thread by its branch: [`Branches`](clockworker_schedulers::Branches) goes the way up and down.

use std::cell::{Cell, OnceCell};
use std::cmp::Ordering;
use std::iter;
use std::rc::Rc;

use clockworker_schedulers::Share;

use super::Core;
use super::constraints::Place;
use super::queue::RunQueue;
use crate::queue::QueueError;

/// The most queues that may be above a queue.
pub const MAX_DEPTH: usize = 8;

/// A queue's place in the tree of queues.
#[derive(Default)]
pub(crate) struct Nesting {
    parent: OnceCell<Rc<RunQueue>>,
    /// Children that are not gone.
    children: Cell<usize>,
    /// Time billed to the queues below, those that are gone included.
    below_ns: Cell<u64>,
}

impl Nesting {
    pub(crate) fn parent(&self) -> Option<&Rc<RunQueue>> {
        self.parent.get()
    }

    pub(super) fn has_children(&self) -> bool {
        self.children.get() > 0
    }

    /// Time billed to the queues below.
    pub(super) fn below_ns(&self) -> u64 {
        self.below_ns.get()
    }
}

/// The queues above a queue, its parent first.
fn above(queue: &RunQueue) -> impl Iterator<Item = &Rc<RunQueue>> {
    std::iter::successors(queue.nesting.parent(), |queue| queue.nesting.parent())
}

/// Which of two queues has the larger claim, that is the smaller request ÷ share, where their ways to the thread part. A
/// queue's own tasks claim beside its children as a child of the default share. Idle queues have less than all others.
pub(super) fn compare_claims(one: &Rc<RunQueue>, other: &Rc<RunQueue>) -> Ordering {
    let is_idle = |queue: &RunQueue| queue.constraints.idle().is_some();
    is_idle(other).cmp(&is_idle(one)).then_with(|| {
        let [one, other] = claims_apart([one, other]);
        other.cmp(&one)
    })
}

/// Nanoseconds of a request ÷ share, for each of two queues where their ways to the thread part.
fn claims_apart(queues: [&Rc<RunQueue>; 2]) -> [u64; 2] {
    let depths = queues.map(|queue| above(queue).count());
    let least = depths[0].min(depths[1]);
    // On the level of the one that is less deep.
    let mut there = [0, 1].map(|i| up(queues[i], depths[i] - least));
    if Rc::ptr_eq(there[0], there[1]) {
        // One is above the other.
        return [0, 1].map(|i| match depths[i] == least {
            true => claim(there[i], Share::default()),
            false => claim_of(up(queues[i], depths[i] - least - 1)),
        });
    }
    while let [Some(one), Some(other)] = there.map(|queue| queue.nesting.parent())
        && !Rc::ptr_eq(one, other)
    {
        there = [one, other];
    }
    there.map(claim_of)
}

/// The queue so many levels above.
fn up(queue: &Rc<RunQueue>, levels: usize) -> &Rc<RunQueue> {
    iter::once(queue).chain(above(queue)).nth(levels).unwrap_or(queue)
}

fn claim_of(queue: &Rc<RunQueue>) -> u64 {
    claim(queue, queue.share.get())
}

fn claim(queue: &RunQueue, share: Share) -> u64 {
    queue.request_ns.get() / u64::from(share.get())
}

// ---- The tree

impl Core {
    /// Whether the queue may have one more child.
    pub(crate) fn may_nest(&self, parent: &RunQueue, is_idle: bool) -> Result<(), QueueError> {
        if parent.closed.get() {
            return Err(QueueError::parent_closed(&parent.name()));
        }
        self.exists(parent)?;
        if is_idle || parent.constraints.idle().is_some() {
            return Err(QueueError::idle_nested());
        }
        if parent.constraints.cap().is_some() {
            return Err(QueueError::capped_parent(&parent.name()));
        }
        if above(parent).count() >= MAX_DEPTH {
            return Err(QueueError::too_deep(MAX_DEPTH));
        }
        Ok(())
    }

    /// Whether the queue may have a cap.
    pub(super) fn may_cap(&self, queue: &RunQueue) -> Result<(), QueueError> {
        match queue.nesting.has_children() {
            true => Err(QueueError::capped_parent(&queue.name())),
            false => Ok(()),
        }
    }

    /// Moves a new queue below its parent.
    pub(crate) fn nest(&self, parent: &Rc<RunQueue>, queue: &RunQueue) {
        // The time up to now was served before the parent's own tasks had a child beside them.
        self.charge_up_to_now();
        for nested in [parent, queue] {
            if !nested.is_constrained() {
                let works = nested.runnable.get();
                nested.constraints.stand(if works { Place::Thread } else { Place::Asleep });
                self.count_constrained(false, true);
            }
            nested.constraints.make_nested();
        }
        self.aside.nested.borrow_mut().add(&mut self.queues.eevdf.borrow_mut(), parent.id, queue.id);
        let _ = queue.nesting.parent.set(Rc::clone(parent));
        parent.nesting.children.set(parent.nesting.children.get() + 1);
        self.note_constraints();
    }

    /// The children of a queue that are not gone, in the order in which they were created.
    pub(crate) fn children(&self, parent: &RunQueue) -> Vec<Rc<RunQueue>> {
        let mut children = self.all_queues();
        children.retain(|queue| queue.nesting.parent().is_some_and(|its| its.key == parent.key));
        children.sort_by_key(|queue| queue.key.generation);
        children
    }

    /// A queue and those below it that are not gone.
    pub(crate) fn branch(&self, queue: &Rc<RunQueue>) -> Vec<Rc<RunQueue>> {
        let is_in = |one: &RunQueue| one.key == queue.key || above(one).any(|above| above.key == queue.key);
        let mut branch = self.all_queues();
        branch.retain(|one| is_in(one));
        branch
    }

    /// Forgets a nested queue that is removed.
    pub(super) fn forget_nested(&self, queue: &RunQueue) {
        self.aside.nested.borrow_mut().remove(&mut self.queues.eevdf.borrow_mut(), queue.id);
        self.note_branches();
    }

    /// Counts a child that is gone, and removes its parent with it if that is closed and has nothing left.
    pub(super) fn leave_parent(&self, queue: &RunQueue) {
        if let Some(parent) = queue.nesting.parent() {
            parent.nesting.children.set(parent.nesting.children.get() - 1);
            self.remove_if_done(parent);
        }
    }

    /// Gives a nested queue's share and request on to its branch.
    pub(super) fn reshare_nested(&self, queue: &RunQueue) {
        let (mut branches, mut root) = (self.aside.nested.borrow_mut(), self.queues.eevdf.borrow_mut());
        branches.set_share(&mut root, queue.id, queue.share.get());
        branches.set_request(&mut root, queue.id, queue.request_ns.get());
    }
}

// ---- Its work

impl Core {
    /// Has a queue share the thread, or what its parent gets.
    pub(super) fn share_thread(&self, queue: &RunQueue) {
        self.aside.nested.borrow_mut().wake(&mut self.queues.eevdf.borrow_mut(), queue.id);
        self.note_branches();
    }

    /// The contrary of [`share_thread`](Core::share_thread).
    pub(super) fn leave_thread(&self, queue: &RunQueue) {
        self.aside.nested.borrow_mut().sleep(&mut self.queues.eevdf.borrow_mut(), queue.id);
        self.note_branches();
    }

    fn note_branches(&self) {
        self.queues.note_nested(self.aside.nested.borrow().are_contended());
    }

    /// Charges a queue, and those above it.
    pub(super) fn charge_way_up(&self, queue: &RunQueue, service_ns: u64) {
        for queue in above(queue) {
            queue.nesting.below_ns.set(queue.nesting.below_ns.get() + service_ns);
        }
        self.aside.nested.borrow_mut().charge(&mut self.queues.eevdf.borrow_mut(), queue.id, service_ns);
    }

    /// Whether a queue that shares the thread is to be served before one that does and is running.
    pub(super) fn preempts_nested(&self, queue: &RunQueue, running: &RunQueue) -> bool {
        self.aside.nested.borrow().preempts(&self.queues.eevdf.borrow(), queue.id, running.id)
    }

    /// Brings the virtual deadlines of a nested queue with futures to drop near, and those of the queues above it.
    pub(super) fn hasten_nested(&self, queue: &RunQueue) {
        self.aside.nested.borrow_mut().hasten(&mut self.queues.eevdf.borrow_mut(), queue.id);
    }
}
