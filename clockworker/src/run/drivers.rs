//! Who runs an executor: one driver at a time, and runs that ride along.

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
    /// Whether the executor is being run.
    is_driven: Cell<bool>,
    /// Runs that may be several at once.
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

    /// Wakes the host of every run, after a driver has gone: one of them may take over.
    pub(crate) fn wake_runs(&self) {
        #[cfg(feature = "tokio")]
        {
            let runs: Vec<_> = self.runs.borrow().clone();
            runs.iter().for_each(|run| run.wake_host());
        }
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

    /// Whether there is one run only.
    pub(crate) fn is_only_run(&self) -> bool {
        self.runs.borrow().len() == 1
    }
}
