//! What carries out a program: an executor, and its tasks and queues by name.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use clockworker::ManualClock;

use super::event::{Actor, End, Entry, Event, Trace, WaitsFor, spawning};
use super::op::{Change, GroupChange, On, Op, SLOTS, Script, TaskName, Thread, Wait};
use super::task::{Output, TaskFuture, Ticket, end_of};
use crate::panics::{PanicsWhenDropped, TouchyWaker, drop_contained, panic_as_meant};

/// How a task waits.
pub(super) type Waiting = Pin<Box<dyn Future<Output = ()>>>;

/// Runs interpreters of an executor.
pub(super) type Run<S> = Rc<Interpreter<S>>;

/// Queues are named by their number, in the order of their creation.
pub(super) trait Subject: Sized + 'static {
    type Join: Future<Output = Result<Output, End>> + Unpin + 'static;

    /// The interpreter that is being run on this thread.
    fn current() -> Option<Run<Self>>;
    /// Creates the next queue, with the name of a slot. False if that is taken, or what is asked for is refused.
    fn create(&self, slot: u8, below: Option<u16>, change: Change) -> bool;
    /// Changes a queue. False if that is refused.
    fn change(&self, queue: u16, change: Change) -> bool;
    /// Spawns a task. `On::Beside` says that it is the queue of the task that is being polled, and is to be found by that.
    fn spawn(&self, on: On, queue: u16, task: TaskName, future: TaskFuture<Self>) -> Option<Self::Join>;
    /// Spawns a task from elsewhere by the name of a slot, and the key of a group. `queue` is the open one of that slot.
    fn spawn_elsewhere(
        &self,
        slot: u8,
        key: Option<u8>,
        queue: Option<u16>,
        ticket: Ticket,
    ) -> Option<Self::Join>;
    fn elsewhere(&self, task: TaskName, act: Elsewhere<Self::Join>);
    fn abort(&self, task: TaskName, on: Thread);
    /// Moves a task to a queue. If that was done, whether the task is ready by it: not if it was there, or is still to be admitted.
    fn move_task(&self, _task: TaskName, _join: &Self::Join, _queue: u16) -> Option<bool> {
        None
    }
    /// The queue of the task that is being polled, which was in that queue when it was polled last.
    fn queue_of_polled(&self, last: u16) -> u16 {
        last
    }
    /// Runs the executor. `lead` is the trace from here on of the executor that went first.
    fn run(&self, run: &Run<Self>, until: Until<'_, Self::Join>, lead: &[Entry]) -> Stopped;
    /// Drops the executor.
    fn tear_down(&self);

    /// A task's future is being dropped.
    fn dropped(&self, _task: TaskName) {}
    /// How a task waits, if the executor has that.
    fn wait(&self, _run: &Run<Self>, _by: TaskName, _wait: &Wait) -> Option<Waiting> {
        None
    }
    /// Changes a group, in that queue if there is one of the slot.
    fn change_group(&self, _group: u8, _queue: Option<u16>, _change: GroupChange) {}
    /// The queue of a group that is held.
    fn group_queue(&self, _group: u8) -> Option<u16> {
        None
    }
}

/// What is done with something of a task on another thread.
pub(super) enum Elsewhere<J> {
    Wake(Waker),
    DropWaker(Waker),
    DropHandle(J),
}

