//! A task of a program: its future, its output, and the promise of a future that another thread spawned.

use std::future::Future;
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::task::{Context, Poll};

use super::event::{End, Event};
use super::interpreter::Interpreter;
use super::op::{On, Op, Script, TaskName};
use super::subject::Subject;
use super::trace::Trace;
use crate::panics::panic_as_meant;

/// An output whose drop is noted.
pub(super) struct Output {
    pub(super) of: TaskName,
    panics: bool,
    trace: Trace,
}

impl Drop for Output {
    fn drop(&mut self) {
        self.trace.note(Event::OutputDropped(self.of));
        if self.panics {
            panic_as_meant();
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
    interpreter: Weak<Interpreter<S>>,
    trace: Trace,
    script: Arc<Script>,
    queue: u16,
    step: usize,
    yields: u8,
    parked: bool,
    joining: Option<(TaskName, S::Join)>,
}

impl<S: Subject> TaskFuture<S> {
    pub(super) fn new(
        interpreter: Weak<Interpreter<S>>,
        trace: Trace,
        script: Arc<Script>,
        queue: u16,
    ) -> Self {
        Self { interpreter, trace, script, queue, step: 0, yields: 0, parked: false, joining: None }
    }

    /// One step; pending if it is not over.
    fn step(&mut self, interpreter: &Rc<Interpreter<S>>, op: &Op, cx: &mut Context<'_>) -> Poll<()> {
        match op {
            Op::Yield(times) => {
                if self.yields == *times {
                    self.yields = 0;
                    return Poll::Ready(());
                }
                self.yields += 1;
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            Op::Park => {
                self.parked = !self.parked;
                if self.parked { Poll::Pending } else { Poll::Ready(()) }
            }
            Op::Join(of) => self.join(interpreter, *of, cx),
            Op::Panic => panic_as_meant(),
            other => {
                interpreter.act(Some(self.queue), other);
                Poll::Ready(())
            }
        }
    }

    fn join(&mut self, interpreter: &Rc<Interpreter<S>>, of: TaskName, cx: &mut Context<'_>) -> Poll<()> {
        if self.joining.is_none() {
            self.joining = interpreter.take_handle(of).map(|handle| (of, handle));
        }
        let Some((_, handle)) = &mut self.joining else { return Poll::Ready(()) };
        let Poll::Ready(result) = Pin::new(handle).poll(cx) else { return Poll::Pending };
        self.joining = None;
        interpreter.note_joined(Some(self.script.name), of, &result);
        drop(result);
        Poll::Ready(())
    }
}

impl<S: Subject> Future for TaskFuture<S> {
    type Output = Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Output> {
        let this = self.get_mut();
        let script = Arc::clone(&this.script);
        if !this.trace.note_place(Event::Polled { task: script.name, queue: this.queue }) {
            return Poll::Pending;
        }
        let Some(interpreter) = this.interpreter.upgrade() else { return Poll::Pending };
        interpreter.keep_waker(script.name, cx.waker());
        while let Some(op) = script.steps.get(this.step) {
            if this.step(&interpreter, op, cx).is_pending() {
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
        if !self.trace.note_place(Event::FutureDropped(script.name)) {
            return;
        }
        if let Some(interpreter) = self.interpreter.upgrade() {
            if let Some(other) = script.wakes_at_drop {
                interpreter.act(Some(self.queue), &Op::Wake(other));
            }
            if let Some((slot, child)) = &script.spawns_at_drop {
                let spawn = Op::Spawn { on: On::Queue(*slot), script: Arc::clone(child) };
                interpreter.act(Some(self.queue), &spawn);
            }
        }
        if script.panics_at_drop {
            panic_as_meant();
        }
    }
}

/// What another thread spawns: the future is made of it on the executor's thread. Noted if it never is.
pub(super) struct Ticket {
    script: Arc<Script>,
    queue: u16,
    trace: Trace,
    redeemed: bool,
}

impl Ticket {
    pub(super) fn new(script: Arc<Script>, queue: u16, trace: Trace) -> Self {
        Self { script, queue, trace, redeemed: false }
    }

    /// The future of it, in the interpreter that is being run here.
    pub(super) fn redeem<S: Subject>(mut self) -> TaskFuture<S> {
        self.redeemed = true;
        let interpreter = S::current().as_ref().map_or_else(Weak::new, Rc::downgrade);
        TaskFuture::new(interpreter, self.trace.clone(), Arc::clone(&self.script), self.queue)
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if !self.redeemed {
            self.trace.note(Event::Unmade(self.script.name));
        }
    }
}
