//! The reference: a plain executor made of the `async-task` crate and first-in-first-out lists.
//!
//! What it takes from Clockworker's design is what can be seen: tasks woken here go before what came from elsewhere, aborts
//! come from elsewhere whatever asks, all of it is taken in between two polls, and a task that yielded goes behind that. The
//! futures of aborted tasks are dropped when their queue comes round, before any other task of it is polled.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use super::event::{End, Entry, Event, spawning};
use super::interpreter::{Elsewhere, Interpreter, Run, Stopped, Subject, Until};
use super::op::{Change, On, SLOTS, TaskName, Thread};
use super::task::{Output, TaskFuture, Ticket};
use crate::panics::drop_contained;
use crate::policy::Policy;

type Runnable = async_task::Runnable<Place>;

#[derive(Clone, Copy)]
struct Place {
    task: TaskName,
    queue: u16,
}

/// See the [module docs](self).
#[derive(Default)]
pub(super) struct Reference {
    lists: Arc<Mutex<Lists>>,
    queues: RefCell<Vec<Queue>>,
    /// By slot, the open queue that has its name.
    names: [Cell<Option<u16>>; SLOTS as usize],
    tasks: RefCell<BTreeMap<TaskName, Task>>,
    inbox: RefCell<VecDeque<TaskName>>,
    ended: Cell<bool>,
    /// A new task was dropped before others came in. As that may take long, a poll may come before those.
    pub(super) is_lost: Cell<bool>,
}

/// Tasks that are to be polled.
#[derive(Default)]
struct Lists {
    /// By queue.
    ready: Vec<VecDeque<Runnable>>,
    /// Woken, not yet taken in.
    woken: VecDeque<Runnable>,
    running: Option<TaskName>,
    yielded: Option<Runnable>,
    /// What is woken comes from the inbox.
    taking_in: bool,
}

struct Queue {
    fifo: bool,
    open: bool,
    /// Aborted tasks whose futures are still to be dropped.
    dying: VecDeque<TaskName>,
}

struct Task {
    slot: Rc<Slot>,
    queue: u16,
    /// Dropping it is how `async-task` cancels.
    live: Option<async_task::Task<(), Place>>,
    /// In the inbox, and with these in its hands.
    mail: Option<Mail>,
}

#[derive(Default)]
struct Mail {
    new: Option<Runnable>,
    waker: Option<Waker>,
    abort: bool,
}

impl Lists {
    fn push(&mut self, runnable: Runnable) {
        let Place { task, queue } = *runnable.metadata();
        if self.taking_in {
            self.ready[usize::from(queue)].push_back(runnable);
        } else if self.running == Some(task) {
            self.yielded = Some(runnable);
        } else {
            self.woken.push_back(runnable);
        }
    }

    fn take_in_woken(&mut self) {
        while let Some(runnable) = self.woken.pop_front() {
            self.ready[usize::from(runnable.metadata().queue)].push_back(runnable);
        }
    }

    /// Takes a task out of wherever it is.
    fn remove(&mut self, task: TaskName) -> Option<Runnable> {
        if self.yielded.as_ref().is_some_and(|runnable| runnable.metadata().task == task) {
            return self.yielded.take();
        }
        self.ready.iter_mut().chain([&mut self.woken]).find_map(|list| remove(list, task))
    }
}

fn remove(list: &mut VecDeque<Runnable>, task: TaskName) -> Option<Runnable> {
    let at = list.iter().position(|runnable| runnable.metadata().task == task)?;
    list.remove(at)
}

impl Reference {
    pub(super) fn begin() -> Run<Self> {
        let reference = Self::default();
        reference.add_queue(0, true);
        let run = Interpreter::new(reference, Default::default());
        CURRENT.replace(Rc::downgrade(&run));
        run
    }

    fn add_queue(&self, slot: u8, fifo: bool) {
        let mut queues = self.queues.borrow_mut();
        self.names[usize::from(slot)].set(Some(queues.len() as u16));
        queues.push(Queue { fifo, open: true, dying: VecDeque::new() });
        self.lists().ready.push(VecDeque::new());
    }

