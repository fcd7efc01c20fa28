//! A task of a program: its future, its output, and the promise of a future that another thread spawned.

use std::future::Future;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::task::{Context, Poll};

use super::event::{Actor, End, Event, Trace, WaitsFor};
use super::interpreter::{Interpreter, Run, Subject, Waiting};
use super::op::{Op, Script, TaskName};
use crate::panics::{panic_as_meant, panic_unless_unwinding};

/// An output whose drop is noted.
pub(super) struct Output {
    of: TaskName,
    panics: bool,
    trace: Trace,
}

impl Drop for Output {
    fn drop(&mut self) {
        self.trace.note(Event::OutputDropped(self.of));
        if self.panics {
            panic_unless_unwinding();
        }
    }
}

/// How a task ended, by what its handle gave.
pub(super) fn end_of(result: &Result<Output, End>) -> End {
    match result {
        Ok(output) => End::Output(output.of),
        Err(end) => *end,
    }
}

/// Runs a script.
pub(super) struct TaskFuture<S: Subject> {
    run: Weak<Interpreter<S>>,
    trace: Trace,
    script: Arc<Script>,
    queue: u16,
    step: usize,
    /// Polls of this step that are over.
    polls: u8,
    waiting: Option<(Waiting, WaitsFor)>,
    /// It waits to be spawned, so that its drop is part of another task's.
    pub(super) in_line: bool,
}

impl<S: Subject> TaskFuture<S> {
    pub(super) fn new(run: &Run<S>, script: &Arc<Script>, queue: u16) -> Self {
        Self::of(Rc::downgrade(run), run.trace.clone(), Arc::clone(script), queue)
    }

    fn of(run: Weak<Interpreter<S>>, trace: Trace, script: Arc<Script>, queue: u16) -> Self {
        Self { run, trace, script, queue, step: 0, polls: 0, waiting: None, in_line: false }
    }

    /// One step. What it waits for if it is not over.
    fn step(&mut self, run: &Run<S>, op: &Op, cx: &mut Context<'_>) -> Option<WaitsFor> {
        let (name, polls) = (self.script.name, mem::take(&mut self.polls));
        match op {
            Op::Yield(times) if polls < *times => {
                self.polls = polls + 1;
                self.trace.note(Event::Woken(name));
                cx.waker().wake_by_ref();
                return Some(WaitsFor::Wake);
            }
            Op::Park if polls == 0 => {
                self.polls = 1;
                return Some(WaitsFor::Wake);
            }
            Op::Join(_) | Op::Wait(_) => {
                if self.waiting.is_none() {
                    self.waiting = run.wait(name, op);
                }
                let (waiting, waits_for) = self.waiting.as_mut()?;
                if waiting.as_mut().poll(cx).is_pending() {
                    return Some(*waits_for);
                }
                self.waiting = None;
            }
            Op::Panic => {
                self.trace.note(Event::Panics(name));
                panic_as_meant();
            }
            other => run.act(Actor::Task, Some(self.queue), other),
        }
        None
    }
}

impl<S: Subject> Future for TaskFuture<S> {
    type Output = Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Output> {
        let this = self.get_mut();
        let script = Arc::clone(&this.script);
        let run = this.run.upgrade();
        if let Some(run) = &run {
            this.queue = run.subject.queue_of_polled(this.queue);
        }
        if !this.trace.note(Event::Polled(script.name, this.queue)) {
            return Poll::Pending;
        }
        let Some(run) = run else { return Poll::Pending };
        this.in_line = false;
        run.polled(script.name, cx.waker());
        if run.asking.get() {
            this.waiting.take_if(|(waiting, _)| waiting.as_mut().poll(cx).is_ready()).inspect(|_| {
                this.step += 1;
                this.trace.note(Event::Late(script.name));
            });
            this.trace.note(Event::Pending(script.name, WaitsFor::Else));
            return Poll::Pending;
        }
        while let Some(op) = script.steps.get(this.step).filter(|_| !run.finishing.get()) {
            if let Some(waits_for) = this.step(&run, op, cx) {
                this.trace.note(Event::Pending(script.name, waits_for));
                return Poll::Pending;
            }
            this.step += 1;
        }
        this.trace.note(Event::Finished(script.name));
        Poll::Ready(Output { of: script.name, panics: script.output_panics, trace: this.trace.clone() })
    }
}

impl<S: Subject> Drop for TaskFuture<S> {
    fn drop(&mut self) {
        let script = Arc::clone(&self.script);
        if !self.trace.note_drop(script.name, Event::FutureDropped(script.name)) {
            return;
        }
        let run = self.run.upgrade();
        run.iter().for_each(|run| run.dropped(script.name));
        let acting = run.filter(|run| !run.finishing.get());
        // A second panic while the first one unwinds ends any process.
        for op in script.at_drop.iter().filter(|_| !std::thread::panicking()) {
            match (op, &acting) {
                (Op::Panic, _) if !self.in_line => {
                    self.trace.note(Event::Panics(script.name));
                    panic_as_meant();
                }
                (op, Some(run)) => {
                    // What a scheduler that is being called may not do panics.
                    let acted = catch_unwind(AssertUnwindSafe(|| run.act(Actor::Drop, Some(self.queue), op)));
                    if let Err(payload) = acted {
                        if !self.in_line {
                            self.trace.note(Event::Panics(script.name));
                        }
                        resume_unwind(payload);
                    }
                }
                (_, None) => {}
            }
        }
    }
}

/// What another thread spawns: the future is made of it on the executor's thread. Noted if it never is.
pub(super) struct Ticket {
    pub(super) task: TaskName,
    /// None once the future is made.
    script: Option<Arc<Script>>,
    queue: u16,
    pub(super) trace: Trace,
}

impl Ticket {
    pub(super) fn new(trace: Trace, script: &Arc<Script>, queue: u16) -> Self {
        Self { task: script.name, script: Some(Arc::clone(script)), queue, trace }
    }

    /// The future of it, in the interpreter that is being run here.
    pub(super) fn redeem<S: Subject>(mut self) -> TaskFuture<S> {
        let run = S::current().as_ref().map_or_else(Weak::new, Rc::downgrade);
        TaskFuture::of(run, self.trace.clone(), self.script.take().unwrap_or_default(), self.queue)
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if self.script.is_some() {
            self.trace.note_drop(self.task, Event::Unmade(self.task));
        }
    }
}
