//! [`Drivers`]: whether an executor is driven, by one future at a time, and the runs that may drive it.

use std::cell::Cell;
#[cfg(feature = "tokio")]
use std::cell::RefCell;

#[cfg(feature = "tokio")]
use super::RunWaker;
#[cfg(feature = "tokio")]
use crate::sync::Arc;

/// See the [module docs](self).
#[derive(Default)]
pub(crate) struct Drivers {
    /// Whether a future drives the executor.
    is_driven: Cell<bool>,
    /// The runs of a `LocalSet`, of which there may be several at once.
    #[cfg(feature = "tokio")]
    runs: RefCell<Vec<Arc<RunWaker>>>,
}

impl Drivers {
    /// Takes the right to drive the executor. False if another driver has it.
    pub(crate) fn begin(&self) -> bool {
        !self.is_driven.replace(true)
    }

    /// Gives the right to drive back.
    pub(crate) fn end(&self) {
        self.is_driven.set(false);
    }

    /// Keeps the executor from being driven as long as the guard lives. None if it is driven already.
    pub(crate) fn exclude(&self) -> Option<Excluded<'_>> {
        self.begin().then_some(Excluded(self))
    }

    /// Wakes the host of every run, after a driver has gone, so that one of them drives on.
    pub(crate) fn wake_runs(&self) {
        #[cfg(feature = "tokio")]
        {
            let runs: Vec<_> = self.runs.borrow().clone();
            runs.iter().for_each(|run| run.wake_host());
        }
    }
}

/// See [`Drivers::exclude`].
pub(crate) struct Excluded<'a>(&'a Drivers);

impl Drop for Excluded<'_> {
    fn drop(&mut self) {
        self.0.end();
        self.0.wake_runs();
    }
}

#[cfg(feature = "tokio")]
impl Drivers {
    /// Adds a run.
    pub(crate) fn add_run(&self, run: &Arc<RunWaker>) {
        self.runs.borrow_mut().push(Arc::clone(run));
    }

    /// Removes a run.
    pub(crate) fn remove_run(&self, run: &Arc<RunWaker>) {
        self.runs.borrow_mut().retain(|other| !Arc::ptr_eq(other, run));
    }

    /// Whether there is exactly one run.
    pub(crate) fn is_only_run(&self) -> bool {
        self.runs.borrow().len() == 1
    }
}
