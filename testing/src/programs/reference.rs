//! The reference: a plain executor made of the `async-task` crate and first-in-first-out lists.
//!
//! What it takes from Clockworker's design is what can be seen: tasks woken here go before what came from elsewhere, aborts
//! come from elsewhere whoever asks, all of it is taken in between two polls, and a task that yielded goes behind that. The
//! futures of aborted tasks are dropped when their queue comes round, before any other task of it is polled.

mod join;
mod lists;

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::Future;
use std::rc::{Rc, Weak};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use join::{Contained, Join, Made, Slot};
use lists::{Lists, Place, Runnable};

use super::event::{Entry, Event};
use super::interpreter::Interpreter;
use super::op::{SLOTS, TaskName};
use super::subject::{Stopped, Subject, Until};
use super::task::{Output, TaskFuture, Ticket};
use super::trace::as_if_elsewhere;
use crate::policy::Policy;

/// See the [module docs](self).
pub(super) struct Reference {
    lists: Arc<Mutex<Lists>>,
    queues: RefCell<Vec<Queue>>,
    names: [Cell<Option<u16>>; SLOTS as usize],
    tasks: RefCell<Vec<Option<Task>>>,
    inbox: RefCell<VecDeque<TaskName>>,
    ended: Cell<bool>,
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

impl Reference {
    pub(super) fn new() -> Self {
        let names: [Cell<Option<u16>>; SLOTS as usize] = Default::default();
        names[0].set(Some(0));
        let lists = Lists { ready: vec![VecDeque::new()], ..Lists::default() };
        Self {
            lists: Arc::new(Mutex::new(lists)),
            queues: RefCell::new(vec![Queue { fifo: true, open: true, dying: VecDeque::new() }]),
            names,
            tasks: RefCell::default(),
            inbox: RefCell::default(),
            ended: Cell::new(false),
        }
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
        let contained = Contained::new(future, &slot);
        let lists = Arc::clone(&self.lists);
        let schedule = move |runnable| lists.lock().unwrap_or_else(PoisonError::into_inner).push(runnable);
        let builder = async_task::Builder::new().metadata(place);
        let (runnable, live) = builder.spawn_local(move |_| contained, schedule);
        let mut tasks = self.tasks.borrow_mut();
        if tasks.len() <= usize::from(place.task) {
            tasks.resize_with(usize::from(place.task) + 1, || None);
        }
        let join = Join::new(&slot);
        tasks[usize::from(place.task)] =
            Some(Task { slot, queue: place.queue, live: Some(live), mail: None });
        (runnable, join)
    }

    /// Puts something into the inbox for a task that is not finished. What is in it already is added to.
    fn mail(&self, task: TaskName, add: impl FnOnce(&mut Mail)) {
        let mut tasks = self.tasks.borrow_mut();
        let Some(Some(known)) = tasks.get_mut(usize::from(task)) else { return };
        if known.slot.is_finished() {
            return;
        }
        if known.mail.is_none() {
            self.inbox.borrow_mut().push_back(task);
        }
        add(known.mail.get_or_insert_default());
    }

    /// Takes in what was woken, then what is in the inbox. What that puts into the inbox is for the next time.
    fn take_in(&self) {
        self.lists().take_in_woken();
        for task in self.inbox.take() {
            let mail = self.tasks.borrow_mut()[usize::from(task)].as_mut().and_then(|task| task.mail.take());
            let Mail { new, waker, abort } = mail.unwrap_or_default();
            let refused = new.as_ref().is_some_and(|new| !self.is_open(new.metadata().queue));
            if refused || abort && new.is_some() {
                self.cancel(task, new);
                continue;
            }
            if abort {
                self.condemn(task);
                continue;
            }
            self.lists().taking_in = true;
            new.into_iter().for_each(Runnable::schedule);
            waker.into_iter().for_each(Waker::wake);
            self.lists().taking_in = false;
        }
    }

