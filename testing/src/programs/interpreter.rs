//! What carries out a program: an executor, and its tasks and queues by name.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use clockworker::ManualClock;

use super::event::{End, Entry, Event};
use super::op::{On, Op, SLOTS, Script, TaskName};
use super::subject::{Subject, Until};
use super::task::{Output, TaskFuture, Ticket, end_of};
use super::trace::Trace;
use crate::panics::drop_contained;
use crate::policy::Policy;

/// Carries out a program on one executor, and notes what it sees.
pub(super) struct Interpreter<S: Subject> {
    pub(super) subject: S,
    pub(super) trace: Trace,
    clock: ManualClock,
    handles: RefCell<Vec<Option<S::Join>>>,
    wakers: RefCell<Vec<Option<Waker>>>,
    /// By slot: the queue that had its name last, and whether it is open.
    slots: [Cell<Option<(u16, bool)>>; SLOTS as usize],
    queues: Cell<u16>,
}

impl<S: Subject> Interpreter<S> {
    /// An interpreter whose executor has one queue, the first slot's.
    pub(super) fn new(subject: S, clock: ManualClock) -> Rc<Self> {
        let slots: [Cell<Option<(u16, bool)>>; SLOTS as usize] = Default::default();
        slots[0].set(Some((0, true)));
        Rc::new(Interpreter {
            subject,
            trace: Trace::new(clock.clone()),
            clock,
            handles: RefCell::default(),
            wakers: RefCell::default(),
            slots,
            queues: Cell::new(1),
        })
    }

    /// A step of the program itself.
    pub(super) fn step(self: &Rc<Self>, op: &Op, told: &[Entry]) {
        match op {
            Op::Yield(times) => {
                let mut told = told;
                for _ in 0..*times {
                    self.run(Until::Turn, told);
                    told = after_stop(told);
                }
            }
            Op::Park => self.run(Until::Idle, told),
            Op::Join(of) => {
                if let Some(mut handle) = self.take_handle(*of)
                    && !self.run_until_joined(*of, &mut handle, told)
                {
                    put(&self.handles, *of, handle);
                }
            }
            Op::Panic => {}
            other => self.act(None, other),
        }
    }

    fn run(&self, until: Until<'_, S::Join>, told: &[Entry]) {
        let stopped = self.subject.run(until, told);
        self.trace.note(Event::Stopped { idle: stopped.idle });
    }

    fn run_until_joined(&self, of: TaskName, handle: &mut S::Join, told: &[Entry]) -> bool {
        let stopped = self.subject.run(Until::Joined(handle), told);
        self.trace.note(Event::Stopped { idle: stopped.idle });
        let Some(result) = stopped.joined else { return false };
        self.note_joined(None, of, &result);
        drop_contained(result);
        true
    }

    /// What takes no waiting: from outside, in a poll, or in a destructor. `by` is the queue of the task that does it.
    pub(super) fn act(self: &Rc<Self>, by: Option<u16>, op: &Op) {
        match *op {
            Op::Work(us) => self.clock.advance(Duration::from_micros(us.into())),
            Op::Wake(of) => self.waker(of).into_iter().for_each(Waker::wake),
            Op::WakeElsewhere(of) => {
                self.waker(of).into_iter().for_each(|waker| self.subject.wake_elsewhere(of, waker));
            }
            Op::DropWakerElsewhere(of) => {
                let waker = take(&self.wakers, of);
                waker.into_iter().for_each(|waker| self.subject.drop_waker_elsewhere(waker));
            }
            Op::Spawn { on, ref script } => self.spawn(by, on, script),
            Op::Abort(of) => self.subject.abort(of, false),
            Op::AbortElsewhere(of) => self.subject.abort(of, true),
            Op::DropHandle(of) => drop(self.take_handle(of)),
            Op::DropHandleElsewhere(of) => {
                let handle = self.take_handle(of);
                handle.into_iter().for_each(|handle| self.subject.drop_handle_elsewhere(handle));
            }
            Op::Create { slot, share, policy } => self.create(slot, share, policy),
            Op::Share { slot, share } => {
                self.queue(slot).into_iter().for_each(|(queue, _)| self.subject.share(queue, share));
            }
            Op::Scheduler { slot, policy } => {
                self.queue(slot).into_iter().for_each(|(queue, _)| self.subject.set_scheduler(queue, policy));
            }
            Op::Close(slot) => self.close(slot),
            Op::Yield(_) | Op::Park | Op::Join(_) | Op::Panic => {}
        }
    }

