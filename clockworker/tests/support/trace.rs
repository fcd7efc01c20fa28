//! The order in which things happen.

use std::cell::RefCell;
use std::future::Future;
use std::rc::Rc;
use std::time::Duration;

use super::VirtualTime;

/// What happened, in order.
#[derive(Clone, Default)]
pub(crate) struct Trace(Rc<RefCell<Vec<String>>>);

impl Trace {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn note(&self, what: impl Into<String>) {
        self.0.borrow_mut().push(what.into());
    }

    /// What was noted since the last time, joined by blanks.
    pub(crate) fn take(&self) -> String {
        std::mem::take(&mut *self.0.borrow_mut()).join(" ")
    }
}

/// A task of `polls` polls of `length` each, noted as `name1`, `name2`, ….
pub(crate) fn poller(
    sim: &VirtualTime,
    trace: &Trace,
    name: &'static str,
    polls: usize,
    length: Duration,
) -> impl Future<Output = ()> + use<> {
    let (sim, trace) = (sim.clone(), trace.clone());
    async move {
        for i in 1..=polls {
            trace.note(format!("{name}{i}"));
            sim.work(length);
            if i < polls {
                clockworker::yield_now().await;
            }
        }
    }
}