    /// An aborted task is not polled any more, and its future is dropped when its queue comes round.
    fn condemn(&self, task: TaskName) {
        let tasks = self.tasks.borrow();
        let Some(Some(known)) = tasks.get(usize::from(task)) else { return };
        if !known.slot.is_finished() {
            self.queues.borrow_mut()[usize::from(known.queue)].dying.push_back(task);
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
        let live = self.tasks.borrow_mut()[usize::from(task)].as_mut().and_then(|task| task.live.take());
        // Schedules it, for its future to be dropped, if it is not scheduled already.
        drop(live);
        let scheduled = self.lists().remove(task);
        drop((new, scheduled));
    }

    /// Polls the queue's next task. False if there is none.
    fn poll(&self, queue: u16, told: TaskName) -> bool {
        // What is told may be of a run that has parted from this one.
        let fifo = match self.queues.borrow().get(usize::from(queue)) {
            Some(queue) if queue.dying.is_empty() => queue.fifo,
            _ => return false,
        };
        let mut lists = self.lists();
        lists.take_in_woken();
        let Some(runnable) = lists.pop(queue, fifo, told) else { return false };
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

impl Interpreter<Reference> {
    /// Makes it the one that is run on this thread.
    pub(super) fn enter(self: &Rc<Self>) {
        CURRENT.replace(Rc::downgrade(self));
    }
}

impl Subject for Reference {
    type Join = Join;

    fn current() -> Option<Rc<Interpreter<Self>>> {
        CURRENT.with_borrow(Weak::upgrade)
    }

    fn create(&self, slot: u8, _share: u32, policy: Policy) -> bool {
        let name = &self.names[usize::from(slot)];
        if name.get().is_some() {
            return false;
        }
        let mut queues = self.queues.borrow_mut();
        name.set(Some(queues.len() as u16));
        queues.push(Queue { fifo: policy == Policy::RunnableFifo, open: true, dying: VecDeque::new() });
        self.lists().ready.push(VecDeque::new());
        true
    }

    fn share(&self, _queue: u16, _share: u32) {}

    fn set_scheduler(&self, queue: u16, policy: Policy) {
        // FIFO takes over in the order of the last scheduler, which is known here only if that was FIFO too.
        let mut queues = self.queues.borrow_mut();
        queues[usize::from(queue)].fifo &= policy == Policy::RunnableFifo;
    }

    fn close(&self, queue: u16) {
        self.queues.borrow_mut()[usize::from(queue)].open = false;
        self.names.iter().filter(|name| name.get() == Some(queue)).for_each(|name| name.set(None));
    }

    fn spawn(&self, queue: u16, _beside: bool, task: TaskName, future: TaskFuture<Self>) -> Join {
        if !self.is_open(queue) {
            return Join::refused(|| drop(future));
        }
        self.lists().take_in_woken();
        let (runnable, join) = self.make(Place { task, queue }, future);
        self.lists().ready[usize::from(queue)].push_back(runnable);
        join
    }

    fn spawn_elsewhere(&self, _slot: u8, queue: Option<u16>, task: TaskName, ticket: Ticket) -> Join {
        let Some(queue) = queue.filter(|&queue| self.is_open(queue)) else {
            return Join::refused(|| as_if_elsewhere(|| drop(ticket)));
        };
        let (runnable, join) = self.make(Place { task, queue }, Made::Ticket(Some(ticket)));
        self.mail(task, |mail| mail.new = Some(runnable));
        join
    }

    fn wake_elsewhere(&self, task: TaskName, waker: Waker) {
        self.mail(task, |mail| mail.waker = Some(waker));
    }

    fn drop_waker_elsewhere(&self, waker: Waker) {
        drop(waker);
    }

    fn drop_handle_elsewhere(&self, handle: Join) {
        as_if_elsewhere(|| drop(handle));
    }

    fn abort(&self, task: TaskName, _elsewhere: bool) {
        self.mail(task, |mail| mail.abort = true);
    }

    fn run(&self, until: Until<'_, Join>, told: &[Entry]) -> Stopped {
        let mut handle = match until {
            Until::Joined(handle) => Some(handle),
            Until::Idle | Until::Turn => None,
        };
        if let Some(joined) = handle.as_deref_mut().and_then(Join::answer) {
            return Stopped { idle: false, joined: Some(joined) };
        }
        self.take_in();
        let mut idle = true;
        for entry in told {
            match entry.event {
                Event::Polled { task, queue } if !self.poll(queue, task) => break,
                Event::FutureDropped(task) | Event::Unmade(task) => self.bury(task),
                Event::Stopped { idle: told } => {
                    idle = told;
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
        let tasks = self.tasks.borrow().len();
        (0..tasks).for_each(|task| self.cancel(task as TaskName, None));
    }
}