    fn spawn(self: &Rc<Self>, by: Option<u16>, on: On, script: &Arc<Script>) {
        let task = script.name;
        let (queue, elsewhere) = match on {
            On::Beside => (by.or(self.queue(0).map(|(queue, _)| queue)), None),
            On::Queue(slot) => (self.queue(slot).map(|(queue, _)| queue), None),
            On::Elsewhere(slot) => {
                (self.queue(slot).filter(|(_, open)| *open).map(|(queue, _)| queue), Some(slot))
            }
        };
        if queue.is_none() && elsewhere.is_none() {
            return;
        }
        self.trace.note(Event::Spawned { task, queue });
        let script = Arc::clone(script);
        let handle = match (elsewhere, queue) {
            (Some(slot), _) => {
                let ticket = Ticket::new(script, queue.unwrap_or(0), self.trace.clone());
                self.subject.spawn_elsewhere(slot, queue, task, ticket)
            }
            (None, queue) => {
                let queue = queue.unwrap_or(0);
                let beside = on == On::Beside && by.is_some();
                let future = TaskFuture::new(Rc::downgrade(self), self.trace.clone(), script, queue);
                self.subject.spawn(queue, beside, task, future)
            }
        };
        put(&self.handles, task, handle);
    }

    fn create(&self, slot: u8, share: u32, policy: Policy) {
        let free = self.subject.create(slot, share, policy);
        self.trace.note(Event::Created { slot, free });
        if free {
            let queue = self.queues.get();
            self.queues.set(queue + 1);
            self.slots[usize::from(slot)].set(Some((queue, true)));
        }
    }

    fn close(&self, slot: u8) {
        if let Some((queue, _)) = self.queue(slot) {
            self.slots[usize::from(slot)].set(Some((queue, false)));
            self.subject.close(queue);
        }
    }

    fn queue(&self, slot: u8) -> Option<(u16, bool)> {
        self.slots[usize::from(slot)].get()
    }

    pub(super) fn take_handle(&self, of: TaskName) -> Option<S::Join> {
        take(&self.handles, of)
    }

    pub(super) fn keep_waker(&self, of: TaskName, waker: &Waker) {
        put(&self.wakers, of, waker.clone());
    }

    fn waker(&self, of: TaskName) -> Option<Waker> {
        self.wakers.borrow().get(usize::from(of)).cloned().flatten()
    }

    pub(super) fn note_joined(&self, by: Option<TaskName>, of: TaskName, result: &Result<Output, End>) {
        self.trace.note(Event::Joined { by, of, end: end_of(result) });
    }

    /// The end: the executor is dropped, every handle that is left is asked, and every waker woken in vain.
    pub(super) fn end(&self) {
        self.trace.note(Event::Ended);
        self.subject.tear_down();
        let handles = self.handles.take().into_iter().enumerate();
        for (of, mut handle) in handles.filter_map(|(of, handle)| Some((of as TaskName, handle?))) {
            if let Poll::Ready(result) = Pin::new(&mut handle).poll(&mut Context::from_waker(Waker::noop())) {
                self.note_joined(None, of, &result);
                drop_contained(result);
            }
        }
        for (of, waker) in self.wakers.take().into_iter().enumerate() {
            match (waker, of % 3) {
                (Some(waker), 0) => waker.wake(),
                (Some(waker), 1) => self.subject.wake_elsewhere(of as TaskName, waker),
                (waker, _) => drop(waker),
            }
        }
    }
}

/// The trace behind the next end of a run.
fn after_stop(told: &[Entry]) -> &[Entry] {
    let stop = told.iter().position(|entry| matches!(entry.event, Event::Stopped { .. }));
    stop.map_or(&[], |at| &told[at + 1..])
}

fn take<T>(table: &RefCell<Vec<Option<T>>>, of: TaskName) -> Option<T> {
    table.borrow_mut().get_mut(usize::from(of))?.take()
}

/// What was there before is dropped when the table is free again.
fn put<T>(table: &RefCell<Vec<Option<T>>>, of: TaskName, value: T) {
    let mut places = table.borrow_mut();
    if places.len() <= usize::from(of) {
        places.resize_with(usize::from(of) + 1, || None);
    }
    let before = places[usize::from(of)].replace(value);
    drop(places);
    drop(before);
}
