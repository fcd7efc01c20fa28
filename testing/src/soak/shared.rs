//! [`Shared`]: what the tasks of a round share: the executor, its queues, and all handles; and what a task, or the future
//! that is run, does with them at random without waiting.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::Weak;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use clockworker::{AbortHandle, DEFAULT_QUEUE, Executor, Group, JoinHandle, ManualClock, Queue};
use fastrand::Rng;
use tokio::sync::mpsc::UnboundedSender;

use super::ledger::{Entry, Ledger, Output, Tally, resolved, spawning};
use super::tasks::{self, Opener};
use crate::hostile::{Call, Fault, Faulty, Hostile, Misdeed};
use crate::panics::{PanicsWhenDropped, drop_contained, panic_as_meant};
use crate::policy::Policy;

pub(super) type Job = Box<dyn FnOnce() + Send>;

/// Where handles go to be awaited on another thread.
pub(super) type Awaiter = UnboundedSender<JoinHandle<Output>>;

/// As many of each are kept; beyond that one goes for each that comes.
const KEPT: usize = 128;

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

fn take<T>(rng: &RefCell<Rng>, from: &RefCell<Vec<T>>) -> Option<T> {
    let mut from = from.borrow_mut();
    let at = (!from.is_empty()).then(|| rng.borrow_mut().usize(..from.len()))?;
    Some(from.swap_remove(at))
}

/// What a hostile scheduler does, from some call on.
const FAULTS: [Fault; 8] = [
    Fault::Does(Misdeed::LosePushed),
    Fault::Does(Misdeed::Repeat),
    Fault::Does(Misdeed::InventSlot),
    Fault::Does(Misdeed::ClaimEmpty),
    Fault::Panics(Call::Push),
    Fault::Panics(Call::Pop),
    Fault::Panics(Call::Served),
    Fault::Panics(Call::Finished),
];

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

    pub(super) fn act(&self) {
        let drawn = self.rng.borrow_mut().u32(..46);
        self.note(u64::MAX, drawn);
        self.ledger.beat();
        match drawn {
            0..10 => self.spawn().into_iter().for_each(|task| self.keep(task)),
            10..14 => self.spawn_remotely(),
            14..18 => self.abort(),
            18..23 => drop(take(&self.rng, &self.handles)),
            23..26 => self.send_handle(),
            26..30 => self.wake(),
            30..36 => take(&self.rng, &self.openers).into_iter().for_each(Opener::open),
            36..38 => self.touch(),
            38 => self.create_queue(),
            39 => self.close_queue(),
            40..42 => self.reshare(),
            _ => self.work(),
        }
    }

    fn spawn_remotely(&self) {
        let Some(id) = self.next_id() else { return };
        let queue = if self.remote_on_default { DEFAULT_QUEUE.to_owned() } else { self.a_queue().name() };
        let (handle, ledger, awaited) = (self.ex.handle(), Arc::clone(&self.ledger), self.one_in(2));
        let spawn = move || tasks::spawn_on(&handle, &queue, &ledger, id);
        let Some(thread) = self.a_thread() else { return self.keep((id, spawn())) };
        let awaiter = self.awaiter.borrow().clone().filter(|_| awaited);
        drop(thread.send(Box::new(move || {
            let task = spawn();
            if let Some(awaiter) = awaiter {
                drop(awaiter.send(task));
            }
        })));
    }

    /// Aborts a task: here, on another thread, on both, or after all not.
    fn abort(&self) {
        let Some(task) = take(&self.rng, &self.aborts) else { return };
        let asks = self.one_in(2);
        let thread = asks.then(|| self.a_thread()).flatten();
        let is_left = (thread.is_some() || !asks) && self.one_in(2);
        if let Some(thread) = thread {
            let task = task.clone();
            drop(thread.send(Box::new(move || task.abort())));
        }
        if !is_left {
            task.abort();
        }
        self.aborts.borrow_mut().truncate(KEPT * 2);
    }

    fn send_handle(&self) {
        let Some((_, task)) = take(&self.rng, &self.handles) else { return };
        if let Some(awaiter) = &*self.awaiter.borrow() {
            drop(awaiter.send(task));
        }
    }

    fn wake(&self) {
        let Some(waker) = take(&self.rng, &self.wakers) else { return };
        match self.a_thread() {
            Some(thread) => drop(thread.send(Box::new(move || waker.wake_by_ref()))),
            None => waker.wake(),
        }
    }

    /// Polls a handle with a waker that panics.
    fn touch(&self) {
        let Some((id, mut task)) = take(&self.rng, &self.handles) else { return };
        let (in_wake, in_drop) = (self.one_in(2), self.one_in(2).then(|| PanicsWhenDropped));
        let waker = Waker::from(Arc::new(Touchy { in_wake, _in_drop: in_drop }));
        let polled = Pin::new(&mut task).poll(&mut Context::from_waker(&waker));
        drop_contained(waker);
        match polled {
            Poll::Ready(result) => resolved(&self.ledger, result),
            Poll::Pending => self.keep((id, task)),
        }
    }

    fn create_queue(&self) {
        if self.queues.borrow().len() > 8 {
            return self.close_queue();
        }
        let name = format!("queue {}", self.all_queues.borrow().len());
        let share = 1 + self.below(100) as u32;
        let request = Duration::from_micros(1 + self.below(500) as u64);
        let queue = self.ex.new_queue(&name).share(share).request(request);
        let created = match self.below(11) {
            // All but the default, which is the default queue's.
            n @ 0..10 => Policy::ALL[1 + n / 2].create(queue),
            _ => {
                self.ledger.add(Tally::HostileQueues);
                let fault = FAULTS[self.below(FAULTS.len())];
                let plan = Faulty::for_ever(fault, self.below(60) as u32);
                queue.scheduler(Hostile::<Faulty>::new(plan)).create()
            }
        };
        // Refused once the executor was shut down.
        if let Ok(queue) = created {
            self.queues.borrow_mut().push(queue.clone());
            self.all_queues.borrow_mut().push(queue);
        }
    }

    /// Half of those closed stay among those to spawn on, for a while.
    fn close_queue(&self) {
        let len = self.queues.borrow().len();
        if len == 1 {
            return;
        }
        let at = 1 + self.below(len - 1);
        let queue = self.queues.borrow()[at].clone();
        queue.close();
        if self.one_in(2) || len > 8 {
            self.queues.borrow_mut().remove(at);
        }
    }

    fn reshare(&self) {
        let queue = self.a_queue();
        // A queue that is gone refuses.
        let _ = queue.set_share(1 + self.below(100) as u32);
        let _ = queue.set_request(Duration::from_micros(1 + self.below(500) as u64));
    }

    fn work(&self) {
        match &self.clock {
            Some(clock) => clock.advance(Duration::from_micros(self.below(100) as u64)),
            None => (0..self.below(1_000)).for_each(|_| std::hint::spin_loop()),
        }
    }
}

struct Touchy {
    in_wake: bool,
    _in_drop: Option<PanicsWhenDropped>,
}

impl Wake for Touchy {
    fn wake(self: Arc<Self>) {
        if self.in_wake {
            panic_as_meant();
        }
    }
}