    fn lists(&self) -> MutexGuard<'_, Lists> {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_open(&self, queue: u16) -> bool {
        !self.ended.get() && self.queues.borrow()[usize::from(queue)].open
    }

    /// Makes a task; it is still to be scheduled.
    fn make(&self, place: Place, future: impl Future<Output = Output> + 'static) -> (Runnable, Join) {
        let slot = Rc::new(Slot::default());
        let (contained, lists) = (Contained::new(future, &slot), Arc::clone(&self.lists));
        let schedule = move |runnable| lists.lock().unwrap_or_else(PoisonError::into_inner).push(runnable);
        let builder = async_task::Builder::new().metadata(place);
        let (runnable, live) = builder.spawn_local(move |_| contained, schedule);
        let task = Task { slot: Rc::clone(&slot), queue: place.queue, live: Some(live), mail: None };
        self.tasks.borrow_mut().insert(place.task, task);
        (runnable, Join(slot))
    }

    /// Puts something into the inbox for a task that is not finished. What is in it already is added to.
    fn mail(&self, task: TaskName, add: impl FnOnce(&mut Mail)) {
        let mut tasks = self.tasks.borrow_mut();
        let Some(known) = tasks.get_mut(&task).filter(|known| !known.slot.is_finished()) else { return };
        if known.mail.is_none() {
            self.inbox.borrow_mut().push_back(task);
        }
        add(known.mail.get_or_insert_default());
    }

    /// Takes in what was woken, then what is in the inbox. What that puts into the inbox is for the next time.
    fn take_in(&self) {
        self.lists().take_in_woken();
        let mut inbox = self.inbox.take();
        while let Some(task) = inbox.pop_front() {
            let mail = self.tasks.borrow_mut().get_mut(&task).and_then(|task| task.mail.take());
            let Mail { new, waker, abort } = mail.unwrap_or_default();
            let refused = new.as_ref().is_some_and(|new| !self.is_open(new.metadata().queue));
            if refused || abort && new.is_some() {
                self.cancel(task, new);
                self.is_lost.set(self.is_lost.get() || !inbox.is_empty());
            } else if abort {
                self.condemn(task);
            } else {
                self.lists().taking_in = true;
                new.into_iter().for_each(Runnable::schedule);
                waker.into_iter().for_each(Waker::wake);
                self.lists().taking_in = false;
            }
        }
    }

    /// An aborted task is not polled any more, and its future is dropped when its queue comes round.
    fn condemn(&self, task: TaskName) {
        let tasks = self.tasks.borrow();
        let Some(known) = tasks.get(&task).filter(|known| !known.slot.is_finished()) else { return };
        let dying = &mut self.queues.borrow_mut()[usize::from(known.queue)].dying;
        if !dying.contains(&task) {
            dying.push_back(task);
        }
    }

    /// Drops the future of a task that is the next to go in its queue.
    fn bury(&self, task: TaskName) {
        let mut queues = self.queues.borrow_mut();
        let Some(queue) = queues.iter_mut().find(|queue| queue.dying.front() == Some(&task)) else { return };
        queue.dying.pop_front();
        drop(queues);
        self.cancel(task, None);
        self.take_in();
    }

    /// Drops a task's future, unless it is finished.
    fn cancel(&self, task: TaskName, new: Option<Runnable>) {
        let live = self.tasks.borrow_mut().get_mut(&task).and_then(|task| task.live.take());
        // Schedules it, for its future to be dropped, if it is not scheduled already.
        drop(live);
        let scheduled = self.lists().remove(task);
        drop((new, scheduled));
    }

    /// Polls the queue's next task: the first if it is FIFO, else the one that `led`. False if it is not there.
    fn poll(&self, queue: u16, led: TaskName) -> bool {
        // The lead may be of a run that has parted from this one.
        let fifo = match self.queues.borrow().get(usize::from(queue)) {
            Some(queue) if queue.dying.is_empty() => queue.fifo,
            _ => return false,
        };
        let mut lists = self.lists();
        lists.take_in_woken();
        let ready = &mut lists.ready[usize::from(queue)];
        let next = if fifo { ready.pop_front() } else { remove(ready, led) };
        let Some(runnable) = next else { return false };
        lists.running = Some(runnable.metadata().task);
        drop(lists);
        runnable.run();
        self.lists().running = None;
        self.take_in();
        let mut lists = self.lists();
        if let Some(runnable) = lists.yielded.take() {
            lists.ready[usize::from(queue)].push_back(runnable);
        }
        true
    }

    fn is_idle(&self) -> bool {
        let lists = self.lists();
        let none_dying = self.queues.borrow().iter().all(|queue| queue.dying.is_empty());
        none_dying
            && lists.woken.is_empty()
            && lists.ready.iter().all(VecDeque::is_empty)
            && self.inbox.borrow().is_empty()
    }
}

