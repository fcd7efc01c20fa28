//! The policies by name, and any policy in a box.

use core::fmt;

use crate::{
    Attributes, ClockUse, FairGroups, Gone, Las, Qlas, Ready, RunnableFifo, Scheduler, Serpt, Served,
    Subject, Task, TaskId, WokenFirst,
};

/// Every policy of this crate that does not go by attributes, as it is without options. A new one is one line here.
pub const POLICIES: &[Policy] = &[
    Policy { name: "woken", title: "WokenFirst", make: || Boxed::new(WokenFirst::new()) },
    Policy { name: "fifo", title: "RunnableFifo", make: || Boxed::new(RunnableFifo::new()) },
    Policy { name: "las", title: "LAS", make: || Boxed::new(Las::new()) },
    Policy { name: "qlas", title: "QLAS", make: || Boxed::new(Qlas::new()) },
    Policy { name: "serpt", title: "SERPT", make: || Boxed::new(Serpt::new()) },
    Policy { name: "fair", title: "FairGroups", make: || Boxed::new(FairGroups::new()) },
];

/// A policy that can be asked for by name.
#[derive(Clone, Copy)]
pub struct Policy {
    name: &'static str,
    title: &'static str,
    make: fn() -> Boxed,
}

impl Policy {
    /// The policy of that name.
    pub fn named(name: &str) -> Option<Self> {
        POLICIES.iter().copied().find(|policy| policy.name == name)
    }

    /// What it is called on a command line.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// What it is called in a table.
    pub const fn title(self) -> &'static str {
        self.title
    }

    /// A fresh one, for a queue.
    pub fn make(self) -> Boxed {
        (self.make)()
    }
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Policy").field(&self.name).finish()
    }
}

/// A [`Scheduler`] of any type.
pub struct Boxed {
    pub(super) scheduler: Box<dyn AnyScheduler>,
    pub(super) clock: ClockUse,
    /// Its type.
    name: &'static str,
}

impl Boxed {
    /// Puts a scheduler into a box.
    pub fn new<S: Scheduler + 'static>(scheduler: S) -> Self {
        Self { scheduler: Box::new(scheduler), clock: S::CLOCK, name: core::any::type_name::<S>() }
    }
}

impl fmt::Debug for Boxed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Boxed").field(&format_args!("{}", self.name)).finish()
    }
}

/// [`Scheduler`] without what cannot be called through a pointer.
pub(super) trait AnyScheduler {
    fn push(&mut self, task: Task, why: Ready);
    fn pop(&mut self) -> Option<TaskId>;
    fn push_pop(&mut self, task: Task) -> Option<TaskId>;
    fn served(&mut self, served: Served, now_ns: u64);
    fn said(&mut self, of: Subject, attributes: &Attributes);
    fn gone(&mut self, gone: Gone);
}

impl<S: Scheduler> AnyScheduler for S {
    fn push(&mut self, task: Task, why: Ready) {
        Scheduler::push(self, task, why);
    }

    fn pop(&mut self) -> Option<TaskId> {
        Scheduler::pop(self)
    }

    fn push_pop(&mut self, task: Task) -> Option<TaskId> {
        Scheduler::push_pop(self, task)
    }

    fn served(&mut self, served: Served, now_ns: u64) {
        Scheduler::served(self, served, now_ns);
    }

    fn said(&mut self, of: Subject, attributes: &Attributes) {
        Scheduler::said(self, of, attributes);
    }

    fn gone(&mut self, gone: Gone) {
        Scheduler::gone(self, gone);
    }
}
