//! [`Drivers`]: whether an executor is driven, by one run at a time, and the runs that may drive it.

use std::cell::{Cell, RefCell};

use super::{Core, RunWaker};
use crate::sync::Arc;

/// See the [module docs](self).
#[derive(Default)]
pub(crate) struct Drivers {
    /// Whether a run drives the executor, or none may.
    is_driven: Cell<bool>,
    /// The runs under way.
    runs: RefCell<Vec<Arc<RunWaker>>>,
    /// Whether there is exactly one.
    is_only_run: Cell<bool>,
}

impl Drivers {
    /// Takes the right to drive the executor, as long as the guard lives. None if it is taken.
    #[inline]
    pub(crate) fn drive(&self) -> Option<Driving<'_>> {
        (!self.is_driven.replace(true)).then(|| Driving(self))
    }

    /// Panics if the calling code is run by the executor, or by a drop that must not run it.
    #[track_caller]
    pub(crate) fn assert_not_driven(&self) {
        assert!(
            !self.is_driven.get(),
            "this executor is being run already: `block_on`, `run_for` and `shutdown` cannot be used inside one of its own \
             tasks or runs (await a `JoinHandle` instead, or spawn)"
        );
    }

    /// Removes a run.
    pub(crate) fn remove_run(&self, run: &Arc<RunWaker>) {
        let mut runs = self.runs.borrow_mut();
        runs.retain(|other| !Arc::ptr_eq(other, run));
        self.is_only_run.set(runs.len() == 1);
    }

    fn add(&self, run: &Arc<RunWaker>) {
        let mut runs = self.runs.borrow_mut();
        runs.push(Arc::clone(run));
        self.is_only_run.set(runs.len() == 1);
    }

    /// Whether there is exactly one run.
    #[inline]
    pub(crate) fn is_only_run(&self) -> bool {
        self.is_only_run.get()
    }

    /// Wakes the host of every run, so that one of them drives on.
    pub(crate) fn wake_runs(&self) {
        let runs: Vec<_> = self.runs.borrow().clone();
        runs.iter().for_each(|run| run.wake_host());
    }
}

/// See [`Drivers::drive`].
pub(crate) struct Driving<'a>(&'a Drivers);

impl Drop for Driving<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.is_driven.set(false);
    }
}

impl Core {
    /// Adds a run.
    pub(crate) fn add_run(&self) -> Arc<RunWaker> {
        let run = RunWaker::new(&self.shared);
        self.drivers.add(&run);
        // If there was only one run, it relies on being the one that drove last.
        self.shared.inbox.wake_parked_host();
        run
    }
}