thread_local! {
    static CURRENT: RefCell<Weak<Interpreter<Reference>>> = const { RefCell::new(Weak::new()) };
}

impl Subject for Reference {
    type Join = Join;

    fn current() -> Option<Run<Self>> {
        CURRENT.with_borrow(Weak::upgrade)
    }

    fn create(&self, slot: u8, _below: Option<u16>, change: Change) -> bool {
        let is_free = self.names[usize::from(slot)].get().is_none();
        if let Change::Create { policy, .. } = change
            && is_free
        {
            self.add_queue(slot, policy == Policy::RunnableFifo);
        }
        is_free
    }

    fn change(&self, queue: u16, change: Change) -> bool {
        let changed = &mut self.queues.borrow_mut()[usize::from(queue)];
        match change {
            // FIFO takes over in the order of the last scheduler, which is known here only if that was FIFO too.
            Change::Scheduler(policy) => changed.fifo &= policy == Policy::RunnableFifo,
            Change::Close => {
                changed.open = false;
                self.names.iter().filter(|name| name.get() == Some(queue)).for_each(|name| name.set(None));
            }
            _ => {}
        }
        true
    }

    fn spawn(&self, _on: On, queue: u16, task: TaskName, future: TaskFuture<Self>) -> Option<Join> {
        if !self.is_open(queue) {
            return Some(Join::refused(|| drop(future)));
        }
        self.lists().take_in_woken();
        let (runnable, join) = self.make(Place { task, queue }, future);
        self.lists().ready[usize::from(queue)].push_back(runnable);
        Some(join)
    }

    fn spawn_elsewhere(&self, _: u8, _: Option<u8>, queue: Option<u16>, ticket: Ticket) -> Option<Join> {
        let task = ticket.task;
        let Some(queue) = queue.filter(|&queue| self.is_open(queue)) else {
            return Some(Join::refused(|| spawning(task, || drop(ticket))));
        };
        let (mut ticket, mut made) = (Some(ticket), None);
        let future = poll_fn(move |cx| {
            if let Some(ticket) = ticket.take() {
                made = Some(ticket.redeem::<Reference>());
            }
            made.as_mut().map_or(Poll::Pending, |future| Pin::new(future).poll(cx))
        });
        let (runnable, join) = self.make(Place { task, queue }, future);
        self.mail(task, |mail| mail.new = Some(runnable));
        Some(join)
    }

    fn elsewhere(&self, task: TaskName, act: Elsewhere<Join>) {
        match act {
            Elsewhere::Wake(waker) => self.mail(task, |mail| mail.waker = Some(waker)),
            Elsewhere::DropWaker(waker) => drop(waker),
            Elsewhere::DropHandle(handle) => drop(handle),
        }
    }

    fn abort(&self, task: TaskName, _on: Thread) {
        self.mail(task, |mail| mail.abort = true);
    }