/// What a run is for.
pub(super) enum Until<'a, J> {
    /// A short turn, in which the future that is run does this.
    Turn(&'a [Op]),
    /// The same, in a run that is dropped; and between its turns the host does that.
    Cut { acts: &'a [Op], visits: &'a [Op] },
    /// Nothing is left to do, or that task is finished.
    Idle(Option<&'a mut J>),
}

/// Why a run ended.
#[derive(Default)]
pub(super) struct Stopped {
    pub(super) idle: bool,
    pub(super) joined: Option<Result<Output, End>>,
}

/// Carries out a program on one executor, and notes what it sees.
pub(super) struct Interpreter<S: Subject> {
    pub(super) subject: S,
    pub(super) trace: Trace,
    pub(super) clock: ManualClock,
    handles: Table<S::Join>,
    wakers: Table<Waker>,
    /// Of tasks that there was a handle of.
    abortable: Table<()>,
    /// By slot: the queue that had its name last, and whether it is open.
    slots: [Cell<Option<(u16, bool)>>; SLOTS as usize],
    queues: Cell<u16>,
    /// Tasks give their output at their next poll, and destructors do nothing.
    pub(super) finishing: Cell<bool>,
    /// Tasks that wait are only asked whether they still have to.
    pub(super) asking: Cell<bool>,
    is_over: Cell<bool>,
}

impl<S: Subject> Interpreter<S> {
    /// An interpreter whose executor has one queue, the first slot's.
    pub(super) fn new(subject: S, clock: ManualClock) -> Run<S> {
        let slots: [Cell<Option<(u16, bool)>>; SLOTS as usize] = Default::default();
        slots[0].set(Some((0, true)));
        Rc::new(Interpreter {
            subject,
            trace: Trace::new(clock.clone()),
            clock,
            handles: Table::default(),
            wakers: Table::default(),
            abortable: Table::default(),
            slots,
            queues: Cell::new(1),
            finishing: Cell::default(),
            asking: Cell::default(),
            is_over: Cell::default(),
        })
    }

    /// A step of the program itself.
    pub(super) fn step(self: &Rc<Self>, op: &Op, mut lead: &[Entry]) {
        match op {
            Op::Yield(times) => {
                for _ in 0..*times {
                    self.run(Until::Turn(&[]), lead);
                    let stop = lead.iter().position(|entry| matches!(entry.event, Event::Stopped(_)));
                    lead = stop.map_or(&[], |at| &lead[at + 1..]);
                }
            }
            Op::Main(acts) => drop(self.run(Until::Turn(acts), lead)),
            Op::Cut { acts, visits } => drop(self.run(Until::Cut { acts, visits }, lead)),
            Op::Park => drop(self.run(Until::Idle(None), lead)),
            Op::Join(of) => {
                let Some(mut handle) = self.handles.take(*of) else { return };
                match self.run(Until::Idle(Some(&mut handle)), lead) {
                    Some(result) => drop(self.joined(*of, None, result)),
                    None => self.handles.put(*of, handle),
                }
            }
            other => self.act(Actor::Outside, None, other),
        }
    }

    fn run(self: &Rc<Self>, until: Until<'_, S::Join>, lead: &[Entry]) -> Option<Result<Output, End>> {
        let stopped = self.subject.run(self, until, lead);
        self.trace.note(Event::Stopped(stopped.idle));
        stopped.joined
    }

    /// A handle has given its answer. False if the drop of the output panicked.
    fn joined(&self, of: TaskName, by: Option<TaskName>, result: Result<Output, End>) -> bool {
        self.trace.note(Event::Joined(of, by, end_of(&result)));
        drop_contained(result)
    }

    /// The future that is run does this.
    pub(super) fn act_as_main(self: &Rc<Self>, acts: &[Op]) {
        if !acts.is_empty() {
            self.trace.note(Event::Main);
            acts.iter().for_each(|op| self.act(Actor::Main, None, op));
        }
    }

    /// The host does this, while it has the thread.
    pub(super) fn visit(self: &Rc<Self>, op: &Op) {
        self.trace.note(Event::Visit);
        self.act(Actor::Outside, None, op);
    }

    /// What takes no waiting. `by` is the queue of the task that does it.
    pub(super) fn act(self: &Rc<Self>, actor: Actor, by: Option<u16>, op: &Op) {
        match *op {
            Op::Work(us) => self.clock.advance(Duration::from_micros(us.into())),
            Op::Wake(of, on) => self.wake(of, on),
            Op::DropWaker(of) => self.drop_waker_elsewhere(of),
            Op::Spawn(on, ref script) => self.spawn(by, on, script),
            Op::Abort(of, on) if self.abortable.get(of).is_some() => {
                self.trace.note(Event::Aborted(of, actor, on));
                self.subject.abort(of, on);
            }
            Op::DropHandle(of, on) => match (self.handles.take(of), on) {
                (Some(handle), Thread::Other) => self.subject.elsewhere(of, Elsewhere::DropHandle(handle)),
                (handle, _) => drop(handle),
            },
            Op::Move(of, slot) => self.move_task(of, slot),
            Op::TouchHandle { of, in_wake, in_drop } => self.touch_handle(of, in_wake, in_drop),
            Op::Queue(_, Change::OwnScheduler(policy)) => {
                let _refused = by.map(|queue| self.subject.change(queue, Change::Scheduler(policy)));
            }
            Op::Queue(slot, change) => self.change(slot, change),
            Op::Group(group, change) => {
                let slot = if let GroupChange::Open { slot, .. } = change { Some(slot) } else { None };
                let queue = slot.and_then(|slot| self.queue(slot));
                self.subject.change_group(group, queue.map(|(queue, _)| queue), change);
            }
            Op::Abort(..) | Op::Yield(_) | Op::Park | Op::Join(_) | Op::Wait(_) | Op::Panic => {}
            Op::Main(_) | Op::Cut { .. } => {}
        }
    }

    fn wake(&self, of: TaskName, on: Thread) {
        let Some(waker) = self.wakers.get(of) else { return };
        self.trace.note(Event::Woken(of));
        match on {
            Thread::Owner => waker.wake(),
            Thread::Other => self.subject.elsewhere(of, Elsewhere::Wake(waker)),
        }
    }

    fn spawn(self: &Rc<Self>, by: Option<u16>, on: On, script: &Arc<Script>) {
        let task = script.name;
        let named = |slot| self.queue(slot).map(|(queue, _)| queue);
        let handle = if let On::Elsewhere(slot, key) = on {
            let queue = self.queue(slot).filter(|(_, open)| *open).map(|(queue, _)| queue);
            self.trace.note(Event::Spawned(task, queue, Thread::Other));
            let ticket = Ticket::new(self.trace.clone(), script, queue.unwrap_or(0));
            self.subject.spawn_elsewhere(slot, key, queue, ticket)
        } else {
            let (on, queue) = match (on, by) {
                (On::Beside, Some(queue)) => (on, Some(queue)),
                (On::Beside, None) => (On::Queue(0), named(0)),
                (On::Group(group), _) => (on, self.subject.group_queue(group)),
                (On::Queue(slot) | On::Try(slot) | On::Elsewhere(slot, _), _) => (on, named(slot)),
            };
            let Some(queue) = queue else { return };
            self.trace.note(Event::Spawned(task, Some(queue), Thread::Owner));
            let future = TaskFuture::new(self, script, queue);
            spawning(task, || self.subject.spawn(on, queue, task, future))
        };
        handle.into_iter().for_each(|handle| self.keep_handle(task, handle));
    }

    fn move_task(&self, of: TaskName, slot: u8) {
        let Some((queue, _)) = self.queue(slot).or_else(|| self.queue(0)) else { return };
        let Some(handle) = self.handles.take(of) else { return };
        if let Some(is_ready) = self.subject.move_task(of, &handle, queue) {
            self.trace.note(Event::Moved(of, queue, is_ready));
        }
        self.handles.put(of, handle);
    }

    /// Polls a handle with a waker that panics.
    fn touch_handle(&self, of: TaskName, in_wake: bool, in_drop: bool) {
        let Some(mut handle) = self.handles.take(of) else { return };
        let in_drop = in_drop.then(|| PanicsWhenDropped);
        let waker = Waker::from(Arc::new(TouchyWaker { in_wake, in_drop }));
        let mut cx = Context::from_waker(&waker);
        // It panics here if the host's budget is used up.
        let polled = catch_unwind(AssertUnwindSafe(|| Pin::new(&mut handle).poll(&mut cx)));
        drop_contained(waker);
        match polled {
            Ok(Poll::Ready(result)) => drop(self.joined(of, None, result)),
            Ok(Poll::Pending) | Err(_) => self.handles.put(of, handle),
        }
    }

    /// How a task waits, and for what.
    pub(super) fn wait(self: &Rc<Self>, by: TaskName, op: &Op) -> Option<(Waiting, WaitsFor)> {
        match op {
            Op::Join(of) => {
                let (of, handle, run) = (*of, self.handles.take(*of)?, Rc::downgrade(self));
                let waiting = async move {
                    let (result, Some(run)) = (handle.await, run.upgrade()) else { return };
                    if !run.joined(of, Some(by), result) {
                        run.trace.note(Event::Panics(by));
                        panic_as_meant();
                    }
                };
                Some((Box::pin(waiting), WaitsFor::End(of)))
            }
            Op::Wait(wait) => Some((self.subject.wait(self, by, wait)?, WaitsFor::Else)),
            _ => None,
        }
    }

    pub(super) fn change(&self, slot: u8, change: Change) {
        let place = |slot: u8| &self.slots[usize::from(slot)];
        if let Change::Create { below, .. } = change {
            let below = below.and_then(|slot| self.queue(slot)).map(|(queue, _)| queue);
            let created = self.subject.create(slot, below, change);
            self.trace.note(Event::Created(slot, created));
            if created {
                place(slot).set(Some((self.queues.get(), true)));
                self.queues.set(self.queues.get() + 1);
            }
            return;
        }
        let Some((queue, open)) = self.queue(slot) else { return };
        let changed = self.subject.change(queue, change);
        match change {
            Change::Close => drop(self.closing(slot)),
            Change::Rename(to) if changed && open => {
                place(slot).set(None);
                place(to).set(Some((queue, true)));
            }
            _ => {}
        }
    }

    /// The queue that had the slot's name last, and whether it is open.
    pub(super) fn queue(&self, slot: u8) -> Option<(u16, bool)> {
        self.slots[usize::from(slot)].get()
    }

    /// The queue of a slot, which is going to be closed.
    pub(super) fn closing(&self, slot: u8) -> Option<u16> {
        let (queue, _) = self.queue(slot)?;
        self.slots[usize::from(slot)].set(Some((queue, false)));
        Some(queue)
    }

    pub(super) fn take_handle(&self, of: TaskName) -> Option<S::Join> {
        self.handles.take(of)
    }

    /// Keeps the handle of a task that was spawned.
    pub(super) fn keep_handle(&self, of: TaskName, handle: S::Join) {
        self.abortable.put(of, ());
        self.handles.put(of, handle);
    }

    /// A task is being polled with that waker.
    pub(super) fn polled(&self, task: TaskName, waker: &Waker) {
        self.wakers.put(task, waker.clone());
    }

    /// A task's future is being dropped. Of most tasks nothing is kept then, so that their memory is used again.
    pub(super) fn dropped(&self, task: TaskName) {
        self.subject.dropped(task);
        match task % 4 {
            // In what order tasks are dropped with their executor decides nothing.
            _ if self.is_over.get() => {}
            0 => {}
            1 => self.drop_waker_elsewhere(task),
            _ => drop(self.wakers.take(task)),
        }
    }

    fn drop_waker_elsewhere(&self, of: TaskName) {
        let waker = self.wakers.take(of);
        waker.into_iter().for_each(|waker| self.subject.elsewhere(of, Elsewhere::DropWaker(waker)));
    }

    /// Wakes all tasks up to that name.
    pub(super) fn wake_all(&self, names: TaskName) {
        (0..names).for_each(|name| self.wake(name, Thread::Owner));
    }

    /// The end: the executor is dropped, every handle that is left is asked, and every waker woken in vain.
    pub(super) fn end(&self) {
        self.trace.note(Event::Ended);
        self.is_over.set(true);
        self.subject.tear_down();
        for (of, mut handle) in self.handles.take_all() {
            match Pin::new(&mut handle).poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(result) => self.joined(of, None, result),
                Poll::Pending => self.trace.note(Event::Unanswered(of)),
            };
        }
        for (of, waker) in self.wakers.take_all() {
            match of % 3 {
                0 => waker.wake(),
                1 => self.subject.elsewhere(of, Elsewhere::Wake(waker)),
                _ => drop(waker),
            }
        }
    }
}

/// Things by the names of tasks, or of groups. Nothing of theirs is called while it is borrowed.
pub(super) struct Table<T>(RefCell<BTreeMap<u16, T>>);

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self(RefCell::default())
    }
}

impl<T> Table<T> {
    pub(super) fn take(&self, name: u16) -> Option<T> {
        self.0.borrow_mut().remove(&name)
    }

    pub(super) fn put(&self, name: u16, thing: T) {
        let before = self.0.borrow_mut().insert(name, thing);
        drop(before);
    }

    pub(super) fn get(&self, name: u16) -> Option<T>
    where
        T: Clone,
    {
        self.0.borrow().get(&name).cloned()
    }

    /// All, by name. The table is empty then.
    pub(super) fn take_all(&self) -> BTreeMap<u16, T> {
        self.0.take()
    }
}
