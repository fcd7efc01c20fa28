//! [`Shared`]: what the tasks of a round share: the executor, its queues, and all handles.

use std::cell::{Cell, RefCell};
use std::rc::Weak;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::task::Waker;

use clockworker::{AbortHandle, Executor, Group, JoinHandle, ManualClock, Queue};
use fastrand::Rng;
use tokio::sync::mpsc::UnboundedSender;

use super::ledger::{Entry, Ledger, Output, spawning};
use super::tasks::{self, Opener};

pub(super) type Job = Box<dyn FnOnce() + Send>;

/// Where handles go to be awaited on another thread.
pub(super) type Awaiter = UnboundedSender<JoinHandle<Output>>;

/// As many of each are kept; beyond that one goes for each that comes.
pub(super) const KEPT: usize = 128;

pub(super) struct Shared {
    pub(super) ex: Executor,
    pub(super) me: Weak<Shared>,
    pub(super) rng: RefCell<Rng>,
    pub(super) ledger: Arc<Ledger>,
    /// Stands still between acts, in rounds without threads.
    pub(super) clock: Option<ManualClock>,
    /// Queues to spawn on, some of them closed.
    pub(super) queues: RefCell<Vec<Queue>>,
    /// All that there were.
    pub(super) all_queues: RefCell<Vec<Queue>>,
    pub(super) groups: RefCell<Vec<Group>>,
    pub(super) handles: RefCell<Vec<(u64, JoinHandle<Output>)>>,
    pub(super) aborts: RefCell<Vec<AbortHandle>>,
    pub(super) wakers: RefCell<Vec<Waker>>,
    /// Waits that no thread is to end.
    pub(super) openers: RefCell<Vec<Opener>>,
    pub(super) jobs: RefCell<Vec<Sender<Job>>>,
    pub(super) awaiter: RefCell<Option<Awaiter>>,
    /// Spawns from other threads go to the default queue only: what a closed queue refuses on the way is in the executor's
    /// books only, which are gone with it.
    pub(super) remote_on_default: bool,
    pub(super) ids: Cell<u64>,
    /// Tasks that may still be spawned.
    pub(super) budget: Cell<u32>,
    pub(super) trace: Cell<u64>,
}

pub(super) fn take<T>(rng: &RefCell<Rng>, from: &RefCell<Vec<T>>) -> Option<T> {
    let mut from = from.borrow_mut();
    let at = (!from.is_empty()).then(|| rng.borrow_mut().usize(..from.len()))?;
    Some(from.swap_remove(at))
}

impl Shared {
    pub(super) fn below(&self, n: usize) -> usize {
        self.rng.borrow_mut().usize(..n)
    }

    pub(super) fn one_in(&self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// Notes something in an order that must be the same each time.
    pub(super) fn note(&self, id: u64, what: u32) {
        let mixed =
            (self.trace.get() ^ id.rotate_left(32) ^ u64::from(what)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.trace.set(mixed.rotate_left(23));
    }

    pub(super) fn next_id(&self) -> Option<u64> {
        self.budget.set(self.budget.get().checked_sub(1)?);
        self.ids.set(self.ids.get() + 1);
        Some(self.ids.get())
    }

    /// Spawns a task, wherever; none if there were enough.
    pub(super) fn spawn(&self) -> Option<(u64, JoinHandle<Output>)> {
        let id = self.next_id()?;
        let entry = Entry::open(&self.ledger, id);
        let future = tasks::body(self.me.clone(), entry);
        let (queue, group) = (self.a_queue(), self.a_group());
        let task = spawning(id, || match (self.below(3), group) {
            (0, Some(group)) => group.spawn(future),
            (1, _) => self.ex.spawn(future),
            _ => queue.spawn(future),
        });
        self.aborts.borrow_mut().push(task.abort_handle());
        Some((id, task))
    }

    /// Keeps a handle; if there are too many, one goes.
    pub(super) fn keep(&self, task: (u64, JoinHandle<Output>)) {
        self.handles.borrow_mut().push(task);
        if self.handles.borrow().len() > KEPT {
            drop(take(&self.rng, &self.handles));
        }
    }

    pub(super) fn a_queue(&self) -> Queue {
        let queues = self.queues.borrow();
        queues[self.below(queues.len())].clone()
    }

    fn a_group(&self) -> Option<Group> {
        if self.groups.borrow().len() < 16 {
            let group = self.a_queue().group(self.below(8) as u64);
            self.groups.borrow_mut().push(group);
        }
        let group = take(&self.rng, &self.groups)?;
        if !self.one_in(4) {
            self.groups.borrow_mut().push(group.clone());
        }
        Some(group)
    }

    pub(super) fn a_thread(&self) -> Option<Sender<Job>> {
        let threads = self.jobs.borrow();
        (!threads.is_empty()).then(|| threads[self.below(threads.len())].clone())
    }

    /// A wait begins, which a thread or a task is to end. Its waker is left for others to wake for nothing.
    pub(super) fn hand_out(&self, opener: Opener) {
        if self.wakers.borrow().len() < 64 {
            self.wakers.borrow_mut().push(opener.waker.clone());
        }
        match self.a_thread() {
            Some(thread) => drop(thread.send(Box::new(|| opener.disturb_and_open()))),
            None => self.openers.borrow_mut().push(opener),
        }
    }
}