    fn run(&self, run: &Run<Self>, until: Until<'_, Join>, lead: &[Entry]) -> Stopped {
        let (mut handle, mut acts, visits) = match until {
            Until::Idle(handle) => (handle, &[][..], &[][..]),
            Until::Turn(acts) => (None, acts, &[][..]),
            Until::Cut { acts, visits } => (None, acts, visits),
        };
        let mut visits = visits.iter();
        if let Some(joined) = handle.as_deref_mut().and_then(Join::answer) {
            return Stopped { idle: false, joined: Some(joined) };
        }
        // The future that is run is polled before what came is taken in.
        if acts.is_empty() {
            self.take_in();
        }
        let mut idle = true;
        for entry in lead {
            match entry.event {
                Event::Main => {
                    run.act_as_main(std::mem::take(&mut acts));
                    self.take_in();
                }
                Event::Visit => {
                    visits.next().into_iter().for_each(|op| run.visit(op));
                    self.take_in();
                }
                Event::Polled(task, queue) if !self.poll(queue, task) => break,
                Event::FutureDropped(task) | Event::Unmade(task) => self.bury(task),
                Event::Stopped(led) => {
                    idle = led;
                    break;
                }
                _ => {}
            }
        }
        Stopped { idle: idle && self.is_idle(), joined: handle.and_then(Join::answer) }
    }

    fn tear_down(&self) {
        self.ended.set(true);
        self.take_in();
        let tasks: Vec<TaskName> = self.tasks.borrow().keys().copied().collect();
        tasks.into_iter().for_each(|task| self.cancel(task, None));
    }
}

/// Where a result waits for its join handle.
#[derive(Default)]
struct Slot {
    result: RefCell<Option<Result<Output, End>>>,
    joiner: RefCell<Option<Waker>>,
    detached: Cell<bool>,
    finished: Cell<bool>,
}

impl Slot {
    fn is_finished(&self) -> bool {
        self.finished.get()
    }

    fn complete(&self, result: Result<Output, End>) {
        self.finished.set(true);
        if self.detached.get() {
            drop_contained(result);
            return;
        }
        self.result.replace(Some(result));
        let joiner = self.joiner.take();
        joiner.into_iter().for_each(Waker::wake);
    }
}

/// The reference's join handle.
pub(super) struct Join(Rc<Slot>);

impl Join {
    /// Of a task that there will not be. Drops what it would have been made of; a panic of that is its end.
    fn refused(unmade: impl FnOnce()) -> Self {
        let join = Self(Rc::default());
        let dropped = catch_unwind(AssertUnwindSafe(unmade));
        join.0.complete(Err(if dropped.is_ok() { End::Cancelled } else { End::Panicked }));
        join
    }

    /// The answer, if it is there.
    fn answer(&mut self) -> Option<Result<Output, End>> {
        self.0.result.take()
    }
}

impl Future for Join {
    type Output = Result<Output, End>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if let Some(result) = self.answer() {
            return Poll::Ready(result);
        }
        self.0.joiner.replace(Some(cx.waker().clone()));
        Poll::Pending
    }
}

impl Drop for Join {
    fn drop(&mut self) {
        self.0.detached.set(true);
        drop_contained(self.0.result.take());
    }
}

/// Keeps panics in, and tells the slot how it ended: by a panic if there was one, be it in the drop.
struct Contained<F: Future<Output = Output>> {
    future: Option<Pin<Box<F>>>,
    slot: Rc<Slot>,
}

impl<F: Future<Output = Output>> Contained<F> {
    fn new(future: F, slot: &Rc<Slot>) -> Self {
        Self { future: Some(Box::pin(future)), slot: Rc::clone(slot) }
    }

    fn end(&mut self, result: Result<Output, End>) {
        if drop_contained(self.future.take()) {
            return self.slot.complete(result);
        }
        drop_contained(result);
        self.slot.complete(Err(End::Panicked));
    }
}

impl<F: Future<Output = Output>> Future for Contained<F> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Some(future) = &mut self.future else { return Poll::Ready(()) };
        match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(output)) => self.end(Ok(output)),
            Err(_) => self.end(Err(End::Panicked)),
        }
        Poll::Ready(())
    }
}

impl<F: Future<Output = Output>> Drop for Contained<F> {
    fn drop(&mut self) {
        if self.future.is_some() {
            self.end(Err(End::Cancelled));
        }
    }
}
